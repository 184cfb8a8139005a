"""`rdc test --init`: a scenario for each path of a document, written for its author to correct."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from compiler.driver import compile_file
from compiler.frontends import FRONT_ENDS
from compiler.ir.patterns import sample
from rdc.testing import drafts as addition
from tests.conftest import ROOT
from tests.differential.generate import agent_workflow, playbook
from tests.differential.stepspec import random_specification
from tests.support.cli import GOOD, UNKNOWN_TARGET, Result, call, document
from tests.support.text_form import to_text_form

pytestmark = pytest.mark.process

ASKED = """# Release
## 1. Build: it's "new"
```bash
make
```
- FAIL: RETRY 1 STOP "Not built"
## 2. Ready?
Is it good?
- YES: COMPLETE "Live"
- NO: STOP
"""
WRITTEN = """completes:
  description: "1 pass, 2 yes => COMPLETE Live"
  commands:
    - rd run --prompted a.runbook.md
    - rd pass  # 1 Build: it's "new"
    - rd yes  # 2 Ready?
  result: COMPLETE
stops after 2 no:
"""
PATHS = {
    "completes": "1 pass, 2 yes => COMPLETE Live",
    "stops after 2 no": "1 pass, 2 no => STOP",
    "stops after 1 fail ×2": "1 fail ×2 => STOP Not built",
    "completes after 1 fail": "1 fail, 1 (attempt 2) pass, 2 yes => COMPLETE Live",
    "stops after 1 fail, 2 no": "1 fail, 1 (attempt 2) pass, 2 no => STOP",
}
PLAY = """# Triage
## INPUTS
- `issue` (string): The issue.
## STEP 1: Look
Look at {{issue}}.
@output(kind: string, extract: "kind")
## STEP 2: Act
```if kind == "bug"```
### STEP 2a: Fix

Fix it.
```endif```
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rdc.toml").touch()
    return tmp_path


def init(folder: Path, name: str, *words: str) -> Result:
    return call("test", "--init", name, *words, cwd=folder)


TREES = [ROOT / "examples", *sorted((ROOT / "tests" / "differential" / "found" / "rundown").glob("*/"))]
DOCUMENTS = [
    (tree, path.relative_to(tree).as_posix())
    for tree in TREES
    for path in sorted(tree.rglob("*"))
    if any(form.drafts and form.has(path.name) for form in FRONT_ENDS.values())
]


@pytest.mark.parametrize(("tree", "name"), DOCUMENTS, ids=[f"{tree.name}/{name}" for tree, name in DOCUMENTS])
@pytest.mark.share(11)
def test_every_document_gets_scenarios_that_pass(tree: Path, name: str, tmp_path: Path) -> None:
    """The program stays, and only lines are added."""
    shutil.copytree(tree, tmp_path, dirs_exist_ok=True)
    (tmp_path / "rdc.toml").touch()
    path = tmp_path / name
    if compile_file(str(path)).program is None:
        return
    before, meant = path.read_bytes(), meaning(path)
    done = call("test", "--init", "--paths", "4", "--", name, cwd=tmp_path)
    assert (done.code, "can't make up" in done.err) == (0, False), done.err
    assert is_extended(before, path.read_bytes())
    assert meaning(path) == meant
    tried = call("test", "--", name, cwd=tmp_path)
    assert (tried.code, "SKIPPED" in tried.out) == (0, False), tried.out
    assert "RD014" not in call("check", "--", name, cwd=tmp_path).err
    assert "PASSED" in tried.out or "wrote" not in done.err


def meaning(path: Path) -> str:
    """The program, without the lines of its nodes and the hash of the document."""
    program = compile_file(str(path)).program
    assert program is not None
    return re.sub(r"(?m) {2}# .*:\d+$| sha256 \w+$", "", to_text_form(program))


def is_extended(before: bytes, after: bytes) -> bool:
    """Whether something was added at one place, and every other byte is there."""
    start = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    return after.endswith(before[start:]) and len(after) >= len(before)


@pytest.mark.share(3)
@pytest.mark.parametrize("seed", range(1, 7))
def test_any_document_gets_scenarios_that_pass(seed: int, folder: Path) -> None:
    document(folder, "a.playbook.md", playbook.document(playbook.random_playbook(seed).book))
    document(folder, "b.workflow.yaml", agent_workflow.document(agent_workflow.random_workflow(seed).flow))
    document(folder, "c.stepspec.json", json.dumps(random_specification(seed).document))
    for name in ("a.playbook.md", "b.workflow.yaml", "c.stepspec.json"):
        if call("check", name, cwd=folder).code == 0:
            assert init(folder, name, "--paths", "5").code == 0
            assert call("test", name, cwd=folder).code == 0


