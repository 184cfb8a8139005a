"""The programs of all examples follow the published schema."""

import json

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT
from tests.support.golden import NAMES, PROGRAMS, emitted

pytestmark = pytest.mark.process  # with the other tests that need all that targets make of the examples

SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "program.schema.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", NAMES + PROGRAMS)
def test_the_examples_follow_the_published_schema(name: str) -> None:
    SCHEMA.validate(json.loads((emitted() / name / f"{name}.json").read_text(encoding="utf-8")))
