"""`rdc import` of a justfile: the program just reads it, and a recipe becomes a draft beside it."""

import json
import os
import sys
from pathlib import Path

import pytest

from rdc.importing.just import is_justfile
from tests.support.cli import call

pytestmark = pytest.mark.process

JUSTFILE = "# Say it\nsay word:\n    echo {{word}}\n\n_hidden:\n    echo\n"


@pytest.fixture(autouse=True)
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program just, which the packages for development have."""
    monkeypatch.setenv("PATH", os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))


@pytest.mark.parametrize("name", ["justfile", "Justfile", ".justfile", "JUSTFILE", "a/b.just"])
def test_names_that_just_reads(name: str) -> None:
    assert is_justfile(name)
    assert not is_justfile(f"{name}.md")


def test_the_only_recipe_becomes_a_draft_that_names_its_justfile(tmp_path: Path) -> None:
    (tmp_path / "justfile").write_text(JUSTFILE)
    result = call("import", "justfile", cwd=tmp_path)
    assert (result.code, result.out) == (0, "")
    assert result.err == (
        "wrote say.runbook.md\njustfile: 1 step, 1 command to run, 0 shown, 0 questions, 1 input\n"
        "next: rdc check --strict say.runbook.md\n"
    )
    assert "<!-- rdc: imported from justfile, recipe say, sha256 " in (tmp_path / "say.runbook.md").read_text()
    assert call("check", "--strict", "say.runbook.md", cwd=tmp_path).code == 0
    assert call("import", "--check", "say.runbook.md", cwd=tmp_path).code == 0
    (tmp_path / "justfile").write_text(JUSTFILE.replace("echo {", "printf {"))
    assert call("import", "--check", "say.runbook.md", cwd=tmp_path).code == 1
    (tmp_path / "say.runbook.md").write_text("mine")
    assert call("import", "justfile", cwd=tmp_path).code == 2
    assert (tmp_path / "say.runbook.md").read_text() == "mine"


def test_several_recipes_need_a_name(tmp_path: Path) -> None:
    (tmp_path / "x.just").write_text(f"{JUSTFILE}\nshout:\n    echo loud\n")
    assert call("import", "x.just", cwd=tmp_path).exits(2).err == "x.just: name the recipe with --recipe: say, shout\n"
    assert "echo loud" in call("import", "x.just", "--recipe", "shout", "-o", "-", cwd=tmp_path).exits(0).out
    assert call("import", "x.just", "--recipe", "none", cwd=tmp_path).err == "x.just: no recipe `none`\n"


def test_a_refusal_has_the_line_of_the_construct_or_the_words_of_just(tmp_path: Path) -> None:
    (tmp_path / "justfile").write_text("a:\n    x\n    -y\n")
    result = call("import", "justfile", "--format", "json", cwd=tmp_path)
    [refused] = json.loads(result.out)["refused"]
    assert (result.code, refused["kind"], refused["line"]) == (2, "just", 3)
    assert not list(tmp_path.glob("*.md"))
    (tmp_path / "justfile").write_text("a:\n    x\na:\n    y\n")
    assert "just doesn't read it: error: recipe `a`" in call("import", "justfile", cwd=tmp_path).exits(2).err


def test_refusals_without_a_justfile_or_just(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("# A\n\n```bash\nls\n```\n")
    result = call("import", "a.md", "--recipe", "x", cwd=tmp_path)
    assert (result.code, result.err) == (2, "rdc: --recipe needs a justfile (see 'rdc import --help')\n")
    with (tmp_path / "justfile").open("w+") as file, monkeypatch.context() as patched:
        file.write(JUSTFILE)
        file.seek(0)
        patched.setattr(sys, "stdin", file)
        result = call("import", "-", "--from", "just", cwd=tmp_path)
    assert (result.code, result.err) == (2, "-: just reads files only; name the justfile\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install it, such as with 'pip install rust-just'" in call("import", "justfile", cwd=tmp_path).exits(2).err


def test_the_environment_changes_nothing_and_any_name_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tasks").write_text(JUSTFILE)
    monkeypatch.setenv("JUST_DUMP_FORMAT", "just")
    monkeypatch.setenv("JUST_JUSTFILE", "other")
    assert call("import", "tasks", "--from", "just", cwd=tmp_path).code == 0
