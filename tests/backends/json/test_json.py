"""The json target: the program as it is, below a key that says where it comes from."""

import json

from hypothesis import given, settings
from jsonschema import Draft202012Validator

from backends.base import MARK
from backends.registry import load
from compiler.ir.features import Feature
from compiler.ir.program import Program
from tests.conftest import ROOT
from tests.support.program_json import from_json
from tests.support.sample_programs import every_kind, hostile_programs

SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "program.schema.json").read_text(encoding="utf-8")))


def json_of(program: Program) -> str:
    text = load("json").emit(program, {}).text
    assert text
    return text


def test_the_first_key_has_the_mark() -> None:
    text = json_of(every_kind())
    assert MARK in text.split("\n")[1]
    assert next(iter(json.loads(text))) == "generated"
    SCHEMA.validate(json.loads(text))


def test_every_feature_is_carried() -> None:
    assert load("json").features == set(Feature)


@settings(max_examples=100)
@given(program=hostile_programs())
def test_the_program_can_be_read_back(program: Program) -> None:
    assert from_json(json_of(program)) == program
