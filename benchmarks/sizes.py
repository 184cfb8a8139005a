"""How large generated files are, and how much of one changes with its document: what a reviewer has to read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from backends.python import PythonBackend
from backends.python.edition import runtime
from benchmarks.rounds import ROOT
from compiler.driver import compile_file
from runtime_shim.editions import EDITIONS

LINES_AND_KILOBYTES = {
    "script": (320, 16),
    "commands": (1420, 77),
    "values": (2100, 113),
    "agents": (3420, 179),
    "contract": (3920, 205),
}
"""The most lines and kilobytes of an edition."""

BYTES_OF_A_LINE = 56
"""On average, at most: no edition keeps to its lines by long ones."""

TIMES_THE_SOURCE = 2
"""The most lines of the author's part of a specification, the header aside, for each line of the document."""

CHANGED = 12
"""The most lines of a program that change with one question."""

CLEANUP = ROOT / "examples" / "nightly-cleanup.runbook.md"
LAST = "## 2. Write the diary"
SPECIFICATIONS = sorted(ROOT.glob("examples/specifications/*.stepspec.*"))


@dataclass(frozen=True)
class Size:
    """A number of lines, kilobytes or bytes, and the most that it may be."""

    what: str
    counted: str
    measured: float
    limit: float

    @property
    def is_over(self) -> bool:
        """Whether it is more than it may be."""
        return self.measured > self.limit


def sizes() -> list[Size]:
    """All that is limited."""
    return [*_of_editions(), *_of_specifications(), *_of_questions()]


def _of_editions() -> Iterator[Size]:
    for name in EDITIONS:
        text = runtime(name)
        lines, kilobytes = LINES_AND_KILOBYTES[name]
        count, size = text.count("\n"), len(text.encode())
        yield Size(f"edition {name}", "lines", count, lines)
        yield Size(f"edition {name}", "kilobytes", size / 1000, kilobytes)
        yield Size(f"edition {name}", "bytes a line", size / count, BYTES_OF_A_LINE)


def _of_specifications() -> Iterator[Size]:
    for path in SPECIFICATIONS:
        lines = len(author_part(path)) / len(path.read_text(encoding="utf-8").splitlines())
        yield Size(f"author's part of {path.name.partition('.')[0]}", "× source", lines, TIMES_THE_SOURCE)


def _of_questions() -> Iterator[Size]:
    """One question more in a runbook, and a second one."""
    before = CLEANUP.read_text(encoding="utf-8")
    assert LAST in before
    texts = [before]
    for number in (2, 3):
        question = f"## {number}. Ask {number}\n\nIs it to be written?\n\n- YES: CONTINUE\n- NO: STOP\n\n"
        last = f"## {number}. Write the diary"
        texts.append(texts[-1].replace(last, question + last.replace(str(number), str(number + 1))))
    programs = [_program(text) for text in texts]
    for what, old, new in zip(("one question more", "a second question"), programs, programs[1:], strict=False):
        yield Size(f"{what} in {CLEANUP.name.partition('.')[0]}", "changed lines", changed(old, new), CHANGED)


def changed(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines a diff adds and removes."""
    return sum(line[:2] in ("+ ", "- ") for line in difflib.ndiff(old, new))


def author_part(path: Path) -> list[str]:
    """The lines of a program's function with the document's calls."""
    lines = _compiled(path)
    begin = next(number for number, line in enumerate(lines) if line.startswith("def "))
    end = next(number for number, line in enumerate(lines[begin:], begin) if line.startswith("# ---"))
    return "\n".join(lines[begin:end]).rstrip().splitlines()


def _program(text: str) -> list[str]:
    with TemporaryDirectory() as name:
        path = Path(name, CLEANUP.name)
        path.write_text(text, encoding="utf-8")
        lines = _compiled(path)
    return lines[: next(number for number, line in enumerate(lines) if line.startswith("# ---"))]


def _compiled(path: Path) -> list[str]:
    program = compile_file(str(path)).program
    assert program is not None
    return (PythonBackend().emit(program, {}).text or "").splitlines()


def sizes_table(found: Iterable[Size]) -> str:
    """Sizes as a table for people."""
    rows = [(one.what, f"{one.measured:.1f}".removesuffix(".0"), f"{one.limit:g}", one.counted) for one in found]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(f"{a:{widths[0]}}  {b:>{widths[1]}}  of {c:>{widths[2]}}  {d}" for a, b, c, d in rows)
