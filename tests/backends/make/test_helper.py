"""The program that a Makefile calls is never one that an agent, or a repository, has put in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.make.test_agents import SHORT, play

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
PROGRAM, RUNTIME = "rdc/main.py", "$(ls rdc/rdc_runtime_*.py)"
PART = "$(ls rdc/rdc_make_*.py)"
PLANTS = {
    "written into the program": f"cat planted > {PROGRAM}",
    "put in the place of the program": f"rm -f {PROGRAM}; cp planted {PROGRAM}",
    "linked in the place of the program": f'ln -sf "$PWD/planted" {PROGRAM}',
    "written into the runtime": f'at={RUNTIME}; cat planted > "$at"',
    "put in the place of the runtime": f'at={RUNTIME}; rm -f "$at"; cp planted "$at"',
    "linked in the place of the runtime": f'at={RUNTIME}; ln -sf "$PWD/planted" "$at"',
    "written into the part for make": f'at={PART}; cat planted > "$at"',
    "put in the place of the part for make": f'at={PART}; rm -f "$at"; cp planted "$at"',
    "linked in the place of the part for make": f'at={PART}; ln -sf "$PWD/planted" "$at"',
    "written into the state": "for name in helper json main sitecustomize; do cp planted .rdc/main/$name.py; done",
    "beside it": "for to in . rdc .rdc; do for name in __future__ json os hashlib sitecustomize usercustomize; do "
    'cp planted "$to/$name.py"; done; done',
    "as what Python keeps of it": "mkdir -p rdc/__pycache__; cp planted rdc/__pycache__/main.cpython-311.pyc",
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


@pytest.mark.parametrize("attack", PLANTS.values(), ids=PLANTS)
def test_make_executes_nothing_that_an_agent_can_write(tmp_path: Path, attack: str) -> None:
    assert attacked(tmp_path, attack) == []


def test_make_executes_nothing_that_lay_there_before_the_run(tmp_path: Path) -> None:
    made = play(tmp_path, SHORT)
    for state in (tmp_path / ".rdc" / "main", tmp_path / ".rdc" / "main.make"):
        state.mkdir(parents=True)
        for name in ("helper.py", "json.py", "sitecustomize.py", "main.py"):
            (state / name).write_text(PLANTED, encoding="utf-8")
    assert made.end("AGENT=echo said") == "rdc: COMPLETE"
    assert made.read("executed") == b""
