"""Pictures of runbooks and of programs made by hand, for tests that compare two of them."""

from pathlib import Path

from hypothesis import strategies as st

from backends.picture.model import Picture, picture
from rdc.diff.difference import difference
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


def luminance(color: str) -> float:
    """How light a color is, as WCAG counts it."""
    channels = [int(color[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """How well one color can be read on another."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
