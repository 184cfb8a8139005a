"""The driver of Makefiles: the same text in each, short, and nothing for shellcheck to say."""

from __future__ import annotations

import difflib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from backends.delegating import reason
from backends.make import MakeBackend
from backends.make.makefile import PARTS, REFUSED, driver_name, driver_text
from compiler.driver import compile_file
from compiler.ir.program import Program
from runtime_shim.targets.make import FOR_OTHERS
from tests.backends.makefiles import FLOW, PLAIN, Place, environment, last_line
from tests.conftest import ROOT
from tests.workflows import lint

FOLDER = ROOT / "backends" / "make" / "driver"
EXAMPLES = sorted((ROOT / "examples").glob("*.runbook.md"))

# Variables and functions of steps are made by `eval`, and words are split where they are several.
UNKNOWN = "SC2034,SC2153,SC2154,SC2329,SC2030,SC2031,SC2086"
SPLIT = ("${rdc_value##*) }", "${1##*) }", "$rdc_record", "$rdc_wrapper", "set -- $rdc_value", "$rdc_says \\)")
"""The only variables that are not in quotes on purpose."""

RETRY = "# Retry\n\n## 1. Try it\n\n```bash\necho try\n```\n\n- FAIL: RETRY 3\n"
QUESTION = "## 2. Look at it\n\nIs it tidy?\n\n- YES: CONTINUE\n- NO: STOP\n\n## 3. Write the diary"


def compiled(path: Path) -> Program:
    """The program of a document."""
    found = compile_file(str(path))
    assert found.program, found.diagnostics
    return found.program


def makefile(folder: Path, document: str, **options: object) -> str:
    """The Makefile of a document."""
    (folder / "rdc.toml").touch()
    (folder / "main.runbook.md").write_text(document, encoding="utf-8")
    text = MakeBackend().emit(compiled(folder / "main.runbook.md"), options).text
    assert text
    return text


# --- The text ---------------------------------------------------------------------------------------------------------


def test_all_parts_are_used() -> None:
    assert sorted(PARTS) == sorted(path.stem for path in FOLDER.glob("*.sh"))


def test_its_lines_are_short() -> None:
    for name in PARTS:
        lines = (FOLDER / f"{name}.sh").read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if len(line) > 120] == []
        assert re.fullmatch(r"# --- .* ---", lines[0])
    assert len(driver_text()) / driver_text().count("\n") <= 57


def test_shellcheck_finds_nothing_and_shells_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "driver.sh"
    path.write_text("".join((FOLDER / f"{name}.sh").read_text(encoding="utf-8") for name in PARTS), encoding="utf-8")
    shells = [[name, *more, "-n"] for name, *more in (["dash"], ["busybox", "sh"], ["bash"]) if shutil.which(name)]
    for command in ([lint.program("shellcheck"), "--norc", "-s", "sh", "-e", UNKNOWN], *shells):
        checked = subprocess.run([*command, str(path)], capture_output=True, check=False, encoding="utf-8")
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
    words = [lint.program("shellcheck"), "--norc", "-s", "sh", "-i", "SC2086", "-f", "gcc", str(path)]
    found = subprocess.run(words, capture_output=True, check=False, encoding="utf-8").stdout.splitlines()
    lines = path.read_text(encoding="utf-8").splitlines()
    split = [lines[int(line.split(":")[1]) - 1] for line in found]
    assert [line for line in split if not any(name in line for name in SPLIT)] == []


def test_it_is_the_same_in_every_makefile() -> None:
    programs = [program for path in EXAMPLES if not reason(program := compiled(path))]
    assert len(programs) > 10
    for program in programs:
        for options in ({}, {"prefix": "deploy-"}):
            text = MakeBackend().emit(program, options).text
            assert text
            assert text.endswith(driver_text())


def test_a_comment_explains_the_placeholders_of_instances(tmp_path: Path) -> None:
    end = "- PASS: GOTO NEXT\n- FAIL: COMPLETE\n"
    document = f"# Pages\n\n## {{N}}. Page\n\n```bash\necho {{N}}\n```\n\n{end}"
    assert "# `{N}` is the number of the instance.\n" in makefile(tmp_path, document)
    document = f"# Pages\n\n## {{N}}. Page\n\n### {{N}}.{{n}} Line\n\n```bash\necho {{N}} {{n}}\n```\n\n{end}"
    assert "# `{N}` and `{n}` are the numbers of the instances.\n" in makefile(tmp_path, document)


# --- Budgets ----------------------------------------------------------------------------------------------------------


