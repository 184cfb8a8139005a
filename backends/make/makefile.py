"""A program as a Makefile: targets, texts in comments, and the driver."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from shlex import quote
from typing import assert_never

from jinja2 import Environment, PackageLoader, StrictUndefined

from backends.base import MARK
from backends.make.arms import Arms
from backends.make.texts import block, comment, visible
from backends.marks import Marks, marked
from compiler.ir.edges import OutcomeTest
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Tool, Verdict
from compiler.version import __version__

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Target:
    """A unit: the target that runs it alone, its name in the driver, how make shows it, and the help for it.

    In a runbook of defaults alone `done` is the target for it in a run, which needs the target `before`.
    """

    target: str
    name: str
    shown: str
    help: str
    done: str
    before: str


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a unit as comments, below the place where it was written."""

    at: str
    lines: tuple[str, ...]


def makefile(program: Program) -> str:
    """The text of the Makefile of an optimised program."""
    nodes = _identifiers([node.id for node in program.nodes], "u")
    targets = _targets(program, nodes)
    plain = _is_plain(program)
    state = f".rdc/{re.sub(r'[^A-Za-z0-9._-]', '-', program.name)}.make"
    return _render(
        "makefile.mk.jinja",
        title=comment(visible(program.title or program.name)),
        mark=MARK,
        version=__version__,
        source=program.sources[0],
        included=program.sources[1:],
        state=state,
        plain=plain,
        targets=targets,
        texts=list(_texts(program, nodes)),
        lists=[*block("help", _help(targets)), *block("asks", _asking(program))],
        driver=_driver(program, nodes, state, plain).splitlines(),
    )


def _driver(program: Program, nodes: dict[str, str], state: str, plain: bool) -> str:
    """The shell script that takes one step after the other."""
    counters = _identifiers([register.name for register in program.registers], "rdc_n")
    arms = Arms(program, nodes, counters)
    return _render(
        "driver.sh.jinja",
        state=f"'{state}'",
        identity=_identity(program),
        placeholders=list(_placeholders(program, nodes, counters)),
        tasks=list(arms.tasks()),
        ways=list(arms.ways()),
        silent=[nodes[node.id] for node in program.nodes if node.edges and not isinstance(node.task, Shell | Ask)],
        counters=list(counters.values()),
        initials={counters[register.name]: register.initial for register in program.registers},
        entry=nodes[program.entry],
        asks=any(isinstance(node.task, Ask) for node in program.nodes),
        plain=plain,
        stop=nodes.get(_only_end(program, "stop"), ""),
        complete=nodes.get(_only_end(program, "complete"), ""),
    )


def _identifiers(names: list[str], prefix: str) -> dict[str, str]:
    """A plain identifier for each name, which says something of the name and has a number of its own."""
    return {
        name: f"{prefix}{number}_{re.sub(r'[^A-Za-z0-9]+', '_', name)[:40].strip('_')}"
        for number, name in enumerate(names, 1)
    }


def _targets(program: Program, nodes: dict[str, str]) -> list[Target]:
    """The units that have a task; those with plain ids are called by these."""
    found: list[Target] = []
    before = "begin"
    for node in program.nodes:
        if isinstance(node.task, Shell | Ask):
            name = node.id if _PLAIN_NAME.fullmatch(node.id) else nodes[node.id]
            title = visible(f"{node.id} {node.title}")
            found.append(Target(f"step-{name}", nodes[node.id], _shown(title), title, f"done-{name}", before))
            before = f"done-{name}"
    return found


def _shown(title: str) -> str:
    """A title in a recipe, for make to show: it expands a `$`, and a backslash at the end would continue the line."""
    return comment(title).replace("$", "$$")


