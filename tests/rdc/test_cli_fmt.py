"""`rdc fmt`: files, folders and standard input; what is written, and what is not."""

import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import GOOD, UNKNOWN_TARGET, Result, call, document

pytestmark = pytest.mark.process

FORMAT = "compiler.frontends.rundown.format.document"
UNTIDY = "## 1 - Build\n* FAIL: RETRY 2\n"
TIDY = "## 1. Build\n\n- FAIL: RETRY 2 STOP\n"


def with_input(text: bytes | str, monkeypatch: pytest.MonkeyPatch, *arguments: str, cwd: Path) -> Result:
    """Run rdc with something on standard input."""
    given = text.encode() if isinstance(text, str) else text
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    return call(*arguments, cwd=cwd)


def full(*_: object) -> int:
    raise OSError(28, "No space left on device")


def test_a_file_is_formatted_in_place(tmp_path: Path) -> None:
    path = document(tmp_path, "a.runbook.md", UNTIDY)
    path.chmod(0o640)
    result = call("fmt", "a.runbook.md", cwd=tmp_path)
    assert (result.code, result.out, result.err) == (0, "", "formatted a.runbook.md\n")
    assert path.read_text() == TIDY
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]
    before = path.stat()
    assert call("fmt", "a.runbook.md", cwd=tmp_path).exits(0).err == "1 file already formatted\n"
    assert path.stat() == before
    document(tmp_path, "a.runbook.md", "## 2. A\n\n## 4. B\n")
    assert call("fmt", "a.runbook.md", cwd=tmp_path).err == "formatted a.runbook.md (2 is now 1, 4 is now 2)\n"


def test_bytes_that_are_not_structure_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.runbook.md"
    path.write_bytes(b"\xef\xbb\xbf# T\r\n\r\n\xc3\xa9 \r\nb\n## 1  A\r\n```sh\r\na\t \r\n```\r\n- PASS:STOP")
    assert call("fmt", "-q", "a.runbook.md", cwd=tmp_path).err == ""
    kept = b"\xef\xbb\xbf# T\r\n\r\n\xc3\xa9 \r\nb\n"
    assert path.read_bytes() == kept + b"\r\n## 1. A\r\n\r\n```sh\r\na\t \r\n```\r\n\r\n- PASS: STOP\r\n"


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    path = document(tmp_path, "real/a.runbook.md", UNTIDY)
    (tmp_path / "link.runbook.md").symlink_to(path)
    result = call("fmt", "link.runbook.md", cwd=tmp_path)
    assert (result.code, path.read_text()) == (1, UNTIDY)
    assert "cannot write link.runbook.md: it is a link\n" in result.err
    assert f"  = help: use the path of the file itself: {path}" in result.err
    assert call("fmt", str(path), cwd=tmp_path).code == 0  # the remedy
    assert path.read_text() == TIDY


