"""Check the keys of `inputs` that look up context, such as `telis_language` (B2, B17)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.frontends.stepspec.syntax import StepSpec
from compiler.issues import Path, SourceMap
from compiler.suggestions import did_you_mean, nearest_name

PREFIX = "telis_"
LANGUAGES = ("python", "typescript", "javascript", "json", "yaml")
METHODS = ("hover", "signatureHelp")


class _Wanted(Struct, frozen=True):
    what: str
    fits: Callable[[object], bool]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_TEXT = _Wanted("a string", lambda value: isinstance(value, str))
_COUNT = _Wanted("a whole number, 0 or more", _is_count)
KEYS: dict[str, _Wanted] = {
    "telis_query": _TEXT,
    "telis_language": _Wanted(f"one of {', '.join(LANGUAGES)}", lambda value: value in LANGUAGES),
    "telis_document_path": _TEXT,
    "telis_document_text": _TEXT,
    "telis_method": _Wanted(" or ".join(METHODS), lambda value: value in METHODS),
    "telis_line": _COUNT,
    "telis_character": _COUNT,
    "telis_shard_limit": _COUNT,
    "telis_min_score": _Wanted("a number", _is_number),
    "telis_max_phase": _COUNT,
    "telis_phase_tiers": _Wanted("a list or a mapping", lambda value: isinstance(value, (list, dict))),
}


def context_findings(step: StepSpec, places: SourceMap, path: Path) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a step's context keys."""
    for key, value in (step.inputs or {}).items():
        at: Path = (*path, "inputs", key)
        wanted = KEYS.get(key)
        if wanted is None and key.startswith(PREFIX):
            problem = f"there is no context key `{key}`{did_you_mean(key, KEYS)}"
            found = places.diagnostic("RD862", at, problem, f"use one of {', '.join(KEYS)}")
            yield replace(found, fix=places.respelled(at, key, nearest_name(key, KEYS)))
        elif wanted and value is not None and not wanted.fits(value):
            yield places.diagnostic("RD861", at, f"`{key}` is not {wanted.what}", f"write {wanted.what}")