def test_a_makefile_of_one_step_stays_short(tmp_path: Path) -> None:
    assert makefile(tmp_path, RETRY).count("\n") <= 590


def test_one_question_more_changes_few_lines(tmp_path: Path) -> None:
    before = (ROOT / "examples" / "nightly-cleanup.runbook.md").read_text(encoding="utf-8")
    after = before.replace("## 2. Write the diary", QUESTION)
    assert after != before
    old, new = (makefile(tmp_path, document).splitlines() for document in (before, after))
    compared = difflib.unified_diff(old, new, n=0, lineterm="")
    changed = [line for line in compared if not line.startswith(("---", "+++", "@@"))]
    assert len(changed) <= 30


# --- Beside other Makefiles -------------------------------------------------------------------------------------------


def test_another_makefile_can_include_one_with_a_prefix(tmp_path: Path) -> None:
    text = makefile(tmp_path, PLAIN, **{"prefix": "deploy-", "state-dir": "build/state"})
    (tmp_path / "deploy.mk").write_text(text, encoding="utf-8")
    project = "include deploy.mk\nall: ; @echo all $(X) >> log\nclean: ; @echo clean >> log\n"
    (tmp_path / "Makefile").write_text(project, encoding="utf-8")
    for words in ([], ["clean"], ["deploy-run"], ["all", "X=$(shell echo expands)"], ["deploy-step-2"]):
        done = subprocess.run(["make", *words], cwd=tmp_path, env=environment({}), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "log").read_text().splitlines() == ["all", "clean", "build", "ship", "all expands", "ship"]
    assert (tmp_path / "build" / "state" / "main.make" / "journal").exists()
    assert not (tmp_path / ".rdc").exists()


def test_one_makefile_can_include_two_with_different_prefixes(tmp_path: Path) -> None:
    for name, document in (("one-", PLAIN), ("two-", FLOW)):
        (tmp_path / f"{name}.mk").write_text(makefile(tmp_path, document, prefix=name), encoding="utf-8")
    (tmp_path / "Makefile").write_text("all: ;\ninclude one-.mk\ninclude two-.mk\n", encoding="utf-8")
    (tmp_path / "rdc.toml").write_text("")
    place = Place.__new__(Place)
    place.folder = tmp_path
    assert last_line(place.make("one-run")) == "rdc: COMPLETE"
    assert place.make("one-clean").returncode == 0
    waits = place.make("two-run")
    assert last_line(waits) == "rdc: WAITING 2"
    assert "rdc: to answer: make two-answer STEP=2 REPLY=yes\n" in waits.stderr
    assert place.lines("log") == ["build", "ship", "build"]


# --- The file that several Makefiles include --------------------------------------------------------------------------


def shared(folder: Path, document: str = FLOW) -> Place:
    """A folder with a Makefile and the driver beside it."""
    place = Place(folder, document)
    emission = MakeBackend().emit(compiled(folder / "main.runbook.md"), {"driver": "shared"})
    (companion,) = emission.companions
    assert (companion.path, companion.text) == (driver_name(), driver_text())
    (folder / "Makefile").write_text(emission.text or "", encoding="utf-8")
    (folder / companion.path).write_text(companion.text, encoding="utf-8")
    return place


def test_a_shared_driver_runs_like_a_bundled_one(tmp_path: Path) -> None:
    place = shared(tmp_path)
    assert driver_text() not in (tmp_path / "Makefile").read_text(encoding="utf-8")
    assert last_line(place.make()) == "rdc: WAITING 2"
    assert place.make("answer", "STEP=2", "REPLY=yes").returncode == 0
    (tmp_path / "answers").write_text("yes\n", encoding="utf-8")
    assert last_line(place.make("resume", "ANSWERS=answers")) == "rdc: COMPLETE Out it goes"
    assert "define do_1" not in place.make("-n").stdout


