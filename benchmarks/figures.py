"""A figure is two times and their ratio; how figures are shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

HEADINGS = ("what", "against", "measured", "yardstick", "ratio", "limit", "")


class Figure(Struct, frozen=True):
    """A measurement in seconds, or as its suffix shows, beside its yardstick. Without a limit, it is only shown."""

    what: str
    against: str
    measured: float
    yardstick: float
    limit: float | None = None
    suffix: str = ""

    @property
    def ratio(self) -> float:
        """How many times the yardstick it takes."""
        return self.measured / self.yardstick

    @property
    def is_over(self) -> bool:
        """Whether it takes longer than it may."""
        return self.limit is not None and self.ratio > self.limit

    def cells(self) -> tuple[str, ...]:
        """The figure as a row of the table."""
        limit, verdict = "", ""
        if self.limit is not None:
            limit, verdict = f"{self.limit:.2f}", "over" if self.is_over else "ok"
        both = (self.measured, self.yardstick)
        times = [f"{one:.0f} {self.suffix}" if self.suffix else duration(one) for one in both]
        return (self.what, self.against, *times, f"{self.ratio:.2f}", limit, verdict)


def duration(seconds: float) -> str:
    """A time in seconds, milliseconds or microseconds, as suits it."""
    for suffix, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.2f} {suffix}"
    return f"{seconds * 1e6:.0f} µs"


def table(figures: Iterable[Figure]) -> str:
    """Figures as a table for people, the numbers flush right."""
    rows: list[Sequence[str]] = [HEADINGS, *(figure.cells() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return "\n".join(_line(row, widths) for row in (rows[0], ["-" * width for width in widths], *rows[1:]))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    texts = [text.ljust(width) for text, width in zip(row[:2], widths[:2], strict=True)]
    numbers = [text.rjust(width) for text, width in zip(row[2:6], widths[2:6], strict=True)]
    return "  ".join([*texts, *numbers, row[6]]).rstrip()
