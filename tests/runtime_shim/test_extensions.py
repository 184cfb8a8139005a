"""The methods of extensions: `Extension` lists all that the engine calls, with the values that they take."""

import ast
import inspect
import re
from itertools import product

from runtime_shim.editions import EDITIONS
from runtime_shim.engine.session import Extension
from runtime_shim.targets.dbos.command_line import DbosCaller
from runtime_shim.targets.dbos.steps import LegSteps
from runtime_shim.targets.github.calls import GithubCaller
from runtime_shim.targets.make import MakeCaller
from tests.runtime_shim.edition_modules import FOLDER, NAMES, tree_of

LISTED = dict(re.findall(r"`(\w+)\(([^)]*)\)`", Extension.__doc__ or ""))
CALLED = re.compile(r"\b(?:session|self)\.(?:each|gathered|merged|through|at)\(\s*\"(\w+)\"")
KINDS = dict.fromkeys(
    [kind for edition in EDITIONS.values() for kind in edition.kinds()]
    + [MakeCaller, GithubCaller, LegSteps, DbosCaller]
)


def test_each_method_that_is_called_is_listed_and_takes_these_values() -> None:
    called = {name for path in FOLDER.rglob("*.py") for name in CALLED.findall(path.read_text(encoding="utf-8"))}
    assert called <= {*LISTED}
    assert {*LISTED} - called == {"from_caller"}, "it is called before there is a session"
    assert LISTED["condition_after"] == "move, before, stand"
    assert {name for kind in KINDS for name in vars(kind)} >= {*LISTED}
    for kind, (name, listed) in product(KINDS, LISTED.items()):
        if method := getattr(kind, name, None):
            taken = [each for each in inspect.signature(method).parameters if each != "self"]
            assert len(taken) == len(listed.split(", ") if listed else []), (kind, name, taken)


# --- Observers cannot write records: what is shown of a run never changes where it stands -----------------------------

OBSERVING = {"after_step", "again", "answers", "beside", "event", "facts", "hint", "lines", "mask", "written"}
"""The moments of an extension that show, count or write files, and whose result moves no run."""
WRITING = {"record", "settle", "rest", "apply", "append"}
"""What writes into the journal, or changes the state, of a `session`, its `store` or its `state`."""


def named_calls(function: ast.FunctionDef) -> set[str]:
    """The functions of the module, and the methods of its class, that a function calls."""
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    found = {call.id if isinstance(call, ast.Name) else ast.unparse(call) for call in calls}
    return {name.removeprefix("self.") for name in found}


def writes(function: ast.FunctionDef) -> set[str]:
    """The calls of a function that write records."""
    calls = (node.func for node in ast.walk(function) if isinstance(node, ast.Call))
    names = ((call.attr, ast.unparse(call.value)) for call in calls if isinstance(call, ast.Attribute))
    return {
        f"{owner}.{name}" for name, owner in names if name in WRITING and owner.endswith(("session", "store", "state"))
    }


def written_by_observers(tree: ast.Module) -> set[str]:
    """The calls that write records among those that observing methods of a module reach."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found: set[str] = set()
    for part in tree.body:
        if not isinstance(part, ast.ClassDef):
            continue
        known = {**functions, **{node.name: node for node in part.body if isinstance(node, ast.FunctionDef)}}
        due, seen = [name for name in known if name in OBSERVING and name not in functions], set[str]()
        while due:
            name = due.pop()
            if name in known and name not in seen:
                seen.add(name)
                found |= writes(known[name])
                due += named_calls(known[name])
    return found


def test_observers_write_no_records() -> None:
    for name in NAMES:
        assert name.startswith("engine.") or written_by_observers(tree_of(name)) == set(), name
    text = """
class Some(Extension):
    def facts(self, state): return {}
    def open(self): self.session.record({})
    def event(self, event, fields): self._tell(event)
    def _tell(self, event): moved(self.session)
def moved(session): session.record({"kind": "done"})
"""
    assert written_by_observers(ast.parse(text)) == {"session.record"}, "it would be found"
