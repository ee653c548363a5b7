"""How much memory this process may take: that of the machine, or less where a control group limits it.

Containers and services have such groups; a process that takes more than its group may is killed without a
word. Both versions of control groups are read, with all groups above that of the process.

Reference: `cgroups(7)`; the Linux kernel's admin guide, "Control Group v2" (`memory.max`) and "Memory
Resource Controller" (`memory.limit_in_bytes`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath


def present_memory(root: Path = Path("/")) -> int:
    """Bytes that this process may take.

    Args:
        root: where `proc` and `sys` lie.
    """
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *_limits(root)])


def _limits(root: Path) -> Iterator[int]:
    """Of the groups of this process and all above them, where they can be read and are numbers."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if not controllers:
            folder, name = root / "sys/fs/cgroup", "memory.max"
        elif "memory" in controllers.split(","):
            folder, name = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes"
        else:
            continue
        inside = PurePosixPath(group.lstrip("/"))
        for part in (inside, *inside.parents):
            try:
                text = (folder / part / name).read_text().strip()
            except OSError:
                continue  # in a container groups above its own cannot be seen
            if text.isdecimal():
                yield int(text)
