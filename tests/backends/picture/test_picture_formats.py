"""Pictures of each format (W11), and their legend: a sample of each shape, color and line in use, and of no other."""

from functools import cache
from pathlib import Path

import pytest

from backends.common.specification import STEP_SECONDS
from backends.picture.captions import LONGEST_COMMAND
from backends.picture.looks import class_of, with_legend
from backends.picture.model import Picture, picture
from backends.registry import load
from compiler.ir.program import Program
from compiler.ir.tasks import End
from rdc.diff.difference import difference
from runtime_shim.stepspec import attempt
from runtime_shim.targets.naming import split_name
from tests.conftest import ROOT
from tests.support import graphviz
from tests.support.cli import document
from tests.support.documents import program_at
from tests.support.pictures import drawn
from tests.support.sample_programs import every_kind, node, program
from tests.support.stepspec_programs import BRIEF, CHECK, CONFIG, DRAFT, GUARDED, Table, specification


@cache
def compiled(path: Path) -> Program:
    return program_at(path)


def example(name: str) -> Program:
    return compiled(ROOT / "examples" / name)


def legend(shown: Picture) -> tuple[list[str], list[str]]:
    """The boxes and arrows of the legend, which are those after the picture's own."""
    whole = with_legend(shown)
    boxes, arrows = whole.boxes[len(shown.boxes) :], whole.arrows[len(shown.arrows) :]
    assert {box.frame for box in boxes} == {"legend"}
    labels = [f"{arrow.leads} {' '.join(arrow.lines)}".strip() for arrow in arrows]
    return [" ".join(box.lines) for box in boxes], labels


def test_only_what_is_in_use_is_explained(tmp_path: Path) -> None:
    boxes, arrows = legend(drawn(tmp_path, "## 1. A\n\n```sh\ntrue\n```\n\n- PASS: COMPLETE\n- FAIL: COMPLETE\n"))
    assert (boxes, arrows) == (["a command", "COMPLETE the run succeeded"], ["complete"])
    boxes, arrows = legend(drawn(tmp_path, "## 1. Good?\n- YES: COMPLETE\n- NO: RETRY 2 STOP\n"))
    assert boxes == ["a person decides", "COMPLETE the run succeeded", "STOP the run ended early"]
    assert arrows == ["back ↻ again, or back", "complete", "stop"]


def test_every_kind_of_step_has_one_sample() -> None:
    boxes, _ = legend(picture(every_kind()))
    assert boxes[:5] == ["a command", "an AI agent works", "a tool is used", "a person decides", "a choice"]


def test_ends_of_nested_runbooks_lead_to_those_of_the_run() -> None:
    boxes, arrows = legend(picture(example("release.runbook.md")))
    assert boxes[1:] == [
        "COMPLETE this part succeeded",
        "STOP this part ended early",
        "COMPLETE the run succeeded",
        "STOP the run ended early",
    ]
    assert arrows == ["back ↻ again, or back", "complete", "stop", "complete", "stop"]


def test_answers_that_go_along_are_explained() -> None:
    _, arrows = legend(picture(example("workflows/dependency-update.workflow.yaml")))
    assert arrows[0] == "onward passes its answer on"


@pytest.mark.parametrize("target", ["dot", "mermaid"])
def test_a_legend_can_be_left_out(target: str) -> None:
    shown, without = (load(target).emit(every_kind(), {"legend": value}).text or "" for value in (True, False))
    assert ("Legend" in shown, "Legend" in without) == (True, False)


def test_a_sample_looks_like_its_boxes() -> None:
    shown = picture(example("release.runbook.md"))
    assert {class_of(box) for box in with_legend(shown).boxes} == {class_of(box) for box in shown.boxes}


SHIP = """
name: ship
steps:
  - {name: write, prompt: x, report: {name: w, format: f, validation: DONE}, next: review}
  - name: review
    parallel: [{agent: security, prompt: x}, {agent: "a|b {c}", prompt: y}]
    check: all
    conditions: [{keyword: GOOD, goto: last}, {keyword: BAD, goto: write}]
  - {name: last, human: true, prompt: x, end: true}
"""


@pytest.fixture(scope="module")
def shipping(tmp_path_factory: pytest.TempPathFactory) -> Program:
    path = tmp_path_factory.mktemp("ship") / "a.workflow.yaml"
    path.write_text(SHIP, encoding="utf-8")
    return compiled(path)


def arrows(drawn: Picture) -> set[str]:
    return {f"{one.source} {'=' if one.passes else '-'}{one.says}-> {one.target}" for one in drawn.arrows}


