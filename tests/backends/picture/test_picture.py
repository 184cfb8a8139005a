"""What a program looks like as a picture, whichever target writes it down."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from backends.picture.captions import LINES, WIDTH, wrapped
from backends.picture.model import LOOP, UNREACHABLE, Box, Frame, Picture, outline, picture
from compiler.ir.edges import CounterTest, OutcomeTest, Set
from compiler.ir.program import Counter
from compiler.ir.tasks import Agent, Ask, Branch, End, Reading, Shell
from compiler.ir.texts import Text, text
from compiler.ir.visits import VisitLimit, with_visit_limits
from tests.conftest import ROOT
from tests.differential.generate.rundown import Drawn, cases
from tests.differential.generate.rundown import compiled as compiled_case
from tests.support.documents import program_at
from tests.support.pictures import drawn
from tests.support.sample_programs import every_kind, group, node, program, to


def arrows(seen: Picture) -> list[str]:
    return [f"{a.source} {' '.join(a.lines)} -> {a.target}" for a in seen.arrows]


def nesting(seen: Picture) -> list[str]:
    return [
        "  " * depth + (f"[{item.title}]" if isinstance(item, Frame) else " ".join(item.lines))
        for depth, item in outline(seen)
        if item
    ]


ARROWS = {
    "outcomes with one target are one": (
        "## 1. A\n- FAIL: CONTINUE\n## 2. B\n- YES: COMPLETE\n- NO: STOP\n",
        ["1 then -> 2", "2 yes -> COMPLETE", "2 no -> STOP"],
    ),
    "a retry has its count": (
        "## 1. A\n- PASS: RETRY 2 COMPLETE\n- FAIL: RETRY 3 COMPLETE\n",
        ["1 ↻ worked · again, up to 2 times -> 1", "1 then -> COMPLETE", "1 ↻ again, up to 3 times -> 1"],
    ),
    "the next instance is named": (
        "## {N}. A\n- PASS: GOTO NEXT\n- FAIL: STOP\n",
        ["{N} ↻ worked · the next one -> {N}", "{N} failed -> STOP"],
    ),
}


@pytest.mark.parametrize(("document", "expected"), ARROWS.values(), ids=ARROWS)
def test_arrows_are_labeled(document: str, expected: list[str], tmp_path: Path) -> None:
    assert arrows(drawn(tmp_path, document)) == expected


def test_many_marks_are_the_first_and_the_last(tmp_path: Path) -> None:
    checks = "".join(f"### 1.{number} A\n- FAIL: CONTINUE\n" for number in range(1, 41))
    seen = drawn(tmp_path, "## 1. Checks\n- FAIL: GOTO Fix\n" + checks + "## Fix\n")
    assert "1 any of 1.1 … 1.40 failed -> Fix" in arrows(seen)


def test_a_named_step_reads_as_its_author_wrote_it(tmp_path: Path) -> None:
    seen = drawn(tmp_path, "## 1. Ask\n## Drain the hot node\n## Fix both\n### Fix.Undo the change\n### Fix.1 Go\n")
    assert nesting(seen)[1:] == [
        f"Drain the hot node {UNREACHABLE}", "[Fix both]", f"  Fix.Undo the change {UNREACHABLE}",
        f"  Fix.1 Go {UNREACHABLE}", "COMPLETE", "STOP",
    ]  # fmt: skip


AWAY = "## 1. Check\n- PASS: CONTINUE\n- FAIL: GOTO Fix\n### 1.1 A\n- FAIL: GOTO 3\n### 1.2 B\n{0}\n"
AWAY += "## 2. C\n## 3. D\n## Fix\n"
AGGREGATION = "## 1. Checks\n- PASS{0}: COMPLETE\n- FAIL{1}: GOTO Fix\n### 1.1 A\n- {2}: CONTINUE\n"
AGGREGATION += "### 1.2 B\n- {2}: CONTINUE\n### 1.3 C\n## Fix\n"


def test_a_way_that_no_run_can_take_is_not_drawn(tmp_path: Path) -> None:
    seen = drawn(tmp_path, AWAY.format(""))
    assert arrows(seen)[:4] == ["1.1 worked -> 1.2", "1.1 failed -> 3", "1.2 worked -> 2", "1.2 failed -> Fix"]


def test_a_step_that_only_an_impossible_way_leads_to_is_unreachable(tmp_path: Path) -> None:
    seen = drawn(tmp_path, AWAY.format("- PASS: CONTINUE\n- FAIL: GOTO 3\n"))
    assert [box.node.id for box in seen.boxes if not box.is_reached] == ["Fix"]
    assert {box.lines[-1] for box in seen.boxes if not box.is_reached} == {UNREACHABLE}


def test_an_arrow_leads_where_it_ends_whatever_its_outcome(tmp_path: Path) -> None:
    text = "## 1. A\n- PASS: STOP\n- FAIL: CONTINUE\n## 2. B\n- PASS: GOTO 1\n- FAIL: COMPLETE\n"
    assert {(arrow.source, arrow.target): arrow.leads for arrow in drawn(tmp_path, text).arrows} == {
        ("1", "STOP"): "stop",
        ("1", "2"): "onward",
        ("2", "1"): "back",
        ("2", "COMPLETE"): "complete",
    }
    text = "## 1. A\n- FAIL: GOTO Fix\n## 2. B\n## 3. C\n## Fix\n- PASS: GOTO 3\n- FAIL: STOP\n"
    leads = {arrow.leads for arrow in drawn(tmp_path, text).arrows if (arrow.source, arrow.target) == ("Fix", "3")}
    assert leads == {"onward"}, "a jump to an earlier step that is no loop"


def test_marks_become_one_condition(tmp_path: Path) -> None:
    seen = drawn(tmp_path, AGGREGATION.format("", "", "FAIL"))
    assert "1 any of 1.1, 1.2 failed -> Fix" in arrows(seen)
    assert "1 none failed -> COMPLETE" in arrows(seen)
    assert "  1: any failed?" in nesting(seen)
    seen = drawn(tmp_path, AGGREGATION.format(" ANY", " ALL", "PASS"))
    assert "1 any of 1.1, 1.2 worked -> COMPLETE" in arrows(seen)
    assert "1 none worked -> Fix" in arrows(seen)


NESTINGS = {
    "a retry of a step is a question": (
        "## 1. Test\n- FAIL: RETRY 2\n### 1.1 A\n### 1.2 B\n",
        [f"[1 Test · {LOOP}]", "  1.1 A", "  1.2 B", "  1: again?"],
        ["1/FAIL ↻ again, up to 2 times -> 1.1", "1/FAIL otherwise -> STOP"],
    ),
    "a loop has a frame where one can hold it": (
        "## 1. A\n## 2. B\n## 3. C\n- FAIL: GOTO 2\n",
        ["1 A", f"[{LOOP}]", "  2 B", "  3 C"],
        [],
    ),
    "a loop that cuts a step in two has only an arrow back": (
        "## 1. A\n### 1.1 B\n### 1.2 C\n## 2. D\n- FAIL: GOTO 1.2\n",
        ["[1 A]", "  1.1 B", "  1.2 C", "2 D"],
        ["2 ↻ failed -> 1.2"],
    ),
}


@pytest.mark.parametrize(("document", "first", "among"), NESTINGS.values(), ids=NESTINGS)
def test_loops_are_frames_and_arrows(document: str, first: list[str], among: list[str], tmp_path: Path) -> None:
    seen = drawn(tmp_path, document)
    assert nesting(seen)[:4] == first
    assert set(among) <= {*arrows(seen)}, arrows(seen)


def test_nested_runbooks_are_frames_in_frames(tmp_path: Path) -> None:
    lint = "# Lint\n## 1. Style\n- PASS: COMPLETE Clean\n- FAIL: STOP\n"
    seen = drawn(tmp_path, "## 1. Check\n- ci/lint.runbook.md\n## 2. Ship\n", {"ci/lint.runbook.md": lint})
    assert nesting(seen)[:4] == ["[1 Check]", "  [Lint (ci/lint.runbook.md)]", "    1 Style", "    COMPLETE Clean"]
    assert seen.entry == "1/ci/lint.runbook.md/1"
    assert "1/ci/lint.runbook.md/1/COMPLETE  -> 2" in arrows(seen)
    assert "1/ci/lint.runbook.md/STOP  -> STOP" in arrows(seen)


def test_steps_that_nothing_reaches_are_marked_and_what_only_lowering_made_is_left_out(tmp_path: Path) -> None:
    seen = drawn(tmp_path, "## 1. A\n- PASS: COMPLETE\n## 2. Never\n- FAIL: STOP x\n")
    marked = [" ".join(box.lines) for box in seen.boxes if not box.is_reached]
    assert marked == [f"2 Never {UNREACHABLE}", f"STOP x {UNREACHABLE}"]
    assert all(not isinstance(box.node.task, Branch) or box.is_reached for box in seen.boxes)


def test_a_question_without_a_title_shows_its_prompt(tmp_path: Path) -> None:
    seen = drawn(tmp_path, "## 1. A\n- FAIL: GOTO Ask\n## Ask\nIs it good?\n\nMore.\n")
    assert next(box for box in seen.boxes if box.node.id == "Ask").lines == ("Ask", "Is it good?")


def test_texts_are_wrapped_and_cut() -> None:
    assert wrapped("Wait for the\nothers\x07 to finish their work") == ("Wait for the others to", "finish their work")
    cut = wrapped("word " * 13_000)
    assert len(cut) == LINES
    assert all(len(line) <= WIDTH for line in cut)
    assert cut[-1].endswith("…")
    assert wrapped("x" * 65_536)[-1].endswith("…")


def test_frames_can_be_nested_without_bound() -> None:
    depth = 3000
    groups = tuple(group(f"g{level}", "", parent=f"g{level - 1}" if level else "") for level in range(depth))
    deep = program(node("1", End("complete"), group=f"g{depth - 1}"), groups=groups)
    assert sum(isinstance(item, Frame) for _, item in outline(picture(deep))) == depth


@pytest.mark.share(2)
@settings(max_examples=35, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_every_step_and_every_way_is_drawn_once(case: Drawn) -> None:
    compiled_program = compiled_case(case)
    seen = picture(compiled_program)
    boxes = [item for _, item in outline(seen) if isinstance(item, Box)]
    assert len(boxes) == len(seen.boxes)
    steps = {found.id for found in compiled_program.nodes if not isinstance(found.task, Branch | End)}
    ids = {box.node.id for box in boxes}
    assert steps <= ids
    assert {name for arrow in seen.arrows for name in (arrow.source, arrow.target)} | {seen.entry} <= ids
    transitions = {(box.node.id, edge.target) for box in boxes for edge in box.node.edges}
    assert {(arrow.source, arrow.target) for arrow in seen.arrows} == transitions


def test_conditions_of_other_formats_are_said_in_words() -> None:
    seen = arrows(picture(every_kind()))
    assert "7 x is “y” -> COMPLETE" in seen
    assert "7 otherwise -> STOP" in seen


def test_a_run_begins_behind_a_branch_that_chooses_nothing() -> None:
    seen = picture(program(node("1", Branch(), to("2")), node("2", End("stop"))))
    assert (seen.entry, nesting(seen)) == ("2", ["STOP"])


ENDS = (node("a", End("complete")), node("b", End("stop")))


def example(name: str) -> Picture:
    return picture(program_at(ROOT / "examples" / "programs" / f"{name}.program.json"))


def boxes(seen: Picture) -> dict[str, str]:
    return {box.node.id: " · ".join(box.lines) for box in seen.boxes}


def test_words_of_agents_of_a_parallel_step_and_of_a_gate_stand_on_arrows() -> None:
    assert arrows(example("review-loop"))[:5] == [
        "write worked -> review",
        "write failed -> nothing",
        "review GOOD, AGAIN -> count",
        "review ↻ AGAIN · rounds < 3 · rounds + 1 -> write",
        "review otherwise -> nothing",
    ]
    assert arrows(example("parallel-review")) == [
        "review TRIVIAL -> merge", "review APPROVE -> gate", "review REJECT -> rejected",
        "review otherwise -> unclear", "gate approved -> merge", "gate rejected -> rejected",
        "merge worked -> merged", "merge ↻ again, up to 3 times -> merge", "merge otherwise -> unclear",
    ]  # fmt: skip


def test_boxes_say_who_does_it_and_which_texts_go_through_it() -> None:
    seen = boxes(example("parallel-review"))
    assert seen["review"] == (
        "review Review the change · agents security, style: · all must agree · reads change · "
        "writes findings, summary · (field summary)"
    )
    assert seen["gate"] == "gate A person approves · a person approves merge · reads summary · clears findings"
    assert seen["merge"] == (
        "merge Merge it · tool github.merge · at most 60 s · waits 5 s before it · tries again, ×2 each · time · "
        "reads change"
    )
    assert boxes(example("review-loop"))["count"] == "count Count the words · reads draft · writes words"


def test_conditions_on_texts_and_options_stand_on_arrows() -> None:
    seen = example("choose-region")
    first = ["is it given region is not “ask” -> deploy", "is it given otherwise -> choose", "choose  -> deploy"]
    assert arrows(seen)[:3] == first
    asked = Ask("select", text("Where?"), options=(text("eu"), text("us"), text("no")))
    eu, rest = to("a", OutcomeTest("eu")), to("b")
    assert arrows(picture(program(node("1", asked, eu, rest), *ENDS))) == ["1 eu -> a", "1 us, no -> b"]


def test_an_edge_without_a_guard_says_what_is_left_for_it() -> None:
    shell = Shell("sh", text("true"))
    seen = program(node("1", shell, to("a", OutcomeTest("pass")), to("b")), *ENDS)
    assert arrows(picture(seen)) == ["1 worked -> a", "1 failed -> b"]
    counted = to("a", OutcomeTest("fail"), CounterTest("n", "<", 2))
    seen = program(node("1", shell, to("a", OutcomeTest("pass")), counted, to("b")), *ENDS)
    assert arrows(picture(seen))[-1] == "1 otherwise -> b"


def test_words_that_an_author_chose_stay_as_they_are() -> None:
    reviewer = Agent("", Text(), Reading(("pass", "Done")))
    edges = (to("a", OutcomeTest("pass")), to("a", OutcomeTest("Done")), to("b", OutcomeTest("failed")), to("b"))
    found = arrows(picture(program(node("1", reviewer, *edges), *ENDS)))
    assert found == ["1 pass, Done -> a", "1 failed or otherwise -> b"]


def test_inputs_and_the_limit_stand_in_the_notes() -> None:
    notes = ("input task: text, default Announce the new version", "runs at most 20 steps")
    assert example("review-loop").notes == notes
    assert example("choose-region").notes[1] == "input region: choice of eu, us, ask, default ask"


def test_a_limit_of_visits_is_a_box_of_the_loop() -> None:
    asked = node("1", Ask("pass_fail", Text()), to("a", OutcomeTest("pass")), to("2"))
    loop = program(asked, node("2", Shell("sh", text("true")), to("1")), *ENDS)
    seen = picture(with_visit_limits(loop, [VisitLimit("1", 1, "enough")])[0])
    box = next(box for box in seen.boxes if box.lines[0].startswith("1: "))
    assert box.lines == ("1: at most 1 visit",)
    assert {"2 ↻ -> 1/visits", "1/visits ↻ 1 visits < 1 -> 1", "1/visits otherwise -> 1/visits/STOP"} <= {*arrows(seen)}


def test_a_name_that_looks_like_a_mark_is_none() -> None:
    """Only the role of a counter says that it is one."""
    first = node("0", Shell("sh", text("true")), to("1", OutcomeTest("fail"), effects=(Set("2 failed", 1),)), to("1"))
    seen = program(first, node("1", Branch(), to("a", CounterTest("2 failed", ">=", 1)), to("b")), *ENDS)
    plain, marked = Counter("2 failed", ""), Counter("2 failed", "", 0, "mark", "9", "fail")
    assert "1 2 failed ≥ 1 -> a" in arrows(picture(replace(seen, counters=(plain,))))
    assert "1 9 failed -> a" in arrows(picture(replace(seen, counters=(marked,))))


def test_a_label_is_not_read() -> None:
    """What an author wrote is shown where the next instance begins, and is never taken apart for more."""
    seen = program(node("1", Shell("sh", text("true")), to("a", label="NEXT: x, y")), *ENDS)
    assert arrows(picture(seen)) == ["1  -> a"]
