"""The modules of the runtime that programs have, and their syntax."""

import ast
from functools import cache
from itertools import chain

from runtime_shim.editions import CALLERS, EDITIONS
from tests.support.process import ROOT

FOLDER = ROOT / "runtime_shim"
BESIDE = (*CALLERS["make"].modules, *CALLERS["github"].modules, *CALLERS["traces"].modules)
WHOLE = [
    (*EDITIONS[name].modules, *BESIDE, *CALLERS[f"dbos-{name}"].modules) for name in ("values", "agents", "stepspec")
]
WHOLE += [EDITIONS[name].modules for name in ("script", "commands")]
"""What programs have, with all that callers add to an edition that they call."""

NAMES = list(dict.fromkeys(chain.from_iterable(WHOLE)))


def text_of(name: str) -> str:
    """The text of a module, by its name below `runtime_shim`."""
    return (FOLDER / f"{name.replace('.', '/')}.py").read_text()


@cache
def tree_of(name: str) -> ast.Module:
    """The syntax of a module, as the oldest Python reads it."""
    return ast.parse(text_of(name), feature_version=(3, 9))
