"""A process that was forked is like one that began by itself."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import interpreters, warm
from tests.support.cli import document
from tests.support.makefiles import Place
from tests.support.process import Screen, is_gone, wait_until
from tests.support.warm.codes import LONG, RUNTIME

pytestmark = pytest.mark.process

SCRIPT = """
import atexit, os, resource, sys, threading
atexit.register(lambda: print("the end"))
text = sys.stdin.read()
threading.Thread(target=lambda: print("from a thread")).start()
print(__name__, __file__, sys.argv, sys.path[0], os.getcwd(), sorted(os.environ.items()), repr(text))
print(sys.flags, sys.stdout.encoding, sys.stdout.errors, sys.stdout.line_buffering, sys.stdout.isatty())
print(resource.getrlimit(resource.RLIMIT_FSIZE), sorted(os.listdir("/proc/self/fd")), "runtime_shim" in sys.modules)
print("é", file=sys.stderr)
"""
ENDS = {
    "an end": "",
    "a number": "sys.exit(3)",
    "words": "sys.exit('no')",
    "nothing": "sys.exit()",
    "a signal": "sys.stdout.flush(); os.kill(os.getpid(), 9)",
    "an interrupt": "raise KeyboardInterrupt",
    "an error": "def f():\n    return [1][2]\n\n\nclass A:\n    def g(self): f()\n\nA().g()",
}
FEW = [ENDS[name] for name in ("an end", "a number", "an error")]
"""Ends for what starts in another way, and ends as the others do."""

FILL = "# " + "x" * LONG + "\n"
LONGER = f"{FILL}{SCRIPT}\n{RUNTIME.decode()}1.\n{FILL}if True:\n    import ast\nprint(ast.__name__)\n"
"""A program of an author's part and a runtime, of which both are long."""


def begun(words: list[str], cwd: Path, env: dict[str, str], text: bytes) -> tuple[int, bytes, bytes]:
    done = subprocess.run(words, cwd=cwd, env=env, input=text, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("option", "ends"), [*(([], end) for end in ENDS.values()), *((["-S"], end) for end in FEW)])
def test_a_program_cannot_tell_the_difference(option: list[str], ends: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SCRIPT.replace("sys.path[0]", "sys.path") + ends, encoding="utf-8")
    (tmp_path / "in").mkdir()
    words = [sys.executable, *option, str(tmp_path / "a.py"), "b", "c d"]
    env = {"PATH": os.environ["PATH"], "PYTHONUTF8": "1", "RDC_A": "é", "PYTHONPATH": str(tmp_path / "in")}
    warm.run(words, cwd=tmp_path, env=env)  # so that the limit is of this process, and not of the one that forks
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        expected = begun(words, tmp_path / "in", env, b"given")
        done = warm.run(words, cwd=tmp_path / "in", env=env, input=b"given")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (done.returncode, done.stdout, done.stderr) == expected
    assert b"__main__" in done.stdout


@pytest.mark.share(2)
@pytest.mark.parametrize("ends", FEW)
@pytest.mark.parametrize("text", [FILL + SCRIPT, LONGER], ids=["one part", "two parts"])
def test_a_long_script_cannot_tell_whether_it_was_compiled_before(text: str, ends: str, tmp_path: Path) -> None:
    script = tmp_path / "a.py"
    script.write_text(f"{text}# {tmp_path}\n{ends}", encoding="utf-8")
    given = [str(script), "b", "c d"]
    env = {"PATH": os.environ["PATH"], "PYTHONUTF8": "1", "RDC_A": "é"}
    expected = begun([sys.executable, *given], tmp_path, env, b"given")
    for _ in range(2):
        assert begun(["python3", *given], tmp_path, env, b"given") == expected
    done = warm.run([sys.executable, *given], cwd=tmp_path, env=env, input=b"given")
    assert (done.returncode, done.stdout, done.stderr) == expected


IN_A_TEXT = f"""{FILL}
A = '''
{RUNTIME.decode()}1.
'''
print(A)
def f(
"""


