"""Makefiles of the form `plain`: a rule and a stamp file for each step, and no driver."""

import os
import re
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings

from backends.base import Emission
from backends.make import MakeBackend
from compiler.diagnostics.issues import InvalidError
from tests.backends.make.texts import PIECES, TEXTS, with_commands
from tests.support.documents import program_at
from tests.support.makefiles import PATIENCE, Place, environment
from tests.support.runbooks import command

pytestmark = pytest.mark.process

LINE = (
    "# Line\n\n"
    + command(
        "1. Build it", "echo build >> log\n[ -e broken ] || exit 0\nexit 1", 'FAIL: STOP "It\'s $HOME broken; see #1"'
    )
    + command("2. Tell them", "[ -e tells ] && echo tell >> log", "FAIL: CONTINUE", shell="sh")
    + command(
        "3. Ship it",
        'echo "ship $RDC_STEP $RDC_ATTEMPT" >> log; [ "$RDC_ATTEMPT" = 3 ]',
        'PASS: COMPLETE "Out it goes"',
        "FAIL: RETRY 2",
    )
)


def emitted(path: Path, **options: object) -> Emission:
    return MakeBackend().emit(program_at(path), {"form": "plain", **options})


@pytest.fixture
def line(tmp_path: Path) -> Place:
    return Place(tmp_path, LINE, form="plain")


def test_make_runs_all_steps_once_whatever_the_clock_until_clean_starts_over(line: Place) -> None:
    done = line.make("-s")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "Out it goes"), done.stderr
    assert line.lines("log") == ["build", "ship 3 1", "ship 3 2", "ship 3 3"]
    assert sorted(path.name for path in line.state.iterdir()) == [".gitignore", "build-it", "ship-it", "tell-them"]
    again = line.make()
    assert (again.returncode, again.stdout, len(line.lines("log"))) == (0, "Out it goes\n", 4)
    for number, name in enumerate(("build-it", "tell-them", "ship-it")):  # a clock that goes back
        os.utime(line.state / name, (2_000_000_000 - number, 2_000_000_000 - number))
    (line.folder / "log").unlink()
    assert (line.make().returncode, line.lines("log")) == (0, [])
    (line.state / "journal").write_text("mine\n", encoding="utf-8")
    assert line.make("clean").returncode == 0
    assert sorted(path.name for path in line.state.iterdir()) == [".gitignore", "journal"]
    line.make()
    assert line.lines("log").count("build") == 1


def test_make_continues_where_it_stopped(line: Place) -> None:
    (line.folder / "broken").touch()
    stopped = line.make("-s")
    assert (stopped.returncode, "It's $HOME broken; see #1\n" in stopped.stderr) == (2, True), stopped
    assert line.lines("log") == ["build"]
    (line.folder / "broken").unlink()
    (line.folder / "tells").touch()
    assert (line.make().returncode, line.lines("log")[:4]) == (0, ["build", "build", "tell", "ship 3 1"])


def test_an_interrupted_step_runs_again_and_a_finished_one_does_not(tmp_path: Path) -> None:
    slow = "# Slow\n\n## 1. Build\n\n```sh\necho build >> log\n```\n\n## 2. Wait\n\n```bash\necho began >> began\n"
    place = Place(tmp_path, f"{slow}[ -e quick ] || exec sleep 30\necho waited >> log\n```\n", form="plain")
    process = place.start()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    (tmp_path / "quick").touch()
    assert (place.make().returncode, place.lines("log")) == (0, ["build", "waited"])


def test_a_dry_run_shows_the_commands_and_runs_nothing(line: Place) -> None:
    before, shown = line.files, line.make("-n")
    assert shown.returncode == 0
    for each in ("[ -e broken ] || exit 0", "[ -e tells ] && echo tell >> log", 'echo "ship $RDC_STEP $RDC_ATTEMPT"'):
        assert each in shown.stdout
    assert line.files == before


def test_flags_of_make_do_not_pass_over_a_failure(line: Place) -> None:
    (line.folder / "broken").touch()
    for flag in ("-i", "-t", "-ki", "--touch", "--ignore-errors"):
        refused = line.make(flag)
        assert refused.returncode == 2
        assert re.search("rdc: -[it] would skip steps", refused.stderr)
    assert not (line.folder / ".rdc").exists()
    for flag in ("-k", "-j4", "-kj2"):
        assert line.make(flag).returncode == 2
    assert line.lines("log") == ["build"] * 3


def test_make_expands_nothing_that_it_is_given(tmp_path: Path) -> None:
    place = Place(tmp_path, '## 1. Say\n\n```sh\nprintf %s "$OTHER" > shown\n```\n', form="plain")
    value = "$(shell touch canary) ${x} $$ #"
    assert (place.make(f"OTHER={value}").returncode, place.lines("shown")) == (0, [value])
    assert not (tmp_path / "canary").exists()


