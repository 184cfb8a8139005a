"""Variables that are in the environment, or given on make's command line, and what becomes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.makefiles import Place

SHOWS = '# Shows\n\n## 1. Show\n\n```sh\nprintf "%s\\n" "$RDC" > seen\n```\n'
ASKS = f"{SHOWS}\n## 2. Look\n\nIs it good?\n\n- YES: CONTINUE\n- NO: STOP\n"


@pytest.mark.parametrize("document", [SHOWS, ASKS], ids=["plain", "flow"])
@pytest.mark.parametrize("value", ["mine", "a 'b' $(c) #d", ""])
def test_a_variable_with_the_name_of_rdc_reaches_commands(tmp_path: Path, document: str, value: str) -> None:
    place = Place(tmp_path, document)
    place.make(RDC=value)
    assert place.lines("seen") == [value]
    assert place.make("step-1", RDC=value).returncode == 0
    assert place.lines("seen") == [value]


REGION = """---
rdc:
  inputs:
    REGION: {default: eu}
    stage: {default: test}
---
# Shows

## 1. Show

```sh
printf "%s\\n" "$REGION $stage $TAG" > seen
```
"""


@pytest.mark.parametrize(
    ("given", "name", "meant"),
    [
        ("REGOIN=us", "REGOIN", "REGION"),
        ("REGIO=us", "REGIO", "REGION"),
        ("region=us", "region", "REGION"),
        ("REGIONS=us", "REGIONS", "REGION"),
        ("STAGE=us", "STAGE", "stage"),
        ("satge=$(shell touch canary)", "satge", "stage"),
    ],
)
def test_make_warns_of_a_variable_that_is_nearly_an_input(tmp_path: Path, given: str, name: str, meant: str) -> None:
    place = Place(tmp_path, REGION)
    done = place.make(given)
    assert f"rdc: warning: {name} is not an input; did you mean {meant}?\n" in done.stderr
    assert done.stderr.count("warning") == 1
    assert place.lines("seen") == ["eu test "]
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("given", ["TAG=1", "REGION=us", "stage=live", "ANSWERS=x", "V=1", "RE=1"])
def test_make_does_not_warn_of_other_variables(tmp_path: Path, given: str) -> None:
    place = Place(tmp_path, REGION)
    (tmp_path / "x").touch()
    assert "warning" not in place.make(given).stderr
    assert "warning" not in place.make(REGOIN="us").stderr
    assert "warning" not in place.make("REGION=us", "REGIONS=all").stderr


def test_a_makefile_with_a_prefix_warns_too(tmp_path: Path) -> None:
    place = Place(tmp_path, REGION, prefix="ship-")
    (tmp_path / "Makefile").rename(tmp_path / "ship.mk")
    (tmp_path / "Makefile").write_text("override TAG = x\nall:\n\t@echo mine\ninclude ship.mk\n", encoding="utf-8")
    assert "warning: REGOIN is not an input; did you mean REGION?" in place.make("ship-run", "REGOIN=us").stderr
    assert place.make("REGOIN=us").stderr == ""


def test_near_misses_are_found_by_shells_and_awks_of_all_kinds(kind: dict[str, str], tmp_path: Path) -> None:
    place = Place(tmp_path, REGION)
    assert "did you mean REGION?" in place.make(kind["shell"], "REGOIN=us", PATH=kind["path"]).stderr
