"""The size of generated files, and of their changes with a document: reviewers have to read this."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from backends.dbos import DbosBackend
from backends.github import GithubBackend
from backends.python import PythonBackend
from backends.python.edition import WORKER, modules, opening, runtime, runtime_for
from benchmarks.rounds import ROOT
from compiler.driver import compile_file
from runtime_shim.editions import CALLERS, EDITIONS

LINES_OF_EDITIONS = {"script": 330, "commands": 1905, "values": 3030, "agents": 4390, "stepspec": 4740}
"""The most lines of code of an edition, without empty lines, comments and docstrings."""

PRODUCT = ("compiler", "rdc", "backends", "runtime_shim")
MOST_OF_PRODUCT = 76_120
"""The most lines of Python in the product, all lines counted."""

MOST_OF_TESTS = 83_200
"""The same of the tests."""

BYTES_OF_A_LINE = 51
"""On average, at most: no edition keeps to its lines by long ones."""

TIMES_THE_SOURCE = 2
"""The most lines of the author's part of a specification, the header aside, for each line of the document."""

CHANGED = 12
"""The most lines of a program that change with one question."""

WORKFLOWS = {
    "code-review.runbook.md": 180,
    "playbooks/change-review.playbook.md": 200,
    "workflows/dependency-update.workflow.yaml": 350,
    "specifications/plan-product.stepspec.yaml": 300,
}
"""The most lines of workflows that call the program, by their documents."""

CALLED: Mapping[str, object] = {"agent": "claude -p", "tools": {"github": "./github.sh", "metrics": "./metrics.sh"}}
"""The commands of agents and tools, which a workflow has to name."""

CHANGED_IN_WORKFLOW = (120, 70)
"""The most lines of a workflow that change with one question, and with a second one: each has its own jobs."""

CLEANUP = ROOT / "examples" / "nightly-cleanup.runbook.md"
LAST = "## 2. Write the diary"
SPECIFICATIONS = sorted(ROOT.glob("examples/specifications/*.stepspec.*"))


TARGET_OF_WORKERS = 1970
"""The most lines of code of the dbos target, without its lines in the templates of the Python target."""

AROUND_A_WORKER = 90
"""The most lines of a worker besides the author's part and the runtime."""

WORKERS = ("code-review.runbook.md", "workflows/dependency-update.workflow.yaml")


class Size(Struct, frozen=True):
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
    return [_of_product(), *_of_editions(), *_of_specifications(), *_of_workflows(), *_of_workers(), *_of_questions()]


def _of_product() -> Size:
    paths = (path for folder in PRODUCT for path in (ROOT / folder).rglob("*.py"))
    count = sum(path.read_text(encoding="utf-8").count("\n") for path in paths)
    return Size("product", "lines of Python", count, MOST_OF_PRODUCT)


def _of_editions() -> Iterator[Size]:
    for name in EDITIONS:
        text = runtime(name)
        yield Size(f"edition {name}", "lines of code", lines_of_code(text), LINES_OF_EDITIONS[name])
        yield Size(f"edition {name}", "bytes a line", len(text.encode()) / text.count("\n"), BYTES_OF_A_LINE)


