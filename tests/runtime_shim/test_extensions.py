"""The methods of extensions: `Extension` lists all that the engine calls, with the values that they take."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from runtime_shim.editions import EDITIONS
from runtime_shim.engine.session import Extension
from runtime_shim.targets.dbos.command_line import DbosCaller
from runtime_shim.targets.dbos.steps import LegSteps
from runtime_shim.targets.github.calls import GithubCaller
from runtime_shim.targets.make import MakeCaller

FOLDER = Path(__file__).parents[2] / "runtime_shim"
LISTED = dict(re.findall(r"`(\w+)\(([^)]*)\)`", Extension.__doc__ or ""))
CALLED = re.compile(r"\b(?:session|self)\.(?:each|gathered|merged|through|at)\(\s*\"(\w+)\"")
KINDS = dict.fromkeys(
    [kind for edition in EDITIONS.values() for kind in edition.kinds()]
    + [MakeCaller, GithubCaller, LegSteps, DbosCaller]
)


def test_each_method_that_is_called_is_listed() -> None:
    called = {name for path in FOLDER.rglob("*.py") for name in CALLED.findall(path.read_text(encoding="utf-8"))}
    assert called <= {*LISTED}
    assert {*LISTED} - called == {"from_caller"}, "it is called before there is a session"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_extension_takes_the_values_of_each_listed_method(kind: type[Extension]) -> None:
    for name, listed in LISTED.items():
        method = getattr(kind, name, None)
        if method is None:
            continue
        taken = [each for each in inspect.signature(method).parameters if each != "self"]
        assert len(taken) == len(listed.split(", ") if listed else []), (name, taken)


def test_a_list_without_a_method_would_be_found() -> None:
    assert LISTED["condition_after"] == "move, before, stand"
    assert {name for kind in KINDS for name in vars(kind)} >= {*LISTED}