def test_check_names_what_would_change_and_writes_nothing(tmp_path: Path) -> None:
    path = document(tmp_path, "a.runbook.md", UNTIDY)
    document(tmp_path, "b.runbook.md", TIDY)
    result = call("fmt", "--check", "a.runbook.md", "b.runbook.md", cwd=tmp_path).exits(1)
    assert result.err.startswith("a.runbook.md:1:1: error[RD515]: a.runbook.md is not formatted\n")
    assert "b.runbook.md" not in result.err
    assert path.read_text() == UNTIDY
    assert call("fmt", "--check", "b.runbook.md", cwd=tmp_path).exits(0).err == "1 file already formatted\n"
    found = json.loads(call("fmt", "--check", "--format", "json", "a.runbook.md", cwd=tmp_path).out)
    assert [one["code"] for one in found["diagnostics"]] == ["RD515"]


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_difference_can_be_applied(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.runbook.md"
    path.write_bytes(UNTIDY.removesuffix("\n").replace("\n", end or "\n").encode() + end.encode())
    before = path.read_bytes()
    result = call("fmt", "--diff", "a.runbook.md", cwd=tmp_path)
    assert (result.code, path.read_bytes()) == (0, before)
    assert call("fmt", "--diff", "--check", "a.runbook.md", cwd=tmp_path).code == 1
    subprocess.run(["git", "apply", "-p0", "-"], cwd=tmp_path, input=result.out.encode(), check=True)
    assert path.read_bytes() == TIDY.replace("\n", end or "\n").encode()


def test_a_document_with_errors_is_left_alone_and_the_others_are_not(tmp_path: Path) -> None:
    wrong = document(tmp_path, "a.runbook.md", f"{UNKNOWN_TARGET}\n\n\n")
    right = document(tmp_path, "b.runbook.md", UNTIDY)
    before = wrong.read_bytes()
    result = call("fmt", "a.runbook.md", "b.runbook.md", cwd=tmp_path).exits(1)
    assert "error[RD201]" in result.err
    assert result.err.endswith("formatted b.runbook.md\n")
    assert (wrong.read_bytes(), right.read_text()) == (before, TIDY)


def test_a_document_of_the_other_layout_is_reordered(tmp_path: Path) -> None:
    path = document(tmp_path, "a.runbook.md", "## 1. A\n\n- PASS: STOP\n\nText.\n")
    assert call("fmt", "a.runbook.md", cwd=tmp_path).err == "1 file already formatted\n"
    assert call("fmt", "--transitions", "after-body", "a.runbook.md", cwd=tmp_path).code == 0
    assert path.read_text() == "## 1. A\n\nText.\n\n- PASS: STOP\n"
    document(tmp_path, "rdc.toml", 'transitions = "after-header"\n')
    assert call("fmt", "a.runbook.md", cwd=tmp_path).code == 0
    assert path.read_text() == "## 1. A\n\n- PASS: STOP\n\nText.\n"


@pytest.mark.parametrize(
    ("name", "function", "code", "problem"),
    [
        (f"{FORMAT}.is_equivalent", lambda *_: False, 70, "rdc: internal error: a.runbook.md was not formatted: "),
        ("rdc.rewrite.files.Rewrite.is_still_there", lambda _: False, 1, "it has changed since rdc read it"),
        ("rdc.output.write.os.fsync", full, 1, "No space left on device"),
    ],
)
def test_a_file_that_cannot_be_written_is_named_and_left_alone(
    name: str, function: object, code: int, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = document(tmp_path, "a.runbook.md", UNTIDY)
    monkeypatch.setattr(name, function)
    result = call("fmt", "a.runbook.md", cwd=tmp_path)
    assert (result.code, path.read_text(), list(tmp_path.iterdir())) == (code, UNTIDY, [path])
    assert (f"error[RD511]: cannot write a.runbook.md: {problem}" if code == 1 else problem) in result.err


def test_standard_input_goes_to_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text, words, expected in ((UNTIDY, (), (0, TIDY)), (TIDY, (), (0, TIDY)), (UNTIDY, ("--check",), (1, ""))):
        result = with_input(text, monkeypatch, "fmt", *words, "-", cwd=tmp_path)
        assert (result.code, result.out) == expected
    wrong = with_input(UNKNOWN_TARGET, monkeypatch, "fmt", "-", cwd=tmp_path)
    assert (wrong.code, wrong.out, wrong.err.startswith("<stdin>:9:")) == (1, "", True)
    assert "remove the other files" in call("fmt", "-", "a.runbook.md", cwd=tmp_path).err
    assert "both write to standard output" in call("fmt", "-", "--format", "json", cwd=tmp_path).err


def test_check_reads_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert with_input(GOOD, monkeypatch, "check", "-", cwd=tmp_path).exits(0).err == "no problems in 1 file\n"
    result = with_input("# Only a title\n", monkeypatch, "check", "-", cwd=tmp_path)
    assert result.err.startswith("<stdin>: error[RD005]")
    assert "  = help: choose the format with --from rundown|playbook|agent-workflow|json|stepspec\n" in result.err
    result = with_input("# Only a title\n", monkeypatch, "check", "--from", "rundown", "-", cwd=tmp_path)
    assert result.err.startswith("<stdin>:1:1: error[RD101]")
    assert with_input(b"\xff", monkeypatch, "check", "-", cwd=tmp_path).err.startswith("<stdin>: error[RD002]")
    document(tmp_path, "rdc.toml", "")
    document(tmp_path, "sub/part.runbook.md", UNKNOWN_TARGET)
    whole = "## 1. All\n\n- part.runbook.md\n"
    assert "error[RD301]" in with_input(whole, monkeypatch, "check", "-", cwd=tmp_path).err
    result = with_input(whole, monkeypatch, "check", "-", cwd=tmp_path / "sub")
    assert result.err.startswith("sub/part.runbook.md:9:")
    head = "---\nscenarios: {a: {commands: [rd run deploy.runbook.md], result: STOP}}\n---\n"
    assert with_input(head + GOOD, monkeypatch, "check", "--strict", "-", cwd=tmp_path).code == 0


def test_a_folder_stands_for_the_documents_in_it_that_git_does_not_ignore(tmp_path: Path) -> None:
    order = ["a/b/y.runbook.md", "a/z.runbook.md", "a.runbook.md", "b.runbook.md"]
    hidden = (".hidden/x.runbook.md", ".x.runbook.md", "node_modules/m/x.runbook.md", "notes.md")
    for name in (*order, *hidden):
        document(tmp_path, name, UNTIDY)
    (tmp_path / "link.runbook.md").symlink_to("notes.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    document(tmp_path, ".gitignore", "/a/b/\n*b.runbook.md\n")
    for folder, names in ((".", order[1:3]), ("a", order[1:2])):
        found = call("fmt", "--check", "--format", "json", folder, cwd=tmp_path).out
        assert [one["path"] for one in json.loads(found)["diagnostics"]] == sorted(names)
    shutil.rmtree(tmp_path / ".git")
    result = call("fmt", ".", "b.runbook.md", cwd=tmp_path)
    assert result.err.splitlines() == [f"formatted {name}" for name in order]
    assert (tmp_path / "notes.md").read_text() == UNTIDY
    assert call("check", "a", cwd=tmp_path).err.endswith("in 2 files\n")


@pytest.mark.parametrize(
    "line",
    [
        *("- FAIL STOP", "- FAIL -> GOTO 2", "- FAIL — STOP", "- FAIL=STOP", "- ~~FAIL~~: STOP", "- ❌: STOP"),
        *("- If the command above fails: STOP", "\nElse: STOP", "\nFAIL: GOTO 2", "\n> - FAIL: STOP"),
        *("- ELSE: GOTO 2", "- FAILED: GOTO 2", "- ERROR: Undo", "- ON FAIL: GOTO 2"),
    ],
)
def test_fmt_moves_no_line_into_the_prompt_that_reads_like_a_transition(line: str, tmp_path: Path) -> None:
    """What was meant as a transition is an error instead."""
    written = f"# A\n\n## 1. Do\n\n```bash\ntrue\n```\n\n- PASS: CONTINUE\n{line}\n\n## 2. Undo\n\n```bash\ntrue\n```\n"
    (tmp_path / "a.runbook.md").write_text(written, encoding="utf-8")
    result = call("fmt", "a.runbook.md", cwd=tmp_path)
    assert (result.code, "error[RD120]" in result.err or "error[RD058]" in result.err) == (1, True), result.err
    if line[2:].startswith(("ELSE", "FAILED", "ERROR", "ON")):
        assert "a.runbook.md:10:3: error[RD120]" in result.err
        assert "did you mean `FAIL`?" in result.err
    assert (tmp_path / "a.runbook.md").read_text(encoding="utf-8") == written


@pytest.mark.parametrize("line", ["- A STOP sign is shown", "- Remember: this can stop", "\nSTOP the server."])
def test_fmt_moves_other_text_into_the_prompt(line: str, tmp_path: Path) -> None:
    written = f"# A\n\n## 1. Do\n\n```bash\ntrue\n```\n\n- PASS: CONTINUE\n{line}\n"
    (tmp_path / "a.runbook.md").write_text(written, encoding="utf-8")
    assert call("fmt", "a.runbook.md", cwd=tmp_path).code == 0
    assert (tmp_path / "a.runbook.md").read_text(encoding="utf-8").startswith(f"# A\n\n## 1. Do\n\n{line.strip()}\n")