def lines_of_code(text: str) -> int:
    """Return the number of lines with code."""
    lines = {number for number, line in enumerate(text.splitlines(), 1) if line.strip() and line.lstrip()[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


def _of_specifications() -> Iterator[Size]:
    for path in SPECIFICATIONS:
        lines = len(author_part(path)) / len(path.read_text(encoding="utf-8").splitlines())
        yield Size(f"author's part of {path.name.partition('.')[0]}", "× source", lines, TIMES_THE_SOURCE)


def _of_workflows() -> Iterator[Size]:
    for name, limit in WORKFLOWS.items():
        path = ROOT / "examples" / name
        yield Size(f"workflow of {path.name.partition('.')[0]}", "lines", len(_workflow(path, CALLED)), limit)


def _of_workers() -> Iterator[Size]:
    files = chain(ROOT.glob("backends/dbos/*.py"), ROOT.glob("runtime_shim/targets/dbos/*.py"))
    count = sum(path.read_text(encoding="utf-8").count("\n") for path in files)
    yield Size("target dbos", "lines of code", count, TARGET_OF_WORKERS)
    for name in WORKERS:
        path = ROOT / "examples" / name
        program = compile_file(str(path)).program
        assert program is not None
        text = DbosBackend().emit(program, {}).text or ""
        for edition in EDITIONS:
            text = text.replace(opening(edition), "").replace(modules(edition), "")
        for part in (name for name in CALLERS if name.startswith(WORKER)):
            text = text.replace(runtime_for(part), "")
        lines = text.splitlines()
        about = f"worker of {path.name.partition('.')[0]}"
        yield Size(about, "lines around", len(lines) - len(_author_part(lines)), AROUND_A_WORKER)


def _of_questions() -> Iterator[Size]:
    """One question more in a runbook, and a second one."""
    texts = _with_questions()
    programs = [_program(text) for text in texts]
    workflows = [_workflow_of(text) for text in texts]
    about = CLEANUP.name.partition(".")[0]
    for number, what in enumerate(("one question more", "a second question")):
        count = changed(programs[number], programs[number + 1])
        yield Size(f"{what} in {about}", "changed lines", count, CHANGED)
        count = changed(workflows[number], workflows[number + 1])
        yield Size(f"{what} in {about}, workflow", "changed lines", count, CHANGED_IN_WORKFLOW[number])


def _with_questions() -> list[str]:
    """The runbook, with one question more, and with two."""
    before = CLEANUP.read_text(encoding="utf-8")
    assert LAST in before
    texts = [before]
    for number in (2, 3):
        question = f"## {number}. Ask {number}\n\nIs it to be written?\n\n- YES: CONTINUE\n- NO: STOP\n\n"
        last = f"## {number}. Write the diary"
        texts.append(texts[-1].replace(last, question + last.replace(str(number), str(number + 1))))
    return texts


def changed(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines a diff adds and removes."""
    return sum(line[:2] in ("+ ", "- ") for line in difflib.ndiff(old, new))


def author_part(path: Path) -> list[str]:
    """The lines of a program's function with the document's calls."""
    return _author_part(_compiled(path))


def _author_part(lines: Sequence[str]) -> list[str]:
    begin = next(number for number, line in enumerate(lines) if line.startswith("def "))
    end = next(number for number, line in enumerate(lines[begin:], begin) if line.startswith("# ---"))
    return "\n".join(lines[begin:end]).rstrip().splitlines()


def _program(text: str) -> list[str]:
    with TemporaryDirectory() as name:
        path = Path(name, CLEANUP.name)
        path.write_text(text, encoding="utf-8")
        lines = _compiled(path)
    return lines[: next(number for number, line in enumerate(lines) if line.startswith("# ---"))]


def _workflow_of(text: str) -> list[str]:
    with TemporaryDirectory() as name:
        path = Path(name, CLEANUP.name)
        path.write_text(text, encoding="utf-8")
        return _workflow(path, {})


def _workflow(path: Path, options: Mapping[str, object]) -> list[str]:
    program = compile_file(str(path)).program
    assert program is not None
    return (GithubBackend().emit(program, options).text or "").splitlines()


def _compiled(path: Path) -> list[str]:
    program = compile_file(str(path)).program
    assert program is not None
    return (PythonBackend().emit(program, {}).text or "").splitlines()


def sizes_table(found: Iterable[Size]) -> str:
    """Sizes as a table for people."""
    rows = [(one.what, f"{one.measured:.1f}".removesuffix(".0"), f"{one.limit:g}", one.counted) for one in found]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(f"{a:{widths[0]}}  {b:>{widths[1]}}  of {c:>{widths[2]}}  {d}" for a, b, c, d in rows)