def _is_plain(program: Program) -> bool:
    """Whether a program is commands one after the other, with defaults alone (M6)."""
    units = [node for node in program.nodes if not isinstance(node.task, End)]
    if not units:
        return False
    targets = [*(node.id for node in units[1:]), _only_end(program, "complete")]
    stop = _only_end(program, "stop")
    return program.entry == units[0].id and all(
        isinstance(node.task, Shell)
        and not node.variables
        and {(edge.guard, edge.effects, edge.target) for edge in node.edges}
        == {((OutcomeTest(Verdict.PASS.value),), (), target), ((OutcomeTest(Verdict.FAIL.value),), (), stop)}
        for node, target in zip(units, targets, strict=True)
    )


def _only_end(program: Program, result: str) -> str:
    """The only end with a result, if it says nothing; else no name of a node."""
    ends = [node for node in program.nodes if isinstance(node.task, End) and node.task.result == result]
    plain = len(ends) == 1 and not getattr(ends[0].task, "message", "")
    return ends[0].id if plain else ""


def _texts(program: Program, nodes: dict[str, str]) -> Iterator[Texts]:
    for node in program.nodes:
        place = comment(f"{node.origin.path}:{node.origin.span.line}")
        lines = [line for name, text in _text_of(marked(node)[0], nodes[node.id]) for line in block(name, text)]
        yield Texts(place, tuple(lines))


def _text_of(node: Node, name: str) -> Iterator[tuple[str, str]]:
    yield f"name_{name}", visible(node.id)
    match node.task:
        case Shell(command=command):
            yield f"title_{name}", visible(str(node.title))
            yield f"command_{name}", str(command)
        case Ask(prompt=prompt, block=shown):
            yield f"title_{name}", visible(str(node.title))
            text = str(prompt) if shown is None else f"{prompt}\n\n{shown}"
            yield f"prompt_{name}", "\n".join(visible_line(line) for line in text.strip("\n").split("\n"))
        case End(message=message):
            yield f"message_{name}", visible(str(message))
        case Branch():
            pass  # it says nothing
        case Agent() | Tool() | Parallel() | Gate():
            raise ValueError(f"a task of the kind {node.task.kind} cannot be expressed")
        case _:
            assert_never(node.task)


def visible_line(line: str) -> str:
    """A line as it is shown at a terminal, its blanks kept."""
    return "".join(character if character.isprintable() else "?" for character in line.replace("\t", "    "))


def _help(targets: list[Target]) -> str:
    """What `make help` shows: a line for each target."""
    known = [
        ("make", "run the whole"),
        ("make resume", "resume a run; RERUN=1 or ASSUME=pass|fail decide about a unit that was interrupted"),
        ("make answer UNIT=ID RESULT=pass", "answer the question that the run waits with"),
        ("make status", "what was done, and where the run stands"),
        ("make clean", "archive the run"),
        ("make … ANSWERS=FILE", "take answers from a file, in a run or when it goes on"),
        *((f"make {unit.target}", unit.help) for unit in targets),
    ]
    width = min(32, max(len(words) for words, _ in known))
    return "\n".join(f"{words:{width}}  {says}" for words, says in known)


def _asking(program: Program) -> str:
    """The names of the units that ask, a line each."""
    return "\n".join(visible(node.id) for node in program.nodes if isinstance(node.task, Ask))


def _placeholders(program: Program, nodes: dict[str, str], counters: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The units that have placeholders, those with the same ones together, and the pairs to replace them by."""
    found: dict[str, list[str]] = {}
    for node in program.nodes:
        references = Marks(texts_of(node)).references.items()
        pairs = [f'{quote(mark)} "${counters[reference.register]}"' for mark, reference in references]
        if pairs:
            found.setdefault(" ".join(pairs), []).append(nodes[node.id])
    for pairs_text, names in found.items():
        yield " | ".join(names), pairs_text


def _identity(program: Program) -> str:
    """What tells programs apart: a digest of all their sources (R4)."""
    parts = [__version__, *(source.sha256 for source in program.sources)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("backends.make"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 (the output is a Makefile; `block` and `comment` are what makes texts safe)
    )
    environment.filters["comment"] = comment
    return environment
