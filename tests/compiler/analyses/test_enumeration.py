"""All paths of random runbooks, and what they cover: against the semantics, one path at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import HealthCheck, given, settings

from compiler.analyses.coverage import coverage
from compiler.analyses.enumeration import enumerate_paths
from compiler.ir.paths import Path, Visit, walk
from compiler.ir.program import Program
from compiler.ir.semantics import Machine
from compiler.ir.tasks import Verdict
from rdc.trace.outcomes import decided_by, read_outcomes, write_outcomes
from tests.differential.generate.rundown import Drawn, cases, compiled
from tests.differential.oracles import rundown

MOST, LONGEST = 40, 12

_quick = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def by_outcomes(program: Program, visits: tuple[Visit, ...], limit: int) -> Path:
    """The path for the outcomes of these visits, written down and read again."""
    given = read_outcomes(write_outcomes(visits, program), program)
    return walk(Machine(program), decided_by(given, Verdict.PASS), limit)


@_quick
@given(case=cases())
def test_walks_are_those_of_the_semantics(case: Drawn) -> None:
    """They are distinct and end, shorter ones first, all of them if it says so; and their outcomes lead to them."""
    program = compiled(case)
    found = enumerate_paths(program, MOST, LONGEST)
    assert len(set(map(str, found.paths))) == len(found.paths) <= MOST
    assert all(Machine(program).end(one.state) for one in found.paths)
    assert all(len(one.visits) <= len(other.visits) <= LONGEST for one, other in pairwise(found.paths))
    assert all(by_outcomes(program, one.visits, LONGEST) == one for one in found.paths)
    taken = rundown.walk(replace(case, jumps=()), LONGEST)
    if found.is_complete and taken.end:
        traces = [[(made.step, made.outcome.word == Verdict.PASS) for made in one.visits] for one in found.paths]
        assert [(visit.label, passed) for visit, passed in taken.visits] in traces


@_quick
@given(case=cases())
def test_what_the_walks_leave_out_is_taken_by_the_path_that_is_shown(case: Drawn) -> None:
    program = compiled(case)
    found = coverage(program, enumerate_paths(program, 2, LONGEST).paths)
    assert len(found.untaken) <= found.transitions
    for item in found.untaken:
        if item.path is not None:
            assert by_outcomes(program, item.path, len(item.path)).visits == item.path
            again = coverage(program, [Path(item.path, Machine(program).start())])
            assert item.transition not in [other.transition for other in again.untaken]
    impossible = {item.transition for item in coverage(program, []).untaken if item.path is None and item.is_certain}
    every = coverage(program, enumerate_paths(program, 200, LONGEST).paths)
    assert impossible <= {item.transition for item in every.untaken}
