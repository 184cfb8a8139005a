"""Observers cannot write records (rule 5): what is told of a run never changes where it stands."""

from __future__ import annotations

import ast

import pytest

from tests.runtime_shim.test_modules import NAMES, tree_of

OBSERVING = {"after_step", "again", "answers", "beside", "event", "facts", "hint", "lines", "mask", "written"}
"""The moments of an extension that show, count or write files, and whose result moves no run."""
WRITING = {"record", "settle", "rest", "apply", "append"}
"""What writes into the journal, or changes the state, of a `session`, its `store` or its `state`."""

Function = ast.FunctionDef


def named_calls(function: Function) -> set[str]:
    """The functions of the module, and the methods of its class, that a function calls."""
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    found = {call.id if isinstance(call, ast.Name) else ast.unparse(call) for call in calls}
    return {name.removeprefix("self.") for name in found}


def writes(function: Function) -> set[str]:
    """The calls of a function that write records."""
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    names = ((call.attr, ast.unparse(call.value)) for call in calls if isinstance(call, ast.Attribute))
    return {
        f"{owner}.{name}" for name, owner in names if name in WRITING and owner.endswith(("session", "store", "state"))
    }


def written_by_observers(tree: ast.Module) -> set[str]:
    """The calls that write records among those that observing methods of a module reach."""
    functions = {node.name: node for node in tree.body if isinstance(node, Function)}
    found: set[str] = set()
    for part in tree.body:
        if not isinstance(part, ast.ClassDef):
            continue
        known = {**functions, **{node.name: node for node in part.body if isinstance(node, Function)}}
        due, seen = [name for name in known if name in OBSERVING and name not in functions], set[str]()
        while due:
            name = due.pop()
            if name in known and name not in seen:
                seen.add(name)
                found |= writes(known[name])
                due += named_calls(known[name])
    return found


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("engine.")])
def test_observers_write_no_records(name: str) -> None:
    assert written_by_observers(tree_of(name)) == set()


def test_an_observer_that_writes_a_record_would_be_found() -> None:
    text = """
class Some(Extension):
    def facts(self, state): return {}
    def open(self): self.session.record({})
    def event(self, event, fields): self._tell(event)
    def _tell(self, event): moved(self.session)
def moved(session): session.record({"kind": "done"})
"""
    assert written_by_observers(ast.parse(text)) == {"session.record"}
