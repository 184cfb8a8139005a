"""A Makefile that calls the program for everything: its targets, and comments on each step for reviewers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import assert_never
from urllib.parse import quote

from msgspec import Struct

from backends.base import MARK, CallReason, Emission
from backends.common.command import canonical_command
from backends.common.remarks import WIDTH, ending_words, listed, of_rules, printable, shells
from backends.common.specification import Specification, shown
from backends.common.specification import Step as SpecifiedStep
from backends.common.templates import render
from backends.make.names import FILTERS, comment, file_name, unlike, visible
from backends.make.native import state_of
from backends.make.options import MakeOptions
from backends.python.delegate import called
from compiler.ir.edges import words_of
from compiler.ir.program import Node, Program, SourceFile
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Tool, Verdict, agents_of
from compiler.text.durations import spoken
from compiler.text.regex import Regex
from compiler.version import __version__
from runtime_shim.editions import EDITIONS
from runtime_shim.targets.naming import split_name

_PART = Regex(r"(.+)/(?:prompt|elicit|tool|human)", re.DOTALL)
"""A node that belongs to a step of a playbook or workflow and has no separate name."""

_ODD = Regex("[^A-Za-z0-9_.-]+")
_LONGEST = 60  # the most characters of a target

_WIDTH = 118  # width of wrapped comments, and of the line with the title


class Step(Struct, frozen=True):
    """A step of the document: its target ("" if it does nothing), its places, and the comments above it.

    Places are the arguments of the program's `step` command. Other characters are `%` and two digits.
    """

    target: str
    places: str
    remarks: tuple[str, ...]
    is_gated: bool


VERBS = (
    *("open", "answer", "approve", "timeline", "outputs", "goto", "retry", "status", "steps", "history", "report"),
    "reset",
    "help",
)
"""The targets that a Makefile can have, besides steps and `clean`."""


def calling(program: Program, options: MakeOptions, reason: CallReason) -> Emission:
    """Return the Makefile, with the program that it calls for a reason."""
    name = file_name(program)
    path = options.program or f"rdc/{name.lstrip('.-') or 'program'}.py"
    python = called(program, path, options.operator, "make")
    if python.edition == "commands":  # this edition cannot read make's variables
        python = called(program, path, "full", "make")
    text = page(
        program.sources,
        state_of(program, options),
        _steps(program),
        title=comment(visible(program.title or program.name)),
        version=__version__,
        command=canonical_command("make", program, options),
        program=python.path,
        sha256=python.sha256,
        needs=listed(
            ["GNU make 3.81 or newer", "Python 3.9 or newer", *shells(program), *Specification(program).needed]
        ),
        notes=list(_notes(program)),
        start="".join(f" {item.name}=…" for item in program.inputs if item.required and item.default is None),
        verbs=" ".join(_verbs(program, python.edition)),
    )
    return Emission(text, companions=python.companions(), reason=reason)


def _notes(program: Program) -> Iterator[str]:
    """Yield sentences for the header about rules and checks, and about agents and their answers."""
    yield from (comment(line, WIDTH) for line in of_rules(program))
    if programs := Specification(program).optional:
        yield f"Uses {listed(programs)}: a check without its program is skipped, and its step can pass."
    yield from ending_words(program)
    if any(agents_of(node.task) for node in program.nodes):
        yield "AGENT=COMMAND, or RDC_AGENT in the environment, sets the command for prompts. It has your rights."
        yield "Without one, you reply to each prompt."


def page(sources: Sequence[SourceFile], state: str, steps: Sequence[Step], **facts: object) -> str:
    """Return the text of a Makefile."""
    return render(
        "make/calling.mk",
        FILTERS,
        mark=MARK,
        sources=sources,
        state=state,
        state_dir="" if state.rpartition("/")[0] == ".rdc" else f" --state-dir={state}",
        steps=steps,
        gates=any(step.is_gated for step in steps),
        **facts,
    )


def _verbs(program: Program, edition: str) -> Iterator[str]:
    unknown = set[str]() if program.stepspec is not None else {"timeline", "outputs"}
    if not any(isinstance(node.task, Gate) for node in program.nodes):
        unknown.add("approve")
    if "operator.report.RunReports" not in EDITIONS[edition].extensions:
        unknown.add("report")
    return (verb for verb in VERBS if verb not in unknown)


def _steps(program: Program) -> list[Step]:
    if program.stepspec is not None:
        return _of_stepspec(Specification(program))
    found: dict[str, list[Node]] = {}
    for node in program.nodes:
        if node.edges:  # an end without edges is shown at the transition to it
            found.setdefault(_step_of(program, node), []).append(node)
    nodes, doing = program.index(), [name for name, parts in found.items() if any(map(_does, parts))]
    targets = _targets((name, name) for name in doing)
    return [
        Step(
            targets.get(name, ""),
            _places(node.id for node in parts if _does(node)),
            tuple(line for node in parts for line in _of_node(node, nodes)),
            any(isinstance(node.task, Gate) for node in parts),
        )
        for name, parts in found.items()
    ]


def _step_of(program: Program, node: Node) -> str:
    part = _PART.fullmatch(node.id) if program.kind in ("playbook", "workflow") else None
    return part[1] if part else node.id


def _does(node: Node) -> bool:
    return not isinstance(node.task, Branch | End)


def _places(names: Iterable[str]) -> str:
    return " ".join(quote(name, safe="/{}:@+") for name in names)


def _of_stepspec(stepspec: Specification) -> list[Step]:
    targets = _targets((name, name.removeprefix("step-")) for name in stepspec.steps)
    return [
        Step(targets[name], _places([name]), tuple(_told(stepspec, step)), bool(step.gates))
        for name, step in stepspec.steps.items()
    ]


def _targets(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    return unlike((step, _ODD.sub("-", f"step-{name}")[:_LONGEST].strip(".-")) for step, name in names)


_YES_NO = {Verdict.PASS.value: "yes", Verdict.FAIL.value: "no"}


def _of_node(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield a node's comments: title and place, its whole task, and its transitions."""
    place = comment(f"{node.origin.path}:{node.origin.span.line}")
    name, called = split_name(node.id, shown(node.title))
    title = comment(visible(f"{name} {called}"))
    yield f"# {title:{max(_WIDTH - len(place) - 1, 1)}} {place}"
    for line in _work(node):
        yield f"#   {line}".rstrip()
    if settings := "; ".join(_settings(node)):
        yield f"#   {settings}"
    yield from (comment(f"#   {line}") for line in dict.fromkeys(_transitions(node, nodes)))


