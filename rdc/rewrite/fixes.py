"""Apply the fixes of a document's diagnostics after proving each one, without writing files."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Fix, Severity, edited
from compiler.driver import Compilation, Opened, Settings, compile_opened
from compiler.ir.serialize import same
from compiler.text.source import Source, Span

MOST_ROUNDS = 100  # the most rounds of fixes: one fix can make room for another


class Fixed(Struct, frozen=True):
    """A document after fixing: its source, its compilation, and the number of fixed diagnostics.

    `original` is its compilation before fixing.
    """

    opened: Opened
    compilation: Compilation
    original: Compilation
    count: int = 0


class Fixable(Struct, frozen=True):
    """A diagnostic with its fix."""

    found: Diagnostic
    fix: Fix


def fix_opened(opened: Opened, settings: Settings, *, unsafe: bool = False) -> Fixed:
    """Apply the fixes of a document's own diagnostics; `unsafe` includes fixes that may change its meaning."""
    original = compile_opened(opened, settings)
    now = Fixed(opened, original, original)
    refused: list[Fix] = []
    for _ in range(MOST_ROUNDS):
        fixes = _candidates(now.compilation, refused, unsafe=unsafe)
        if not fixes:
            break
        better = _Round(now, settings, unsafe).better(fixes)
        refused = [] if better else [*refused, *(one.fix for one in fixes)]  # others may overlap with these
        now = better or now
    return now


def proved(opened: Opened, settings: Settings, found: Diagnostic, before: Compilation | None = None) -> bool:
    """Return whether the fix of one diagnostic is proved: alone, it fixes the diagnostic, and its claim is true.

    `before` is the compilation of the document, if it is known.
    """
    if found.fix is None or found.path != opened.path:
        return False
    before = before or compile_opened(opened, settings)
    attempt = _Round(Fixed(opened, before, before), settings, unsafe=not found.fix.is_safe)
    return attempt.better([Fixable(found, found.fix)]) is not None


def _candidates(compilation: Compilation, refused: Sequence[Fix], *, unsafe: bool) -> list[Fixable]:
    """Return the fixes to try; of overlapping fixes only the first, the others get a turn in the next round."""
    # Warnings wait until the document compiles, because a document with errors has no program to compare.
    least = {Severity.ERROR} if compilation.program is None and not unsafe else set(Severity)
    own = (item for item in compilation.diagnostics if item.path == compilation.path and item.severity in least)
    fixable = [Fixable(item, item.fix) for item in own if item.fix and (unsafe or item.fix.is_safe)]
    chosen: list[Fixable] = []
    for one in fixable:
        if one.fix not in refused and not any(
            _overlap(a.span, b.span) for other in chosen for a in one.fix.edits for b in other.fix.edits
        ):
            chosen.append(one)
    return chosen


def _overlap(one: Span, other: Span) -> bool:
    first, end = (one.line, one.column), (one.end_line, one.end_column)
    start, stop = (other.line, other.column), (other.end_line, other.end_column)
    return first == start or (first < stop and start < end)


class _Round(Struct, frozen=True):
    """One attempt to improve a document."""

    before: Fixed
    settings: Settings
    unsafe: bool

    def better(self, fixes: Sequence[Fixable]) -> Fixed | None:
        """Return the document with as many fixes as the proof accepts, or None if it accepts none."""
        if whole := self._with(fixes):
            return whole
        admitted = self._among(fixes)
        return self._with(admitted) if admitted else None

    def _admitted(self, fixes: Sequence[Fixable]) -> list[Fixable]:
        """Return the fixes that the proof accepts together."""
        return list(fixes) if not fixes or self._with(fixes) else self._among(fixes)

    def _among(self, fixes: Sequence[Fixable]) -> list[Fixable]:
        """Return the fixes of each half that the proof accepts, after it rejected the whole."""
        if len(fixes) == 1:
            return []
        first, second = (self._admitted(half) for half in (fixes[: len(fixes) // 2], fixes[len(fixes) // 2 :]))
        return [*first, *second] if not (first and second) or self._with([*first, *second]) else first

    def _with(self, fixes: Sequence[Fixable]) -> Fixed | None:
        """Return the document with these fixes, or None if the proof rejects it."""
        source = self.before.opened.source
        if not isinstance(source, Source):
            return None
        text = edited(source, [edit for one in fixes for edit in one.fix.edits])
        opened = replace(self.before.opened, source=text)
        after = compile_opened(opened, self.settings)
        proved = text.text != source.text and self._proves(fixes, after)
        count = self.before.count + len(fixes)
        return replace(self.before, opened=opened, compilation=after, count=count) if proved else None

    def _proves(self, fixes: Sequence[Fixable], after: Compilation) -> bool:
        before = self.before.compilation
        old, new = Counter(_codes(before)), Counter(_codes(after))
        fixed = Counter(one.found.code for one in fixes)
        if any(new[code] > old[code] - count for code, count in fixed.items()):
            return False
        if before.program is not None:
            return after.program is not None and (self.unsafe or same(meaning(before), meaning(after)))
        return self.unsafe or Counter(_codes(after, errors=True)) <= Counter(_codes(before, errors=True))


def _codes(compilation: Compilation, *, errors: bool = False) -> list[str]:
    return [item.code for item in compilation.diagnostics if not errors or item.severity is Severity.ERROR]


def meaning(one: Compilation) -> tuple[object, ...]:
    """Return the meaning of a document: its program, scenarios and format, and the options for targets."""
    return one.program, one.scenarios, one.format, {name: table.values for name, table in one.tables.items()}
