"""The mermaid target: what the real parser sees in a diagram is the picture, whatever the document says."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from backends.base import MARK
from backends.mermaid.chart import (
    CLASSES,
    COLORS,
    MOST_ARROWS,
    MOST_CHARACTERS,
    NOTES,
    SHAPES,
    Chart,
    chart,
    is_too_big,
)
from backends.picture.looks import with_legend
from backends.picture.model import Picture, picture
from compiler.diagnostics.issues import InvalidError
from compiler.ir.program import Program
from compiler.ir.tasks import End, Shell
from compiler.ir.texts import text
from runtime_shim.targets.github.messages import plain
from runtime_shim.targets.github.summary import LONGEST_LABEL, draw_flow
from tests.conftest import ROOT
from tests.differential.generate.rundown import Drawn, cases
from tests.differential.generate.rundown import compiled as compiled_case
from tests.support.documents import compiled
from tests.support.golden import listed, of
from tests.support.mermaid import Mermaid, Seen, assert_same, emitted, running, words
from tests.support.pictures import both, contrast, of_case, pairs
from tests.support.sample_programs import (
    FAIL,
    HOSTILE,
    PASS,
    every_kind,
    hostile_programs,
    node,
    program,
    to,
    unverified,
)

pytestmark = pytest.mark.tool

TWO_WAYS = program(
    node("1", Shell("sh", text("true")), to("C", PASS), to("S", FAIL)),
    node("C", End("complete")),
    node("S", End("stop")),
)


@pytest.fixture(scope="session")
def mermaid() -> Iterator[Mermaid]:
    with running() as parser:
        yield parser


@pytest.mark.share(18)
@pytest.mark.parametrize("path", listed(".mmd"))
def test_mermaid_reads_the_golden_files(path: str, mermaid: Mermaid) -> None:
    text = of(path).read_text(encoding="utf-8")
    assert mermaid.read(text).boxes
    assert not is_too_big(text)


@pytest.mark.most(8)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(drawn=hostile_programs())
@unverified()
def test_no_text_leaves_its_label(drawn: Program, mermaid: Mermaid) -> None:
    assert_same(mermaid.read(emitted(drawn)), with_legend(picture(drawn)))


@pytest.mark.soak
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_mermaid_sees_the_picture_of_every_runbook(case: Drawn, mermaid: Mermaid) -> None:
    drawn = compiled_case(case)
    assert_same(mermaid.read(emitted(drawn)), with_legend(picture(drawn)))


def test_hostile_paths_stay_in_their_comments(tmp_path: Path, mermaid: Mermaid) -> None:
    name = "x{y}%%{init}%%.runbook.md"
    drawn = compiled(tmp_path, f"## 1. A\n- {name}\n", {name: "## 1. B\n"}).program
    assert drawn
    text = emitted(drawn)
    assert "%%{" not in text
    assert_same(mermaid.read(text), with_legend(picture(drawn)))


def test_every_kind_of_box_has_a_shape_of_its_own(mermaid: Mermaid) -> None:
    kinds = {box.shape for box in mermaid.read(emitted(every_kind())).boxes if box.id != "start"}
    assert len(kinds) == len(set(SHAPES.values()))


def test_ends_of_arrows_differ_in_line_and_color(mermaid: Mermaid) -> None:
    _, passed, failed, *_ = mermaid.read(emitted(TWO_WAYS)).arrows
    assert (passed.label, passed.stroke, passed.style[0]) == ("worked", "normal", f"stroke:{COLORS['complete']}")
    assert (failed.label, failed.stroke, failed.style[0]) == ("failed", "dotted", f"stroke:{COLORS['stop']}")


def test_the_diagram_in_the_documentation_is_current(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "targets" / "pictures.md").read_text(encoding="utf-8")
    (document,) = re.findall(r"^~~~markdown [^\n]*\n(.+?)^~~~", page, re.DOTALL | re.MULTILINE)
    (diagram,) = re.findall(r"^```mermaid\n(.+?)^```", page, re.DOTALL | re.MULTILINE)
    drawn = compiled(tmp_path, document).program
    assert drawn
    assert chart(drawn, {}) == diagram


def test_a_chart_has_the_ids_that_it_is_given_and_takes_further_lines(mermaid: Mermaid) -> None:
    shown = chart(TWO_WAYS, {"1": "s1", "C": "n1"})
    assert shown.startswith("flowchart TD\n")
    assert "%%" not in shown
    boxes = {box.id: box for box in mermaid.read(shown + "  class s1,n1 passed\n  class n2 failed\n").boxes}
    assert (set(boxes), boxes["s1"].classes) == ({"start", "s1", "n1", "n2"}, ["passed"])
    assert (boxes["n1"].classes, boxes["n2"].classes) == (["complete", "passed"], ["stop", "failed"])


def row(nodes: int, title: str = "") -> Program:
    """Steps one after the other, with an arrow each, and one from the start."""
    named = [f"u{number}" for number in range(nodes)] + ["C"]
    steps = [node(name, Shell("sh", text("true")), to(after), title=title) for name, after in pairwise(named)]
    return program(*steps, node("C", End("complete")))


def test_the_limit_of_arrows_is_that_of_mermaid(mermaid: Mermaid) -> None:
    largest, larger = chart(row(MOST_ARROWS - 1), {}), chart(row(MOST_ARROWS), {})
    assert not is_too_big(largest)
    assert len(mermaid.read(largest).arrows) == MOST_ARROWS
    assert is_too_big(larger)
    assert "Edge limit exceeded" in mermaid.answer(larger)["error"]


def test_a_diagram_that_is_too_big_says_so_and_titles_without_end_are_cut() -> None:
    sizes = {"x" * MOST_CHARACTERS: False, "x" * (MOST_CHARACTERS + 1): True, "🚀" * (MOST_CHARACTERS // 2 + 1): True}
    assert [is_too_big(text) for text in sizes] == [*sizes.values()], "characters are counted as JavaScript does"
    text = emitted(row(MOST_ARROWS))
    assert text.startswith("%% GitHub does not draw this")
    assert MARK in "".join(text.splitlines()[:5])
    assert "GitHub" not in emitted(row(3))
    assert max(len(emitted(row(1, title))) for title in ("word " * 13_000, "x" * 65_536)) < 2000


def test_boxes_link_to_their_source_lines_if_asked(mermaid: Mermaid) -> None:
    text = emitted(row(1), link_base="https://example.org/blob/main")
    assert 'click n1 href "https://example.org/blob/main/a.runbook.md#L7" "a.runbook.md#58;#8203;7" _blank' in text
    (link,) = (box.link for box in mermaid.read(text).boxes if box.id == "n1")
    assert link == "https://example.org/blob/main/a.runbook.md#L7"
    assert "click" not in emitted(row(1))


@pytest.mark.parametrize(
    "address", ["", "javascript:alert(1)", "//x", "https://", 'https://x/"', "https://x/\n", "https://x/?a#b"]
)
def test_only_addresses_on_the_web_are_linked_to(address: str) -> None:
    with pytest.raises(InvalidError, match=r"https://example\.org"):
        emitted(row(1), link_base=address)


def test_colors_can_be_read_on_light_and_dark_pages() -> None:
    for color in COLORS.values():
        assert min(contrast(color, "#ffffff"), contrast(color, "#0d1117")) >= 3  # WCAG 1.4.11
    for name, style in CLASSES.items():
        fill, text = (re.search(rf"\b{part}:(#\w+)", style) for part in ("fill", "color"))
        if fill:
            assert text, f"{name} would have the text of the theme on a color of ours"
            assert contrast(fill[1], text[1]) >= 4.5  # WCAG 1.4.3


COMPARED = ("old → new", "+ added  − removed")


def read(shown: Picture, mermaid: Mermaid) -> Seen:
    """What Mermaid sees, without the box of the notes, which are those of the comparison and not the picture's own."""
    lines = Chart(shown, {}, "a.runbook.md", COMPARED).lines("https://example.org/", source_lines=True)
    seen = mermaid.read("\n".join((*lines, "")))
    assert [box.classes for box in seen.boxes if box.id == NOTES] == [["frame"]]
    return seen._replace(boxes=[box for box in seen.boxes if box.id != NOTES])


