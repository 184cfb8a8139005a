"""Makefiles follow no link in the place of state: a repository may hold one, and a command may plant one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.abuse.generated import Generated

RUNBOOK = """\
# T

## 1. Work

```sh
echo worked >> log
```

## 2. More

```sh
echo more >> log
```

## 3. Is it well?

- YES: COMPLETE
- NO: STOP
"""
PLAYBOOK = "# T\n\n## ARTIFACTS\n\ntype: markdown\n\n## STEP 1: Write\n\nWrite it.\n\n## STEP 2: Check\n\nCheck it.\n"
STATE = ".rdc/main.make"
VERBS = ["run", "resume", "unlock", "step-1"]
UNCHANGED = "mine\n"


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", [".rdc", STATE])
def test_a_folder_that_is_a_link_is_refused_by_all_that_write(name: str, verb: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK, "make", operator="basic")
    place.call("run")
    link, elsewhere = tmp_path / name, tmp_path / "elsewhere"
    link.rename(elsewhere)
    link.symlink_to(elsewhere)
    before = {path: path.lstat().st_mtime_ns for path in elsewhere.rglob("*")}
    refused = place.call(verb)
    assert refused.code == 2, refused
    assert f"{name} is a link" in refused.out + refused.err
    assert {path: path.lstat().st_mtime_ns for path in elsewhere.rglob("*")} == before
    link.unlink()  # the remedy
    assert "WAITING" in place.call("run").out


@pytest.mark.parametrize("name", ["process", "journal", "delay", "delay.new", "event"])
def test_a_link_that_a_command_plants_is_not_followed(name: str, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text(UNCHANGED)
    plants = RUNBOOK.replace("echo worked", f"ln -sf ../../victim .rdc/main.make/{name}; echo worked")
    place = Generated(tmp_path, "runbook", plants, "make", operator="basic")
    said = place.call("run")
    assert (tmp_path / "victim").read_text() == UNCHANGED
    assert ("WAITING" in said.out) == (name != "journal"), said


CALLED = ".rdc/main"


@pytest.mark.parametrize("verb", ["run", "resume", "step-1", "reset", "answer"])
@pytest.mark.parametrize("name", [".rdc", CALLED])
def test_a_folder_that_is_a_link_is_refused_by_the_program_too(name: str, verb: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK, "make")
    place.call("run")
    link, elsewhere = tmp_path / name, tmp_path / "elsewhere"
    link.rename(elsewhere)
    link.symlink_to(elsewhere)
    before = {path: path.lstat().st_mtime_ns for path in elsewhere.rglob("*")}
    refused = place.call(verb, *(["STEP=3", "REPLY=yes"] if verb == "answer" else []))
    assert refused.code == 2, refused
    assert f"{name} is a link: remove it, or name the directory that it leads to with the option `state-dir`" in (
        refused.out
    )
    assert {path: path.lstat().st_mtime_ns for path in elsewhere.rglob("*")} == before
    link.unlink()  # the remedy
    assert "WAITING" in place.call("run").out


@pytest.mark.parametrize("name", ["prompts/1.1", "answers/1.1", "journal", "lock"])
def test_a_link_within_the_folder_of_a_run_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text(UNCHANGED)
    place = Generated(tmp_path, "playbook", PLAYBOOK, "make")
    link = place.state / name
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "victim")
    refused = place.call("run", "AGENT=echo OWNED")
    assert (tmp_path / "victim").read_text() == UNCHANGED
    if refused.code:
        assert (refused.code, f"{CALLED}/{name} is a link" in refused.out) == (2, True), refused
        link.unlink()  # the remedy
        assert place.call("run", "AGENT=echo fine").code == 0