def test_a_runbook_gets_a_file_beside_it(folder: Path) -> None:
    path = document(folder, "a.runbook.md", ASKED)
    assert init(folder, "a.runbook.md") == Result(0, "", "wrote 5 scenarios to a.scenarios.yaml\n")
    assert path.read_text(encoding="utf-8") == ASKED
    written = (folder / "a.scenarios.yaml").read_text(encoding="utf-8")
    assert written.startswith(WRITTEN)
    found = yaml.safe_load(written)
    assert {name: one["description"] for name, one in found.items()} == PATHS
    assert found["stops after 1 fail ×2"]["commands"] == ["rd run --prompted a.runbook.md", "rd fail", "rd fail"]
    assert found["stops after 1 fail, 2 no"]["commands"][1:] == ["rd fail", "rd pass", "rd no"]
    assert call("test", "a.runbook.md", cwd=folder).out.endswith("\n5 passed\n")
    assert init(folder, "a.runbook.md").err == "a.runbook.md: every path that rdc finds has a scenario\n"
    (folder / "a.scenarios.yaml").unlink()
    document(folder, "a.runbook.md", f"---\nscenarios:\n  {GOOD_ONE}\n---\n\n{ASKED}")
    assert init(folder, "a.runbook.md").err == "wrote 4 scenarios to a.scenarios.yaml\n"
    assert call("test", "a.runbook.md", cwd=folder).out.endswith("\n5 passed\n")


GOOD_ONE = "good: {commands: [rd run --prompted a.runbook.md, rd pass, rd yes], result: COMPLETE}"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (GOOD_ONE, "1:1: error[RD013]: scenario `good` is also in `a.runbook.md`"),
        *(
            (f"bad: {{commands: [{commands}], result: STOP}}", f"{place}: warning[RD014]: scenario `bad`")
            for commands, place in (("rd run a.runbook.md, rd pss", "1:39"), ("rd run b.runbook.md", "1:18"))
        ),
        ("bad: {commands: [rd run a.runbook.md]}", "1:1: error[RD013]: scenario `bad`: `result` must be"),
        ("bad: [", "error[RD743]: the scenarios are not valid YAML"),
        ("- rd pass", "error[RD743]: the scenarios are not valid YAML"),
    ],
)
def test_mistakes_in_the_file_have_places(line: str, problem: str, folder: Path) -> None:
    document(folder, "a.runbook.md", f"---\nscenarios:\n  {GOOD_ONE}\n---\n\n{ASKED}")
    document(folder, "a.scenarios.yaml", f"{line}\n")
    for command in ("check", "test"):
        result = call(command, "a.runbook.md", cwd=folder).exits(1 if command == "test" or "error" in problem else 0)
        assert f"a.scenarios.yaml:{problem}" in result.err or problem in result.err
    assert "the scenarios of the document beside it" in call("check", "a.scenarios.yaml", cwd=folder).err


def test_other_formats_get_a_file_beside_the_document(folder: Path) -> None:
    before = document(folder, "sub/a.playbook.md", PLAY).read_bytes()
    assert init(folder, "sub").err == "wrote 4 scenarios to sub/a.scenarios.yaml\n"
    assert (folder / "sub" / "a.playbook.md").read_bytes() == before
    written = (folder / "sub" / "a.scenarios.yaml").read_text()
    assert '  inputs:\n    issue: "<issue>"  # made up\n' in written
    assert '    "1": \'{"kind": "bug"}\'\n' in written
    assert '    "2a": {fail: "the call failed"}\n' in written
    assert call("test", cwd=folder).out.endswith("\n4 passed\n")


def test_a_file_of_scenarios_is_extended(folder: Path) -> None:
    document(folder, "a.playbook.md", PLAY)
    mine = "completes:\n  inputs: {issue: x}\n  agents: {'1': hello}\n  result: COMPLETE # mine"
    path = document(folder, "a.scenarios.yaml", mine)
    assert init(folder, "a.playbook.md").err == "wrote 3 scenarios to a.scenarios.yaml\n"
    assert path.read_text().startswith(mine + "\n")
    assert "\ncompletes via 2a:\n" in path.read_text(), "the name is free"
    assert call("test", cwd=folder).out.endswith("\n4 passed\n")
    document(folder, "a.scenarios.yaml", "{one: {inputs: {issue: x}, agents: {'1': hello}, result: COMPLETE}}")
    assert "rdc cannot add to its scenarios" in init(folder, "a.playbook.md").err
    (folder / "a.scenarios.yaml").unlink()
    (folder / "a.scenarios.yaml").symlink_to("elsewhere")
    assert "it is a broken link" in init(folder, "a.playbook.md").err
    assert not (folder / "elsewhere").exists()


