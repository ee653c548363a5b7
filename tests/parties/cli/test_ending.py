"""How the program ends: interrupted while it is imported, unread, and with too little room for a daemon."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys

import pytest

from commons.exits import CONFIG, INTERRUPTED, REFUSED, UNREAD, USAGE
from scripts.processes import COMMAND

ENTRY = (sys.executable, "-c", "from parties.cli.entry import main; main()")
HANGS = "print('importing', flush=True)\nimport time\nwhile True: time.sleep(3600)\n"


@pytest.mark.parametrize("module", ["click", "parties/cli/hints", "numpy"])
def test_an_interrupt_while_modules_are_imported_is_quiet(tmp_path, module):
    """Whatever is imported just then: here a module that never comes to an end."""
    code = f"import sys; sys.modules.pop('x', None); exec({_replacing(module)!r}); {ENTRY[2]}"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "types"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (INTERRUPTED, "")


def _replacing(module):
    """Code by which an import of a module hangs."""
    return f"""
import importlib.abc, importlib.machinery, sys
class Hanging(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name == {module.replace("/", ".")!r}:
            return importlib.machinery.ModuleSpec(name, self)
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        exec({HANGS!r})
sys.meta_path.insert(0, Hanging())
"""


def test_a_command_that_runs_cleans_up_after_an_interrupt():
    """Once the command's module is there an interrupt is an exception again."""
    code = (
        "import signal, click; from parties.cli import interrupts, main\n"
        "signal.signal(signal.SIGINT, interrupts.leave)\n"
        "main.duetto.get_command(click.Context(main.duetto), 'types')\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("words", [("types",), ("types", "--json"), ("--help",), ("types", "--help")])
def test_output_that_nobody_reads_ends_it_quietly(words):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*COMMAND, *words], stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=120
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (UNREAD, "")


NOT_TEXT = b"h\xff"


@pytest.mark.parametrize("words", [("party", "start"), ("doctor",), ("party", "health"), ("ledger", "show")])
@pytest.mark.parametrize("how", ["option", "variable", "folder", "home"])
def test_a_home_whose_name_is_no_text_is_refused_by_name(tmp_path, words, how):
    place = os.fsencode(tmp_path) + b"/" + NOT_TEXT
    home = place + b"/duetto" if how == "home" else place
    os.makedirs(home)
    with open(home + b"/duetto.toml", "w") as file:
        file.write('[party]\nname = "north"\nhome = "."\n[listen]\naddress = "127.0.0.1:1"\n')
    environment = {
        **{name: value for name, value in os.environb.items() if name != b"DUETTO_CONFIG"},
        **({b"DUETTO_CONFIG": home} if how == "variable" else {}),
        **({b"XDG_CONFIG_HOME": place} if how == "home" else {}),
        b"PYTHONPATH": os.fsencode(os.pathsep.join(sys.path)),
    }
    option = [b"--config", home] if how == "option" else []
    done = subprocess.run(
        [*map(os.fsencode, (*COMMAND, *words)), *option],
        cwd=home if how == "folder" else tmp_path,
        env=environment,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == CONFIG, done.stderr
    assert b"is not UTF-8" in done.stderr
    assert b"Rename the file, or the folder in which it lies." in done.stderr


def test_a_source_whose_name_is_no_text_is_refused_by_name(tmp_path):
    source = os.fsencode(tmp_path) + b"/" + NOT_TEXT + b".csv"
    with open(source, "w") as file:
        file.write("age\n1\n")
    words = [*map(os.fsencode, (*COMMAND, "data", "add")), source]
    done = subprocess.run(words, capture_output=True, check=False, timeout=120)
    assert done.returncode in (CONFIG, USAGE)
    assert b"is not UTF-8" in done.stderr
    made = subprocess.run(
        [*map(os.fsencode, (*COMMAND, "init", "north", "--address", "127.0.0.1:1", "--home")), source + b"d"],
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert b"is not UTF-8" in made.stderr
    assert not os.path.exists(source + b"d")


DROWNED = """
import threading
from parties.cli import party
from parties.daemon.daemon import Daemon
party._END_SECONDS = party._LEAVE_SECONDS = 0.5
def start(self):
    raise {problem}
Daemon.start, Daemon.stop = start, lambda self: threading.Event().wait()
from parties.cli.main import main
main()
"""


@pytest.mark.parametrize("problem", ["MemoryError", "RuntimeError('can\\'t start new thread')"])
@pytest.mark.parametrize("hangs", [True, False])
def test_a_daemon_without_room_ends(homes, problem, hangs):
    """Where no thread can be started gRPC waits for ever for those that it did not get."""
    code = DROWNED.format(problem=problem)
    if not hangs:
        code = code.replace("lambda self: threading.Event().wait()", "lambda self: None")
    done = subprocess.run(
        [sys.executable, "-c", code, "party", "start", "--config", str(homes["north"])],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if hangs:
        assert done.returncode not in (0, -signal.SIGALRM), done.stderr
    else:
        assert done.returncode == REFUSED
        assert "too little room" in done.stderr
        assert "MemoryMax" in done.stderr


def test_a_daemon_that_hangs_at_its_start_heeds_a_signal(homes):
    code = DROWNED.format(problem="Stuck") + ""
    code = code.replace("    raise Stuck", "    print('starting', flush=True); threading.Event().wait()")
    process = subprocess.Popen(
        [sys.executable, "-c", code, "party", "start", "--config", str(homes["north"])],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout.readline() == "starting\n"
    process.terminate()
    assert process.wait(60) == 0
    process.stdout.close()


def test_too_few_files_are_said_to_be(homes):
    done = subprocess.run(
        [*COMMAND, "party", "start", "--config", str(homes["north"])],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == CONFIG, done.stderr
    assert "may have 32 open files, and a daemon needs 64" in done.stderr
    assert "LimitNOFILE" in done.stderr
