"""`@prompt(file:…)`: what is read, and all that is refused (P12)."""

import hashlib
import os
from pathlib import Path

import pytest

from compiler.driver import Compilation, Settings, compile_file
from compiler.ir.semantics import Machine
from compiler.ir.tasks import Agent

SECRET = "the secret of somebody else"


def compiled(folder: Path, reference: str, files: dict[str, bytes] | None = None, *, link: bool = True) -> Compilation:
    """A playbook in a folder of a project with files, a secret above that folder and one above the project."""
    inner = folder / "project" / "inner"
    inner.mkdir(parents=True, exist_ok=True)
    (folder / "project" / "rdc.toml").touch()
    for place in (folder, folder / "project"):
        (place / "secret.md").write_text(SECRET, encoding="utf-8")
    for name, data in (files or {}).items():
        (inner / name).write_bytes(data)
    path = inner / "a.playbook.md"
    text = f"# A\n\n## INPUTS\n\n- `x` (text): X\n\n## STEP 1: One\n\n@prompt(file:{reference})\n\nOwn.\n"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return compile_file(str(path), Settings(link=link))


def codes(found: Compilation) -> list[str]:
    return [f"{item.code} {item.span.line if item.span else 0}" for item in found.diagnostics]


def prompt(found: Compilation) -> str:
    assert found.program, found.diagnostics
    task = found.program.nodes[0].task
    assert isinstance(task, Agent)
    return "".join(part if isinstance(part, str) else f"<{part.register}>" for part in task.prompt.parts)


def test_a_file_stands_before_the_own_text_with_its_placeholders(tmp_path: Path) -> None:
    data = b"\r\nSee {{x}}\r\nand more.\r\n\r\n"
    found = compiled(tmp_path, "see.md", {"see.md": data})
    assert prompt(found).replace("\r\n", "\n") == "See <x>\nand more.\n\nOwn."
    assert found.program
    expected = ("inner/see.md", hashlib.sha256(data).hexdigest())
    assert [(item.path, item.sha256) for item in found.program.sources][1] == expected
    (tmp_path / "project" / "inner" / "link.md").symlink_to("see.md")
    assert prompt(compiled(tmp_path, "link.md")) == prompt(found), "a link within the folder is followed"
    found = compiled(tmp_path, "b.md", {"b.md": b"Fine {{x}} and {{y:string:z}}.\nNot {{y}}."})
    assert (codes(found), Path(found.diagnostics[0].path).name) == (["RD721 2"], "b.md")
    assert prompt(found) == "Fine <x> and <y>.\nNot {{y}}.\n\nOwn."
    program = compiled(tmp_path, "c.md", {"c.md": b"{{x}}"}).program
    assert program
    machine, task = Machine(program), program.nodes[0].task
    assert isinstance(task, Agent)
    filled = machine.text(machine.start({"x": "{{x}} ${x}"}), task.prompt)
    assert filled == "{{x}} ${x}\n\nOwn.", "what an input says is not looked at for further names (I6)"


OUTSIDE = (
    *("../secret.md", "../../secret.md", "prompts/../../secret.md", "./../secret.md", "..", "/etc/passwd"),
    *("//etc/passwd", "..\\secret.md", "C:\\secret.md", "link.md", "folder/secret.md", "a\0b.md", "x" * 5000),
    "circle.md",
)


@pytest.mark.parametrize("link", [True, False])
def test_what_leaves_the_folder_is_refused(link: bool, tmp_path: Path) -> None:
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    (inner / "link.md").symlink_to(tmp_path / "secret.md")
    (inner / "folder").symlink_to(tmp_path / "project")
    (inner / "circle.md").symlink_to("circle.md")
    for reference in OUTSIDE:
        found = compiled(tmp_path, reference, link=link)
        assert found.program is None, reference
        assert {code.split()[0] for code in codes(found)} <= {"RD740", "RD003"}
        assert SECRET not in str(found)


def test_a_file_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    assert codes(compiled(tmp_path, "secret.md")) == ["RD741 9"], "there is one beside the root alone"
    assert codes(compiled(tmp_path, "none.md", link=False)) == [], "links are left out"
    files = {"latin.md": b"caf\xe9", "nul.md": b"a\0b", "large.md": b"x" * 200_001}
    inner = tmp_path / "project" / "inner"
    (inner / "folder").mkdir()
    os.mkfifo(inner / "pipe.md")
    for name in (*files, "folder", "pipe.md"):
        found = compiled(tmp_path, name, files)
        assert codes(found) == ["RD742 9"], name
        assert "document" not in found.diagnostics[0].help
    assert codes(compiled(tmp_path, "large.md", {"large.md": b"x" * 200_000})) == []
