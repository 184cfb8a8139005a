"""Pictures of runbooks and of programs made by hand, for tests that compare two of them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from backends.picture.model import Picture, picture
from rdc.diff.compare import difference
from rdc.diff.overlay import overlay
from tests.differential.generate.rundown import Drawn, cases
from tests.differential.generate.rundown import compiled as compiled_case
from tests.support.documents import compiled

pairs = st.tuples(cases(most=3), cases(most=3))
"""Two runbooks that have little to do with each other."""


def drawn(folder: Path, text: str, files: dict[str, str] | None = None) -> Picture:
    """The picture of a document in a folder of its own."""
    compilation = compiled(folder, text, files)
    assert compilation.program, compilation.diagnostics
    return picture(compilation.program)


def of_case(case: Drawn) -> Picture:
    """The picture of a case."""
    return picture(compiled_case(case))


def both(old: Picture, new: Picture) -> Picture:
    """Two versions in one picture."""
    return overlay(old, new, difference(old, new))
