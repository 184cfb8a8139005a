"""Pictures of step specifications: what each stage is, without color, and where a run goes when one fails."""

from __future__ import annotations

from backends.common.specification import STEP_SECONDS
from backends.picture.captions import LONGEST_COMMAND
from backends.picture.model import Picture, picture
from backends.registry import load
from compiler.ir.tasks import End
from rdc.diff.difference import difference
from runtime_shim.stepspec import attempt
from tests.support.graphviz import drawn
from tests.support.sample_programs import node, program
from tests.support.stepspec_programs import BRIEF, CHECK, CONFIG, DRAFT, GUARDED, Table, specification

CHECKS = ("inputs", "context", "publish", "guardrails", "validation", "outputs")


def captions(*specs: Table, config: Table) -> dict[str, tuple[str, ...]]:
    return {box.node.id: box.lines for box in picture(specification(*specs, config=config)).boxes}


def arrows(found: Picture) -> set[str]:
    return {f"{one.source} -{one.says}-> {one.target}" for one in found.arrows}


def test_each_stage_says_what_it_is_and_what_it_looks_at() -> None:
    found = captions(BRIEF, DRAFT, CHECK, config=GUARDED)
    assert found["bmm:prd:step-02:hitl"] == (
        "a person approves step-02 draft-",
        "prd",
        "required",
    )
    assert found["step-02/inputs"] == (
        "check the inputs",
        "{output_folder}/product-brief.md",
        "templates/prd.template.md",
    )
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
    assert "bmm:prd:step-02:hitl -REJECTED-> step-02/failed" in found
    several = DRAFT | {"retries": {"max": 3, "backoff_seconds": 0}}
    assert "step-02/again -retry up to 3 times-> step-02/inputs" in arrows(picture(specification(several)))
    assert "step-01 -FAIL-> step-01/failed" in arrows(picture(specification(BRIEF)))


def test_a_folded_step_is_one_box_with_its_tools_files_and_attempts() -> None:
    found = picture(specification(BRIEF, DRAFT, CHECK, config=GUARDED), folds=True)
    boxes = {box.node.id: box for box in found.boxes if not isinstance(box.node.task, End)}
    assert list(boxes) == ["step-01", "bmm:prd:step-02:hitl", "tool:publish:step-02", "step-02", "step-03"]
    assert boxes["step-02"].lines == (
        "step-02 draft-prd",
        "executor, or a person",
        "tool getCurrentTime, low risk,",
        "optional",
        "tool publish, high risk, required",
        "reads {output_folder}/product-",
        "brief.md,",
        "templates/prd.template.md",
        "writes {output_folder}/prd.md",
    )
    assert found.frames == ()
    leaving = [f"{' '.join(one.lines)} -> {one.target}" for one in found.arrows if one.source == "step-02"]
    assert leaving == ["worked -> step-03", "↻ again, once, after 2 s -> step-02", "failed -> step-02/failed"]


def test_only_specifications_have_steps_to_fold() -> None:
    (problem,) = load("dot").emit(program(node("1", End("complete"))), {"boxes": "steps"}).diagnostics
    assert (problem.code, problem.help) == ("RD501", "leave it out: each box of this picture is a step already")


def test_stages_are_told_apart_without_color() -> None:
    found = captions(BRIEF, DRAFT, CHECK, config=GUARDED)
    stages = [found[name][0] for name in ("step-02", *(f"step-02/{stage}" for stage in CHECKS))]
    assert len(set(stages)) == len(stages)


def test_graphviz_draws_steps_as_frames_with_tooltips() -> None:
    text = load("dot").emit(specification(BRIEF, DRAFT, config=GUARDED), {}).text
    assert text
    found = drawn(text)
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
