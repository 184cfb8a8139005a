"""Documents that are deep, wide or long: rdc ends soon with a result or with diagnostics, and in bounded memory.

`python -m tests.robustness.size` runs every case with every command.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.robustness.large import CASES, MAIN, files
from tests.robustness.size import COMMANDS, measure, write

DONE, REFUSED = 0, 1

CHOSEN = [
    ("steps", "check", DONE),
    ("steps", "python", DONE),
    ("steps", "github", REFUSED),
    ("other-steps", "diff", DONE),
    ("substeps", "make", DONE),
    ("loop", "mermaid", DONE),
    ("retries", "json", DONE),
    ("dynamic", "dot", DONE),
    ("chain", "graph", DONE),
    ("doubled", "check", REFUSED),
    ("long-message", "github", REFUSED),
    ("long-command", "make", REFUSED),
    ("long-title", "dot", DONE),
    ("long-escapes", "check", REFUSED),
    ("long-almost-transition", "check", DONE),
    ("long-path-of-folders", "check", REFUSED),
    ("nested-items", "check", REFUSED),
    ("nested-quotes", "python", DONE),
    ("nested-yaml-lists", "check", REFUSED),
    ("nested-toml-lists", "check", REFUSED),
    ("bomb-as-events", "github", REFUSED),
    ("wrong-targets", "check", REFUSED),
    ("many-options", "check", REFUSED),
    ("too-large", "check", REFUSED),
]


@pytest.mark.share(16)
@pytest.mark.parametrize(("case", "command", "code"), CHOSEN, ids=str)
def test_it_ends_soon_and_in_bounded_memory(case: str, command: str, code: int, tmp_path: Path) -> None:
    write(case, tmp_path)
    found = measure(command, tmp_path)
    assert found.is_well, found
    assert found.code == code, found.said[-1000:]
    assert found.said
    is_output = COMMANDS[command][0] in ("compile", "graph")
    assert bool(list(tmp_path.glob("out*"))) == (is_output and code == DONE)


def test_the_cases_are_what_they_say() -> None:
    assert len(files("steps")[MAIN].split("\n## ")) == 10_000
    assert len(files("chain")) == 1_000 + 2
    assert len(files("too-large")[MAIN].encode()) == 8 * 1024 * 1024 + 1
    assert len(files("largest-text")[MAIN].encode()) == 8 * 1024 * 1024
    assert {case for case, _, _ in CHOSEN} <= set(CASES)
