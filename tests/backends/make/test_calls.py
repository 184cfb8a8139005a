"""Makefiles that call the program: which program, with what, and what make is not allowed to do on the way."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from backends.base import MARK
from backends.make import controls
from backends.make.native import loop
from backends.python import PythonBackend
from backends.python.edition import edition_of
from backends.python.step_calls import author_calls
from compiler.ir.edges import Keep
from compiler.ir.program import Input, Program, Settings, Variable
from compiler.ir.texts import text
from runtime_shim.cli.command_line import OPTIONS
from runtime_shim.editions import EDITIONS
from runtime_shim.targets.make import taken
from tests.backends.make.loops import compiled, is_alive
from tests.conftest import ROOT
from tests.support import warm
from tests.support.backend_programs import Made, always, ask, gate, node, program, ref, shell, slots, when, words
from tests.support.github.lint import program as tool
from tests.support.makefiles import PATIENCE, environment
from tests.support.process import wait_until

pytestmark = pytest.mark.process

SHOWS = 'printf "%s\\n" "$topic" >> seen; env > environment; [ ! -e slow ] || { echo $$ > began; sleep 60; }'
HOSTILE = ("$(shell touch x)", "'; touch x; '", '`touch x`"$(touch x)"', "@/etc/passwd", "--help # \\", "a$$b %", "é,b")
EXAMPLES = sorted(
    path for kind in ("playbook.md", "workflow.yaml", "stepspec.yaml") for path in ROOT.glob(f"examples/*/*.{kind}")
)


def shown(**fields: object) -> Program:
    """A program whose command shows its input, before a question and a gate."""
    return program(
        node("1", shell(SHOWS), when("pass", "2"), when("fail", "stop"), variables=(Variable("topic", "topic"),)),
        node("2", ask("yes_no", prompt="Is it so?"), when("pass", "3"), when("fail", "stop")),
        node("3", gate("Really?")),
        message=words("<", ref("topic"), ">"),
        slots=slots("topic"),
        inputs=(Input("topic", type="text", description="What it is about"),),
        **fields,
    )


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path, shown())


def shown_lines(made: Made) -> list[str]:
    return made.read("seen").decode().splitlines()


def test_make_does_the_whole_and_each_step_when_it_is_due(made: Made) -> None:
    assert made.end("topic=rain") == "rdc: WAITING 2"
    of_the_program = warm.run([sys.executable, "rdc/main.py", "status"], cwd=made.folder, env=environment({})).stdout
    assert (b"WAITING at 2" in of_the_program, b"make" in of_the_program) == (True, False)
    assert (made.end("step-1"), made.end("step-3")) == ("rdc: step 1 is completed", "rdc: WAITING 2")
    assert made.make("answer", "STEP=2", "REPLY=yes").returncode == 0
    assert (made.end("step-2"), made.end("step-3")) == ("rdc: step 2 is completed", "rdc: WAITING 3")
    assert made.end("approve", "GATE=3") == "rdc: COMPLETE <rain>"
    assert (made.end("resume"), shown_lines(made)) == ("rdc: COMPLETE <rain>", ["rain"])


def test_only_editions_with_reports_have_a_target_for_them(made: Made, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    full = Made(tmp_path / "full", shown(), operator="full")
    assert [b" report " in each.read("Makefile") for each in (made, full)] == [False, True]
    assert made.make("report").returncode == full.make("report").returncode == 2


def test_the_program_is_the_one_of_the_python_target(made: Made, tmp_path: Path) -> None:
    emission = PythonBackend().emit(shown(), {"runtime": "shared", "caller": "make"})
    assert (made.read("rdc/main.py").decode(), len(emission.companions)) == (emission.text, 2)
    for each in emission.companions:
        assert made.read(f"rdc/{each.path}").decode() == each.text
    names = {each.path for each in emission.companions}
    assert {path.name for path in (tmp_path / "rdc").iterdir()} == {"main.py", *names}


OF_RUNTIMES = ("was changed; restore it", "which this program needs")
REPLACED = {
    "main.py": ("is not the program that belongs to this Makefile", "rdc: error: cannot read ./rdc/main.py"),
    "rdc_runtime_*.py": OF_RUNTIMES,
    "rdc_make_*.py": OF_RUNTIMES,
}
"""The errors for a file that was changed, and for one that is not there."""


@pytest.mark.parametrize("name", REPLACED)
def test_another_program_or_runtime_is_not_executed(made: Made, name: str) -> None:
    (path,) = (made.folder / "rdc").glob(name)
    path.write_bytes(b"open('executed', 'w')\n" + path.read_bytes())
    changed, missing = REPLACED[name]
    for verb in ("run", "status", "step-1"):
        done = made.make(verb, *["topic=x"] * (verb != "status"))
        assert (done.returncode, changed in (done.stdout + done.stderr).decode()) == (2, True)
    path.unlink()
    done = made.make("topic=x")
    assert (done.returncode, missing in (done.stdout + done.stderr).decode()) == (2, True)
    assert not (made.folder / "executed").exists()
    assert not (made.folder / ".rdc").exists()


def test_nothing_beside_the_program_is_imported_or_written(made: Made) -> None:
    for place in (".", "rdc", ".rdc/main", ".rdc/main.make"):
        (made.folder / place).mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in ("json", "hashlib", "sitecustomize", "usercustomize", "os", "helper", "main"):
            if not (path := made.folder / place / f"{name}.py").exists():
                path.write_text("open('executed', 'w')\n", encoding="utf-8")
    before = {path.name for path in (made.folder / "rdc").iterdir()}
    words, env = ["make", "topic=x"], environment({})  # a Python that really starts
    done = subprocess.run(words, cwd=made.folder, env=env, capture_output=True, check=False)
    assert done.stdout.endswith(b"rdc: WAITING 2\n")
    assert not (made.folder / "executed").exists()
    assert {path.name for path in (made.folder / "rdc").iterdir()} == before, "no .pyc is written"


def test_make_or_the_environment_may_name_python_and_without_it_nothing_is_run(made: Made, tmp_path: Path) -> None:
    for name in ("no-such-python", "$(shell touch x)", "python3 -c 1"):
        done = made.make("topic=x", f"PYTHON={name}")
        assert done.returncode == 2
        assert done.stdout.decode() == f"rdc: error: cannot find {name}; set PYTHON= to Python 3.9 or newer\n"
    assert {path.name for path in made.folder.iterdir()} == {"Makefile", "rdc"}
    shim = made.script("my python", f'touch used\nexec {sys.executable} "$@"')
    assert made.end("topic=x", PYTHON=shim) == "rdc: WAITING 2"
    assert (tmp_path / "used").exists()
    assert "cannot find $(shell touch x)" in made.end("resume", PYTHON="$(shell touch x)")
    assert not (tmp_path / "x").exists()


def test_the_tools_that_check_the_program_are_named_where_they_are_missing(made: Made, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "make", "python3", "env"):
        (tools / name).symlink_to(Path(shutil.which(name) or "").resolve())
    assert made.end("topic=x", PATH=str(tools)).endswith("cannot check ./rdc/main.py: install sha256sum or shasum")
    (tools / "shasum").write_text('#!/bin/sh\n[ "$*" = "-a 256" ] && exec /usr/bin/sha256sum\n', encoding="utf-8")
    (tools / "shasum").chmod(0o755)
    assert made.end("topic=x", PATH=str(tools)) == "rdc: WAITING 2"


def test_a_step_that_no_run_comes_to_may_be_all_that_needs_the_program(tmp_path: Path) -> None:
    made = Made(tmp_path, program(node("1", ask("yes_no")), node("2", shell("true"), settings=Settings(timeout=9))))
    assert made.end("OTHER=1") == "rdc: WAITING 1"
    assert "make answer" in made.make("help").stdout.decode()


def test_what_make_is_given_is_text(tmp_path: Path) -> None:
    """In an input, a reply, a note, the name of a run, and a name that means nothing."""
    names = [f"topic{number}" for number in range(len(HOSTILE))]
    shows = [f'printf "%s\\n" "${name}" >> seen' for name in names]
    variables = tuple(Variable(name, name) for name in names)
    step = node("1", shell("\n".join([*shows, "env > environment"])), always("2"), variables=variables)
    asks = node("2", ask("input"), always("done", Keep("reply")))
    inputs = tuple(Input(name) for name in names)
    made = Made(tmp_path, program(step, asks, message=words(ref("reply")), slots=slots(*names, "reply"), inputs=inputs))
    given = [f"topic{number}={value}" for number, value in enumerate(HOSTILE)]
    others = [f"other{number}={value}" for number, value in enumerate(HOSTILE)]
    assert (made.end(*given, *others), shown_lines(made)) == ("rdc: WAITING 2", [*HOSTILE])
    assert {*others} <= {*made.read("environment").decode().splitlines()}
    note = " ".join(HOSTILE)
    assert made.make("answer", f"STEP={note}", "REPLY=yes").returncode == 2
    for name in ("ANSWERS", "AS"):
        assert made.make("resume", f"{name}={note}").returncode == 2
    assert made.make("answer", "STEP=2", f"REPLY={note}", f"NOTE={note}", "BY=ann").returncode == 0
    assert f"by ann: {note}" in made.make("status").stdout.decode()
    assert made.end("resume") == f"rdc: COMPLETE {note}"
    assert not (made.folder / "x").exists()


def test_commands_see_neither_what_the_program_was_given_nor_what_make_adds(made: Made) -> None:
    assert made.end("topic=x", "-k", "EVENTS=events", "MINE=1", "RDC_AGENT=mine") == "rdc: WAITING 2"
    seen = made.read("environment").decode()
    assert re.search(r"^MINE=1$", seen, re.MULTILINE)
    assert re.search(r"^RDC_AGENT=mine$", seen, re.MULTILINE)
    hidden = "EVENTS|RDC_(GIVEN|SCRIPT|MAKE|PLACE|OPENS)|MAKEFLAGS|MFLAGS|MAKEOVERRIDES|MAKELEVEL|PYTHON"
    assert not re.search(rf"^({hidden})=", seen, re.MULTILINE)


REFUSED = {
    "run topic=x BY=ann": "run does not take BY; leave it out",
    "status topic=x": "status does not take topic; leave it out",
    "resume INPUTS=x": "resume does not take INPUTS; leave it out",
    "resume FILE=reply": "resume does not take FILE; leave it out",
    "reset HUMAN=1": "reset does not take HUMAN; leave it out",
    "step-1 STEP=1": "step does not take STEP; leave it out",
    "help RERUN=1": "help does not take RERUN; leave it out",
    "run topic=x PROMPTED=1": "this Makefile does not take PROMPTED; leave it out, or set it in make's environment",
    "status BREAK=1": "this Makefile does not take BREAK; leave it out, or set it in make's environment",
    "resume HUMAN=perhaps": "HUMAN=perhaps: expected 1 or 0",
    "answer REPLY=yes": "STEP is missing; for help, run: make help",
    "answer STEP=2": "REPLY is missing; for help, run: make help",
    "approve": "GATE is missing; for help, run: make help",
    "goto": "STEP is missing; for help, run: make help",
}


def test_what_is_refused_or_missing_has_its_name_of_make(made: Made) -> None:
    for given, message in REFUSED.items():
        assert made.end(*given.split()) == f"rdc: error: {message}"
    assert not (made.folder / ".rdc").exists()


def test_the_environment_is_neither_refused_nor_an_input(made: Made) -> None:
    assert made.end("topic=x", AS="as", PROMPTED="1", EXPIRE="1h", HUMAN="1", topic="y") == "rdc: WAITING 2"
    assert shown_lines(made) == ["x"]
    assert "input topic: a value is required; set it with topic=" in made.make("run", topic="y").stdout.decode() + (
        made.end("reset") and made.make("run", topic="y").stdout.decode()
    )


def test_an_input_may_have_a_name_that_other_makefiles_give_a_meaning(tmp_path: Path) -> None:
    one = node("1", shell("true"))
    whole = program(one, message=words(ref("BREAK")), slots=slots("BREAK"), inputs=(Input("BREAK"),))
    assert Made(tmp_path, whole).end("BREAK=today") == "rdc: COMPLETE today"


def test_help_lists_targets_inputs_and_variables(made: Made) -> None:
    shown_by_make = made.make("help").stdout.decode()
    for row in ("make run", "make resume", "make step-X", "make goto", "make approve", "topic=VALUE", "ANSWERS=FILE",
                "RERUN=1", "STEP=ID", "BY=WHO", "What it is", "make clean", "REPLY=REPLY", "FILE=FILE"):  # fmt: skip
        assert re.search(rf"^  .*{re.escape(row)}", shown_by_make, re.MULTILINE), row


@pytest.mark.parametrize("kind", ["playbook.md", "workflow.yaml", "stepspec.yaml"])
def test_every_target_that_help_lists_is_one(kind: str, tmp_path: Path) -> None:
    made = Made(tmp_path, compiled(next(path for path in EXAMPLES if path.name.endswith(kind))))
    listed = re.findall(r"^  make (\S+)", made.make("help").stdout.decode(), re.MULTILINE)
    assert {"run", "resume", "clean", "step-X"} <= {*listed}
    done = made.make("-n", *(name for name in listed if name != "step-X"))
    assert done.returncode == 0, done.stderr


def test_a_reply_can_be_in_a_file(made: Made) -> None:
    made.make("topic=x")
    (made.folder / "reply").write_text("yes\r\n", encoding="utf-8")
    (made.folder / "empty").touch()
    assert made.end("answer", "STEP=2", "REPLY=no", "FILE=reply") == "rdc: error: use FILE or REPLY, not both"
    assert made.end("answer", "STEP=2", "FILE=empty") == "rdc: error: REPLY is missing; for help, run: make help"
    assert "No such file" in made.end("answer", "STEP=2", "FILE=none")
    assert made.make("answer", "STEP=2", "FILE=reply").returncode == 0
    assert made.end("resume", "HUMAN=", "RERUN=no") == "rdc: WAITING 3"
    assert made.end("resume", "HUMAN=yes") == "rdc: COMPLETE <x>"


def test_no_input_can_have_the_name_of_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RDC_MAKE", "''")
    for whole in map(compiled, EXAMPLES):
        found = author_calls(whole).built()
        kinds = [kind for kind in EDITIONS[edition_of(whole, is_full=True)].kinds() if kind.suits(found)]
        assert set(taken((*OPTIONS, *(option for kind in kinds for option in kind.options)))) <= controls(whole)


@pytest.mark.parametrize("flags", [["-k", "-s", "-r"], ["-B", "-j4", "--warn-undefined-variables"]])
def test_whatever_make_is_told_a_call_is_one_call(made: Made, flags: list[str]) -> None:
    assert b"WAITING 2" in made.make(*flags, "topic=x", "HUMAN=1", "EVENTS=events").stdout
    assert (shown_lines(made), made.read("events").count(b"run_started")) == (["x"], 1)


@pytest.mark.parametrize("flag", ["-i", "-t"])
def test_flags_that_hide_what_fails_are_refused(made: Made, flag: str) -> None:
    done = made.make(flag, "topic=x", "HUMAN=1")
    assert (done.returncode, b"rdc: -i and -t hide what fails" in done.stderr) == (2, True), done
    assert shown_lines(made) == []


def test_make_n_shows_the_calls_and_does_nothing(made: Made) -> None:
    done = made.make("-n", "topic=x", "run", "step-1", "status")
    called = [line for line in done.stdout.decode().splitlines() if not line.startswith("make")]
    assert called == ["python3 ./rdc/main.py run", "python3 ./rdc/main.py step 1", "python3 ./rdc/main.py status"]
    assert not (made.folder / ".rdc").exists()


def test_several_goals_open_one_gate(tmp_path: Path) -> None:
    gates = [node(f"g{number}", gate(), when("approved", then), when("rejected", "stop"))
             for number, then in ((1, "a"), (2, "done"))]  # fmt: skip
    made = Made(tmp_path, program(gates[0], node("a", shell("echo a >> log"), always("g2")), gates[1]))
    assert (made.end("-k", "run", "resume", "resume", "HUMAN=1"), made.read("log")) == ("rdc: WAITING g2", b"a\n")
    assert made.end("resume", "HUMAN=1", "RDC_OPENED=", "RDC_ONCE=") == "rdc: COMPLETE"


def test_variables_of_the_makefile_cannot_be_given(made: Made) -> None:
    given = ["RDC_PROGRAM=/dev/null", "RDC_SHA256=x", "CALL=@touch x", "RDC_SCRIPT=touch x", "RDC_CHECKED=touch x",
             "RDC_GIVEN='", "RDC_MAKE='", "RDC_QUOTED=$(1)", "RDC_NAMES=", "MAKEOVERRIDES=x"]  # fmt: skip
    assert (made.end("topic=x", *given), shown_lines(made)) == ("rdc: WAITING 2", ["x"])
    assert not (made.folder / "x").exists()


def test_hints_can_be_pasted(tmp_path: Path) -> None:
    """Also in a folder of any name."""
    folder = tmp_path / "space here quo'te dou\"ble $x$(really) (paren) comma, per%cent é"
    folder.mkdir()
    made = Made(folder, shown())
    (folder / "Makefile").rename(folder / "my-$x.mk")
    called = ["make", "-C", str(folder), "-f", "my-$x.mk"]
    env = warm.forking(environment({}))
    done = subprocess.run([*called, "topic=x"], cwd=tmp_path, env=env, capture_output=True, check=False)
    hints = re.findall(r"rdc: to (?:answer|continue): (make .*)", done.stdout.decode())
    assert len(hints) == 3
    for hint in (hints[0], hints[2]):
        subprocess.run(["sh", "-c", hint], cwd=tmp_path, env=env, check=False, capture_output=True)
    assert made.end("-f", "my-$x.mk", "status").startswith("  make -f ")
    assert b"WAITING at 3" in made.make("-f", "my-$x.mk", "status").stdout


ODD = [
    "a b", "$(shell touch x)", "#1", "a,b", "100%", "run", "-n", "{N}.1", "é/b.md/1", "x=y:b", "step-run",
    "step-a-b",
]  # fmt: skip


def test_each_step_has_a_target_whatever_it_is_called(tmp_path: Path) -> None:
    steps = [
        node(name, shell(f"echo {number} >> log"), always(then), title=text(name))
        for number, (name, then) in enumerate(zip(ODD, [*ODD[1:], "done"], strict=True))
    ]
    made = Made(tmp_path, program(*steps), operator="full")
    targets = re.findall(r"^(step[^: ]*): ;", made.read("Makefile").decode(), re.MULTILINE)
    assert (len(set(targets)), made.make("open").returncode) == (len(ODD), 0)
    for number, target in enumerate(targets):
        assert made.make(target).returncode == 0, target
        assert made.read("log").split()[-1] == str(number).encode()
    assert not (tmp_path / "x").exists()


def start(made: Made, *given: str) -> subprocess.Popen[bytes]:
    (made.folder / "slow").touch()
    process = subprocess.Popen(
        ["make", *given], cwd=made.folder, env=environment({}), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    wait_until(lambda: process.poll() is not None or made.read("began").endswith(b"\n"))
    assert process.poll() is None, process.communicate()
    return process


def test_term_to_make_alone_ends_the_command(made: Made, ended: list[subprocess.Popen[bytes]]) -> None:
    process = start(made, "topic=x")
    ended.append(process)
    os.kill(process.pid, signal.SIGTERM)
    printed, _ = process.communicate(timeout=PATIENCE)
    assert printed.decode().splitlines()[-1].startswith("rdc: INTERRUPTED 1")
    wait_until(lambda: not is_alive(int(made.read("began"))))
    (made.folder / "slow").unlink()
    shown_by_make = made.make("resume").stdout.decode()
    assert "make resume RERUN=1" in shown_by_make
    assert "make resume ASSUME=pass" in shown_by_make
    assert made.end("resume", "RERUN=1", "ASSUME=pass").startswith("rdc: error: use either ASSUME with one of ")
    assert made.end("resume", "ASSUME=pass") == "rdc: WAITING 2"


def test_the_part_that_is_the_same_everywhere_is_short(tmp_path: Path) -> None:
    for path in EXAMPLES:
        lines = Made(tmp_path, compiled(path)).read("Makefile").decode().splitlines()
        steps = lines.index(next(line for line in lines if line.startswith("# --- The steps")))
        rest = lines.index(next(line for line in lines if line.startswith("# --- The call of the program")))
        sources = [line for line in lines[:20] if re.match(r"# (\(sha256 |with )", line)]
        beginnings = ("# AGENT=", "# Without one, you reply", "# Uses ", "# An answer with ")
        notes = [line for line in lines[:30] if line.startswith(beginnings)]  # on agents and checks of the document
        author = rest - steps - 2 + len(sources) + len(notes)
        assert len(lines) - author <= 72, (path.name, len(lines) - author)
        assert MARK in lines[2]
        assert max(len(line) for line in lines[rest:] if "RDC_TARGETS :=" not in line) <= 120


def test_commands_and_prompts_are_comments_in_full(tmp_path: Path) -> None:
    command = "echo one \\\n  two\n\tendef\nx := $(shell touch x) # \\"
    whole = program(
        node("1", shell(command, "bash"), when("pass", "2", Keep("v")), when("fail", "stop"),
             settings=Settings(timeout=90, delay=5)),
        node("2", ask("select", text("one"), text("two"), prompt="Which\none?"), always("done")),
        message=words("All \\"), slots=slots("v"),
    )  # fmt: skip
    made = Made(tmp_path, whole)
    text_of_it = made.read("Makefile").decode()
    for line in ("#   bash:", "#     echo one \\", "#       two", "#         endef", "#     x := $(shell touch x) # \\",
                 "#   timeout: 90 s; retry after 5 s", "#   fail: STOP", "#   question (select):", "#     Which",
                 "#     one?", "#     - one", '#   otherwise: COMPLETE "All \\"'):  # fmt: skip
        assert f"{line}\n" in text_of_it, line
    assert b"step-1" in made.make("-n", "step-1", "-p").stdout
    assert not (tmp_path / "x").exists()


def test_shellcheck_finds_nothing_in_what_is_sh(made: Made, tmp_path: Path) -> None:
    checks = made.read("Makefile").decode().partition("define RDC_CHECKED\n")[2].partition("\nendef")[0]
    scripts = [tmp_path / "check.sh", tmp_path / "loop.sh"]
    for path, script in zip(scripts, (f"sha256=x\n{checks}\n", loop()), strict=True):
        path.write_text(f"#!/bin/sh\n{script}", encoding="utf-8")
    done = subprocess.run([tool("shellcheck"), "-s", "sh", *map(str, scripts)], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


def test_it_is_called_by_shells_of_all_kinds(kind: str, made: Made) -> None:
    value = "it's $(touch x) \\ 100 %"
    assert (made.end(f"SHELL={kind}", f"topic={value}"), shown_lines(made)) == ("rdc: WAITING 2", [value])
    assert not (made.folder / "x").exists()
