"""The script of a step that calls a program runs just the bytes that it checked, and what is beside them (T-31)."""

import ast
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from backends.github.calling.program import loader
from backends.github.yaml.model import CALLING_SHELL
from backends.python.edition import publisher, runtime, runtime_for
from compiler.text.source import sha256_of
from runtime_shim.editions import EDITIONS

pytestmark = pytest.mark.process

GOOD = "import sys\nprint('good', sys.argv, flush=True)\n"
EVIL = "print('evil', flush=True)\n"
PATH = ".github/rdc/a.py"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / PATH).parent.mkdir(parents=True)
    (tmp_path / PATH).write_text(GOOD)
    return tmp_path


def started(folder: Path, text: str = GOOD, path: str = PATH, **env: str) -> subprocess.Popen[str]:
    """The process of a step, as GitHub's runner starts it."""
    (folder / "script").write_text(loader(sys.executable, path, sha256_of(text)))
    words = [word.replace("{0}", str(folder / "script")) for word in CALLING_SHELL.split()]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, cwd=folder, env={**os.environ, **env}, stdout=pipe, stderr=pipe, text=True)


def printed(folder: Path, path: str = PATH, **env: str) -> tuple[int, str]:
    process = started(folder, path=path, **env)
    out, _ = process.communicate(timeout=30)
    return process.returncode, out


def test_the_program_runs_with_its_path(place: Path) -> None:
    assert printed(place) == (0, f"good ['-', '{PATH}']\n")
    _, shown = printed(place, "$RUNNER_TEMP/.github/rdc/a.py", RUNNER_TEMP=str(place))
    assert shown == f"good ['-', '{place}/{PATH}']\n"


@pytest.mark.parametrize("text", [EVIL, GOOD + "#", "", None])
def test_another_program_does_not_run(text: str | None, place: Path) -> None:
    (place / PATH).unlink() if text is None else (place / PATH).write_text(text)
    code, out = printed(place)
    assert code == 2
    assert out.startswith("::error title=Altered::a.py is missing or was changed. Compile the document again")


def test_no_variable_brings_code_into_the_check(place: Path) -> None:
    (place / PATH).write_text(EVIL)
    (place / "trap").write_text(f"printf() {{ builtin printf '%s' '{GOOD}'; }}\necho trapped\n")
    (place / "Evil.pm").write_text("print 'trapped'; exit 0;")
    (place / "shasum").write_text(f"#!/bin/sh\necho '{sha256_of(GOOD)}  -'\n")
    (place / "shasum").chmod(0o755)
    hostile = {
        "BASH_ENV": str(place / "trap"), "ENV": str(place / "trap"), "BASH_FUNC_printf%%": "() { echo trapped; }",
        "PERL5OPT": f"-I{place} -MEvil", "PATH": f"{place}:{os.environ['PATH']}", "RDC_PROGRAM": GOOD,
        "SHELLOPTS": "xtrace",
    }  # fmt: skip
    code, out = printed(place, **hostile)
    assert (code, out.split("::")[1], "trapped" in out) == (2, "error title=Altered", False)


def test_a_file_that_is_swapped_all_the_time_runs_no_other_program(place: Path) -> None:
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            for text in (EVIL, GOOD):
                (place / "new").write_text(text)
                (place / "new").replace(place / PATH)

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        found = {printed(place)[1].split(" ")[0] for _ in range(10)}
    finally:
        over.set()
        swapping.join()
    assert found <= {"good", "::error"}


WAITING = """\
import time
try:
    print("ready", flush=True)
    time.sleep(30)
except KeyboardInterrupt:
    print("over")
"""


def test_the_program_gets_the_signal_of_a_canceled_run(place: Path) -> None:
    (place / PATH).write_text(WAITING)
    process = started(place, WAITING)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == "over\n"


def defined(text: str) -> Sequence[tuple[str, str]]:
    """The names that a text defines at its top, each with its definition."""
    lines, found = text.splitlines(), []
    for node in ast.parse(text).body:
        begin = min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))
        definition = "\n".join(lines[begin - 1 : node.end_lineno])
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append((node.name, definition))
        elif isinstance(node, ast.Assign):
            found += [(target.id, definition) for target in node.targets if isinstance(target, ast.Name)]
    return found


def test_no_name_of_an_edition_is_defined_again_by_what_goes_behind_it() -> None:
    """Both are one namespace: the second definition would take the place of the first, and steer the engine."""
    behind = defined(runtime_for("github"))
    for names in ([name for name, _ in behind], [name for name, _ in defined(publisher())]):
        assert [name for name, number in Counter(names).items() if number > 1] == []
    for edition in sorted(EDITIONS):
        engine = dict(defined(runtime(edition)))
        assert (edition, [name for name, text in behind if engine.get(name, text) != text]) == (edition, [])


def test_lines_of_the_text_are_short() -> None:
    """Of an edition, and so of this text: 56 bytes on average."""
    text = runtime_for("github")
    assert len(text.encode()) / len(text.splitlines()) <= 56
