"""`@prompt(file:…)`: what is read, and all that is refused (P12)."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from compiler.driver import Compilation, Settings, compile_file
from compiler.ir.tasks import Agent

SECRET = "the secret of somebody else"


def compiled(folder: Path, reference: str, **settings: bool) -> Compilation:
    """A playbook in a folder of a project, with a secret above that folder and one above the project."""
    inner = folder / "project" / "inner"
    inner.mkdir(parents=True, exist_ok=True)
    (folder / "project" / "rdc.toml").touch()
    for place in (folder, folder / "project"):
        (place / "secret.md").write_text(SECRET, encoding="utf-8")
    path = inner / "a.playbook.md"
    text = f"# A\n\n## INPUTS\n\n- `x` (text): X\n\n## STEP 1: One\n\n@prompt(file:{reference})\n\nOwn.\n"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return compile_file(str(path), Settings(**settings))  # type: ignore[arg-type] # only `link`


def codes(found: Compilation) -> list[str]:
    return [f"{item.code} {item.span.line if item.span else 0}" for item in found.diagnostics]


def prompt(found: Compilation) -> str:
    assert found.program, found.diagnostics
    task = found.program.nodes[0].task
    assert isinstance(task, Agent)
    return "".join(part if isinstance(part, str) else f"<{part.register}>" for part in task.prompt.parts)


def test_a_file_stands_before_the_own_text_with_its_placeholders(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "inner" / "prompts"
    folder.mkdir(parents=True)
    (folder / "a.md").write_bytes(b"\r\nSee {{x}}\r\nand more.\r\n\r\n")
    found = compiled(tmp_path, "prompts/a.md")
    assert prompt(found).replace("\r\n", "\n") == "See <x>\nand more.\n\nOwn."
    assert found.program
    expected = hashlib.sha256((folder / "a.md").read_bytes()).hexdigest()
    assert [(item.path, item.sha256) for item in found.program.sources][1] == ("inner/prompts/a.md", expected)


OUTSIDE = (
    "../secret.md",
    "../../secret.md",
    "prompts/../../secret.md",
    "./../secret.md",
    "..",
    "/etc/passwd",
    "//etc/passwd",
    "..\\secret.md",
    "C:\\secret.md",
    "link.md",
    "folder/secret.md",
    "a\0b.md",
    "x" * 5000,
    "circle.md",
)


@pytest.mark.parametrize("reference", OUTSIDE)
@pytest.mark.parametrize("link", [True, False])
def test_what_leaves_the_folder_is_refused(reference: str, link: bool, tmp_path: Path) -> None:
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    (inner / "link.md").symlink_to(tmp_path / "secret.md")
    (inner / "folder").symlink_to(tmp_path / "project")
    (inner / "circle.md").symlink_to("circle.md")
    found = compiled(tmp_path, reference, link=link)
    assert found.program is None
    assert {code.split()[0] for code in codes(found)} <= {"RD740", "RD003"}
    assert SECRET not in str(found)


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    (inner / "real.md").write_text("Real.", encoding="utf-8")
    (inner / "link.md").symlink_to("real.md")
    assert prompt(compiled(tmp_path, "link.md")) == "Real.\n\nOwn."


def test_a_file_beside_the_root_alone_is_not_found(tmp_path: Path) -> None:
    assert codes(compiled(tmp_path, "secret.md")) == ["RD741 9"]


def test_a_missing_file_is_no_error_where_links_are_left_out(tmp_path: Path) -> None:
    assert codes(compiled(tmp_path, "none.md", link=False)) == []


def test_what_is_no_text_of_a_bearable_size_is_refused(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    (inner / "latin.md").write_bytes(b"caf\xe9")
    (inner / "nul.md").write_bytes(b"a\0b")
    (inner / "large.md").write_bytes(b"x" * 200_001)
    (inner / "folder").mkdir()
    os.mkfifo(inner / "pipe.md")
    for name in ("latin.md", "nul.md", "large.md", "folder", "pipe.md"):
        found = compiled(tmp_path, name)
        assert codes(found) == ["RD742 9"], name
        assert "document" not in found.diagnostics[0].help
    (inner / "large.md").write_bytes(b"x" * 200_000)
    assert codes(compiled(tmp_path, "large.md")) == []


def test_a_name_that_nothing_stands_behind_is_told_in_the_file(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    (inner / "a.md").write_text("Fine {{x}} and {{y:string:z}}.\nNot {{y}}.", encoding="utf-8")
    found = compiled(tmp_path, "a.md")
    assert codes(found) == ["RD721 2"]
    assert found.diagnostics[0].path.endswith("a.md")
    assert prompt(found) == "Fine <x> and <y>.\nNot {{y}}.\n\nOwn."


def test_a_file_is_filled_in_one_pass(tmp_path: Path) -> None:
    """What an input says is not looked at for further names (I6)."""
    from compiler.ir.semantics import Machine  # noqa: PLC0415 (for this alone)

    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    (inner / "a.md").write_text("{{x}}", encoding="utf-8")
    found = compiled(tmp_path, "a.md").program
    assert found
    machine = Machine(found)
    task = found.nodes[0].task
    assert isinstance(task, Agent)
    assert machine.text(machine.start({"x": "{{x}} ${x}"}), task.prompt) == "{{x}} ${x}\n\nOwn."
