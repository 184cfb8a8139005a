"""The dot target: what the real Graphviz draws of a graph is the picture, whatever the document says."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from pygraphviz import AGraph

from backends.base import MARK
from backends.dot.graph import MOST_SHARED, SHAPES, START, Graph, label, name, spread_ends
from backends.picture.looks import PALETTES, Theme, stylesheet
from backends.picture.model import UNREACHABLE, Picture, picture
from backends.registry import load
from compiler.diagnostics.issues import InvalidError
from compiler.ir.edges import OutcomeTest
from compiler.ir.program import Program
from compiler.ir.tasks import Ask, End, Shell
from compiler.ir.texts import text
from tests.conftest import ROOT
from tests.differential.generate.rundown import Drawn, cases
from tests.differential.generate.rundown import compiled as compiled_case
from tests.support.documents import compiled
from tests.support.golden import listed, of
from tests.support.graphviz import Seen, assert_same, complete, drawn, emitted, seen
from tests.support.pictures import both, contrast, of_case, pairs
from tests.support.sample_programs import (
    FAIL,
    PASS,
    every_kind,
    group,
    hostile_programs,
    hostile_texts,
    node,
    program,
    to,
    unverified,
)

pytestmark = pytest.mark.process


@pytest.mark.share(4)
@pytest.mark.parametrize("path", listed(".dot"))
def test_graphviz_draws_the_golden_files(path: str) -> None:
    text = of(path).read_text(encoding="utf-8")
    assert MARK in text.split("\n")[0]
    found = drawn(text)
    assert START in {box.name for box in found.boxes}
    assert any(box.label.startswith("COMPLETE") for box in found.boxes)
    ours = (START, *(box.name for box in found.boxes if box.name.startswith("legend ")))
    assert all(box.tooltip.startswith("examples/") for box in found.boxes if box.name not in ours)


def test_the_picture_in_the_documentation_is_current(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^~~~markdown[^\n]*\n(.+?)^~~~", readme, re.DOTALL | re.MULTILINE)
    shown = compiled(tmp_path, text).program
    assert shown
    assert_same(seen((ROOT / "docs" / "deploy.svg").read_bytes()), complete(shown))


@pytest.mark.most(8)
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(shown=hostile_programs())
@unverified()
def test_no_text_leaves_its_label(shown: Program) -> None:
    assert_same(drawn(emitted(shown)), complete(shown))


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_graphviz_draws_the_picture_of_every_runbook(case: Drawn) -> None:
    shown = compiled_case(case)
    found, spread = drawn(emitted(shown)), complete(shown)
    assert_same(found, spread)
    assert sorted(box.name for box in found.boxes) == sorted([START, *(box.node.id for box in spread.boxes)])
    assert sorted(arrow.name for arrow in found.arrows) == sorted(
        [f"{START}->{spread.entry}", *(f"{arrow.source}->{arrow.target}" for arrow in spread.arrows)]
    )


@settings(max_examples=300)
@given(text=hostile_texts | st.text('\\"N&<>\n;{}[]', max_size=12))
def test_a_string_is_one_string(text: str) -> None:
    graph = AGraph(string=f"digraph {{ {name(text)} [label={label([text])}] {name('x' + text)} }}")
    assert graph.number_of_nodes() == 2


def test_hostile_paths_stay_in_their_comments(tmp_path: Path) -> None:
    path = 'x"]}evil.runbook.md'
    shown = compiled(tmp_path, f"## 1. A\n- {path}\n", {path: "## 1. B\n"}).program
    assert shown
    assert_same(drawn(emitted(shown)), complete(shown))


def test_every_kind_of_box_has_an_outline_of_its_own() -> None:
    assert len({str(SHAPES[kind]) for kind in SHAPES.keys() - {"check", "complete", "stop", "start"}}) == 5
    graph = AGraph(string=emitted(every_kind()))
    shapes = [graph.get_node(number).attr["shape"] for number in "1234567"]
    assert shapes == ["box", "hexagon", "box", "component", "box", "hexagon", "diamond"]
    assert ["rounded" in graph.get_node(name).attr["style"] for name in ("3", "5", "STOP")] == [True] * 3
    assert [graph.get_node(name).attr["penwidth"] for name in ("3", "STOP")] == ["", "2.5"]


def two_ways(good: OutcomeTest = PASS, bad: OutcomeTest = FAIL) -> Program:
    return program(
        node("1", Shell("sh", text("true\nfalse")), to("C", good), to("S", bad)),
        node("C", End("complete", text("Good"))),
        node("S", End("stop", text("Bad"))),
    )


def test_the_ends_of_arrows_differ_in_line_and_color_whatever_the_outcome() -> None:
    _, passed, failed, *_ = drawn(emitted(two_ways())).arrows
    assert (passed.label, passed.classes, passed.shapes[0].get("stroke-dasharray")) == ("worked", ["complete"], None)
    assert (failed.label, failed.classes, failed.shapes[0].get("stroke-dasharray")) == ("failed", ["stop"], "5,2")
    assert passed.shapes[0].get("stroke") != failed.shapes[0].get("stroke")
    _, *arrows = drawn(emitted(two_ways(FAIL, PASS))).arrows
    failed, passed = sorted(arrows[:2], key=lambda arrow: arrow.label)
    assert (passed.label, passed.classes, passed.shapes[0].get("stroke-dasharray")) == ("worked", ["stop"], "5,2")
    assert (failed.label, failed.classes, failed.shapes[0].get("stroke-dasharray")) == ("failed", ["complete"], None)


def test_a_retry_leads_back_to_its_box_and_what_no_run_reaches_is_grey(tmp_path: Path) -> None:
    shown = compiled(tmp_path, "## 1. A\n- PASS: COMPLETE\n- FAIL: RETRY 3 STOP\n## 2. B\n").program
    assert shown
    found = drawn(emitted(shown))
    assert [arrow.label for arrow in found.arrows if arrow.name == "1->1"] == ["↻ again, up to 3 times"]
    grey = [box for box in found.boxes if box.classes == ["unreachable"]]
    assert f"2 B {UNREACHABLE}" in [box.label for box in grey]
    assert all(UNREACHABLE in box.label for box in grey)


def row(nodes: int, message: str = "Bad") -> Program:
    """Steps one after the other, each with a way to the same end."""
    named = [f"u{number}" for number in range(nodes)] + ["C"]
    steps = [node(one, Shell("sh", text("true")), to(after, PASS), to("S", FAIL)) for one, after in pairwise(named)]
    return program(*steps, node("C", End("complete")), node("S", End("stop", text(message))))


def test_an_end_that_many_lead_to_is_drawn_beside_each() -> None:
    few, many = (spread_ends(picture(row(steps))) for steps in (MOST_SHARED, MOST_SHARED + 1))
    assert [box.node.id for box in few.boxes][-2:] == ["C", "S"]
    assert [box.node.id for box in many.boxes][:3] == ["u0", "u0 → S", "u1"]
    assert len(many.boxes) == 2 * (MOST_SHARED + 1) + 1
    assert {arrow.target for arrow in many.arrows if arrow.source == "u0"} == {"u1", "u0 → S"}
    silent = [[box.node.id for box in spread_ends(picture(row(steps, ""))).boxes] for steps in (1, 2)]
    assert silent == [["u0", "C", "S"], ["u0", "u0 → S", "u1", "u1 → S", "C"]]


def test_the_end_where_a_run_begins_stays_one() -> None:
    steps = [node(f"u{number}", Shell("sh", text("true")), to("S")) for number in range(3)]
    begun = replace(program(node("S", End("stop")), *steps), entry="S")
    assert [box.node.id for box in spread_ends(picture(begun)).boxes] == ["S", "u0", "u1", "u2"]


def test_a_large_graph_is_a_column() -> None:
    """Wide graphs are not legible: no row has more than a step and its end."""
    graph = AGraph(string=emitted(row(300), legend=False))
    graph.layout(prog="dot")
    x = {str(step): float(step.attr["pos"].split(",")[0]) for step in graph.nodes()}
    assert max(x.values()) - min(x.values()) < 300


def test_boxes_and_frames_link_to_their_source_lines_if_asked() -> None:
    shown = program(
        node("1", Ask("yes_no", text("Is it & good?\n\n\x07More")), to("C"), group="g"),
        node("C", End("complete")),
        groups=(group("g", "Step"),),
    )
    found = drawn(emitted(shown, link_base="https://example.org/blob/main"))
    box = next(box for box in found.boxes if box.name == "1")
    assert box.link == "https://example.org/blob/main/a.runbook.md#L7"
    assert box.tooltip == "a.runbook.md:7\nIs it & good?\n\n More".replace("  ", " ")
    assert [frame.link for frame in found.frames] == ["https://example.org/blob/main/a.runbook.md#L1", ""]
    assert not any(item.link for item in drawn(emitted(shown)).boxes)


def test_tooltips_show_commands_and_are_cut() -> None:
    assert next(box.tooltip for box in drawn(emitted(two_ways())).boxes if box.name == "1").endswith(":7\ntrue\nfalse")
    long = program(node("1", Shell("sh", text(f"{'x' * 500}\n" * 50)), to("C")), node("C", End("complete")))
    assert len(emitted(long)) < 5000


def test_a_theme_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidError):
        load("dot").emit(two_ways(), {"theme": "x"})


@pytest.mark.parametrize("theme", PALETTES)
def test_colors_can_be_read_in_each_theme(theme: Theme) -> None:
    palette = PALETTES[theme]
    page = palette.page.fill
    assert PALETTES["dark"].boxes.keys() == palette.boxes.keys()
    for kind, colors in [*palette.boxes.items(), *palette.frames.items(), ("page", palette.page)]:
        assert kind == "start" or contrast(colors.fill, colors.text) >= 4.5, kind  # WCAG 1.4.3
    for color in palette.arrows.values():
        assert min(contrast(color, back) for back in (page, palette.frames["frame"].fill)) >= 4.5
    for kind in palette.boxes.keys() - {"unreachable"}:
        assert contrast(palette.boxes[kind].line, page) >= 3, kind  # WCAG 1.4.11


def test_the_themes_differ_in_nothing_but_colors() -> None:
    light, dark = (emitted(every_kind(), theme=theme) for theme in PALETTES)
    assert light != dark
    light, dark = (re.sub("#[0-9a-f]{6}", "", one.replace(" -O theme=dark", "")) for one in (light, dark))
    assert light == dark


def test_boxes_that_are_called_as_rdc_calls_things_are_drawn_all_the_same() -> None:
    shell = Shell("sh", text("true"))
    names = (START, f"loop of {START}", "2", f"{START} → STOP")
    steps = [node(one, shell, to(after, PASS), to("STOP", FAIL)) for one, after in pairwise((*names, START))]
    frame = group(f"loop of {START}", "A group")
    ends = (node("STOP", End("stop")), node("other", shell, to("STOP"), group=frame.id))
    shown = program(*steps, *ends, groups=(frame,))
    assert_same(drawn(emitted(shown)), complete(shown))


def graph(shown: Picture) -> Seen:
    return drawn("\n".join(Graph(spread_ends(shown), "a", ("old → new", "+ added")).lines()))


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(pair=pairs)
def test_graphviz_draws_both_versions(pair: tuple[Drawn, Drawn]) -> None:
    shown = both(*map(of_case, pair))
    assert_same(graph(shown), spread_ends(shown))


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(old=hostile_programs(), new=hostile_programs())
@unverified()
def test_no_text_of_two_versions_leaves_its_label(old: Program, new: Program) -> None:
    shown = both(picture(old), picture(new))
    assert_same(graph(shown), spread_ends(shown))


def steps(*commands: str) -> Program:
    """Steps, each with a way to an end that says nothing."""
    nodes = [
        node(str(number), Shell("sh", text(what)), to(str(number + 1), PASS), to("S", FAIL), title=f"Do {what}")
        for number, what in enumerate(commands, 1)
    ]
    return program(*nodes, node(str(len(commands) + 1), End("complete")), node("S", End("stop")))


def test_marks_are_told_by_line_and_words_and_ends_beside_steps_came_and_went_with_them() -> None:
    shown = both(picture(steps("a", "b", "c")), picture(steps("a", "d", "c")))
    seen = graph(shown)
    boxes = {box.label: box for box in seen.boxes}
    added, removed = boxes["2 Do d + added"], boxes["2 Do b − removed"]
    assert (added.classes, removed.classes, added.shapes[0].get("stroke-width")) == (["added"], ["removed"], "3.5")
    assert removed.shapes[0].get("stroke-dasharray")
    arrows = {arrow.label: arrow for arrow in seen.arrows}
    assert (arrows["+ worked"].classes, arrows["− worked"].classes) == (["added"], ["removed"])
    assert arrows["− worked"].shapes[0].get("stroke-dasharray") != arrows["failed"].shapes[0].get("stroke-dasharray")
    marks = {box.node.id: box.mark for box in spread_ends(shown).boxes if " → " in box.node.id}
    assert marks == {"1 → S": "", "2 → S": "added", "3 → S": "", "old 2 → S": "removed"}


def test_there_is_no_link_to_what_is_gone() -> None:
    shown = both(picture(steps("a", "b")), picture(steps("a")))
    found = drawn("\n".join(Graph(shown, "a", link_base="https://example.org/").lines()))
    assert {box.label for box in found.boxes if not box.link} == {"Start", "2 Do b − removed"}


def test_marks_adapt_to_dark_pages() -> None:
    css, kinds = stylesheet("dark"), ("node", "cluster", "edge")
    assert all(f".{kind}.{mark} " in css for kind in kinds for mark in ("added", "removed", "changed"))


def test_what_is_not_marked_is_as_ever() -> None:
    shown = picture(steps("a", "b"))
    assert list(Graph(both(shown, shown), "a").lines()) == list(Graph(shown, "a").lines())
    assert replace(shown.boxes[0], mark="added") != shown.boxes[0]
