"""The linters are all there: what only one of them finds is found."""

import re
from pathlib import Path

import pytest

from backends.github.yaml.pins import Pin, pins
from tests.backends.github.pins import newest
from tests.backends.github.walking import Engine
from tests.support import actions_engine as engine
from tests.support.github import act, lint
from tests.support.github.compiling import parsed
from tests.support.github.lint import findings

pytestmark = pytest.mark.process

CLEAN = """\
name: Deploy
on:
  workflow_dispatch:
    inputs:
      version: {description: What to deploy, type: string, required: true}
permissions: {}
concurrency:
  group: ${{ github.workflow }}-${{ github.ref }}
  cancel-in-progress: false
jobs:
  runbook:
    name: Deploy
    runs-on: ubuntu-latest
    timeout-minutes: 30
    permissions:
      contents: read # check out the repository
    steps:
      - uses: actions/checkout@9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0 # v7.0.0
        with:
          persist-credentials: false
      - name: Build
        id: build
        continue-on-error: true
        env:
          VERSION: ${{ inputs.version }}
        run: echo "building $VERSION"
      - name: Roll back
        if: steps.build.outcome == 'failure'
        run: exit 1
"""


def write(path: Path, text: str = CLEAN) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def tools(found: list[str]) -> set[str]:
    return {line.split(":", 1)[0] for line in found}


def changed(old: str, new: str) -> str:
    assert CLEAN.count(old) == 1
    return CLEAN.replace(old, new)


WRONG = {
    "actionlint": (changed("steps.build.", "steps.built."), 'property "built" is not defined'),
    "shellcheck": (changed('"building $VERSION"', "building $VERSION"), "shellcheck reported issue"),
    "zizmor": (changed("contents: read #", "contents: write\n    #"), "title=undocumented-permissions"),
}


def test_each_tool_finds_what_no_other_does_and_nothing_in_clean_workflows_wherever_they_are(tmp_path: Path) -> None:
    """A configuration around the files is not used."""
    (tmp_path / ".git").mkdir()
    write(tmp_path / ".github" / "actionlint.yaml", 'paths:\n  "**/*":\n    ignore: [".*"]\n')
    write(tmp_path / ".github" / "zizmor.yml", "rules:\n  undocumented-permissions:\n    disable: true\n")
    write(tmp_path / ".shellcheckrc", "disable=all\n")
    clean = [write(tmp_path / name) for name in ("here.yml", "with space.yaml", ".github/workflows/there.yml")]
    wrong = [write(tmp_path / ".github" / "workflows" / f"{name}.yml", WRONG[name][0]) for name in WRONG]
    found = lint.findings([*clean, *wrong])
    assert len(found) == len(WRONG)
    for name, (_, finding) in WRONG.items():
        (line,) = (line for line in found if f"{name}.yml" in line)
        assert line.startswith("zizmor:" if name == "zizmor" else "actionlint:")
        assert finding in line


ALL = {"check-jsonschema", "actionlint", "zizmor"}


@pytest.mark.parametrize(
    ("text", "found_by"),
    [("a: [\n", ALL), ("just text\n", ALL), (None, ALL), (changed("name: Build", "name: 5"), ALL - {"actionlint"})],
    ids=["no YAML", "no workflow", "no file", "not by the schema"],
)
def test_every_tool_rejects_what_is_no_workflow(tmp_path: Path, text: str | None, found_by: set[str]) -> None:
    bad = tmp_path / "bad.yml" if text is None else write(tmp_path / "bad.yml", text)
    found = lint.findings([write(tmp_path / "clean.yml"), bad])
    assert tools(found) == found_by
    assert text is None or ("5 is not of type 'string'" in str(found)) == (found_by != ALL)


@pytest.mark.parametrize("missing", ["check-jsonschema", "actionlint", "shellcheck", "zizmor"])
def test_a_missing_tool_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for name in {"check-jsonschema", "actionlint", "shellcheck", "zizmor"} - {missing}:
        (tmp_path / name).symlink_to(lint.PROGRAMS / name)
    with pytest.raises(ValueError, match="no file"):
        lint.findings([])
    monkeypatch.setattr(lint, "PROGRAMS", tmp_path)
    with pytest.raises(FileNotFoundError, match=missing):
        lint.findings([write(tmp_path / "clean.yml")])


SHARED = """\
name: Shared
on:
  workflow_dispatch:
permissions: {}
concurrency: {group: shared, cancel-in-progress: false}
jobs:
  one:
    name: One
    runs-on: ubuntu-latest
    timeout-minutes: 5
    steps:
      - name: Open
        env: {CALL: open}
        run: &rdc |
          # a script of several lines
          echo "called $CALL"
      - {name: Close, run: *rdc , env: {CALL: close}}
  two:
    name: Two
    runs-on: ubuntu-latest
    timeout-minutes: 5
    needs: one
    steps: [{name: Other, run: *rdc , env: {CALL: other}}]
"""
CALLED = ["called open", "called close", "called other"]


def test_the_tools_that_read_workflows_know_anchors(tmp_path: Path) -> None:
    assert findings([write(tmp_path / "workflow.yml", SHARED)]) == []
    for old, new, found in (('"called $CALL"', "$CALL", "SC2086"), ("*rdc", "*none", "none")):
        path = write(tmp_path / "workflow.yml", SHARED.replace(old, new))
        assert found in str(findings([path])), "the script is looked at"


def test_an_alias_is_the_script_that_it_stands_for(walk: Engine, tmp_path: Path) -> None:
    assert (engine.complaints(SHARED), walk(SHARED).log.splitlines()) == ([], CALLED)
    assert [line for line in act.run(tmp_path, SHARED).log.splitlines() if line.startswith("called")] == CALLED
    scripts = {step["run"] for job in parsed(SHARED)["jobs"].values() for step in job["steps"]}
    assert scripts == {'# a script of several lines\necho "called $CALL"\n'}
    with pytest.raises(engine.RejectedError):
        walk(SHARED.replace("*rdc", "*none"))


LISTING = """\
1111111111111111111111111111111111111111\trefs/tags/v2
2222222222222222222222222222222222222222\trefs/tags/v2.9.0
3333333333333333333333333333333333333333\trefs/tags/v2.10.0
4444444444444444444444444444444444444444\trefs/tags/v2.10.0^{}
5555555555555555555555555555555555555555\trefs/tags/v3.0.0-beta
"""


def test_every_action_is_pinned_to_a_commit() -> None:
    assert set(pins()) == {"checkout", "upload-artifact", "download-artifact"}
    for pin in pins().values():
        assert re.fullmatch(r"[\w-]+/[\w-]+", pin.uses)
        assert re.fullmatch(r"v\d+\.\d+\.\d+", pin.version)
        assert re.fullmatch(r"[0-9a-f]{40}", pin.commit)


def test_the_newest_release_is_the_highest_version_and_its_peeled_commit() -> None:
    assert newest("actions/checkout", LISTING) == Pin("actions/checkout", "v2.10.0", "4" * 40)
    assert newest("actions/checkout", "") is None