def test_all_or_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(folder, "a.runbook.md", ASKED)
    document(folder, "b.runbook.md", UNKNOWN_TARGET)
    assert "b.runbook.md:9" in init(folder, ".").err
    assert (folder / "a.runbook.md").read_text() == ASKED
    (folder / "b.runbook.md").unlink()
    document(folder, "b.playbook.md", PLAY)
    assert init(folder, ".").err == "wrote 5 scenarios to a.scenarios.yaml\nwrote 4 scenarios to b.scenarios.yaml\n"
    (folder / "a.scenarios.yaml").unlink()

    def changes(*given: object) -> addition.Addition:
        made = add(*given)  # type: ignore[arg-type]
        document(folder, "a.scenarios.yaml", GOOD_ONE)
        return made

    add = addition.add_scenarios
    monkeypatch.setattr("rdc.commands.test.add_scenarios", changes)
    assert "cannot write a.scenarios.yaml: it has changed since rdc read it" in init(folder, "a.runbook.md").err
    assert (folder / "a.scenarios.yaml").read_text() == GOOD_ONE


LOOP = """# Loop
## 1. Again
```bash
true
```
- PASS: COMPLETE
- FAIL: GOTO 2
## 2. Back
- PASS: GOTO 1
"""


def test_there_is_a_bound(folder: Path) -> None:
    document(folder, "a.runbook.md", ASKED)
    more = "a.runbook.md: 2 more paths have no scenario; --paths N writes more\n"
    assert init(folder, "a.runbook.md", "--paths", "3").err == f"wrote 3 scenarios to a.scenarios.yaml\n{more}"
    assert init(folder, "a.runbook.md").err == "wrote 2 scenarios to a.scenarios.yaml\n"
    document(folder, "b.runbook.md", LOOP)
    printed = init(folder, "b.runbook.md").err.splitlines()
    assert printed[0] == "wrote 20 scenarios to b.scenarios.yaml"
    assert re.fullmatch(r"b.runbook.md: at least \d+ more paths have no scenario; --paths N writes more", printed[1])


def test_inputs_and_outputs_are_given_and_names_of_files_are_quoted(folder: Path) -> None:
    inputs = 'region: {type: choice, options: [eu, us]}, version: {type: string, pattern: "[0-9]+[.][0-9]{2}"}'
    document(folder, "a.runbook.md", f"---\nrdc:\n  inputs: {{{inputs}}}\n  outputs: [id]\n---\n\n{GOOD}")
    assert init(folder, "a.runbook.md").code == 0
    assert "  inputs:\n    region: eu  # made up\n" in (folder / "a.scenarios.yaml").read_text()
    name = '-n it\'s 100% "$HOME": #1.runbook.md'
    document(folder, name, GOOD)
    assert call("test", "--init", "--", name, cwd=folder).code == 0
    for one in ("a.runbook.md", name):
        assert call("test", "--", one, cwd=folder).exits(0).out.endswith("\n3 passed\n")


def test_wrong_use(folder: Path) -> None:
    document(folder, "a.runbook.md", ASKED)
    for words, problem in (
        (["--init"], "--init writes files beside documents; name the files or folders"),
        (["--init", "--on", "python", "a.runbook.md"], "--init runs no scenarios; remove --on and --format"),
        (["--init", "--format", "json", "a.runbook.md"], "--init runs no scenarios; remove --on and --format"),
        (["--paths", "3", "a.runbook.md"], "--paths needs --init"),
    ):
        assert problem in call("test", *words, cwd=folder).exits(2).err
    assert (folder / "a.runbook.md").read_text() == ASKED
    shutil.copy(ROOT / "examples" / "programs" / "review-loop.program.json", folder / "a.program.json")
    assert "a program cannot have scenarios" in init(folder, "a.program.json").exits(1).err


@pytest.mark.parametrize(
    "pattern",
    [
        *("abc", "a|b", "[0-9]{3,4}", "^v[0-9]+([.][0-9]+){2}$", r"\d+\s\w+\W", "[^a]x?", "[^A-Z]", "(?:a+|b)*c"),
        *(r"(?P<one>[a-f]{2})-", ".{3}", r"[\d.]+", "(?>a)b", "a*+b", "$", r"Severity: (low|high)\b"),
    ],
)
def test_samples_match(pattern: str) -> None:
    assert re.search(pattern, sample(pattern))
