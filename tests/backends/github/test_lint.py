"""The linters are all there: what only one of them finds is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.github import lint

CLEAN = """\
name: Deploy
on:
  workflow_dispatch:
    inputs:
      version:
        description: What to deploy
        type: string
        required: true
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
    """The tools that found something."""
    return {line.split(":", 1)[0] for line in found}


def changed(old: str, new: str) -> str:
    """The clean workflow, no longer so."""
    assert CLEAN.count(old) == 1
    return CLEAN.replace(old, new)


def test_nothing_is_found_in_clean_workflows_wherever_they_are(tmp_path: Path) -> None:
    paths = [write(tmp_path / name) for name in ("here.yml", "with space.yaml", ".github/workflows/there.yml")]
    assert lint.findings(paths) == []


@pytest.mark.parametrize(
    ("text", "found_by", "finding"),
    [
        # zizmor does not read what is not according to the schema.
        (changed("name: Build", "name: 5"), {"check-jsonschema", "zizmor"}, "5 is not of type 'string'"),
        (changed("steps.build.", "steps.built."), {"actionlint"}, 'property "built" is not defined'),
        (changed('"building $VERSION"', "building $VERSION"), {"actionlint"}, "shellcheck reported issue"),
        (changed("contents: read #", "contents: write\n    #"), {"zizmor"}, "title=undocumented-permissions"),
    ],
    ids=["schema", "actionlint", "shellcheck", "zizmor pedantic"],
)
def test_each_tool_finds_what_no_other_does(tmp_path: Path, text: str, found_by: set[str], finding: str) -> None:
    found = lint.findings([write(tmp_path / "clean.yml"), write(tmp_path / "bad.yml", text)])
    assert tools(found) == found_by
    assert any(finding in line for line in found)


def test_a_configuration_around_the_files_is_not_used(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path / ".github" / "actionlint.yaml", 'paths:\n  "**/*":\n    ignore: [".*"]\n')
    write(tmp_path / ".github" / "zizmor.yml", "rules:\n  undocumented-permissions:\n    disable: true\n")
    write(tmp_path / ".shellcheckrc", "disable=all\n")
    for old, new in [("steps.build.", "steps.built."), ("contents: read #", "contents: write\n    #")]:
        assert lint.findings([write(tmp_path / ".github" / "workflows" / "bad.yml", changed(old, new))])


@pytest.mark.parametrize("text", ["a: [\n", "", "just text\n"])
def test_every_tool_rejects_what_is_no_workflow(tmp_path: Path, text: str) -> None:
    found = lint.findings([write(tmp_path / "clean.yml"), write(tmp_path / "bad.yml", text)])
    assert tools(found) == {"check-jsonschema", "actionlint", "zizmor"}


def test_a_file_that_is_not_there_is_found(tmp_path: Path) -> None:
    found = lint.findings([write(tmp_path / "clean.yml"), tmp_path / "none.yml"])
    assert tools(found) == {"check-jsonschema", "actionlint", "zizmor"}


def test_no_file_is_an_error() -> None:
    with pytest.raises(ValueError, match="no file"):
        lint.findings([])


@pytest.mark.parametrize("missing", ["check-jsonschema", "actionlint", "shellcheck", "zizmor"])
def test_a_missing_tool_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for name in {"check-jsonschema", "actionlint", "shellcheck", "zizmor"} - {missing}:
        (tmp_path / name).symlink_to(lint.PROGRAMS / name)
    monkeypatch.setattr(lint, "PROGRAMS", tmp_path)
    with pytest.raises(FileNotFoundError, match=missing):
        lint.findings([write(tmp_path / "clean.yml")])
