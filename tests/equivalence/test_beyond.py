"""The oracle of rules E1 to E10, by example."""

from __future__ import annotations

from tests.equivalence.beyond import Scope, Slots, written
from tests.equivalence.cases import Case, Outcomes, show_path
from tests.equivalence.model import (
    Continue,
    Declared,
    Goto,
    Input,
    Leaf,
    Runbook,
    Runbooks,
    Settings,
    Step,
    Substep,
    Substeps,
    Transitions,
)
from tests.equivalence.oracle import NOTHING_GIVEN
from tests.equivalence.visits import Given

COMMAND, PROMPT = Leaf(code="true", info="sh"), Leaf("Is {{version}} good?")
INNER = "a.runbook.md"


def scope(declared: Declared, given: Given = NOTHING_GIVEN) -> Scope:
    """What the outermost document sees when a run begins."""
    return Scope(Slots(given)).include(declared, "", ())


def test_inputs_are_what_is_given_else_the_default() -> None:
    declared = Declared((Input("a", default="1"), Input("b", default="2"), Input("c", required=False)))
    seen = scope(declared, Given((("a", ""),)))
    assert seen.filled("{{a}}|{{b}}|{{c}}|${{b}}|{{d}}", {}) == "|2|{{c}}|${{b}}|{{d}}"


def test_values_are_filled_in_one_pass_and_masked() -> None:
    seen = scope(Declared(outputs=("a", "b")), Given(secrets=(("KEY", "se"), ("LONG", "secret\nline"))))
    seen.keep((("a", "{{b}}"), ("b", "x")))
    assert seen.filled("{{a}}{{b}}{N}", {"N": 3}) == "{{b}}x3"
    assert seen.slots.masked("secret sea line secret\nline") == "*** ***a *** ***"


def test_a_nested_runbook_shares_what_both_declare() -> None:
    outer = scope(Declared(outputs=("a",)))
    outer.keep((("a", "outer"),))
    inner = outer.include(Declared((Input("c", default="own"),), ("a", "b")), "1/x/", ("1", "1/x"))
    inner.keep((("a", "new"), ("b", "lost")))
    assert inner.filled("{{a}}{{b}}{{c}}", {}) == "newlostown"
    assert outer.filled("{{a}}{{b}}", {}) == "new{{b}}"
    again = outer.include(Declared(outputs=("b",)), "1/x/", ())
    assert again.filled("{{a}}{{b}}", {}) == "{{a}}{{b}}"


def test_the_nearest_setting_counts_and_variables_are_merged() -> None:
    steps = (
        ("*", Settings(90, 1, env=(("A", "1"), ("B", "1")))),
        ("2", Settings(backoff=3)),
        ("2.1", Settings(60, env=(("A", "2"),))),
    )
    seen = scope(Declared(steps=steps))
    assert seen.settings(("2", "2.1")) == Settings(60, 1, 3, (("A", "2"), ("B", "1")))
    assert seen.visit(PROMPT, ("2", "2.1"), 4, 0, "").waits == 9


def test_what_is_malformed_fails_the_command() -> None:
    given = next(
        Given(writes=seed) for seed in range(1, 999) if written(Given(writes=seed), 0, ("a",)).startswith("undecl")
    )
    runbook = Runbook((Step("1", COMMAND),), declared=Declared(outputs=("a",)))
    assert show_path(Case(runbook, given=given, outcomes=Outcomes((True,))).walk()) == "1- => STOP"


def test_an_operator_jumps_as_a_goto_would() -> None:
    asked = Transitions(on_fail=Continue())
    children = Substeps((Substep("1", PROMPT, asked), Substep("2", Runbooks((INNER,)))))
    runbook = Runbook((Step("1", children, Transitions(on_fail=Goto("2"))), Step("2", PROMPT)))
    case = Case(runbook, {INNER: Runbook((Step("1", PROMPT),))}, outcomes=Outcomes((False, True, True, True, True)))
    traces = [
        show_path(Case(case.runbook, case.files, outcomes=case.outcomes, jumps=((1, pick),)).walk())
        for pick in range(6)
    ]
    assert traces == [
        "1.1- [1.2/a.runbook.md/1]1 1.1+ 1.2/a.runbook.md/1+ 2+ => COMPLETE",
        "1.1- [1.2/a.runbook.md/1]1.1 1.1+ 1.2/a.runbook.md/1+ 2+ => COMPLETE",
        "1.1- [1.2/a.runbook.md/1]1.2 1.2/a.runbook.md/1+ 2+ => COMPLETE",
        "1.1- [1.2/a.runbook.md/1]1.2/a.runbook.md/1 1.2/a.runbook.md/1+ 2+ => COMPLETE",
        "1.1- [1.2/a.runbook.md/1]2 2+ => COMPLETE",
        "1.1- [1.2/a.runbook.md/1]1 1.1+ 1.2/a.runbook.md/1+ 2+ => COMPLETE",
    ]
