"""`rdc import`: where drafts go, what is refused, and the report."""

import io
import json
from pathlib import Path

import jsonschema
import pytest

from compiler.importers.draft import Printed
from rdc.commands.schema import SCHEMAS
from tests.support.cli import Result, call, document

pytestmark = pytest.mark.process

PAGE = """# Restart the shop

Look first:

```bash
uptime
```

If it hangs, restart it:

```bash
systemctl restart shop
```
"""
PROSE = "# About\n\nText only.\n"
JUST_ENOUGH = "# Look\n\n```bash\ndate\n```\n"
OWN = "# Own\n\n## 1. Look\n\n```bash\ndate\n```\n"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return document(tmp_path, "restart.md", PAGE)


def run(folder: Path, *words: str) -> Result:
    return call("import", *words, cwd=folder)


def test_a_draft_is_beside_its_page_and_valid_and_strictly_so_without_its_marks(page: Path) -> None:
    done = run(page.parent, page.name)
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        "wrote restart.runbook.md",
        "restart.md: 1 step, 2 commands to run, 0 shown, 1 question, 0 inputs",
        "  guess[harm] the command changes or deletes something: systemctl restart shop (line 11, draft line 18)",
        "  guess[condition] the command has a condition (line 11, draft line 20)",
        "next: rdc check --strict restart.runbook.md",
    ]
    assert call("check", "restart.runbook.md", cwd=page.parent).code == 0
    assert call("fmt", "--check", "restart.runbook.md", cwd=page.parent).code == 0
    draft = page.with_name("restart.runbook.md")
    assert "RD059" in call("check", "--strict", draft.name, cwd=page.parent).exits(1).err
    lines = draft.read_text(encoding="utf-8").splitlines(keepends=True)
    draft.write_text("".join(line for line in lines if "check this" not in line), encoding="utf-8")
    assert call("check", "--strict", draft.name, cwd=page.parent).code == 0


def test_a_draft_is_never_overwritten(page: Path) -> None:
    draft = page.with_name("restart.runbook.md")
    draft.write_text("mine", encoding="utf-8")
    done = run(page.parent, page.name)
    assert (done.code, "restart.runbook.md exists" in done.err, "-o" in done.err) == (2, True, True)
    assert draft.read_text(encoding="utf-8") == "mine"
    assert run(page.parent, page.name, "-o", "other.runbook.md").code == 0
    draft.unlink()
    draft.symlink_to("nowhere")
    assert run(page.parent, page.name).code == 2
    assert not page.with_name("nowhere").exists()


def test_the_same_page_gives_the_same_draft(page: Path) -> None:
    one, other = (run(page.parent, page.name, "-o", "-") for _ in range(2))
    assert one.out == other.out
    assert run(page.parent, page.name, "-o", "a/").code == 0
    draft = (page.parent / "a/restart.runbook.md").read_text(encoding="utf-8")
    assert draft == one.out.replace("from restart.md", "from ../restart.md")
    for text in (PAGE.replace("\n", "\r\n"), "\ufeff" + PAGE):
        page.write_bytes(text.encode())
        assert run(page.parent, page.name, "-o", "-").exits(0).out.split("-->", 1)[1] == one.out.split("-->", 1)[1]


def test_check_compares_the_page_with_the_draft(page: Path) -> None:
    run(page.parent, page.name, "-o", "drafts/")
    draft = "drafts/restart.runbook.md"
    assert run(page.parent, "--check", draft).code == 0
    page.write_text(PAGE + "\n", encoding="utf-8")
    assert "restart.md has changed" in run(page.parent, "--check", draft).exits(1).err
    page.unlink()
    assert run(page.parent, "--check", draft).code == 2
    assert run(page.parent, "--check", "nope.runbook.md").code == 2


def test_a_document_of_rdc_is_neither_a_page_nor_a_draft(tmp_path: Path) -> None:
    (tmp_path / "own.runbook.md").write_text(OWN, encoding="utf-8")
    for words, message in ((("own.runbook.md",), "already"), (("--check", "own.runbook.md"), "doesn't name the page")):
        assert message in run(tmp_path, *words).exits(2).err


def test_a_folder_gives_a_draft_for_each_page_with_a_procedure(tmp_path: Path) -> None:
    for name in ("one.md", "deep/two.markdown", ".hidden/three.md", "node_modules/four.md"):
        document(tmp_path / "wiki", name, JUST_ENOUGH)
    document(tmp_path, "wiki/about.md", PROSE)
    document(tmp_path, "wiki/own.runbook.md", OWN)
    done = run(tmp_path, "wiki", "-o", "drafts/").exits(0)
    written = sorted(path.relative_to(tmp_path / "drafts").as_posix() for path in (tmp_path / "drafts").rglob("*.md"))
    assert written == ["deep/two.runbook.md", "one.runbook.md"]
    assert "wiki/about.md: the page has no procedure" in done.err


