"""The written forms of programs, over every class of the model: JSON and back, the schema, the text form."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields, replace

from compiler.diagnostics.model import Issue
from compiler.frontends.json.lower import Reader
from compiler.ir.edges import Edge, Effect, Keep, Origin, Test
from compiler.ir.program import Input, Node, Program, Settings, Slot, Variable
from compiler.ir.serialize import to_json
from compiler.ir.tasks import Branch, Task
from compiler.ir.texts import Text
from compiler.text.source import Span
from tests.compiler.ir.programs import of, programs, validator
from tests.support.program_json import from_json
from tests.support.text_form import to_text_form

HERE = Origin("x.json", Span(1, 1, 1, 2))
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def read(value: object) -> tuple[Program | None, list[tuple[str, Issue]]]:
    """What the front end for JSON makes of a plain value, rules and names aside."""
    reader = Reader(lambda _: HERE)
    return reader.program(value, {"name": "x", "title": "x", "sources": []}), reader.issues


@settings(max_examples=60, suppress_health_check=SLOW)
@given(program=programs)
def test_json_says_everything(program: Program) -> None:
    written = to_json(program)
    assert from_json(written) == program
    assert read(json.loads(written)) == (program, [])
    validator().validate(json.loads(written))


@st.composite
def changes(draw: st.DrawFn) -> tuple[Any, Any]:
    """A part of a program, and the same with one field changed."""
    kind = draw(st.sampled_from([*get_args(Task), *get_args(Test), *get_args(Effect), Settings, Input, Slot, Variable]))
    part = draw(of(kind))
    name = draw(st.sampled_from([item.name for item in fields(kind) if item.name != "kind"] or ["kind"]))
    return part, replace(part, **{name: draw(of(get_type_hints(kind)[name]))})


@settings(max_examples=300, suppress_health_check=SLOW)
@given(parts=changes())
def test_the_text_form_says_everything_but_what_was_written(parts: tuple[Any, Any]) -> None:
    one, other = (to_text_form(program_of(part)) for part in parts)
    assert one != other or said(parts[0]) == said(parts[1]), one


def program_of(part: Any) -> Program:
    """A program that has a part somewhere."""
    task = part if isinstance(part, get_args(Task)) else Branch()
    guard = (part,) if isinstance(part, get_args(Test)) else ()
    effects = (part,) if isinstance(part, get_args(Effect)) else ()
    variables = (part,) if isinstance(part, Variable) else ()
    node_settings = part if isinstance(part, Settings) else Settings()
    edge = Edge(guard, effects, "1")
    node = Node("1", Text(), HERE, task, (edge,), variables=variables, settings=node_settings)
    slots, inputs = (tuple([part] if isinstance(part, kind) else []) for kind in (Slot, Input))
    return Program("x", "X", (), "1", (node,), slots=slots, inputs=inputs)  # type: ignore[arg-type]


def said(part: Any) -> Any:
    """A part without what the text form leaves out: what authors wrote for references, and that a text is empty.

    It also leaves out the name of an answer that is kept, since the verifier refuses one.
    """
    if isinstance(part, Keep) and part.of == "answer":
        part = replace(part, name="")
    if isinstance(part, Text):
        return tuple(item if isinstance(item, str) else replace(item, written="") for item in part.parts) or None
    if isinstance(part, tuple):
        return tuple(map(said, part)) or None
    if not isinstance(part, Struct):
        return None if part == "" else part
    return (type(part), *(said(getattr(part, item.name)) for item in fields(part)))


# --- What is no program -----------------------------------------------------------------------------------------------


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """What leads to each value in a value."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*path, key))


@st.composite
def mutants(draw: st.DrawFn) -> Any:
    """A program as a plain value, of which something was replaced, renamed or removed."""
    value = copy.deepcopy(json.loads(to_json(draw(programs))))
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from([path for path in places(value) if path]))
        around = value
        for part in path[:-1]:
            around = around[part]
        change = draw(st.sampled_from(["remove", "rename", "replace"]))
        if change == "replace":
            around[path[-1]] = draw(st.sampled_from([None, True, 1.5, 2, "x", "pass", [], {}, [1], {"a": 1}, 10**12]))
        elif change == "rename" and isinstance(around, dict):
            around["xyz"] = around.pop(path[-1])
        else:
            around.pop(path[-1])
    return value


@pytest.mark.share(2)
@settings(max_examples=200, suppress_health_check=SLOW)
@given(value=mutants())
def test_the_schema_and_the_front_end_refuse_the_same(value: Any) -> None:
    program, problems = read(value)
    assert validator().is_valid(value) == (not problems), problems
    assert (program is None) == bool(problems)


@settings(max_examples=60, suppress_health_check=SLOW)
@given(value=mutants())
def test_what_rdc_itself_reads_follows_the_schema(value: Any) -> None:
    try:
        program = from_json(json.dumps(value))
    except ValueError:
        return
    assert from_json(to_json(program)) == program


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"entry": "1"}'])
def test_a_text_that_is_no_program_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(text)