def test_arrows_say_the_verdict_and_what_breaks_down_has_one_box(shipping: Program) -> None:
    shown = picture(shipping)
    found = arrows(shown)
    assert "review =BAD · with its answer-> write" in found
    assert "review =GOOD · with its answer-> last/human" in found
    assert "last/human -APPROVED-> last" in found
    assert {one for one in found if one.endswith("-> review")} == {"write -none, ambiguous-> review"}
    assert "write -failed, invalid-> write/failed" in found
    assert "review -failed, ambiguous, none, invalid-> review/failed" in found
    assert {" ".join(one.lines) for one in shown.arrows if one.target == "review/failed"} == {"no clear answer"}
    assert not any("unrouted" in one for one in found)


def test_targets_show_both(shipping: Program) -> None:
    dot, mermaid = (load(name).emit(shipping, {}).text or "" for name in ("dot", "mermaid"))
    assert "agents security, a|b\\n{c}: all must agree" in dot
    assert dot.count("arrowtail=dot") == 3, "one of them is in the legend"
    assert "a person approves last" in dot
    assert (mermaid.count("==>"), "agents security, a#124;b" in mermaid) == (3, True)


def test_examples_are_drawn() -> None:
    for path in (ROOT / "examples" / "workflows").glob("*.workflow.yaml"):
        assert all(box.is_reached for box in picture(compiled(path)).boxes)


def playbook(name: str) -> Program:
    return example(f"playbooks/{name}.playbook.md")


def branches(drawn: Picture) -> set[str]:
    return {f"{arrow.source} {arrow.says} {arrow.target}" for arrow in drawn.arrows}


def test_branches_have_their_conditions_as_they_are_written() -> None:
    assert {'2 if kind == "bug" 2a', '2 elif kind == "feature" 2b', "2 otherwise 2/else"} < branches(
        picture(playbook("issue-triage"))
    )


def test_boxes_name_what_an_author_named() -> None:
    lines = {box.node.id: " ".join(box.lines) for box in picture(playbook("changelog-entry")).boxes}
    assert lines["1"] == "1 Find what users notice agent reads product, commits writes changes"
    assert "output 1" not in lines["2"]
    assert "reads metric, days, numbers" in " ".join(picture(playbook("metrics-report")).boxes[1].lines)


def test_one_more_step_changes_no_other(tmp_path: Path) -> None:
    old = "# A\n\n## STEP 1: One\n\nDo one.\n\n## STEP 2: Two\n\nDo two.\n"
    new = "# A\n\n## STEP 1: New\n\nDo it.\n\n## STEP 2: One\n\nDo one.\n\n## STEP 3: Two\n\nDo two.\n"
    first, inserted, reworded = (
        picture(compiled(document(tmp_path, f"{number}.playbook.md", text)))
        for number, text in enumerate((old, new, old.replace("Do two", "Do it")))
    )
    found = difference(first, inserted)
    assert ([node.id for node in found.added], found.changed) == (["1"], ())
    assert [(change.new.id, change.parts) for change in difference(first, reworded).changed] == [("2", ("prompt",))]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("2/else", ("2", "Title, else")), ("2/if", ("2", "Title, if")), ("2/elif1", ("2", "Title, elif")),
        ("2~2/elif12", ("2~2", "Title, elif 12")), ("2/elicit", ("2", "Title, question")),
        ("2/prompt", ("2", "Title, prompt")), ("2a", ("2a", "Title")),
        ("2/lint.runbook.md/1", ("2/lint.runbook.md/1", "Title")),
    ],
)  # fmt: skip
def test_what_has_no_name_of_its_own_is_called_by_the_step_it_belongs_to(name: str, shown: tuple[str, str]) -> None:
    assert (split_name(name, "Title"), split_name(name, "")) == (shown, (name, ""))


def captions(*specs: Table, config: Table) -> dict[str, tuple[str, ...]]:
    return {box.node.id: box.lines for box in picture(specification(*specs, config=config)).boxes}


def test_each_stage_says_what_it_is_and_what_it_looks_at() -> None:
    found = captions(BRIEF, DRAFT, CHECK, config=GUARDED)
    assert found["bmm:prd:step-02:hitl"] == ("a person approves step-02 draft-", "prd", "required")
    files = ("{output_folder}/product-brief.md", "templates/prd.template.md")
    assert found["step-02/inputs"] == ("check the inputs", *files)
    assert found["step-02/context"] == ("get the context", "from ./context.sh")
    assert found["step-02/getCurrentTime"] == ("tool getCurrentTime", "low risk, optional")
    assert found["step-02/publish"] == ("tool publish", "high risk, required")
    assert found["step-02"] == ("step-02 draft-prd", "executor, or a person")
    assert found["step-02/guardrails"] == ("check the result", "forbidden: 1 word")
    assert found["step-02/validation"] == ("check: exists, parses", "{output_folder}/prd.md")
    assert found["step-02/outputs"] == ("check the outputs", "{output_folder}/prd.md", "evidence L1")
    assert captions(BRIEF, config={"executor": "./do.sh"})["step-01"] == ("step-01 product-brief", "executor ./do.sh")
    long = " ".join(captions(DRAFT, config={"context": "look up\n" * 20})["step-02/context"][1:])
    assert (long[:20], long[-1], len(long)) == ("from look up look up", "…", len("from ") + LONGEST_COMMAND)


