"""The JSON Schema of `rdc.toml` takes what rdc takes (B-1)."""

from __future__ import annotations

import json
import tomllib

import pytest
from jsonschema import Draft202012Validator

from compiler.project.configuration import OWN_KEYS
from rdc.documents.table import schema
from tests.rdc.projects import GITHUB

GOOD = [
    GITHUB,
    'required-version = ">=0.1"\ntransitions = "after-header"\n' + GITHUB + "options = { timeout-minutes = 5 }\n",
    '[github]\nruns-on = ["self-hosted", "linux"]\nsecrets = ["A"]\n\n[github.actions]\n"actions/checkout" = "x"\n',
    '[check]\nignore = ["RD405", "tolerated-failure"]\n',
    '[make]\nform = "plain"\n\n[python]\nruntime = "shared"\n',
]
BAD = [
    "[[build]]\nto = 'github'\n",
    "[[build]]\nsource = 3\nto = 'github'\n",
    "[[build]]\nsource = 'a'\nto = 'make'\nouts = 'b'\n",
    "[make]\nform = 'odd'\n",
    "[check]\nignored = ['RD405']\n",
    "[github]\ntimeout-minutes = 0\n",
    "required-version = 1\n",
    "transitions = 'sideways'\n",
]


@pytest.mark.parametrize("text", GOOD)
def test_it_takes_what_is_right(text: str) -> None:
    assert list(Draft202012Validator(schema()).iter_errors(tomllib.loads(text))) == []


@pytest.mark.parametrize("text", BAD)
def test_it_refuses_what_rdc_refuses(text: str) -> None:
    assert list(Draft202012Validator(schema()).iter_errors(tomllib.loads(text))) != []


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(json.loads(json.dumps(schema())))


def test_it_has_each_key_of_a_project() -> None:
    assert set(OWN_KEYS) <= set(schema()["properties"])
