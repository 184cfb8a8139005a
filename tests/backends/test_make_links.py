"""Makefiles follow no link in the place of state: a repository may hold one, and a command may plant one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.makefiles import Place

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
STATE = ".rdc/main.make"
VERBS = ["run", "resume", "unlock", "step-1"]
UNCHANGED = "mine\n"


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("name", [".rdc", STATE])
def test_a_folder_that_is_a_link_is_refused_by_all_that_write(name: str, verb: str, tmp_path: Path) -> None:
    place = Place(tmp_path, RUNBOOK)
    place.make("run")
    link, elsewhere = tmp_path / name, tmp_path / "elsewhere"
    link.rename(elsewhere)
    link.symlink_to(elsewhere)
    before = {path: path.lstat().st_mtime_ns for path in elsewhere.rglob("*")}
    refused = place.make(verb)
    assert refused.returncode == 2, refused
    assert f"{name} is a link" in refused.stdout
    assert {path: path.lstat().st_mtime_ns for path in elsewhere.rglob("*")} == before
    link.unlink()  # the remedy
    assert "WAITING" in place.make("run").stdout


@pytest.mark.parametrize("name", ["process", "journal", "journal.whole"])
def test_a_link_that_a_command_plants_is_not_followed(name: str, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text(UNCHANGED)
    plants = RUNBOOK.replace("echo worked", f"ln -sf ../../victim {STATE}/{name}; echo worked")
    place = Place(tmp_path, plants)
    said = place.make("run")
    assert (tmp_path / "victim").read_text() == UNCHANGED
    assert ("WAITING" in said.stdout) == (name != "journal"), said


@pytest.mark.parametrize("name", ["process", "history", "history/1", "anything"])
def test_a_link_within_the_state_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    place = Place(tmp_path, RUNBOOK)
    link = tmp_path / STATE / name
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere")
    refused = place.make()
    assert (refused.returncode, list((tmp_path / "elsewhere").iterdir())) == (2, [])
    assert f"{STATE}/{name} is a link" in refused.stdout
    link.unlink()  # the remedy
    assert "WAITING" in place.make().stdout


def test_a_state_that_everybody_may_write_to_is_refused(tmp_path: Path) -> None:
    place = Place(tmp_path, RUNBOOK)
    place.make()
    place.state.chmod(0o777)
    refused = place.make("resume")
    assert f"all users may write to {STATE}" in refused.stdout
    place.state.chmod(0o700)
    assert "WAITING" in place.make("resume").stdout


def test_a_link_above_an_absolute_state_is_as_safe_as_its_target(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    place = Place(tmp_path, RUNBOOK, None, **{"state-dir": str(link / "state")})
    assert "WAITING" in place.make().stdout
    real.chmod(0o777)
    assert f"all users may write to {link}" in place.make("resume").stdout