def test_commands_have_their_own_shells(tmp_path: Path) -> None:
    shows = 'echo "$RDC_STEP ${BASH_VERSION:+bash}" >> log'
    steps = [command(f"{n}. Step", shows, shell=tag) for n, tag in enumerate(("bash", "sh", "bash"), 1)]
    place = Place(tmp_path, "".join(steps), form="plain")
    assert (place.make().returncode, place.lines("log")) == (0, ["1 bash", "2 ", "3 bash"])


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(text=TEXTS.map(lambda text: re.sub("[^ -~\n\t]", "é", text)[:60_000]))
@example(text=re.sub("[^ -~\n\t]", "é", "".join(piece for piece in PIECES if len(piece) < 100)))
@example(text="$(MAKE) ${MAKE} $$(MAKE) \\")
@example(text="define x\n endef # x\nendef\n\\\n\\\\")
def test_each_text_in_a_command_arrives_byte_for_byte(text: str) -> None:
    """In bash and in sh, on a line of a recipe and in a block."""
    with tempfile.TemporaryDirectory() as name:
        folder, command = Path(name), f'printf %s {shlex.quote(text)} >> "$OUT"; printf "|" >> "$OUT"'
        emission = MakeBackend().emit(with_commands(command), {"form": "plain"})
        assert emission.text, emission.diagnostics
        (folder / "Makefile").write_text(emission.text, encoding="utf-8")
        variables = environment({"OUT": str(folder / "out")})
        for words in (["make", "-n"], ["make"]):
            ran = subprocess.run(words, cwd=folder, env=variables, capture_output=True, check=False, timeout=PATIENCE)
            assert ran.returncode == 0, ran.stderr
            assert (folder / "out").exists() == ("-n" not in words)
        assert (folder / "out").read_bytes().decode() == f"{text}|{text}|"
        assert {path.name for path in folder.iterdir()} == {"Makefile", ".rdc", "out"}


@pytest.mark.parametrize("command", ["@echo x", "-echo x", "+echo x", "$(MAKE)", "${MAKE}"])
def test_a_command_that_looks_like_a_recipe_is_run_as_it_is(command: str, tmp_path: Path) -> None:
    place = Place(tmp_path, f"## 1. Do\n\n```sh\n{command} > got\n```\n\n- FAIL: CONTINUE\n", form="plain")
    assert place.make("-n").returncode == 0
    assert not (tmp_path / "got").exists()
    assert place.make().returncode == 0
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["sh", "-c", f"{command} > got"], cwd=other, capture_output=True, check=False)
    assert place.lines("got") == place.lines("other/got")


COMMAND = "\n\n```sh\ntrue\n```\n"
ASKS = "\n## {}. Look\n\nIs it?\n"
REFUSED = {
    "asks a question": (f"## 1. A{COMMAND}\n## 2. Look\n\nIs it?\n", "step 2", "question"),
    "goes back": (f"## 1. A{COMMAND}\n## 2. B{COMMAND}\n- PASS: GOTO 1\n", "step 2", "leads back to step 1"),
    "fails elsewhere": (f"## 1. A{COMMAND}\n- FAIL: GOTO 3\n\n## 2. B{COMMAND}\n## 3. C{COMMAND}", "step 1", "step 3"),
    "completes early": (f"## 1. A{COMMAND}\n- FAIL: COMPLETE\n\n## 2. B{COMMAND}", "step 1", "completes the run"),
    "stops on pass": (f"## 1. A{COMMAND}\n- PASS: STOP\n", "step 1", "stops the run if it passes"),
    "two endings": (f'## 1. A{COMMAND}\n- PASS: COMPLETE "a"\n- FAIL: COMPLETE "b"\n', "step 1", "completes the run"),
    "retries a pass": (f"## 1. A{COMMAND}\n- PASS: RETRY 2 COMPLETE\n", "step 1", "PASS"),
    "is dynamic": (f"## {{N}}. A{COMMAND}\n- PASS: COMPLETE\n", "step {N}", "dynamic"),
    "has a limit": ("---\nrdc:\n  steps:\n    1: {timeout: 1m}\n---\n" + f"## 1. A{COMMAND}", "step 1", "a time limit"),
    "is nested": ("## 1. Out\n\n- in.runbook.md\n", "steps 1/in.runbook.md/1 and ", "each of which is in a nested"),
    "two ask": (f"## 1. A{COMMAND}{ASKS}{ASKS}".format(2, 3), "steps 2 and 3", "each of which asks a question"),
    "needs a run": ("## 1. A\n\n```sh\necho $RDC_RUN_ID\n```\n", "step 1", "RDC_RUN_ID"),
}


@pytest.mark.parametrize(("document", "step", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_line_of_commands_is_refused_by_name(document: str, step: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "main.runbook.md").write_text(document, encoding="utf-8")
    (tmp_path / "in.runbook.md").write_text(f"## 1. In{COMMAND}\n## 2. B{COMMAND}", encoding="utf-8")
    emission = emitted(tmp_path / "main.runbook.md")
    assert emission.text is None
    found = emission.diagnostics[0]
    assert found.code == "RD502"
    assert found.message.startswith("a Makefile of the form `plain` ")
    assert f" {step}" in found.message
    assert message in found.message
    assert "remove `form: plain`" in (found.help or "")
    assert bool(found.span) == (step[:5] != "steps")


def test_an_option_that_needs_the_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "main.runbook.md").write_text(LINE, encoding="utf-8")
    with pytest.raises(InvalidError):
        emitted(tmp_path / "main.runbook.md", operator="full")
