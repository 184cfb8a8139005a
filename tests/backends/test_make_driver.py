"""The driver of Makefiles by itself: the same text in each, short, and nothing for shellcheck to say."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from backends.make import MakeBackend
from backends.make.parts import OF_VERBS
from compiler.driver import compile_file
from tests.backends.makefiles import PLAIN, Place, environment
from tests.backends.test_make import example_makefiles
from tests.conftest import ROOT
from tests.workflows import lint

FOLDER = ROOT / "backends" / "make" / "driver"
ORDER = [
    "core",
    *OF_VERBS,
    "rules",
    "choices",
    "counters",
    "retries",
    "shared",
    "marks",
    "texts",
    "files",
    "asks",
    "words",
    "values",
    "comparing",
    "constants",
    "inputs",
    "misspelled",
]
ORDER += ["questions", "helper", "limits", "calls", "contexts", "budget", "breaks", "by_hand", "times", "secrets"]
ORDER += ["steps", "task", "artifact", "reports"]
OF_OPERATOR = ["operator", "goto", "runs", "notice", "manual", "delegate"]
ORDER += OF_OPERATOR
BUDGET = 330
# Variables and functions of steps are made by `eval`, and hooks are called by modules that may not be there.
UNKNOWN = "SC2034,SC2153,SC2154,SC2329,SC2030,SC2031"


def test_all_modules_are_checked() -> None:
    assert sorted(ORDER) == sorted(path.stem for path in FOLDER.glob("*.sh"))


@pytest.mark.parametrize("module", ORDER)
def test_the_driver_stays_short(module: str) -> None:
    lines = (FOLDER / f"{module}.sh").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= (BUDGET if module == "core" else 185)
    assert [line for line in lines if len(line) > 120] == []
    assert re.fullmatch(r"# --- (The driver|Module): .* -+", lines[0]), "a Makefile can be cut above it"


def test_the_driver_of_plain_commands_stays_short() -> None:
    needed = ["core", *OF_VERBS, "retries"]
    assert sum(len((FOLDER / f"{name}.sh").read_text(encoding="utf-8").splitlines()) for name in needed) <= 475


def test_shellcheck_finds_nothing_and_shells_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "driver.sh"
    path.write_text("".join((FOLDER / f"{name}.sh").read_text(encoding="utf-8") for name in ORDER) + '"$@"\n')
    shells = [[name, *more, "-n"] for name, *more in (["dash"], ["busybox", "sh"], ["bash"]) if shutil.which(name)]
    for command in ([lint.program("shellcheck"), "--norc", "-s", "sh", "-e", UNKNOWN], *shells):
        checked = subprocess.run([*command, str(path)], capture_output=True, check=False, encoding="utf-8")
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_it_is_the_same_in_every_makefile() -> None:
    blocks = [dict(re.findall(r"^define (RDC_DRIVER\w*|RDC_MODULE_\w+)\n(.*?)^endef$", text, re.DOTALL | re.MULTILINE))
              for text in example_makefiles().values()]  # fmt: skip
    for name in {name for found in blocks for name in found}:
        assert len({found[name] for found in blocks if name in found}) == 1
    assert all("RDC_DRIVER" in found for found in blocks)


@pytest.mark.parametrize(
    ("example", "modules"),
    [
        ("nightly-cleanup", []),
        ("certificate-renewal", ["RETRIES"]),
        ("canary-rollout", ["COUNTERS", "RETRIES", "MARKS", "ASKS"]),
        ("code-review", ["ASKS"]),
    ],
)
def test_a_makefile_has_the_modules_that_it_needs_alone(example: str, modules: list[str]) -> None:
    (text,) = (text for name, text in example_makefiles().items() if example in name)
    own = [*([] if "ASKS" in modules else ["ASKS"]), *(module.upper() for module in OF_OPERATOR)]
    own = own if "ASKS" in modules else own[:-1]
    of_verbs = [module.upper() for module in OF_VERBS]
    found = re.findall(r"^define RDC_MODULE_(\w+)$", text, re.MULTILINE)
    assert found == [*of_verbs, *modules, *own]


def test_another_makefile_can_include_one_with_a_prefix(tmp_path: Path) -> None:
    Place(tmp_path, PLAIN)
    program = compile_file(str(tmp_path / "main.runbook.md")).program
    assert program
    text = MakeBackend().emit(program, {"prefix": "deploy-", "state-dir": "build/state"}).text
    (tmp_path / "deploy.mk").write_text(text or "", encoding="utf-8")
    project = "include deploy.mk\nall: ; @echo all >> log\nclean: ; @echo clean >> log\n"
    (tmp_path / "Makefile").write_text(project, encoding="utf-8")
    for words in ([], ["clean"], ["deploy-build-it"], ["deploy-ship-it"]):
        done = subprocess.run(["make", *words], cwd=tmp_path, env=environment({}), capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "log").read_text().split() == ["all", "clean", "build", "ship"]
    assert (tmp_path / "build" / "state" / "main.make" / "journal").exists()
    assert not (tmp_path / ".rdc").exists()


def test_a_target_named_by_a_title_does_what_comes_before_it_once(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN)
    assert place.make("build-it").returncode == 0
    assert place.make("ship-it").stdout == "rdc: COMPLETE\n"
    assert place.lines("log") == ["build", "ship"]
