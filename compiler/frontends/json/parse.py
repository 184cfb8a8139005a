"""Parse JSON into a plain value, within the limits of a program."""

from compiler.diagnostics.issues import duplicate_keys
from compiler.diagnostics.model import Diagnostic, Fix
from compiler.frontends.json.syntax import Positions
from compiler.reading.json import BrokenJsonError, Layout, lay_out, load_json
from compiler.text.source import Source

DEEPEST = 32  # in nested lists and objects; no program needs more, and Python reads them recursively

MOST_VALUES = 500_000  # per file; each value takes much more memory than its text

_UNCLEAR = "; programs that read JSON disagree which one counts"


def parse(source: Source, places: Positions) -> tuple[object, Layout, list[Diagnostic]]:
    """Return the plain value of a JSON text and its layout, or the errors in it."""
    try:
        value = load_json(source.text)
    except BrokenJsonError as error:
        return None, Layout(), [_no_json(source, places, error)]
    layout = lay_out(source.text)
    if layout.depth > DEEPEST:
        return None, layout, [_too_deep(source)]
    if layout.count > MOST_VALUES:
        problem = f"the file has {layout.count:,} values; the limit is {MOST_VALUES:,}"
        return None, layout, [Diagnostic("RD061", source.path, None, problem, "split it into several programs")]
    return value, layout, list(duplicate_keys("RD062", source, layout.repeated, _UNCLEAR))


def _too_deep(source: Source) -> Diagnostic:
    problem = f"lists and objects are nested more than {DEEPEST} deep"
    remedy = "look for a missing bracket; programs are never nested this deep"
    return Diagnostic("RD061", source.path, None, problem, remedy)


def _no_json(source: Source, places: Positions, error: BrokenJsonError) -> Diagnostic:
    if error.position is None:
        return _too_deep(source)
    if source.text.strip():
        fix = Fix.by(places.at(error.position), "", is_safe=True) if error.is_surplus else None
        return Diagnostic("RD060", source.path, places.at(error.position), str(error), error.help, fix=fix)
    remedy = "write a program; docs/formats/json.md has examples"
    return Diagnostic("RD060", source.path, places.at(error.position), "the file is empty", remedy)
