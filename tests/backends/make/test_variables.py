"""Variables on the command line of a make that calls the program: those that are nearly an input."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.makefiles import Place

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
