"""The oracle against paths that were derived by hand, rule by rule. They document how the rules are read."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tests.differential.generate.rundown import Drawn, Outcomes
from tests.differential.generate.rundown_model import Goto, Runbook, Transitions, book, goto, result, step, sub
from tests.differential.oracles.rundown import expect, walk, walk_model


class TestStart:
    """M1 and V3."""

    def test_first_numbered_step_though_a_named_one_stands_before_it(self) -> None:
        expect("1+ => COMPLETE", step("Early"), step("1"))

    def test_template_though_a_named_step_stands_before_it(self) -> None:
        expect("{N}@1.+ => COMPLETE", step("Early"), step("{N}"))

    def test_named_steps_only_start_at_the_first_and_continue_to_nothing(self) -> None:
        expect("First+ => COMPLETE", step("First"), step("Second"))

    def test_named_substep_takes_part_in_document_order(self) -> None:
        expect("1.1+ 1.Mid+ 1.2+ => COMPLETE", step("1", sub("1"), sub("Mid"), sub("2")))


class TestPlaceholders:
    """M4 and M5."""

    def test_message_of_a_dynamic_step(self) -> None:
        expect("{N}@1.- => STOP batch 1 {n} ${N}", step("{N}", "FAIL: STOP batch {N} {n} ${N}"))

    def test_message_of_a_static_step_is_left_alone(self) -> None:
        expect("1- => STOP batch {N} {n}", step("1", "FAIL: STOP batch {N} {n}"))

    def test_message_of_a_dynamic_substep_in_a_dynamic_step(self) -> None:
        dynamic = step("{N}", sub("{n}", "FAIL: GOTO NEXT", "PASS: COMPLETE {N}/{n} ${n}"))
        expect("{N}.{n}@1.1- {N}.{n}@1.2+ => COMPLETE 1/2 ${n}", dynamic)

    def test_static_substep_of_a_dynamic_step_has_a_step_instance_only(self) -> None:
        expect("{N}.1@1.- => STOP 1 {n}", step("{N}", sub("1", "FAIL: STOP {N} {n}")))

    def test_message_of_a_step_does_not_know_the_instance_of_its_substep(self) -> None:
        expect("1.{n}@.1- => STOP {n}", step("1", "FAIL: STOP {n}", sub("{n}")))

    def test_nested_runbook_is_inside_the_dynamic_step_that_lists_it(self) -> None:
        expect(
            "1.{n}/a.runbook.md/1@.1- 1.{n}/a.runbook.md/1@.2+ => COMPLETE",
            step("1", sub("{n}", "a.runbook.md", "FAIL: GOTO NEXT", "PASS: COMPLETE")),
            files={"a.runbook.md": book(step("1"))},
        )


class TestDefaults:
    """M6."""

    def test_pass_continues(self) -> None:
        expect("1+ 2+ => COMPLETE", step("1"), step("2"))

    def test_fail_stops(self) -> None:
        expect("1- => STOP", step("1"), step("2"))

    def test_the_other_outcome_keeps_its_default(self) -> None:
        expect("1- => STOP", step("1", "PASS: COMPLETE"), step("2"))
        expect("1+ 2+ => COMPLETE", step("1", "FAIL: COMPLETE"), step("2"))


class TestContinue:
    """M7."""

    def test_skips_named_steps(self) -> None:
        expect("1+ 2+ => COMPLETE", step("1"), step("Aside"), step("2"))

    def test_from_a_named_step_to_the_numbered_step_after_it(self) -> None:
        expect(
            "1- Aside+ 2+ => COMPLETE",
            step("1", "FAIL: GOTO Aside"),
            step("Aside"),
            step("Other"),
            step("2"),
        )

    def test_from_a_named_step_at_the_end_completes(self) -> None:
        expect("1- Aside+ => COMPLETE", step("1", "FAIL: GOTO Aside"), step("2"), step("Aside"))

    def test_from_a_dynamic_step_completes(self) -> None:
        expect("{N}@1.+ => COMPLETE", step("{N}"), step("After"))

    def test_from_a_named_step_before_the_template_enters_it_with_its_number(self) -> None:
        expect("{N}@1.- A+ {N}@1.+ => COMPLETE", step("A"), step("{N}", "FAIL: GOTO A"))
        template = step("{N}", "FAIL: GOTO A", "PASS: GOTO NEXT")
        expect("{N}@1.+ {N}@2.- A+ {N}@2.- A- => STOP", step("A"), template)

    def test_from_a_named_step_enters_the_template_afresh(self) -> None:
        template = step("{N}", sub("1", "FAIL: GOTO A"), sub("2", "FAIL: GOTO A"))
        expect("{N}.1@1.+ {N}.2@1.- A+ {N}.1@1.+ {N}.2@1.+ => COMPLETE", step("A"), template)

    def test_from_a_named_step_after_the_template_completes(self) -> None:
        expect("{N}@1.- A+ => COMPLETE", step("{N}", "FAIL: GOTO A"), step("A"))


class TestEnds:
    """M8."""

    def test_complete_and_stop_end_at_once_with_their_message(self) -> None:
        expect("1- => COMPLETE early exit", step("1", "FAIL: COMPLETE early exit"), step("2"))
        expect("1.1+ => STOP on pass", step("1", sub("1", "PASS: STOP on pass"), sub("2")), step("2"))

    def test_nested_complete_is_pass_and_its_message_is_lost(self) -> None:
        nested = book(step("1", "FAIL: COMPLETE inner"), step("2"))
        expect(
            "1/a.runbook.md/1- 2+ => COMPLETE",
            step("1", "a.runbook.md"),
            step("2"),
            files={"a.runbook.md": nested},
        )

    def test_nested_stop_is_fail(self) -> None:
        nested = book(step("1", "PASS: STOP inner"))
        expect(
            "1/a.runbook.md/1+ => STOP outer",
            step("1", "a.runbook.md", "FAIL: STOP outer"),
            files={"a.runbook.md": nested},
        )


class TestRetry:
    """M9."""

    def test_runs_again_while_retries_are_left_then_falls_back(self) -> None:
        expect("1- 1#2- 1#3- 2+ => COMPLETE", step("1", "FAIL: RETRY 2 GOTO 2"), step("2"))

    def test_other_outcome_ends_the_retries(self) -> None:
        expect("1- 1#2+ => COMPLETE", step("1", "PASS: COMPLETE", "FAIL: RETRY 3 STOP"))

    def test_pass_and_fail_share_one_count(self) -> None:
        expect("1- 1#2+ 1#3- => STOP f", step("1", "PASS: RETRY 2 STOP p", "FAIL: RETRY 2 STOP f"))

    def test_count_of_a_leaf_belongs_to_the_visit(self) -> None:
        expect(
            "1- 1#2- 2+ 1- 1#2- 2- => STOP",
            step("1", "FAIL: RETRY 1 GOTO 2"),
            step("2", "PASS: GOTO 1"),
        )

    def test_goto_itself_resets_the_count_of_a_dynamic_step(self) -> None:
        expect(
            "1.{n}@.1- 1.{n}#2@.1- 1.{n}@.1- 1.{n}#2@.1+ => COMPLETE",
            step("1", sub("{n}", "FAIL: RETRY 1 GOTO 1.{n}")),
        )

    def test_retry_of_a_step_starts_again_at_its_first_child(self) -> None:
        expect("1.1+ 1.2- 1.1+ 1.2+ => COMPLETE", step("1", "FAIL: RETRY 1 STOP", sub("1"), sub("2")))

    def test_retry_of_a_step_is_used_up(self) -> None:
        expect("1.1- 1.1- 1.1- => STOP x", step("1", "FAIL: RETRY 2 STOP x", sub("1")))

    def test_leaf_inside_a_retried_step_counts_from_one_again(self) -> None:
        expect(
            "1.1- 1.1#2- 1.1- 1.1#2+ => COMPLETE",
            step("1", "FAIL: RETRY 1 STOP", sub("1", "FAIL: RETRY 1 CONTINUE")),
        )

    def test_pass_of_a_step_may_retry_too(self) -> None:
        expect("1.1+ 1.1+ => COMPLETE x", step("1", "PASS: RETRY 1 COMPLETE x", sub("1")))

    def test_fallback_continue_of_a_step(self) -> None:
        expect("1.1- 1.1- 2+ => COMPLETE", step("1", "FAIL: RETRY 1 CONTINUE", sub("1")), step("2"))


class TestEntering:
    """M10."""

    def test_jump_to_a_step_with_substeps_enters_its_first(self) -> None:
        expect("1+ 3.1+ => COMPLETE", step("1", "PASS: GOTO 3"), step("2"), step("3", sub("1")))

    def test_header_from_inside_forgets_outcomes_and_retry_count(self) -> None:
        one = step("1", "FAIL: RETRY 1 STOP x", sub("1", "FAIL: CONTINUE"), sub("2", "FAIL: GOTO 1"))
        expect("1.1- 1.2+ 1.1+ 1.2- 1.1- 1.2+ 1.1- 1.2+ => STOP x", one)

    def test_header_from_inside_forgets_the_record_of_the_failed_child(self) -> None:
        expect("1.1- 1.1+ => COMPLETE", step("1", "FAIL: STOP", sub("1", "FAIL: GOTO 1")))

    def test_substep_from_outside_starts_its_step_afresh_there(self) -> None:
        one = step("1", "PASS: COMPLETE", "FAIL: GOTO 2", sub("1", "FAIL: CONTINUE"), sub("2"))
        expect("1.1- 1.2+ 2+ 1.2+ => COMPLETE", one, step("2", "PASS: GOTO 1.2"))

    def test_substep_from_outside_starts_the_retry_count_afresh(self) -> None:
        one = step("1", "FAIL: RETRY 1 GOTO 2", sub("1"))
        expect("1.1- 1.1- 2+ 1.1- 1.1- 2- => STOP", one, step("2", "PASS: GOTO 1.1"))

    def test_substep_from_a_sibling_keeps_outcomes(self) -> None:
        one = step("1", "FAIL: STOP x", sub("1", "FAIL: GOTO 1.3"), sub("2"), sub("3"))
        expect("1.1- 1.3+ => STOP x", one)

    def test_substep_from_the_own_step_keeps_outcomes_and_retry_count(self) -> None:
        one = step("1", "FAIL: RETRY 1 GOTO 1.2", sub("1", "FAIL: CONTINUE"), sub("2", "FAIL: STOP"))
        expect("1.1- 1.2+ 1.1- 1.2+ 1.2+ 1.2- => STOP", one)

    def test_retry_of_a_step_forgets_outcomes_and_resets_instances(self) -> None:
        one = step("1", "FAIL: RETRY 1 STOP x", sub("{n}", "FAIL: GOTO NEXT"))
        expect("1.{n}@.1- 1.{n}@.2+ 1.{n}@.1+ => COMPLETE", one)

    def test_header_resets_instances(self) -> None:
        one = step("1", sub("{n}", "PASS: GOTO NEXT", "FAIL: GOTO 2"))
        expect("1.{n}@.1+ 1.{n}@.2- 2+ 1.{n}@.1- 2- => STOP", one, step("2", "PASS: GOTO 1"))

    def test_instance_forms_keep_all_from_outside(self) -> None:
        one = step("1", "PASS: COMPLETE", "FAIL: STOP x", sub("{n}", "FAIL: GOTO 2"))
        expect("1.{n}@.1- 2+ 1.{n}@.2+ => STOP x", one, step("2", "PASS: GOTO NEXT 1.{n}"))
        expect("1.{n}@.1- 2+ 1.{n}@.1+ => COMPLETE", one, step("2", "PASS: GOTO 1.{n}"))

    def test_step_never_entered_is_entered_afresh_by_the_instance_forms(self) -> None:
        two = step("2", sub("{n}"))
        expect("1+ 2.{n}@.1+ => COMPLETE", step("1", "PASS: GOTO 2.{n}"), two)
        expect("1+ 2.{n}@.1+ => COMPLETE", step("1", "PASS: GOTO NEXT 2.{n}"), two)


class TestAggregation:
    """M11."""

    def test_yielded_fail_under_all_fires_at_once(self) -> None:
        expect("1.1- 2+ => COMPLETE", step("1", "FAIL: GOTO 2", sub("1"), sub("2")), step("2"))

    def test_yielded_pass_under_any_fires_at_once(self) -> None:
        one = step("1", "PASS ANY: GOTO 2", sub("1"), sub("2"), sub("3"))
        expect("1.1- 1.2+ 2+ => COMPLETE", one, step("2"))

    def test_none_passed_under_any_fails(self) -> None:
        expect("1.1- 1.2- => STOP x", step("1", "FAIL ALL: STOP x", sub("1"), sub("2")))

    def test_explicit_continue_records_and_goes_on(self) -> None:
        one = step("1", "FAIL: STOP x", sub("1", "FAIL: CONTINUE"), sub("2"))
        expect("1.1- 1.2+ => STOP x", one)

    def test_explicit_continue_under_any_decides_at_the_end_only(self) -> None:
        one = step("1", "PASS ANY: COMPLETE x", sub("1", "PASS: CONTINUE"), sub("2"))
        expect("1.1+ 1.2- => COMPLETE x", one)

    def test_only_visited_children_count(self) -> None:
        one = step("1", "FAIL ALL: STOP x", sub("1", "FAIL: GOTO 1.3"), sub("2"), sub("3"))
        expect("1.1- 1.3- => STOP x", one)

    def test_transparent_step_tolerates_an_explicit_continue(self) -> None:
        expect("1.1- 1.2+ 2+ => COMPLETE", step("1", sub("1", "FAIL: CONTINUE"), sub("2")), step("2"))

    def test_transparent_step_tolerates_it_as_a_fallback_too(self) -> None:
        one = step("1", sub("1", "FAIL: RETRY 1 CONTINUE"), sub("2"))
        expect("1.1- 1.1#2- 1.2+ => COMPLETE", one)

    def test_transparent_step_fails_by_a_yielded_fail(self) -> None:
        expect("1.1+ 1.2- => STOP", step("1", sub("1", "FAIL: CONTINUE"), sub("2")), step("2"))

    def test_transparent_step_does_not_count_a_fail_that_jumped(self) -> None:
        expect("1.1- 1.2+ 2+ => COMPLETE", step("1", sub("1", "FAIL: GOTO 1.2"), sub("2")), step("2"))
        three = step("1", sub("1", "FAIL: GOTO 1.2"), sub("2"), sub("3"))
        expect("1.1- 1.2+ 1.3+ 2+ => COMPLETE", three, step("2"))

    def test_transparent_step_does_not_count_instances_that_jumped(self) -> None:
        one = step("1", sub("{n}", "FAIL: GOTO NEXT"))
        expect("1.{n}@.1- 1.{n}@.2+ 2+ => COMPLETE", one, step("2"))

    def test_each_instance_is_a_child_of_its_own(self) -> None:
        one = step("1", "PASS: COMPLETE", "FAIL: STOP x", sub("{n}", "FAIL: GOTO NEXT"))
        expect("1.{n}@.1- 1.{n}@.2+ => STOP x", one)
        any_one = step("1", "PASS ANY: COMPLETE y", sub("{n}", "PASS: GOTO NEXT", "FAIL: CONTINUE"))
        expect("1.{n}@.1+ 1.{n}@.2- => COMPLETE y", any_one)

    def test_child_visited_again_overwrites_its_record(self) -> None:
        one = step("1", "FAIL: STOP x", sub("1", "FAIL: GOTO 1.2"), sub("2", "PASS: GOTO 1.1"))
        expect("1.1- 1.2+ 1.1+ 1.2- => STOP x", one)
        same = step("1", "FAIL: STOP x", sub("{n}", "FAIL: GOTO 1.{n}"))
        expect("1.{n}@.1- 1.{n}@.1+ => COMPLETE", same)


class TestLists:
    """M11 for runbooks of a list, and the names of their steps."""

    FILES: ClassVar[dict[str, Runbook]] = {
        "a.runbook.md": book(step("1")),
        "b.runbook.md": book(step("1", sub("1"), sub("2")), step("2", "a.runbook.md")),
    }

    def test_order_and_names(self) -> None:
        text = "1/b.runbook.md/1.1+ 1/b.runbook.md/1.2+ 1/b.runbook.md/2/a.runbook.md/1+ 1/a.runbook.md/1+"
        expect(f"{text} => COMPLETE", step("1", "b.runbook.md", "a.runbook.md"), files=self.FILES)

    def test_same_path_twice(self) -> None:
        one = step("1", "a.runbook.md", "a.runbook.md")
        expect("1/a.runbook.md/1+ 1/a.runbook.md~2/1+ => COMPLETE", one, files=self.FILES)

    def test_fail_under_all_leaves_the_rest_out(self) -> None:
        one = step("1", "a.runbook.md", "a.runbook.md", "FAIL ANY: STOP x")
        expect("1/a.runbook.md/1- => STOP x", one, files=self.FILES)

    def test_pass_under_any_leaves_the_rest_out(self) -> None:
        one = step("1", "a.runbook.md", "a.runbook.md", "a.runbook.md", "PASS ANY: CONTINUE")
        expect("1/a.runbook.md/1- 1/a.runbook.md~2/1+ => COMPLETE", one, files=self.FILES)

    def test_retry_of_a_step_with_a_list_runs_all_of_it_again(self) -> None:
        one = step("1", "a.runbook.md", "a.runbook.md", "FAIL: RETRY 1 COMPLETE x")
        again = "1/a.runbook.md/1+ 1/a.runbook.md~2/1-"
        expect(f"{again} {again} => COMPLETE x", one, files=self.FILES)

    def test_list_in_a_substep_yields_its_outcome(self) -> None:
        one = step("1", "FAIL: STOP x", sub("1", "a.runbook.md"), sub("2"))
        expect("1.1/a.runbook.md/1- => STOP x", one, files=self.FILES)

    def test_list_in_a_substep_has_its_own_aggregation_and_retries(self) -> None:
        child = sub("1", "a.runbook.md", "a.runbook.md", "PASS ANY: CONTINUE", "FAIL ALL: RETRY 1 CONTINUE")
        text = "1.1/a.runbook.md/1- 1.1/a.runbook.md~2/1- 1.1/a.runbook.md/1+ 1.2+"
        expect(f"{text} => COMPLETE", step("1", child, sub("2")), files=self.FILES)

    def test_retries_of_a_list_in_a_substep_start_afresh_with_each_entry(self) -> None:
        one = step("1", sub("1", "a.runbook.md", "FAIL: RETRY 1 GOTO 1.2"), sub("2", "PASS: GOTO 1.1"))
        node = "1.1/a.runbook.md/1-"
        expect(f"{node} {node} 1.2+ {node} {node} 1.2- => STOP", one, files=self.FILES)

    def test_each_entry_starts_a_nested_runbook_afresh(self) -> None:
        nested = book(step("{N}", "PASS: GOTO NEXT", "FAIL: STOP"))
        text = "1/c.runbook.md/{N}@1.+ 1/c.runbook.md/{N}@2.- 1/c.runbook.md/{N}@1.- => STOP"
        expect(text, step("1", "c.runbook.md", "FAIL: RETRY 1 STOP"), files={"c.runbook.md": nested})


class TestInstances:
    """M12."""

    def test_next_advances_the_step(self) -> None:
        dynamic = step("{N}", "PASS: GOTO NEXT", "FAIL: COMPLETE")
        expect("{N}@1.+ {N}@2.+ {N}@3.- => COMPLETE", dynamic)

    def test_next_in_a_dynamic_substep_advances_that(self) -> None:
        dynamic = step("{N}", "FAIL: GOTO NEXT", sub("{n}", "PASS: GOTO NEXT"))
        expect("{N}.{n}@1.1+ {N}.{n}@1.2- {N}.{n}@2.1- {N}.{n}@3.1+ => cut off", dynamic)

    def test_next_of_the_step_by_name_from_its_dynamic_substep(self) -> None:
        dynamic = step("{N}", sub("{n}", "PASS: GOTO NEXT {N}"))
        expect("{N}.{n}@1.1+ {N}.{n}@2.1- => STOP", dynamic)

    def test_next_in_a_static_substep_advances_the_step_and_enters_its_first(self) -> None:
        dynamic = step("{N}", sub("1"), sub("2", "PASS: GOTO NEXT"))
        expect("{N}.1@1.+ {N}.2@1.+ {N}.1@2.- => STOP", dynamic)

    def test_goto_the_step_restarts_the_instance(self) -> None:
        dynamic = step("{N}", "PASS: GOTO NEXT", "FAIL: GOTO Fix")
        expect("{N}@1.+ {N}@2.- Fix+ {N}@2.- Fix- => STOP", dynamic, step("Fix", "PASS: GOTO {N}"))

    def test_goto_the_step_forgets_outcomes_and_retries(self) -> None:
        dynamic = step("{N}", "FAIL: RETRY 1 STOP x", sub("1", "PASS: GOTO {N}"))
        expect("{N}.1@1.- {N}.1@1.+ {N}.1@1.- {N}.1@1.- => STOP x", dynamic)

    def test_goto_a_static_substep_keeps_everything(self) -> None:
        dynamic = step("{N}", "FAIL: STOP x", sub("1", "FAIL: GOTO {N}.Fix"), sub("2"), sub("Fix"))
        expect("{N}.1@1.- {N}.Fix@1.+ => STOP x", dynamic)

    def test_goto_the_current_instances(self) -> None:
        dynamic = step("{N}", sub("{n}", "PASS: GOTO NEXT", "FAIL: GOTO Fix"))
        fix = step("Fix", "PASS: GOTO {N}.{n}", "FAIL: GOTO NEXT {N}.{n}")
        expect("{N}.{n}@1.1+ {N}.{n}@1.2- Fix+ {N}.{n}@1.2- Fix- {N}.{n}@1.3+ => cut off", dynamic, fix)

    def test_next_step_from_a_named_one(self) -> None:
        dynamic = step("{N}", "FAIL: GOTO Fix")
        expect("{N}@1.- Fix+ {N}@2.+ => COMPLETE", dynamic, step("Fix", "PASS: GOTO NEXT {N}"))

    def test_continue_leaves_a_dynamic_substep(self) -> None:
        expect("1.{n}@.1+ 2+ => COMPLETE", step("1", sub("{n}", "PASS: CONTINUE")), step("2"))

    def test_counter_of_a_substep_belongs_to_its_step(self) -> None:
        one = step("1", sub("{n}", "FAIL: GOTO 2"))
        two = step("2", sub("{n}", "PASS: GOTO NEXT", "FAIL: GOTO 1.{n}"))
        expect("1.{n}@.1- 2.{n}@.1+ 2.{n}@.2- 1.{n}@.1+ 2.{n}@.1- 1.{n}@.1+ => cut off", one, two)


class TestOrderOfEffects:
    """M13."""

    def test_an_outcome_is_recorded_though_its_edge_jumps(self) -> None:
        one = step("1", "PASS ANY: COMPLETE x", sub("1", "PASS: GOTO 1.2"), sub("2"))
        expect("1.1+ 1.2- => COMPLETE x", one)

    def test_only_the_last_attempt_is_recorded(self) -> None:
        one = step("1", "FAIL: STOP x", sub("1", "FAIL: RETRY 1 STOP"), sub("2"))
        expect("1.1- 1.1#2+ 1.2+ => COMPLETE", one)

    def test_the_same_outcomes_give_the_same_walk(self) -> None:
        runbook = Runbook((step("{N}", "PASS: GOTO NEXT", "FAIL: RETRY 2 STOP"),))
        first, second = (walk_model(runbook, {}, lambda index: index % 3 > 0, 20) for _ in range(2))
        assert first == second


class TestLimit:
    def test_an_end_at_the_limit_is_an_end(self) -> None:
        expect("1+ => COMPLETE", step("1"))

    def test_a_visit_beyond_the_limit_is_none(self) -> None:
        expect("1+ => cut off", step("1"), step("2"))

    def test_a_jump_that_no_visit_could_follow_is_none(self) -> None:
        drawn = Drawn(Runbook((step("1"), step("2"))), outcomes=Outcomes((False,)), jumps=((1, 0),))
        assert walk(drawn, limit=1).end == ("STOP", "")
        assert walk(drawn, limit=2).jumps


class TestNotation:
    def test_forms(self) -> None:
        assert goto("NEXT") == Goto(advance=True)
        assert goto("NEXT A.{n}") == Goto("A", "{n}", advance=True)
        assert goto("1.2") == Goto("1", "2")
        assert result("RETRY 2 STOP x y") == result("RETRY 2 STOP x y")

    def test_a_modifier_needs_a_transition(self) -> None:
        with pytest.raises(ValueError, match="modifier"):
            Transitions(optimistic=True)
