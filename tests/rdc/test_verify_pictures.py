"""`rdc verify` with an SVG: its header says how it was drawn, and the source, drawn again, proves it."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.common.command import drawing_command, read_command
from tests.support.cli import GOOD, call, document


def picture(folder: Path, *options: str, name: str = "deploy.runbook.md") -> Path:
    """An SVG in a project with its source."""
    (folder / ".git").mkdir(exist_ok=True)
    document(folder, name, GOOD)
    made = call("graph", name, *options, "-o", "flow.svg", cwd=folder)
    assert made.code == 0, made.err
    return folder / "flow.svg"


@pytest.mark.parametrize(
    "options",
    [(), ("--theme", "light"), ("--theme", "dark", "--no-legend"), ("--link-base", "https://example.org/a--b")],
)
def test_source_proves_a_picture(options: tuple[str, ...], tmp_path: Path) -> None:
    path = picture(tmp_path, *options, name="a--b c.runbook.md")
    found = call("verify", path.name, cwd=tmp_path)
    assert (found.code, "flow.svg: matches a--b c.runbook.md, drawn with rdc" in found.out) == (0, True)


def test_a_word_that_was_changed_is_found(tmp_path: Path) -> None:
    path = picture(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(">1 Build<", ">1 Evil<", 1), encoding="utf-8")
    found = call("verify", path.name, cwd=tmp_path)
    assert (found.code, "differs from the picture of deploy.runbook.md" in found.out) == (1, True)


def test_another_layout_proves_nothing(tmp_path: Path) -> None:
    path = picture(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(' points="', ' points="1', 1), encoding="utf-8")
    found = call("verify", path.name, cwd=tmp_path)
    assert (found.code, "another version of Graphviz" in found.out) == (2, True)


def test_a_stale_picture_is_told_by_the_hash(tmp_path: Path) -> None:
    path = picture(tmp_path)
    document(tmp_path, "deploy.runbook.md", GOOD.replace("Build", "Make"))
    found = call("verify", path.name, cwd=tmp_path)
    assert (found.code, "the source has changed" in found.out) == (3, True)


def test_a_picture_cannot_be_verified_without_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = picture(tmp_path)
    (tmp_path / "bin").mkdir()
    broken = tmp_path / "bin" / "dot"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(broken.parent), prepend=":")
    found = call("verify", path.name, cwd=tmp_path)
    assert (found.code, "rdc can't draw it again: Graphviz failed" in found.out) == (2, True)


@pytest.mark.parametrize(
    ("compiling", "drawing"),
    [
        ("rdc compile a.md --to dot", "rdc graph a.md"),
        ("rdc compile a.md --from json -O legend=false --to dot", "rdc graph a.md --from json --no-legend"),
        ("rdc compile a.md -O boxes=steps -O theme=dark --to dot", "rdc graph a.md --steps --theme dark"),
    ],
)
def test_the_command_that_draws_is_that_of_the_graph(compiling: str, drawing: str) -> None:
    command, drawn = read_command(compiling), read_command(drawing)
    assert command
    assert drawn
    assert drawing_command(command, "svg") == drawing
    assert drawing_command(command, "png") == f"{drawing} --format png"
    assert (drawn.options, drawn.read_by, drawn.is_drawn) == (command.options, command.read_by, True)
