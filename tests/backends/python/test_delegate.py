"""What targets share that call the program: why they call it, and the two files that they need."""

from __future__ import annotations

import hashlib

import pytest
from msgspec.structs import replace

from backends.python.delegate import BASIC, DOES, called, reason
from compiler.ir.features import Feature
from compiler.ir.program import Program, Settings
from tests.support.backend_programs import always, ask, node, shell
from tests.support.backend_programs import program as made


@pytest.fixture
def program() -> Program:
    return made(node("1", shell("true"), always("2")), node("2", ask("yes_no")))


def test_every_feature_has_a_clause() -> None:
    assert set(DOES) == set(Feature)


def test_commands_and_plain_questions_need_no_program(program: Program) -> None:
    assert reason(program) is None


def test_the_first_step_that_needs_the_program_is_named(program: Program) -> None:
    slow = tuple(replace(node, settings=Settings(timeout=60)) for node in program.nodes)
    found = reason(replace(program, nodes=slow))
    assert found is not None
    assert found.clause == "step 1 (and 3 more) has a time limit"
    assert found.span == program.nodes[0].origin.span
    assert reason(replace(program, nodes=slow), BASIC | {Feature.TIMEOUTS}) is None


def test_all_reasons_are_given_at_once(program: Program) -> None:
    found = reason(replace(program, secrets=("TOKEN",)), frozenset())
    assert found is not None
    assert found.clause == "the document needs secrets, step 1 runs a command and step 2 asks a question"
    assert found.span == program.nodes[0].origin.span


def test_what_says_more_is_named_before_what_follows_from_it(program: Program) -> None:
    found = reason(replace(program, limit=7, secrets=("TOKEN",)))
    assert found is not None
    assert found.clause == "the document needs secrets"


def test_a_target_may_do_less(program: Program) -> None:
    found = reason(program, BASIC - {Feature.QUESTIONS})
    assert found is not None
    assert found.clause == "step 2 asks a question"


def test_operators_need_the_program(program: Program) -> None:
    found = reason(program, operator="full")
    assert found is not None
    assert found.clause == "the option `operator` is `full`"


def test_program_and_runtime_are_in_one_folder(program: Program) -> None:
    found = called(program, "rdc/deploy.py", "full")
    assert found.edition == "agents"
    main, runtime = found.companions()
    assert main.path == "rdc/deploy.py"
    assert main.executable
    hashed = hashlib.sha256(runtime.text.encode()).hexdigest()
    assert runtime.path == f"rdc/rdc_runtime_agents_{hashed[:8]}.py"
    assert hashed in main.text
    assert hashlib.sha256(main.text.encode()).hexdigest() == found.sha256
