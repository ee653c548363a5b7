"""What a job may take where a control group has less than the machine."""

from __future__ import annotations

import os

import pytest

from parties.config import Limits
from parties.memory import present_memory

MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
NEW, OLD = "sys/fs/cgroup", "sys/fs/cgroup/memory"


@pytest.mark.parametrize(
    ("groups", "files", "expected"),
    [
        ("0::/duetto/job\n", {f"{NEW}/duetto/job/memory.max": "1048576"}, 1 << 20),
        ("0::/duetto/job\n", {f"{NEW}/duetto/job/memory.max": "max", f"{NEW}/duetto/memory.max": "77"}, 77),
        ("0::/\n", {f"{NEW}/memory.max": "4096"}, 4096),
        ("3:cpu:/\n4:memory:/box\n0::/\n", {f"{OLD}/box/memory.limit_in_bytes": "5"}, 5),
        ("4:cpu,memory:/box\n", {f"{OLD}/memory.limit_in_bytes": "6"}, 6),
        ("4:memory:/\n", {f"{OLD}/memory.limit_in_bytes": str(1 << 62)}, MACHINE),
        ("3:cpu:/box\n", {f"{OLD}/box/memory.limit_in_bytes": "5"}, MACHINE),
        ("0::/gone\n", {}, MACHINE),
        ("nonsense\n\n", {}, MACHINE),
    ],
)
def test_the_least_limit_counts(tmp_path, groups, files, expected):
    for name, text in ({"proc/self/cgroup": groups} | files).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    assert present_memory(tmp_path) == expected


def test_without_control_groups_it_is_that_of_the_machine(tmp_path):
    assert present_memory(tmp_path) == MACHINE


def test_a_job_may_take_what_there_is_unless_the_configuration_says_otherwise():
    assert Limits().job_memory == present_memory()
    assert Limits(memory_mib=3).job_memory == 3 << 20