def _told(stepspec: Specification, step: SpecifiedStep) -> Iterator[str]:
    """Yield the comments of a specification's step: its gates, and its stages."""
    at = step.group.origin
    about_it = f": {found}" if (found := shown(step.group.prompt)) else ""
    yield f"# {comment(visible(f'{step.title} ({at.path}:{at.span.line}){about_it}'))}"
    for node in step.gates:
        if isinstance(node.task, Gate):
            yield f"#   {comment(visible(f'gate {node.id}: {shown(node.task.reason)}').rstrip(': '))}"
    yield from (f"# {comment(line)}" for line in wrap(visible("; ".join(stepspec.told(step))), _WIDTH))
    if any(task.stage == "execute" for task in step.tasks) and (command := stepspec.config.get("executor", "")):
        yield "#   executor:"
        yield from (comment(f"#   {line}") for line in _indented(command))


def _work(node: Node) -> Iterator[str]:
    match node.task:
        case Shell(interpreter, command, prompt):
            yield from _lines(shown(prompt))
            yield f"{interpreter}:"
            yield from _indented(shown(command))
        case Ask():
            yield from _asked(node.task)
        case Agent() as agent:
            yield from _sent(agent)
        case Parallel(entries):
            yield "in parallel:"
            for entry in entries:
                yield from _sent(entry)
        case Tool(connection, tool, arguments):
            yield f"tool {visible(connection)}/{visible(tool)}:"
            yield from _indented(shown(arguments))
        case Gate(_, reason):
            yield f"gate: {visible(shown(reason))}".rstrip(": ")
        case Branch() | End() | Stage():
            return
        case _:
            assert_never(node.task)


def _asked(task: Ask) -> Iterator[str]:
    wanted = f" for {task.value.name}" if task.value else ""
    yield f"question ({task.question.replace('_', '/')}{wanted}):"
    yield from _indented(shown(task.prompt))
    if task.block is not None:
        yield from _indented(shown(task.block))
    yield from (f"  - {visible(shown(option))}" for option in task.options)


def _sent(agent: Agent) -> Iterator[str]:
    words = f", with the keywords {', '.join(map(visible, agent.reading.keywords))}" if agent.reading.keywords else ""
    yield f"agent {visible(agent.agent)}".rstrip() + f"{words}:"
    yield from _indented(shown(agent.prompt))


def _settings(node: Node) -> Iterator[str]:
    settings = node.settings
    if settings.timeout is not None:
        yield f"timeout: {spoken(settings.timeout)}"
    if settings.delay:
        longer = f", multiplied by {settings.backoff} each time" if settings.backoff > 1 else ""
        yield f"retry after {spoken(settings.delay)}{longer}"
    if settings.expire:
        yield f"expires after {spoken(settings.expire)}"
    for constant in node.constants:
        yield visible(f"{constant.name}={constant.value}")


def _transitions(node: Node, nodes: Mapping[str, Node]) -> Iterator[str]:
    is_yes_no = isinstance(node.task, Ask) and node.task.question == "yes_no"
    for edge in node.edges:
        words = "/".join(_YES_NO.get(word, word) if is_yes_no else word for word in words_of([edge]))
        if isinstance(node.task, Branch | End):
            words = edge.label or "then"
        label = "" if isinstance(node.task, Branch | End) else edge.label
        yield visible(f"{words or 'otherwise'}: {_way(label, nodes[edge.target])}")


def _way(label: str, target: Node) -> str:
    task = target.task
    if not isinstance(task, End):
        return label or f"go {target.id}"
    result, message = task.result.upper(), shown(task.message)
    outcome = result if label.upper() == result else f"{label} {result}".strip()
    return f'{outcome} "{message}"' if message else outcome


def _lines(text: str) -> Iterator[str]:
    return (printable(line.expandtabs(4)) for line in (text.strip("\n").split("\n") if text.strip() else ()))


def _indented(text: str) -> Iterator[str]:
    return (f"  {line}" for line in _lines(text))
