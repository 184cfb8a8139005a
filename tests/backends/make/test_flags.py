"""What a Makefile that runs by itself makes of make's flags and variables, of other Makefiles, and of a changed one."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.backends.make.loops import RUN, code, ending
from tests.support.makefiles import FLOW, PLAIN, Place, environment
from tests.support.runbooks import command

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

RETRY = (
    "# Retry\n\n"
    + command("1. Try it", 'echo "try $RDC_ATTEMPT" >> log; [ "$RDC_ATTEMPT" = 2 ]', "FAIL: RETRY 2", shell="sh")
    + command("2. Ship it", "echo ship >> log && \\\n  echo more >> log", 'PASS: COMPLETE "Out it goes"')
)
LOG = ["try 1", "try 2", "ship", "more"]
VALUES = ["$(shell touch canary)", "${shell touch canary}$", "'; touch canary; '", "`touch canary`$(touch canary)"]
VALUES += ["$(error x)"]


@pytest.mark.parametrize(
    "flags",
    [
        ["-kBsw", "-j4"], ["-j", "--no-print-directory"], ["-r", "-R", "-e"], ["-Otarget", "-j2"],
        ["--warn-undefined-variables", "--trace"], ["-f", "Makefile", "-C", ".", "X=i"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_flags_that_change_nothing(flags: list[str], tmp_path: Path) -> None:
    place = Place(tmp_path, RETRY)
    done = place.make(*flags)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("make: Leaving")]
    assert (done.returncode, lines[-1]) == (0, "rdc: COMPLETE Out it goes"), done
    assert place.lines("log") == LOG


def test_no_flag_makes_it_go_on_after_a_stop(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN.replace("echo build", "exit 1; echo build"))
    assert (ending(place.make("-k", "-j4", "-B")), place.lines("log")) == ((1, "rdc: STOP"), [])


def test_flags_that_hide_what_fails_are_refused_also_in_the_environment(flow: Place) -> None:
    for flags in (["-i"], ["-t"], ["-ki"], ["-j4", "-i"], ["--touch"], ["--ignore-errors"]):
        for verb in ("run", "resume", "step-1"):
            refused = flow.make(*flags, verb)
            assert (refused.returncode, "rdc: " in refused.stderr) == (2, True)
    assert (flow.make(MAKEFLAGS="i").returncode, flow.make("-n", MAKEFLAGS="k").returncode) == (2, 0)
    assert {path.name for path in flow.folder.iterdir()} == {"Makefile", "main.runbook.md", "rdc.toml"}


@pytest.mark.parametrize(("document", "last"), [(RETRY, "echo more"), (FLOW, 'echo "ship $RDC_RUN_ID"')])
def test_a_dry_run_shows_commands_and_does_nothing(document: str, last: str, tmp_path: Path) -> None:
    place = Place(tmp_path, document)
    before = place.files
    for flags in (["-n"], ["-nk", "-j4"], ["--dry-run"], ["-n", "-C", "."]):
        for verbs in (["run"], ["resume"], ["status", "clean", "help", "step-1"]):
            shown = place.make(*flags, *verbs)
            assert (shown.returncode, f"{last} >> log" in shown.stdout) == (0, len(verbs) == 1), shown
    assert place.files == before


def test_a_folder_and_a_file_are_named_to_make(tmp_path: Path) -> None:
    """The folder may have any name."""
    folder = tmp_path / "space it's here dou\"ble dollar$x (paren) comma, per%cent é #x a:b"
    folder.mkdir()
    place = Place(folder, FLOW)
    (folder / "Makefile").rename(folder / "my.mk")
    for words, end in (
        ([], "rdc: WAITING 2"),
        (["REPLY=yes"], "rdc: WAITING 3"),
        (["REPLY=yes"], "rdc: COMPLETE Out it goes"),
    ):
        done = subprocess.run(
            ["make", "-C", str(folder), "-f", "my.mk", *words],
            cwd=tmp_path, env=environment({}), capture_output=True, check=False, text=True,
        )  # fmt: skip
        assert [line for line in done.stdout.splitlines() if line.startswith("rdc: ")][-1] == end, done
    assert place.lines("log")[0] == "build"


def test_make_expands_nothing_that_it_is_given(flow: Place) -> None:
    names = ("REPLY", "STEP", "RERUN", "ASSUME", "OTHER", "RDC_RUN_ID", "RDC_ATTEMPT", "rdc_given", "title-1", "do-1")
    value = " ".join(VALUES[:-1])
    for verb in ("run", "resume", "status", "step-1", "help"):
        flow.make(verb, *(f"{name}={value}" for name in names[4:]))
        flow.make(verb, *(f"{name}={VALUES[-1]}" for name in names))
        for name in names[:4]:
            flow.make(verb, f"{name}={value}")
    flow.make("-n", *(f"{name}={value}" for name in names))
    own = ("RDC_RUN_ID", "RDC_ATTEMPT", "RDC_FLOW", "RDC_STEPS", "rdc_expected", "rdc_REPLY")
    flow.make(**dict.fromkeys(own, value))
    assert not list(flow.folder.rglob("canary*"))


def test_a_variable_reaches_commands_as_it_is(tmp_path: Path) -> None:
    place = Place(tmp_path, '## 1. Say\n\n```sh\nprintf "%s\\n" "$OTHER" >> shown\n```\n')
    for value in VALUES:
        ran = (place.make(f"OTHER={value}"), place.make(OTHER=value), place.make("step-1", f"OTHER={value}"))
        assert [done.returncode for done in ran] == [0, 0, 0]
    assert place.lines("shown") == [value for value in VALUES for _ in range(3)]
    assert not (tmp_path / "canary").exists()


SEES = (
    "## {N}. See\n\n"
    + command("### {N}.1 Look", 'env -0 > "env.{N}.$RDC_ATTEMPT"; [ "$RDC_ATTEMPT" = 2 ]', "FAIL: RETRY 3")
    + command("### {N}.2 Again", "[ {N} = 2 ]", "PASS: COMPLETE", "FAIL: GOTO NEXT {N}", shell="sh")
)
OWN = {"RDC_ATTEMPT", "RDC_RUN_ID", "RDC_TITLE", "RDC_STEP", "RDC_COMMAND", "RDC_STEP_INSTANCE", "rdc_N"}
OF_MAKE = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEFILES", "MAKE_TERMERR", "MAKE_TERMOUT"}


def seen(path: Path) -> dict[str, str]:
    return dict(each.split("=", 1) for each in path.read_text(encoding="utf-8").split("\0") if each)


def test_commands_see_their_step_the_run_and_what_make_exports(tmp_path: Path) -> None:
    place, given = Place(tmp_path, SEES), {"STEP": "kg", "OTHER": "x"}
    assert place.make("-s", "STEP=", **given).returncode == 0
    found = {name: seen(tmp_path / f"env.{name}") for name in ("1.1", "1.2", "2.1", "2.2")}
    shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    for name, one in found.items():
        instance, attempt = name.split(".")
        assert (one["RDC_STEP"], one["RDC_STEP_INSTANCE"], one["RDC_ATTEMPT"]) == ("{N}.1", instance, attempt)
        assert (
            set(one) - shell - OF_MAKE - {"STEP", "rdc_n", "rdc_tries"}
            == set(environment(given)) - shell - {"STEP"} | OWN
        )
        assert not {"REPLY", "RERUN", "ASSUME", "rdc_loop", "rdc_flow", "rdc_expected", "rdc_REPLY"} & set(one)
        assert "i" not in one["MAKEFLAGS"].split(" ")[0]
    assert len({one["RDC_RUN_ID"] for one in found.values()}) == 1


def test_a_step_runs_another_makefile_of_this_kind(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.mkdir()
    outer.mkdir()
    within = Place(inner, SEES)
    calls = "make -C ../inner && echo passed >> log; make -C ../inner status >> log"
    place = Place(outer, SEES.replace('env -0 > "env.{N}.$RDC_ATTEMPT"; [ "$RDC_ATTEMPT" = 2 ]', calls))
    done = place.make()
    assert ending(done) == (0, "rdc: COMPLETE"), done
    assert (place.lines("log").count("passed"), seen(inner / "env.1.1")["RDC_STEP_INSTANCE"]) == (2, "1")
    assert len(within.lines("env.2.2")) == 1
    assert not (inner / RUN).exists()


def test_counters_and_the_loop_hide_no_variable(tmp_path: Path) -> None:
    given = dict.fromkeys(["a_variable", "RDC_OUTPUT", "tries", "n", "words"], "mine")
    shown = "; ".join(f'echo "${name}" >> shown' for name in (*given, "SHELL", "HOME"))
    place = Place(tmp_path, f"## 1. Say\n\n```sh\n{shown}\n```\n")
    assert place.make(**given).returncode == 0
    assert place.lines("shown") == [*given.values(), os.environ.get("SHELL", ""), os.environ.get("HOME", "")]


REPLACES = (
    command("1. Replace", "cp other.new Makefile || rm Makefile", shell="sh")
    + command("2. Go on", "echo two >> log", "FAIL: GOTO 3", shell="sh")
    + command("3. Repair", "echo repair >> log", shell="sh")
)
OTHERS = {
    "another version": REPLACES.replace("echo two", "touch canary; echo two"),
    "the same steps": REPLACES + "\n<!-- more -->\n",
}


@pytest.mark.parametrize("other", [*OTHERS, "broken", "empty", "without the step", "gone"])
def test_a_makefile_that_a_step_replaces_is_an_error_and_no_failure(other: str, tmp_path: Path) -> None:
    place = Place(tmp_path, OTHERS.get(other, REPLACES))
    text = (tmp_path / "Makefile").read_text(encoding="utf-8")
    broken = {"broken": f"{text}\nno separator here\n", "empty": "", "without the step": "step-1: ; touch canary\n"}
    if other != "gone":
        (tmp_path / "other.new").write_text(broken.get(other, text), encoding="utf-8")
    place = Place(tmp_path, REPLACES)
    done = place.make()
    assert (code(done), done.stdout.splitlines()[-1][:11]) == (2, "rdc: error:"), done
    assert place.lines("log") == []
    assert not (tmp_path / "canary").exists()
    place.write(REPLACES, {})
    assert (code(place.make("resume")), ending(place.make("resume", "ASSUME=pass"))[0]) == (75, 0)


def test_a_command_that_kills_its_make_is_an_error_and_no_failure(tmp_path: Path) -> None:
    place = Place(tmp_path, REPLACES.replace("cp other.new Makefile || rm Makefile", "kill -9 $PPID"))
    done = place.make()
    assert (code(done), "make ended with 137 in step 1" in done.stdout) == (2, True), done
    assert code(place.make("resume")) == 75


def test_another_makefile_can_include_one_or_call_it_by_its_file(tmp_path: Path) -> None:
    place = Place(tmp_path, RETRY)
    (tmp_path / "Makefile").rename(tmp_path / "deploy.mk")
    (tmp_path / "Makefile").write_text("all: ; @echo all $(X) >> log\ninclude deploy.mk\n", encoding="utf-8")
    assert ending(place.make("run")) == (0, "rdc: COMPLETE Out it goes")
    for words in (["all", "X=1"], ["step-2"], ["status"], ["help"], ["-n", "run"]):
        assert place.make(*words).returncode == 0
    assert place.lines("log") == [*LOG, "all 1", "ship", "more"]
    (tmp_path / "Makefile").write_text("deploy: ; $(MAKE) -f deploy.mk\n", encoding="utf-8")
    done = place.make("-k", "X=1")
    assert (done.returncode, "rdc: COMPLETE Out it goes" in done.stdout, place.lines("log")[-4:]) == (0, True, LOG)


def test_shells_of_all_kinds_run_it(kind: str, tmp_path: Path) -> None:
    """The loop runs in /bin/sh, whatever that is."""
    place, text = Place(tmp_path, FLOW), (tmp_path / "Makefile").read_text(encoding="utf-8")
    (tmp_path / "Makefile").write_text(text.replace("SHELL := /bin/sh", f"SHELL := {kind}"), encoding="utf-8")
    assert ending(place.make()) == (75, "rdc: WAITING 2")
    assert ending(place.make("resume", "REPLY=yes")) == (75, "rdc: WAITING 3")
    assert ending(place.make("STEP=3", "REPLY=yes")) == (0, "rdc: COMPLETE Out it goes")
