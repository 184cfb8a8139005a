"""What the steps after a question find of the workspace before it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.github.native import Native, command, errors, noted, prepared, question, result

pytestmark = pytest.mark.tool

SECRET = "s3cret/+*.[x]$\\value"
SHOW = command(3, '{ find . -path ./.git -prune -o -print | LC_ALL=C sort; } >> "$LOG"', "PASS: COMPLETE")


def made(folder: Path, script: str, after: str = SHOW, options: Mapping[str, object] | None = None) -> Native:
    """A workflow that makes files, asks, and looks at what there is."""
    return prepared(folder, command(1, script) + question(2, 'NO: STOP "Not wanted"') + after, options)


MAKES = """\
git init -q . && git config user.email a@b.c && git config user.name a && printf 'kept out' > '.hidden file'
mkdir -p 'a folder/inner' empty && echo '#!/bin/sh
echo it runs' > 'a folder/inner/run me' && chmod 750 'a folder/inner/run me'
ln -s 'a folder/inner/run me' link && ln -s /nowhere dangling && ln 'a folder/inner/run me' hard
printf 'x' > "$(printf 'two\\nlines')" && printf 'y' > ./-n
git add . && git commit -qm 'Made by a step' && echo changed >> link && touch -d '2020-01-02 03:04' dated"""
LOOKS = """\
{ ./link | head -n 1; git log --format=%s; git status --porcelain -uno; readlink link dangling
stat -c '%a %n' 'a folder/inner/run me'; stat -c '%Y' dated; ls -A empty; cat '.hidden file'; echo; ls --quoting-style=c
} >> "$LOG"
"""
FOUND = """\
it runs
Made by a step
 M "a folder/inner/run me"
 M hard
a folder/inner/run me
/nowhere
750 a folder/inner/run me
1577934240
kept out
"-n"
"a folder"
"dangling"
"dated"
"empty"
"hard"
"link"
"of the repository"
"two\\nlines"
"""


def test_all_that_is_in_the_workspace_goes_on(tmp_path: Path) -> None:
    native = made(tmp_path, MAKES, command(3, LOOKS.strip(), "PASS: COMPLETE"))
    (tmp_path / "repository" / "of the repository").write_text("x", encoding="utf-8")
    run = native("approved", env={"TZ": "UTC"})
    assert run.conclusion == "success", run.log
    assert "\n".join([*native.log, ""]) == FOUND


def test_the_next_part_checks_out_nothing(tmp_path: Path) -> None:
    native = made(tmp_path, "rm removed; touch added")
    (tmp_path / "repository" / "removed").touch()
    native("approved")
    assert native.log == [".", "./added"]
    assert native.text.count("actions/checkout@") == 1


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("carry", "found"),
    [
        (["out"], [".", "./out", "./out/a b", "./source"]),
        (["out/a b", "other file"], [".", "./other file", "./out", "./out/a b", "./source"]),
        (False, [".", "./source"]),
        (None, [".", "./.cache", "./other file", "./out", "./out/a b"]),
    ],
)
def test_the_author_says_what_goes_on(carry: object, found: list[str], tmp_path: Path) -> None:
    """Without the whole workspace, the steps after the question have the repository."""
    options = {} if carry is None else {"carry": carry}
    native = made(tmp_path, "mkdir out .cache; touch 'out/a b' 'other file'; rm source", options=options)
    (tmp_path / "repository" / "source").touch()
    run = native("approved")
    assert (run.conclusion, native.log) == ("success", found), run.log
    assert ("upload-artifact" in native.text) == (carry is not False)


@pytest.mark.parametrize("secrets", [[], ["KEY"]])
def test_what_is_to_go_on_and_is_missing_is_an_error(secrets: list[str], tmp_path: Path) -> None:
    native = made(tmp_path, "true", options={"carry": ["out"], "secrets": secrets})
    run = native("approved", secrets=dict.fromkeys(secrets, SECRET))
    assert (run.conclusion, result(run, 2)) == ("failure", "skipped")
    assert "out: " in run.log
    assert "has the secret" not in errors(run)


WRITES = {
    "a word of a hidden file": 'mkdir -p .aws && echo "machine x password $KEY end" > .aws/credentials',
    "a name with spaces": 'mkdir "a b" && echo "$KEY" > "a b/-c d"',
    "the configuration of git": 'git init -q . && echo "header = AUTHORIZATION: $KEY" >> .git/config',
    "bytes": 'printf "\\0\\377%s\\0" "$KEY" > file',
    "a file that nobody may read": 'echo "$KEY" > file && chmod 000 file',
}


@pytest.mark.share(2)
@pytest.mark.parametrize("place", WRITES)
def test_a_workspace_with_a_secret_is_not_saved(place: str, tmp_path: Path) -> None:
    native = made(tmp_path, WRITES[place], options={"secrets": ["KEY"]})
    run = native("approved", secrets={"KEY": SECRET})
    assert (run.conclusion, result(run, 2), native.log) == ("failure", "skipped", []), run.log
    assert SECRET not in run.log + errors(run) + run.summary
    files = [path for path in (tmp_path / "history").rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert "secret" in errors(run).lower()


@pytest.mark.parametrize("secret", ["-e", "-----BEGIN KEY-----\nabc\n-----END KEY-----\n"])
def test_any_secret_is_found(secret: str, tmp_path: Path) -> None:
    native = made(tmp_path, 'printf "%s" "$KEY" > file', options={"secrets": ["KEY"]})
    run = native("approved", secrets={"KEY": secret})
    assert (run.conclusion, result(run, 2), native.log) == ("failure", "skipped", []), run.log


@pytest.mark.share(2)
@pytest.mark.parametrize("name", ["name", "line", "NAMES"])
def test_any_name_of_a_secret_is_one(name: str, tmp_path: Path) -> None:
    names = ["KEY", name]
    native = made(tmp_path, f'printf "%s" "${name}" > file', options={"secrets": names})
    run = native("approved", secrets={each.upper(): f"the secret {each}" for each in names})
    assert (run.conclusion, result(run, 2)) == ("failure", "skipped"), run.log


def test_a_workspace_without_secrets_goes_on(tmp_path: Path) -> None:
    script = 'echo "${#KEY} ${#OTHER}" > file; ln -s /etc/passwd link; mkfifo pipe'
    native = made(tmp_path, script, options={"secrets": ["KEY", "OTHER"]})
    run = native("approved", secrets={"KEY": SECRET})
    assert (run.conclusion, len(native.log)) == ("success", 4), "one of the secrets is not set: " + run.log


def test_a_secret_outside_of_what_goes_on_does_not_count(tmp_path: Path) -> None:
    script = 'echo "$KEY" > file; mkdir out; touch out/a'
    for number, carry in enumerate((["out"], False)):
        (tmp_path / str(number)).mkdir()
        native = made(tmp_path / str(number), script, options={"secrets": ["KEY"], "carry": carry})
        assert native("approved", secrets={"KEY": SECRET}).conclusion == "success"


def test_an_output_that_is_a_secret_is_not_shown(tmp_path: Path) -> None:
    document = (
        "---\nrdc:\n  outputs: [what]\n  secrets: [KEY]\n---\n\n"
        + command(1, 'echo "what=$KEY" >> "$RDC_OUTPUT"')
        + question(2, 'NO: STOP "Not {{what}}"', title="Publish {{what}}?")
        + noted(3, "PASS: COMPLETE")
    )
    native = prepared(tmp_path, document)
    run = native("approved", secrets={"KEY": SECRET})
    assert SECRET not in run.jobs["decide_2"].name + run.summary + run.log