def test_a_shared_driver_is_found_beside_the_makefile(tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    folder.mkdir()
    shared(folder)
    done = subprocess.run(
        ["make", "-C", str(folder), "-s", "status"], env=environment({}), capture_output=True, check=False, text=True
    )
    assert done.stdout == "no run\n"


@pytest.mark.parametrize(
    "change", ["$(shell touch canary)\n", "# one line more\n", None], ids=["code", "comment", "gone"]
)
def test_another_driver_is_refused_before_make_reads_it(change: str | None, tmp_path: Path) -> None:
    place = shared(tmp_path)
    path = tmp_path / driver_name()
    if change is None:
        path.unlink()
    else:
        path.write_text(change + driver_text(), encoding="utf-8")
    for words in ([], ["help"], ["-n"]):
        refused = place.make(*words)
        assert refused.returncode == 2
        assert f"rdc: ./{driver_name()} is not the driver that belongs to this Makefile" in refused.stderr
    assert not (tmp_path / "canary").exists()
    assert not (tmp_path / ".rdc").exists()


# --- What make is given -----------------------------------------------------------------------------------------------


def test_the_names_that_are_refused_are_those_of_makefiles_that_call_the_program() -> None:
    patterns = [re.compile(name.replace("%", ".*")) for name in REFUSED]
    assert [name for name in FOR_OTHERS if not any(pattern.fullmatch(name) for pattern in patterns)] == []


def test_a_variable_of_another_makefile_is_refused_by_its_name(flow: Place) -> None:
    names = ["AGENT", "AGENT_MODEL", "AS", "BY", "EXECUTOR", "HUMAN", "INPUTS", "NOTIFY", "PROMPTED"]
    verbs, values = ["run", "resume", "status", "step-1"], ["x", "0", "", "$(shell touch canary)"]
    for number, name in enumerate(names):
        for place in range(number % 2, 4, 2):  # so that each value meets each verb
            refused = flow.make(verbs[(number // 2 + place) % 4], f"{name}={values[place]}")
            assert refused.returncode == 2
            assert last_line(refused).startswith(f"rdc: error: this Makefile does not take {name}; ")
    assert not (flow.folder / ".rdc").exists()
    assert not (flow.folder / "canary").exists()
    assert last_line(flow.make(**dict.fromkeys(names, "in the environment"))) == "rdc: WAITING 2"


def test_rerun_that_is_false_reruns_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN.replace("echo build", "[ -e again ] || { touch again; kill -9 $PPID; }; echo build"))
    place.make()
    for value in ("0", "no", "False", "off", ""):
        assert last_line(place.make("resume", f"RERUN={value}")) == "rdc: WAITING 1"
    assert last_line(place.make("resume", "RERUN=yes")) == "rdc: COMPLETE"


@pytest.mark.parametrize("given", [{}, {"LC_ALL": "C.UTF-8"}, {"LC_ALL": ""}], ids=["unset", "set", "empty"])
def test_commands_have_the_locale_of_whoever_calls_make(given: dict[str, str], tmp_path: Path) -> None:
    place = Place(tmp_path, '## 1. Say\n\n```sh\necho "${LC_ALL-unset}" > said\n```\n')
    hidden = {name: value for name, value in environment(given).items() if name != "LC_ALL"} | given
    subprocess.run(["make"], cwd=tmp_path, env=hidden, capture_output=True, check=True)
    assert place.lines("said") == [given.get("LC_ALL", "unset")]


# --- What is said of nested runbooks, and of other runs ---------------------------------------------------------------


def test_the_message_of_a_nested_runbook_is_shown_once(tmp_path: Path) -> None:
    main = "# Main\n\n## 1. Out\n\n- in.runbook.md\n\n- FAIL ANY: CONTINUE\n\n## 2. Ask\n\nIs it?\n"
    nested = '# In\n\n## 1. Do\n\n```sh\necho in\n```\n\n- PASS: STOP "The inner one says no"\n'
    place = Place(tmp_path, main, {"in.runbook.md": nested})
    said = place.make().stderr
    assert "    1/in.runbook.md/1/STOP The inner one says no\n" in said
    assert said.index("PASS") < said.index("The inner one") < said.index("2 Ask")
    assert "inner" not in place.make("resume").stderr


UNFINISHED = '01 {"condition":"waiting","message":"\\"condition\\":\\"complete\\""}\n'


@pytest.mark.parametrize(("journal", "runs"), [(UNFINISHED, False), ('01 {"condition":"complete"}\n', True)])
def test_a_run_beside_an_unfinished_one_of_the_python_program_is_refused(
    journal: str, runs: bool, tmp_path: Path
) -> None:
    place = Place(tmp_path, PLAIN)
    other = tmp_path / ".rdc" / "main"
    other.mkdir(parents=True)
    (other / "journal").write_text(journal, encoding="utf-8")
    done = place.make()
    assert place.lines("log") == (["build", "ship"] if runs else [])
    expected = "rdc: error: .rdc/main has an unfinished run of the Python program; resume or reset it with that program"
    assert last_line(done) == ("rdc: COMPLETE" if runs else expected)