@pytest.mark.parametrize("ends", [")", "): pass", "): return\n1 / 0"])
def test_a_text_that_names_a_runtime_parts_nothing(ends: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(IN_A_TEXT + ends, encoding="utf-8")
    env = {"PATH": os.environ["PATH"]}
    expected = begun([sys.executable, "a.py"], tmp_path, env, b"")
    assert begun(["python3", "a.py"], tmp_path, env, b"") == expected
    done = warm.run([sys.executable, "a.py"], cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout, done.stderr) == expected
    assert expected[0] == int(ends != "): pass")


BESIDES = """
import os, sys
class Checked:
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "runtime.txt")
    def get_code(self):
        with open(self.path, "rb") as file:
            code = file.read()
        return compile(code, self.path, "exec")
exec(Checked().get_code())
"""


@pytest.mark.share(2)
@pytest.mark.parametrize("ends", FEW)
@pytest.mark.parametrize("fill", ["", FILL], ids=["short", "long"])
def test_a_program_cannot_tell_whether_its_runtime_was_compiled_before(fill: str, ends: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(f"{fill}{BESIDES}", encoding="utf-8")
    (tmp_path / "runtime.txt").write_text(f"{FILL}{SCRIPT}\n# {tmp_path}\n{ends}", encoding="utf-8")
    env = {"PATH": os.environ["PATH"], "PYTHONUTF8": "1", "RDC_A": "é"}
    expected = begun([sys.executable, "a.py", "b"], tmp_path, env, b"given")
    before = [*Path(interpreters.kept_code()).iterdir()]
    for _ in range(2):
        assert begun(["python3", "a.py", "b"], tmp_path, env, b"given") == expected
    assert len([*Path(interpreters.kept_code()).iterdir()]) > len(before), "its code is kept"
    done = warm.run([sys.executable, "a.py", "b"], cwd=tmp_path, env=env, input=b"given")
    assert (done.returncode, done.stdout, done.stderr) == expected


@pytest.mark.parametrize("option", ["-I", "-E", "-P", "-u", "-bb"])
def test_the_interpreter_on_path_heeds_its_options(option: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(FILL + "import sys\nprint(sys.flags, sys.path[0])", encoding="utf-8")
    words, env = [option, "a.py"], {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0"}
    shown = begun(["python3", *words], tmp_path, env, b"")
    assert shown == begun([os.path.realpath(sys.executable), *words], tmp_path, env, b"")


def test_a_program_that_was_changed_is_read_again_and_what_fails_fails_alone(tmp_path: Path) -> None:
    output = []
    for text in ("print('one')", "1 / 0", "def", "print('fine')"):
        (tmp_path / "a.py").write_text(text, encoding="utf-8")
        done = warm.run([sys.executable, "a.py"], cwd=tmp_path)
        output.append((done.returncode, done.stdout, done.stderr.decode().splitlines()[-1:]))
    assert output == [
        (0, b"one\n", []),
        (1, b"", ["ZeroDivisionError: division by zero"]),
        (1, b"", ["SyntaxError: invalid syntax"]),
        (0, b"fine\n", []),
    ]


def test_what_does_not_end_is_killed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import time\ntime.sleep(60)", encoding="utf-8")
    with pytest.raises(subprocess.TimeoutExpired):
        warm.run([sys.executable, "a.py"], cwd=tmp_path, timeout=0.3)
    assert warm.run([sys.executable, "-m", "rdc", "--version"], cwd=tmp_path, env=at_home()).returncode == 0


def test_rdc_and_a_run_that_it_asks_are_those_of_processes(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text("# A\n\n## 1. Is it up?\n\n- YES: COMPLETE\n- NO: STOP\n", encoding="utf-8")
    rdc: list[Any] = [sys.executable, "-m", "rdc"]
    assert warm.run([*rdc, "run", "a.runbook.md"], cwd=tmp_path, env=at_home()).returncode == 75
    for words, shows in ((["status"], b"Is it up?"), (["check", "none.runbook.md"], b"")):
        done = warm.run([*rdc, *words], cwd=tmp_path, env=at_home())
        assert (done.returncode, done.stdout, done.stderr) == begun([*rdc, *words], tmp_path, at_home(), b"")
        assert (done.returncode, shows in done.stdout) == (int(words != ["status"]), True)


def at_home() -> dict[str, str]:
    """An environment in which rdc is found."""
    return {**os.environ, "PYTHONPATH": str(warm.SERVER.parents[3])}


CALLED = """
import os, sys
print(__name__, __file__, sys.argv, sys.path[0], os.getcwd(), sys.flags, sys.executable, repr(sys.stdin.read()))
print({name: os.environ[name] for name in sorted(os.environ) if name != "PATH"})
print("é", file=sys.stderr, flush=True)
"""


@pytest.mark.parametrize(
    ("script", "ends"), [*(("./rdc/a.py", end) for end in ENDS.values()), *(("other/a.py", end) for end in FEW)]
)
def test_a_program_that_make_calls_cannot_tell_the_difference(script: str, ends: str, tmp_path: Path) -> None:
    document(tmp_path, script, CALLED + ends)
    words, env = ["sh", "-c", f"python3 -I {script} 'b\n' 'c d'; exit $?"], {**os.environ, "RDC_A": "é"}
    assert warm.forking(env) != env
    expected, done = (begun(words, tmp_path, each, b"given") for each in (env, warm.forking(env)))
    assert done[:2] == expected[:2]
    assert done[2].removesuffix(b"Killed\n") == expected[2].removesuffix(b"Killed\n")  # which the shell says


def test_what_decides_how_an_interpreter_starts_has_it_start() -> None:
    for name in ("PATH", "PYTHON", "LC_ALL", "TZ"):
        env = {**os.environ, name: "/usr/bin"}
        assert warm.forking(env) == env


def test_the_program_of_a_makefile_is_forked(tmp_path: Path) -> None:
    place = Place(tmp_path, "## 1\n\n```sh\ncat /proc/$PPID/cmdline > words\n```\n\n## 2. Well?\n", operator="full")
    place.make()
    assert "steps.main(" in (tmp_path / "words").read_text()


def test_a_caller_that_is_killed_takes_its_program_along(tmp_path: Path) -> None:
    document(tmp_path, "rdc/a.py", "import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(60)\n")
    words, env = ["sh", "-c", "exec python3 -I rdc/a.py"], warm.forking(dict(os.environ))
    with subprocess.Popen(words, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        program = int(process.stdout.readline())
        assert program != process.pid
        process.kill()
    wait_until(lambda: is_gone(program))


def test_a_program_that_goes_on_is_that_of_a_process(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import sys\nprint('on', flush=True)\nsys.stdin.read()\nsys.exit(3)\n")
    ended = warm.start([sys.executable, "a.py"], cwd=tmp_path, env=at_home())
    assert ended.communicate(timeout=30) == ("on\n", "")
    assert (ended.returncode, ended.poll(), is_gone(ended.pid)) == (3, 3, True)
    (tmp_path / "a.py").write_text("import time\nprint('on', flush=True)\ntime.sleep(60)\n")
    goes_on = warm.start([sys.executable, "a.py"], cwd=tmp_path, env=at_home())
    assert goes_on.stdout
    assert (goes_on.stdout.readline(), goes_on.poll()) == ("on\n", None)
    with pytest.raises(subprocess.TimeoutExpired):
        goes_on.wait(0.05)
    goes_on.kill()
    assert goes_on.wait(30) == -signal.SIGKILL
    (tmp_path / "a.py").write_text("import os, sys\nprint(os.getpgrp() == os.getpid(), file=sys.stderr)\n")
    (tmp_path / "log").write_text("before\n")
    assert warm.start([sys.executable, "a.py"], cwd=tmp_path, env=at_home(), log=tmp_path / "log").wait(30) == 0
    assert (tmp_path / "log").read_text() == "before\nTrue\n", "with a log it leads a group"


def test_a_program_at_a_terminal_is_that_of_a_process(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import os, sys\n"
        "print(*(os.isatty(n) for n in range(3)), sys.stdout.line_buffering, os.getsid(0) == os.getpid())\n"
        "print(input('a? '), os.ttyname(0) == os.ttyname(2), open('/dev/tty').isatty())\n"
    )
    screen = Screen([sys.executable, "a.py"], tmp_path, at_home())
    screen.expect("True True True True True\n")
    screen.expect(r"a\? ")
    screen.type("yes\n")
    screen.expect("yes True True\n")
    assert screen.close() == 0
