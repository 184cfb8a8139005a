"""Two versions in one flowchart: the real parser sees all of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from backends.mermaid.chart import NOTES as BOX
from backends.mermaid.chart import Chart
from backends.picture.model import Picture, picture
from compiler.ir.program import Program
from tests.backends.mermaid.test_mermaid import assert_same
from tests.differential.generate.rundown import Drawn
from tests.support.mermaid import Mermaid, Seen
from tests.support.pictures import both, of_case, pairs
from tests.support.sample_programs import hostile_programs, unverified

NOTES = ("old → new", "+ added  − removed")


def read(shown: Picture, mermaid: Mermaid) -> Seen:
    """What Mermaid sees, without the box of the notes, which are those of the comparison and not the picture's own."""
    lines = Chart(shown, {}, "a.runbook.md", NOTES).lines("https://example.org/", source_lines=True)
    seen = mermaid.read("\n".join((*lines, "")))
    assert [box.classes for box in seen.boxes if box.id == BOX] == [["frame"]]
    return seen._replace(boxes=[box for box in seen.boxes if box.id != BOX])


@pytest.mark.share(2)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(pair=pairs)
def test_mermaid_sees_both_versions(pair: tuple[Drawn, Drawn], mermaid: Mermaid) -> None:
    shown = both(*map(of_case, pair))
    seen = read(shown, mermaid)
    assert_same(seen, replace(shown, notes=()))
    marked = {box.label.count("− removed") for box in seen.boxes if "removed" in box.classes}
    assert marked <= {1}
    assert not any(box.link for box in seen.boxes if "removed" in box.classes)
    dotted = [arrow.stroke for arrow, item in zip(seen.arrows[1:], shown.arrows, strict=True) if item.mark == "removed"]
    assert set(dotted) <= {"dotted"}


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(old=hostile_programs(), new=hostile_programs())
@unverified()
def test_no_text_leaves_its_label(old: Program, new: Program, mermaid: Mermaid) -> None:
    shown = both(picture(old), picture(new))
    assert_same(read(shown, mermaid), replace(shown, notes=()))