def test_a_step_with_many_files_says_how_many_more_there_are() -> None:
    many = BRIEF | {"outputs": [f"{{output_folder}}/{number}.md" for number in range(6)]}
    found = captions(many, config={})["step-01/outputs"]
    assert found == ("check the outputs", *(f"{{output_folder}}/{number}.md" for number in range(4)), "and 2 more")


def test_failures_of_a_step_meet_where_it_is_tried_again() -> None:
    found = arrows(picture(specification(DRAFT, config=CONFIG)))
    for stage in ("publish", "validation", "outputs"):
        assert f"step-02/{stage} -FAIL-> step-02/again" in found
    assert "step-02 -FAIL-> step-02/again" in found
    assert "step-02/again -retry once, after 2 s-> step-02/inputs" in found
    assert "step-02/again -otherwise-> step-02/failed" in found
    assert "step-02/inputs -FAIL-> step-02/failed" in found
    assert "bmm:prd:step-02:hitl -REJECTED-> step-02/rejected" in found
    several = DRAFT | {"retries": {"max": 3, "backoff_seconds": 0}}
    assert "step-02/again -retry up to 3 times-> step-02/inputs" in arrows(picture(specification(several)))
    assert "step-01 -FAIL-> step-01/failed" in arrows(picture(specification(BRIEF)))


def test_a_folded_step_is_one_box_with_its_tools_files_and_attempts() -> None:
    found = picture(specification(BRIEF, DRAFT, CHECK, config=GUARDED), folds=True)
    boxes = {box.node.id: box for box in found.boxes if not isinstance(box.node.task, End)}
    assert list(boxes) == ["step-01", "bmm:prd:step-02:hitl", "tool:publish:step-02", "step-02", "step-03"]
    assert boxes["step-02"].lines == (
        "step-02 draft-prd", "executor, or a person", "tool getCurrentTime, low risk,", "optional",
        "tool publish, high risk, required", "reads {output_folder}/product-", "brief.md,",
        "templates/prd.template.md", "writes {output_folder}/prd.md",
    )  # fmt: skip
    assert found.frames == ()
    leaving = [f"{' '.join(one.lines)} -> {one.target}" for one in found.arrows if one.source == "step-02"]
    assert leaving == ["worked -> step-03", "↻ again, once, after 2 s -> step-02", "failed -> step-02/failed"]


def test_only_specifications_have_steps_to_fold() -> None:
    (problem,) = load("dot").emit(program(node("1", End("complete"))), {"boxes": "steps"}).diagnostics
    assert (problem.code, problem.help) == ("RD501", "leave it out: each box of this picture is a step already")


def test_graphviz_draws_steps_as_frames_with_tooltips() -> None:
    text = load("dot").emit(specification(BRIEF, DRAFT, config=GUARDED), {}).text
    assert text
    found = graphviz.drawn(text)
    assert {"step-01 product-brief", "step-02 draft-prd"} <= {frame.label for frame in found.frames}
    boxes = {box.name: box for box in found.boxes}
    assert '"timezone": "UTC"' in boxes["step-02/getCurrentTime"].tooltip
    assert "Generate the PRD" in boxes["step-02"].tooltip
    assert "TODO" in boxes["step-02/guardrails"].tooltip
    assert boxes["step-02"].classes == ["agent"]


def test_a_comparison_sees_what_only_the_specification_says() -> None:
    args = [DRAFT["tools"][0] | {"args": {"timezone": "Europe/Berlin"}}, DRAFT["tools"][1]]
    old, new = (picture(specification(spec)) for spec in (DRAFT, DRAFT | {"tools": args}))
    assert [(change.new.id, change.parts) for change in difference(old, new).changed] == [
        ("step-02/getCurrentTime", ("specification",))
    ]
    assert not difference(old, old)


def test_the_time_limit_that_is_shown_is_that_of_the_runtime() -> None:
    assert STEP_SECONDS == attempt.STEP_SECONDS
