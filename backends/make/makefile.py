"""A program as a Makefile: targets, texts in comments, and the driver."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote
from typing import assert_never

from backends.base import MARK
from backends.make.arms import Arms
from backends.make.names import PLAIN_NAME
from backends.make.program import Whole, is_runbook, is_unit
from backends.make.templating import render
from backends.make.texts import block, comment, visible
from backends.marks import Marks, marked
from backends.shell.tokens import identifiers
from compiler.ir.edges import OutcomeTest
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Tool, Verdict
from compiler.version import __version__


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
    nodes = identifiers((node.id for node in program.nodes), "u")
    targets = _targets(program, nodes)
    state = f".rdc/{re.sub(r'[^A-Za-z0-9._-]', '-', program.name)}.make"
    whole = None if is_runbook(program) else Whole(program, state, _identity(program))
    plain = whole is None and _is_plain(program)
    driver = whole.driver if whole else _driver(program, nodes, state, plain)
    return render(
        "makefile.mk.jinja",
        title=comment(visible(program.title or program.name)),
        mark=MARK,
        version=__version__,
        source=program.sources[0],
        included=program.sources[1:],
        state=state,
        plain=plain,
        targets=targets,
        given=whole.given if whole else [],
        needs=", a POSIX shell and python3 3.9" if whole and whole.needs_helper else " and a POSIX shell",
        texts=list(_texts(program, whole, nodes)),
        lists=[*block("help", _help(targets, whole)), *(whole.lists() if whole else block("asks", _asking(program)))],
        driver=driver.splitlines(),
    )


def _driver(program: Program, nodes: dict[str, str], state: str, plain: bool) -> str:
    """The shell script that takes one step after the other."""
    counters = identifiers([register.name for register in program.registers], "rdc_n")
    arms = Arms(program, nodes, counters)
    return render(
        "driver.sh.jinja",
        helper=False,
        delays=[],
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


def _targets(program: Program, nodes: dict[str, str]) -> list[Target]:
    """The units that have a task; those with plain ids are called by these."""
    found: list[Target] = []
    before = "begin"
    for node in program.nodes:
        if is_unit(node):
            name = node.id if PLAIN_NAME.fullmatch(node.id) else nodes[node.id]
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


def _texts(program: Program, whole: Whole | None, nodes: dict[str, str]) -> Iterator[Texts]:
    for node in program.nodes:
        place = comment(f"{node.origin.path}:{node.origin.span.line}")
        yield Texts(place, tuple(whole.texts(node) if whole else _blocks(node, nodes[node.id])))


def _blocks(node: Node, name: str) -> Iterator[str]:
    return (line for name_of_text, text in _text_of(marked(node)[0], name) for line in block(name_of_text, text))


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


def _help(targets: list[Target], whole: Whole | None) -> str:
    """What `make help` shows: a line for each target."""
    assumed, result = ("WORD", "REPLY") if whole else ("pass|fail", "pass")
    known = [
        ("make", "run the whole"),
        ("make resume", f"resume a run; RERUN=1 or ASSUME={assumed} decide about a unit that was interrupted"),
        (f"make answer UNIT=ID RESULT={result}", "answer the question that the run waits with"),
        ("make status", "what was done, and where the run stands"),
        ("make clean", "archive the run"),
        ("make … ANSWERS=FILE", "take answers from a file, in a run or when it goes on"),
        *(whole.help() if whole else ()),
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
