"""The oracle of runbooks against paths derived by hand, rule by rule: they document how the rules are read."""

import pytest

from tests.differential.generate.rundown import Drawn, Outcomes
from tests.differential.generate.rundown_model import book, examples
from tests.differential.oracles.rundown import walk, walk_model
from tests.differential.oracles.rundown_parts import trace_of

FILES = {
    "a.runbook.md": book("1"),
    "b.runbook.md": book("1 | .1 | .2 ; 2 @a"),
    "c.runbook.md": book("{N} PASS: GOTO NEXT, FAIL: STOP"),
    "completes.runbook.md": book("1 FAIL: COMPLETE inner ; 2"),
    "stops.runbook.md": book("1 PASS: STOP inner"),
}
PATHS = """
# M1, V3: the start
Early ; 1
    1+ => COMPLETE  # first numbered step though a named one stands before it
Early ; {N}
    {N}@1.+ => COMPLETE  # template though a named step stands before it
First ; Second
    First+ => COMPLETE  # named steps only start at the first and continue to nothing
1 | .1 | .Mid | .2
    1.1+ 1.Mid+ 1.2+ => COMPLETE  # named substep takes part in document order

# M4, M5: placeholders
{N} FAIL: STOP batch {N} {n} ${N}
    {N}@1.- => STOP batch 1 {n} ${N}  # message of a dynamic step
1 FAIL: STOP batch {N} {n}
    1- => STOP batch {N} {n}  # message of a static step is left alone
{N} | .{n} PASS: COMPLETE {N}/{n} ${n}, FAIL: GOTO NEXT
    {N}.{n}@1.1- {N}.{n}@1.2+ => COMPLETE 1/2 ${n}  # message of a dynamic substep in a dynamic step
{N} | .1 FAIL: STOP {N} {n}
    {N}.1@1.- => STOP 1 {n}  # static substep of a dynamic step has a step instance only
1 FAIL: STOP {n} | .{n}
    1.{n}@.1- => STOP {n}  # message of a step does not know the instance of its substep
# nested runbook is inside the dynamic step that lists it
1 | .{n} @a, PASS: COMPLETE, FAIL: GOTO NEXT
    1.{n}/a.runbook.md/1@.1- 1.{n}/a.runbook.md/1@.2+ => COMPLETE

# M6: defaults
1 ; 2
    1+ 2+ => COMPLETE  # pass continues
    1- => STOP  # fail stops
1 PASS: COMPLETE ; 2
    1- => STOP  # the other outcome keeps its default
1 FAIL: COMPLETE ; 2
    1+ 2+ => COMPLETE

# M7: CONTINUE
1 ; Aside ; 2
    1+ 2+ => COMPLETE  # skips named steps
1 FAIL: GOTO Aside ; Aside ; Other ; 2
    1- Aside+ 2+ => COMPLETE  # from a named step to the numbered step after it
1 FAIL: GOTO Aside ; 2 ; Aside
    1- Aside+ => COMPLETE  # from a named step at the end completes
{N} ; After
    {N}@1.+ => COMPLETE  # from a dynamic step completes
A ; {N} FAIL: GOTO A
    {N}@1.- A+ {N}@1.+ => COMPLETE  # from a named step before the template enters it with its number
A ; {N} PASS: GOTO NEXT, FAIL: GOTO A
    {N}@1.+ {N}@2.- A+ {N}@2.- A- => STOP
A ; {N} | .1 FAIL: GOTO A | .2 FAIL: GOTO A
    {N}.1@1.+ {N}.2@1.- A+ {N}.1@1.+ {N}.2@1.+ => COMPLETE  # from a named step enters the template from its start
{N} FAIL: GOTO A ; A
    {N}@1.- A+ => COMPLETE  # from a named step after the template completes

# M8: ends
1 FAIL: COMPLETE early exit ; 2
    1- => COMPLETE early exit  # complete and stop end at once with their message
1 | .1 PASS: STOP on pass | .2 ; 2
    1.1+ => STOP on pass
1 @completes ; 2
    1/completes.runbook.md/1- 2+ => COMPLETE  # nested complete is pass and its message is lost
1 @stops, FAIL: STOP outer
    1/stops.runbook.md/1+ => STOP outer  # nested stop is fail

# M9: RETRY
1 FAIL: RETRY 2 GOTO 2 ; 2
    1- 1#2- 1#3- 2+ => COMPLETE  # runs again while retries are left then falls back
1 PASS: COMPLETE, FAIL: RETRY 3 STOP
    1- 1#2+ => COMPLETE  # other outcome ends the retries
1 PASS: RETRY 2 STOP p, FAIL: RETRY 2 STOP f
    1- 1#2+ 1#3- => STOP f  # pass and fail share one count
1 FAIL: RETRY 1 GOTO 2 ; 2 PASS: GOTO 1
    1- 1#2- 2+ 1- 1#2- 2- => STOP  # count of a leaf belongs to the visit
1 | .{n} FAIL: RETRY 1 GOTO 1.{n}
    1.{n}@.1- 1.{n}#2@.1- 1.{n}@.1- 1.{n}#2@.1+ => COMPLETE  # goto itself resets the count of a dynamic step
1 FAIL: RETRY 1 STOP | .1 | .2
    1.1+ 1.2- 1.1+ 1.2+ => COMPLETE  # retry of a step starts again at its first child
1 FAIL: RETRY 2 STOP x | .1
    1.1- 1.1- 1.1- => STOP x  # retry of a step is used up
1 FAIL: RETRY 1 STOP | .1 FAIL: RETRY 1 CONTINUE
    1.1- 1.1#2- 1.1- 1.1#2+ => COMPLETE  # leaf inside a retried step counts from one again
1 PASS: RETRY 1 COMPLETE x | .1
    1.1+ 1.1+ => COMPLETE x  # pass of a step may retry too
1 FAIL: RETRY 1 CONTINUE | .1 ; 2
    1.1- 1.1- 2+ => COMPLETE  # fallback continue of a step

# M10: entering a step
1 PASS: GOTO 3 ; 2 ; 3 | .1
    1+ 3.1+ => COMPLETE  # jump to a step with substeps enters its first
1 FAIL: RETRY 1 STOP x | .1 FAIL: CONTINUE | .2 FAIL: GOTO 1
    1.1- 1.2+ 1.1+ 1.2- 1.1- 1.2+ 1.1- 1.2+ => STOP x  # header from inside forgets outcomes and retry count
1 FAIL: STOP | .1 FAIL: GOTO 1
    1.1- 1.1+ => COMPLETE  # header from inside forgets the record of the failed child
1 PASS: COMPLETE, FAIL: GOTO 2 | .1 FAIL: CONTINUE | .2 ; 2 PASS: GOTO 1.2
    1.1- 1.2+ 2+ 1.2+ => COMPLETE  # substep from outside starts its step over there
1 FAIL: RETRY 1 GOTO 2 | .1 ; 2 PASS: GOTO 1.1
    1.1- 1.1- 2+ 1.1- 1.1- 2- => STOP  # substep from outside starts the retry count over
1 FAIL: STOP x | .1 FAIL: GOTO 1.3 | .2 | .3
    1.1- 1.3+ => STOP x  # substep from a sibling keeps outcomes
1 FAIL: RETRY 1 GOTO 1.2 | .1 FAIL: CONTINUE | .2 FAIL: STOP
    1.1- 1.2+ 1.1- 1.2+ 1.2+ 1.2- => STOP  # substep from the own step keeps outcomes and retry count
1 FAIL: RETRY 1 STOP x | .{n} FAIL: GOTO NEXT
    1.{n}@.1- 1.{n}@.2+ 1.{n}@.1+ => COMPLETE  # retry of a step forgets outcomes and resets instances
1 | .{n} PASS: GOTO NEXT, FAIL: GOTO 2 ; 2 PASS: GOTO 1
    1.{n}@.1+ 1.{n}@.2- 2+ 1.{n}@.1- 2- => STOP  # header resets instances
1 PASS: COMPLETE, FAIL: STOP x | .{n} FAIL: GOTO 2 ; 2 PASS: GOTO NEXT 1.{n}
    1.{n}@.1- 2+ 1.{n}@.2+ => STOP x  # instance forms keep all from outside
1 PASS: COMPLETE, FAIL: STOP x | .{n} FAIL: GOTO 2 ; 2 PASS: GOTO 1.{n}
    1.{n}@.1- 2+ 1.{n}@.1+ => COMPLETE
1 PASS: GOTO 2.{n} ; 2 | .{n}
    1+ 2.{n}@.1+ => COMPLETE  # step never entered is entered from its start by the instance forms
1 PASS: GOTO NEXT 2.{n} ; 2 | .{n}
    1+ 2.{n}@.1+ => COMPLETE

# M11: the outcome of a step with substeps
1 FAIL: GOTO 2 | .1 | .2 ; 2
    1.1- 2+ => COMPLETE  # yielded fail under all fires at once
1 PASS ANY: GOTO 2 | .1 | .2 | .3 ; 2
    1.1- 1.2+ 2+ => COMPLETE  # yielded pass under any fires at once
1 FAIL ALL: STOP x | .1 | .2
    1.1- 1.2- => STOP x  # none passed under any fails
1 FAIL: STOP x | .1 FAIL: CONTINUE | .2
    1.1- 1.2+ => STOP x  # explicit continue records and goes on
1 PASS ANY: COMPLETE x | .1 PASS: CONTINUE | .2
    1.1+ 1.2- => COMPLETE x  # explicit continue under any decides at the end only
1 FAIL ALL: STOP x | .1 FAIL: GOTO 1.3 | .2 | .3
    1.1- 1.3- => STOP x  # only visited children count
1 | .1 FAIL: CONTINUE | .2 ; 2
    1.1- 1.2+ 2+ => COMPLETE  # transparent step tolerates an explicit continue
1 | .1 FAIL: RETRY 1 CONTINUE | .2
    1.1- 1.1#2- 1.2+ => COMPLETE  # transparent step tolerates it as a fallback too
1 | .1 FAIL: CONTINUE | .2 ; 2
    1.1+ 1.2- => STOP  # transparent step fails by a yielded fail
1 | .1 FAIL: GOTO 1.2 | .2 ; 2
    1.1- 1.2+ 2+ => COMPLETE  # transparent step does not count a fail that jumped
1 | .1 FAIL: GOTO 1.2 | .2 | .3 ; 2
    1.1- 1.2+ 1.3+ 2+ => COMPLETE
1 | .{n} FAIL: GOTO NEXT ; 2
    1.{n}@.1- 1.{n}@.2+ 2+ => COMPLETE  # transparent step does not count instances that jumped
1 PASS: COMPLETE, FAIL: STOP x | .{n} FAIL: GOTO NEXT
    1.{n}@.1- 1.{n}@.2+ => STOP x  # each instance is a child of its own
1 PASS ANY: COMPLETE y | .{n} PASS: GOTO NEXT, FAIL: CONTINUE
    1.{n}@.1+ 1.{n}@.2- => COMPLETE y
1 FAIL: STOP x | .1 FAIL: GOTO 1.2 | .2 PASS: GOTO 1.1
    1.1- 1.2+ 1.1+ 1.2- => STOP x  # child visited again overwrites its record
1 FAIL: STOP x | .{n} FAIL: GOTO 1.{n}
    1.{n}@.1- 1.{n}@.1+ => COMPLETE

# M11: lists of runbooks
# order and names
1 @b, @a
    1/b.runbook.md/1.1+ 1/b.runbook.md/1.2+ 1/b.runbook.md/2/a.runbook.md/1+ 1/a.runbook.md/1+ => COMPLETE
1 @a, @a
    1/a.runbook.md/1+ 1/a.runbook.md~2/1+ => COMPLETE  # same path twice
1 @a, @a, FAIL: STOP x
    1/a.runbook.md/1- => STOP x  # fail under all leaves the rest out
1 @a, @a, @a, PASS ANY: CONTINUE
    1/a.runbook.md/1- 1/a.runbook.md~2/1+ => COMPLETE  # pass under any leaves the rest out
# retry of a step with a list runs all of it again
1 @a, @a, FAIL: RETRY 1 COMPLETE x
    1/a.runbook.md/1+ 1/a.runbook.md~2/1- 1/a.runbook.md/1+ 1/a.runbook.md~2/1- => COMPLETE x
1 FAIL: STOP x | .1 @a | .2
    1.1/a.runbook.md/1- => STOP x  # list in a substep yields its outcome
# list in a substep has its own aggregation and retries
1 | .1 @a, @a, PASS ANY: CONTINUE, FAIL: RETRY 1 CONTINUE | .2
    1.1/a.runbook.md/1- 1.1/a.runbook.md~2/1- 1.1/a.runbook.md/1+ 1.2+ => COMPLETE
# retries of a list in a substep start over with each entry
1 | .1 @a, FAIL: RETRY 1 GOTO 1.2 | .2 PASS: GOTO 1.1
    1.1/a.runbook.md/1- 1.1/a.runbook.md/1- 1.2+ 1.1/a.runbook.md/1- 1.1/a.runbook.md/1- 1.2- => STOP
# each entry starts a nested runbook over
1 @c, FAIL: RETRY 1 STOP
    1/c.runbook.md/{N}@1.+ 1/c.runbook.md/{N}@2.- 1/c.runbook.md/{N}@1.- => STOP

# M12: instances
{N} PASS: GOTO NEXT, FAIL: COMPLETE
    {N}@1.+ {N}@2.+ {N}@3.- => COMPLETE  # next advances the step
{N} FAIL: GOTO NEXT | .{n} PASS: GOTO NEXT
    {N}.{n}@1.1+ {N}.{n}@1.2- {N}.{n}@2.1- {N}.{n}@3.1+ => cut off  # next in a dynamic substep advances that
{N} | .{n} PASS: GOTO NEXT {N}
    {N}.{n}@1.1+ {N}.{n}@2.1- => STOP  # next of the step by name from its dynamic substep
{N} | .1 | .2 PASS: GOTO NEXT
    {N}.1@1.+ {N}.2@1.+ {N}.1@2.- => STOP  # next in a static substep advances the step and enters its first
{N} PASS: GOTO NEXT, FAIL: GOTO Fix ; Fix PASS: GOTO {N}
    {N}@1.+ {N}@2.- Fix+ {N}@2.- Fix- => STOP  # goto the step restarts the instance
{N} FAIL: RETRY 1 STOP x | .1 PASS: GOTO {N}
    {N}.1@1.- {N}.1@1.+ {N}.1@1.- {N}.1@1.- => STOP x  # goto the step forgets outcomes and retries
{N} FAIL: STOP x | .1 FAIL: GOTO {N}.Fix | .2 | .Fix
    {N}.1@1.- {N}.Fix@1.+ => STOP x  # goto a static substep keeps everything
{N} | .{n} PASS: GOTO NEXT, FAIL: GOTO Fix ; Fix PASS: GOTO {N}.{n}, FAIL: GOTO NEXT {N}.{n}
    {N}.{n}@1.1+ {N}.{n}@1.2- Fix+ {N}.{n}@1.2- Fix- {N}.{n}@1.3+ => cut off  # goto the current instances
{N} FAIL: GOTO Fix ; Fix PASS: GOTO NEXT {N}
    {N}@1.- Fix+ {N}@2.+ => COMPLETE  # next step from a named one
1 | .{n} PASS: CONTINUE ; 2
    1.{n}@.1+ 2+ => COMPLETE  # continue leaves a dynamic substep
1 | .{n} FAIL: GOTO 2 ; 2 | .{n} PASS: GOTO NEXT, FAIL: GOTO 1.{n}
    1.{n}@.1- 2.{n}@.1+ 2.{n}@.2- 1.{n}@.1+ 2.{n}@.1- 1.{n}@.1+ => cut off  # counter of a substep belongs to its step

# M13: the order of effects
1 PASS ANY: COMPLETE x | .1 PASS: GOTO 1.2 | .2
    1.1+ 1.2- => COMPLETE x  # an outcome is recorded though its edge jumps
1 FAIL: STOP x | .1 FAIL: RETRY 1 STOP | .2
    1.1- 1.1#2+ 1.2+ => COMPLETE  # only the last attempt is recorded

# The limit
1
    1+ => COMPLETE  # an end at the limit is an end
1 ; 2
    1+ => cut off  # a visit beyond the limit is none
"""
"""Each runbook, and below it paths by the outcomes in them."""


@pytest.mark.parametrize(("runbook", "path"), [*examples(PATHS)])
def test_the_path_of_a_runbook(runbook: str, path: str) -> None:
    words = path.partition("=>")[0].split()

    def outcome_of(index: int) -> bool:
        return index < len(words) and words[index].endswith("+")

    assert str(trace_of(walk_model(book(runbook), FILES, outcome_of, limit=max(len(words), 1)))) == path


def test_a_jump_that_no_visit_could_follow_is_none() -> None:
    drawn = Drawn(book("1 ; 2"), outcomes=Outcomes((False,)), jumps=((1, 0),))
    assert walk(drawn, limit=1).end == ("STOP", "")
    assert walk(drawn, limit=2).jumps