def test_a_folder_writes_all_drafts_or_none(tmp_path: Path) -> None:
    for name in ("one/a.md", "one/b.md", "one/b.runbook.md", "two/a.md", "two/a.markdown"):
        document(tmp_path, name, JUST_ENOUGH)
    assert run(tmp_path, "one").code == 2
    assert not (tmp_path / "one/a.runbook.md").exists()
    assert "would both become" in run(tmp_path, "two").exits(2).err


def test_no_procedure_is_exit_code_1_and_a_refusal_is_2(tmp_path: Path) -> None:
    (tmp_path / "about.md").write_text(PROSE, encoding="utf-8")
    (tmp_path / "run.sh").write_text("date\n", encoding="utf-8")
    assert run(tmp_path, "about.md").code == run(tmp_path, ".").code == 1
    done = run(tmp_path, "run.sh")
    assert (done.code, "not a script" in done.err, "convert" in done.err) == (2, True, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["about.md", "run.sh"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"# A\n\n```bash\nls \xff\n```\n", "invalid byte 17 in line 4"),
        (b"# A\n\n```bash\nls \0\n```\n", "NUL byte in line 4"),
        (b"# A\n" * (3 * 1024 * 1024), "larger than 8 MiB"),
    ],
)
def test_a_file_that_is_no_text_is_refused_with_its_line(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(data)
    done = run(tmp_path, "a.md")
    assert (done.code, message in done.err, (tmp_path / "a.runbook.md").exists()) == (2, True, False)


@pytest.mark.parametrize("name", ["tidy up", "../../x", "/etc/x", "a/b", "x\\u0000", "-->", ".git"])
def test_the_name_of_a_skill_stays_in_its_folder(name: str, tmp_path: Path) -> None:
    document(tmp_path, "in/SKILL.md", f"---\nname: '{name}'\ndescription: Tidy\n---\n{JUST_ENOUGH}")
    assert run(tmp_path, "in/SKILL.md").code == 0
    (draft,) = (tmp_path / "in").glob("*.runbook.md")
    assert draft.name == "tidy-up.runbook.md" or name != "tidy up"
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


@pytest.mark.parametrize("name", ["a --> b.md", "-->.md", "a b.md", "ü\u202e.md", "-x.md"])
def test_the_name_of_a_page_stays_in_its_comment(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(JUST_ENOUGH, encoding="utf-8")
    assert run(tmp_path, f"./{name}", "-o", "draft.runbook.md").code == 0
    assert run(tmp_path, "--check", "draft.runbook.md").code == 0
    assert call("check", "--strict", "draft.runbook.md", cwd=tmp_path).code == 0


def test_the_report_is_json_with_a_schema(page: Path) -> None:
    (page.parent / "about.md").write_text(PROSE, encoding="utf-8")
    found = json.loads(run(page.parent, ".", "--format", "json").out)
    jsonschema.Draft202012Validator(json.loads(SCHEMAS["import"].text())).validate(found)
    [draft] = found["drafts"]
    assert (draft["source"], draft["draft"]) == ("restart.md", "restart.runbook.md")
    assert [guess["kind"] for guess in draft["guesses"]] == ["harm", "condition"]
    assert [one["kind"] for one in found["refused"]] == ["no-procedure"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("restart.md", "-o", "-", "--format", "json"), "both write to standard output"),
        (("restart.md", "--inputs", "A", "--no-inputs"), "exclude each other"),
        ((".", "-o", "-"), "is a folder"),
        (("empty",), "has no pages"),
    ],
)
def test_options_that_exclude_each_other(words: tuple[str, ...], message: str, page: Path) -> None:
    (page.parent / "empty").mkdir()
    assert message in run(page.parent, *words).exits(2).err
    assert not page.with_name("restart.runbook.md").exists()


def test_inputs_are_words_of_the_page_or_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("# A\n\n```bash\nping -c 1 node-a\n```\n", encoding="utf-8")
    done = run(tmp_path, "a.md", "-o", "-", "--inputs", "node-a, other")
    assert 'ping -c 1 "$NODE_A"' in done.out
    assert "NODE_A:\n      description: node-a\n" in done.out
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(JUST_ENOUGH.encode())))
    done = run(tmp_path, "-")
    assert (done.code, done.out[:9], "imported from" in done.out) == (0, "---\nrdc:\n", False)


def test_a_draft_that_would_lack_a_code_line_is_refused(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = Printed("---\n---\n", dict.fromkeys("123", 1))
    monkeypatch.setattr("compiler.importers.page.print_draft", lambda draft: printed)
    assert "restart.md:6: the draft would lack a code line" in run(page.parent, page.name).exits(2).err
    assert not page.with_name("restart.runbook.md").exists()
