"""One mutant: what becomes of the examples, in a process of its own."""

import ast
import hashlib
import importlib.abc
import importlib.util
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from tests.conftest import ROOT
from tests.mutants.mutation import Mutant, mutated

EXAMPLES = (
    *(f"{name}.runbook.md" for name in ("canary-rollout", "code-review", "database-migration", "flaky-test")),
    *(f"{name}.runbook.md" for name in ("incident-response", "preflight-checks", "release", "update-hosts")),
    *(f"playbooks/{name}.playbook.md" for name in ("change-review", "issue-triage", "metrics-report", "support-reply")),
    *(f"workflows/{name}.workflow.yaml" for name in ("dependency-update", "plan-and-build", "security-audit")),
    *(f"specifications/{name}.stepspec.yaml" for name in ("checked-code", "plan-product", "publish-notes")),
)
SECONDS = 20
"""For all examples of a mutant."""

CLASSES = ("verifier", "crash", "diagnostics", "paths", "rest", "same")
"""Who notices, the first that does: the verifier, an exception, a diagnostic, the paths of runs, or only the rest."""

Seen = Mapping[str, tuple[str, str, str]]
"""For each example its diagnostics, the paths of runs, and all else of the programs."""


def baseline() -> Seen:
    """What the examples are compiled to by the source as it is."""
    return dict(_examples())


def verdict(mutant: Mutant, expected: Seen) -> tuple[str, str]:
    """The class of a mutant, and the first line of the message if there is one."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.write(writing, _tried(mutant, expected).encode()[:4000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as answer:
        output = answer.read()
    os.waitpid(child, 0)
    found, _, message = output.partition(" ")
    return (found, message) if found else ("crash", "the process was killed")


def _tried(mutant: Mutant, expected: Seen) -> str:
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    for name in [name for name in sys.modules if name.split(".")[0] in {"compiler", "backends"}]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Importer(mutant))
    worst, message = "same", ""
    try:
        for name, seen in _examples():
            kinds = ("diagnostics", "paths", "rest")
            found = next(
                (kind for kind, one, other in zip(kinds, seen, expected[name], strict=True) if one != other), ""
            )
            if found and CLASSES.index(found) < CLASSES.index(worst):
                worst, message = found, name
    except BaseException as error:  # noqa: BLE001 (whatever it is, it is what people would see)
        is_caught = type(error).__name__ == "InvalidProgramError"
        return f"{'verifier' if is_caught else 'crash'} {type(error).__name__}: {error}"
    return f"{worst} {message}"


def _too_long(*_: object) -> None:
    raise TimeoutError


def _examples() -> Iterator[tuple[str, tuple[str, str, str]]]:
    from compiler.driver import compile_file  # noqa: PLC0415 (the mutant is imported with it)
    from compiler.ir.serialize import to_json  # noqa: PLC0415
    from compiler.passes import optimize  # noqa: PLC0415

    for name in EXAMPLES:
        found = compile_file(str(ROOT / "examples" / name))
        programs = [found.program] if found.program else []
        programs += [optimize(one, jumps=jumps) for one in programs for jumps in (True, False)]
        paths = "\n".join(path for one in programs for path in _paths(one))
        yield name, (repr(found.diagnostics), paths, "\n".join(map(to_json, programs)))


def _paths(program: object) -> Iterator[str]:
    """Yield a few paths through a program: steps, outcomes and the end."""
    from compiler.ir.semantics import Machine, Outcome  # noqa: PLC0415 (see above)
    from compiler.ir.tasks import alphabet  # noqa: PLC0415

    machine = Machine(program)  # type: ignore[arg-type]
    for seed in range(6):
        state = machine.start()
        path: list[str] = []
        while machine.end(state) is None and len(path) < 40:
            words = alphabet(machine.nodes[state.node].task)
            drawn = hashlib.sha256(f"{seed} {len(path)}".encode()).digest()[0]
            word = words[0] if drawn % 4 else words[drawn % len(words)]
            path.append(f"{state.node} {word}")
            state = machine.advance(state, Outcome(word, f"text {word}")).state
        yield f"{', '.join(path)}: {machine.end(state)}"


class _Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the mutant's module from its changed source."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Answer for this module only."""
        if name != self.mutant.module:
            return None
        file = ROOT / Path(*name.split("."))
        file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
        places = [str(file.parent)] if file.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, file, loader=self, submodule_search_locations=places)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__file__
        tree: ast.Module = mutated(Path(module.__file__).read_text(encoding="utf-8"), self.mutant.number)
        exec(compile(tree, module.__file__, "exec"), module.__dict__)