@pytest.mark.most(6)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(pair=pairs)
def test_mermaid_sees_both_versions(pair: tuple[Drawn, Drawn], mermaid: Mermaid) -> None:
    shown = both(*map(of_case, pair))
    seen = read(shown, mermaid)
    assert_same(seen, replace(shown, notes=()))
    assert {box.label.count("− removed") for box in seen.boxes if "removed" in box.classes} <= {1}
    assert not any(box.link for box in seen.boxes if "removed" in box.classes)
    dotted = [arrow.stroke for arrow, item in zip(seen.arrows[1:], shown.arrows, strict=True) if item.mark == "removed"]
    assert set(dotted) <= {"dotted"}


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])
@given(old=hostile_programs(), new=hostile_programs())
@unverified()
def test_no_text_of_two_versions_leaves_its_label(old: Program, new: Program, mermaid: Mermaid) -> None:
    shown = both(picture(old), picture(new))
    assert_same(read(shown, mermaid), replace(shown, notes=()))


MORE = ("%%{init:{'themeCSS':'.node{opacity:0}'}}%%", "#60;img src=x#62; #quot;]", "flow; direction\tLR", "$$x$$ $$$")


def test_no_text_leaves_its_label_in_a_summary(mermaid: Mermaid) -> None:
    """A step and an arrow for each text, in a row, and an end that says it."""
    texts = [*HOSTILE, *MORE]
    nodes: dict[str, dict[str, object]] = {}
    for number, label in enumerate(texts):
        edges = [{"on": "pass", "go": f"end {number}"}, {"says": label, "go": str(number + 1)}]
        nodes[str(number)] = {"task": "shell", "title": label, "edges": edges}
        nodes[f"end {number}"] = {"task": "end", "result": "stop", "message": label}
    nodes[str(len(texts))] = {"task": "end", "result": "complete", "message": ""}
    finished = [{"node": str(number), "outcome": "fail"} for number in range(len(texts))]
    picture = draw_flow({"nodes": nodes}, finished).strip().removeprefix("```mermaid").removesuffix("```")
    assert "%%{" not in picture
    seen = mermaid.read(picture)
    boxes, arrows = ({words(item.label) for item in items} for items in (seen.boxes, seen.arrows))
    for number, label in enumerate(texts):
        assert words(plain(f"{number} {label}")[:LONGEST_LABEL]) in boxes
        assert words(plain(f"STOP {label}")[:LONGEST_LABEL]) in boxes
        assert words(plain(label)[:LONGEST_LABEL]) in arrows
    assert len(seen.boxes) == 2 * len(texts) + 1
