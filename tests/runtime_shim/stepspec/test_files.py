"""Files that a specification names: none outside the project is read or written, whatever lies in the way (B3)."""

import os
from pathlib import Path

import pytest

from runtime_shim.stepspec.safe_paths import (
    UnsafeError,
    check_there,
    inside,
    is_missing,
    list_inside,
    read_inside,
    write_inside,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a file, links of all kinds, a pipe, and a secret beside it."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "out").mkdir()
    root = tmp_path / "project"
    (root / "docs" / "deep").mkdir(parents=True)
    (root / "docs" / "a.md").write_text("A")
    (root / "good").symlink_to("docs/a.md")
    (root / "folder").symlink_to("docs")
    (root / "bad").symlink_to("../secret")
    (root / "away").symlink_to(tmp_path / "out")
    (root / "round").symlink_to("round")
    (root / "nowhere").symlink_to("docs/new.md")
    os.mkfifo(root / "pipe")
    return root


@pytest.mark.parametrize("path", ["docs/a.md", "./docs//a.md", "docs/deep/../a.md", "good", "folder/a.md"])
def test_files_inside_are_read(root: Path, path: str) -> None:
    assert read_inside(str(root), path) == b"A"
    check_there(str(root), path)


REFUSED = {
    "": "is not a path",
    "a\0b": "is not a path",
    "\ud800": "is not a path",
    "/etc/passwd": "is absolute",
    "../secret": "is outside the project",
    "docs/../../secret": "is outside the project",
    "bad": "is outside the project",
    "away/x": "is outside the project",
    "pipe": "is not a regular file",
    "docs": "is not a regular file",
    ".": "is not a regular file",
    "gone.md": "does not exist",
    "docs/a.md/b": "does not exist",
    "x" * 300: "cannot be used: File name too long",
    "round": "cannot be used|is not",
}


@pytest.mark.parametrize("path", REFUSED)
def test_other_paths_are_refused(root: Path, path: str) -> None:
    for use in (read_inside, check_there):
        with pytest.raises(UnsafeError, match=REFUSED[path]):
            use(str(root), path)


def test_folder_is_there_where_its_path_says_that_it_is_one(root: Path) -> None:
    check_there(str(root), "docs/")
    check_there(str(root), "folder/")
    for path in ("away/", "gone/"):
        with pytest.raises(UnsafeError):
            check_there(str(root), path)


def test_link_that_is_put_in_place_meanwhile_is_not_followed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime_shim.stepspec.safe_paths.inside", lambda _root, _path: ["bad"])
    with pytest.raises(UnsafeError):
        read_inside(str(root), "bad")
    monkeypatch.setattr("runtime_shim.stepspec.safe_paths.inside", lambda _root, _path: ["away", "x"])
    with pytest.raises(UnsafeError):
        write_inside(str(root), "away/x", b"x")
    assert not list((root.parent / "out").iterdir())


def test_longer_files_are_refused(root: Path) -> None:
    (root / "long").write_bytes(b"x" * 11)
    assert len(read_inside(str(root), "long", 11)) == 11
    with pytest.raises(UnsafeError, match="larger than 10 bytes"):
        read_inside(str(root), "long", 10)


def test_files_are_written_whole_and_leave_no_draft(root: Path) -> None:
    write_inside(str(root), "new/er/b.md", b"B")
    write_inside(str(root), "good", b"C")
    write_inside(str(root), "nowhere", b"D")
    assert (root / "new/er/b.md").read_text() == "B"
    assert ((root / "docs/a.md").read_text(), (root / "good").is_symlink()) == ("C", True)
    assert (root / "docs/new.md").read_text() == "D"
    assert sorted(path.name for path in (root / "docs").iterdir()) == ["a.md", "deep", "new.md"]


@pytest.mark.parametrize(
    "path",
    ["bad", "away/x", "../x", "/tmp/x", "pipe", "docs", "docs/", ".", ".git/config", "docs/.GIT/hooks/x", ".rdc/a/journal", "docs/a.md/x"],  # noqa: E501
)  # fmt: skip
def test_nothing_else_is_written(root: Path, path: str) -> None:
    before = sorted(root.rglob("*"))
    with pytest.raises(UnsafeError):
        write_inside(str(root), path, b"x")
    assert (root.parent / "secret").read_text() == "secret"
    assert sorted(root.rglob("*")) == before
    assert not list((root.parent / "out").iterdir())


def test_folders_are_listed_and_what_is_missing_is_told(root: Path) -> None:
    assert list_inside(str(root), "docs") == ["a.md", "deep/"]
    assert {"docs/", "folder"} <= {*list_inside(str(root), ".")}
    for path in ("away", "gone", "docs/a.md"):
        with pytest.raises(UnsafeError):
            list_inside(str(root), path)
    assert [is_missing(str(root), path) for path in ("gone.md", "docs/a.md")] == [True, False]
    assert inside(str(root), ".") == []
