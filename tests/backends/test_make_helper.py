"""The program that Makefiles of playbooks call is not one that an agent, or a repository, has put in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.test_make_agents import SHORT, play

MAKE = 'closed by "Make on the engine"'
TWICE = """# Two

## STEP 1: First

Say it.

@output(it)

## STEP 2: Then

Use {{it}}.

@output(that)

## ARTIFACTS

type: markdown
"""
PLANTED = "import sys\nopen('executed', 'a').write(' '.join(sys.argv[1:2]) + chr(10))\n"
PLANTS = {
    "written into it": 'at=$(ls .rdc/*.make/helper.py); chmod u+w "$at"; cat planted > "$at"',
    "put in its place": 'at=$(ls .rdc/*.make/helper.py); rm -f "$at"; cp planted "$at"',
    "linked in its place": 'at=$(ls .rdc/*.make/helper.py); ln -sf "$PWD/planted" "$at"',
    "beside it": 'cp planted "$(ls -d .rdc/*.make)/json.py"; cp planted json.py; cp planted sitecustomize.py',
}


def attacked(folder: Path, attack: str) -> list[str]:
    """What the planted program was called for, after a run whose agents all do this."""
    made = play(folder, TWICE)
    (folder / "planted").write_text(PLANTED, encoding="utf-8")
    made.script("agent", f"{{ {attack}; }} > /dev/null 2>&1; echo said")
    made.make("AGENT=./agent")
    made.make("status")
    made.make("resume", "AGENT=./agent")
    return made.read("executed").decode().split()


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(attack, marks=() if name == "beside it" else pytest.mark.xfail(strict=True, reason=MAKE), id=name)
        for name, attack in PLANTS.items()
    ],
)
def test_make_executes_nothing_that_an_agent_can_write(tmp_path: Path, attack: str) -> None:
    assert attacked(tmp_path, attack) == []


def test_make_executes_nothing_that_lay_there_before_the_run(tmp_path: Path) -> None:
    made = play(tmp_path, SHORT)
    state = tmp_path / ".rdc" / "main.make"
    state.mkdir(parents=True)
    for name in ("helper.py", "json.py", "sitecustomize.py"):
        (state / name).write_text(PLANTED, encoding="utf-8")
    assert made.end("AGENT=echo said") == "rdc: COMPLETE"
    assert made.read("executed") == b""
