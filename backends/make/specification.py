"""A specification as a Makefile: the line of its steps, each done by the compiled Python file beside it (B4)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from textwrap import wrap

from backends.base import MARK, Emission
from backends.command import canonical_command
from backends.companions import Companion
from backends.make.blocks import define
from backends.make.identifiers import file_name, names_for
from backends.make.inputs import NOT_OF_CONTRACT, about, controls
from backends.make.options import MakeOptions
from backends.make.templating import render
from backends.make.texts import comment, visible
from backends.python import PythonBackend
from backends.python.options import PythonOptions
from backends.shell.quoting import quoted
from backends.specification import Specification, Step, shown
from compiler.ir.program import Program
from compiler.ir.tasks import Gate
from compiler.version import __version__

VERBS = ("run", "resume", "approve", "answer", "status", "timeline", "steps", "reset", "help")
WIDTH = 118
"""Of comments, in characters."""

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class Target:
    """A step as it stands in the Makefile: its target, the word that its recipe has for it, and what stands above it.

    The word is its id; where that is no plain word, it is the name of the target.
    """

    name: str
    word: str
    remarks: tuple[str, ...]
    is_gated: bool


def specification(program: Program, options: MakeOptions) -> Emission:
    """The Makefile, and the program that it calls."""
    python = PythonBackend().render(program, PythonOptions(operator=options.operator)).text or ""
    name = options.program or f"{file_name(program).lstrip('.-') or 'specification'}.py"
    contract, targets = Specification(program), _targets(Specification(program))
    prefix, inputs = options.prefix, [declared.name for declared in program.inputs]
    text = render(
        "specification.mk.jinja",
        p=prefix,
        scope=f"$({prefix}RDC_TARGETS): " if prefix else "",
        title=comment(visible(program.title or program.name)),
        mark=MARK,
        command=canonical_command("make", program, options),
        version=__version__,
        source=program.sources[0],
        included=program.sources[1:],
        program=name,
        sha256=hashlib.sha256(python.encode()).hexdigest(),
        state=f"{options.state_dir.rstrip('/') or '/'}/{file_name(program)}.make",
        verbs=" ".join(prefix + verb for verb in VERBS),
        targets=targets,
        renamed=_renamed(contract, targets),
        inputs=inputs,
        refused=tuple(name for name in NOT_OF_CONTRACT if name not in inputs),
        controls=controls(program),
        help=list(define(prefix, "RDC_HELP", "\n".join(_help(program, contract, prefix)))),
    )
    return Emission(text, companions=(Companion(name, python, "program", executable=True),))


def _targets(contract: Specification) -> list[Target]:
    wished = {step: _wished(step, contract.steps) for step in contract.steps}
    names = names_for(wished.values())
    found = {step: names[name] for step, name in wished.items()}
    others = {name for step, name in found.items() if step != name}
    words = {step: step if _PLAIN.fullmatch(step) and step not in others else name for step, name in found.items()}
    return [
        Target(found[step.id], words[step.id], tuple(_remarks(contract, step)), bool(step.gates))
        for step in contract.steps.values()
    ]


def _wished(step: str, taken: Collection[str]) -> str:
    """The target of a step, if make can carry it: its id behind `step-`, which no other id may be."""
    name = step if step.startswith("step-") else f"step-{step}"
    while name != step and name in taken:
        name = f"step-{name}"
    return name


def _renamed(contract: Specification, targets: list[Target]) -> Mapping[str, str]:
    """The ids of steps, as words of the shell, by the words that recipes have for them where these are others."""
    pairs = zip(targets, contract.steps, strict=True)
    return {target.word: quoted(visible(step)) for target, step in pairs if target.word != step}


def _remarks(contract: Specification, step: Step) -> Iterator[str]:
    """What a step is, where it is written, what it does, and what has to be approved first."""
    at = step.group.origin
    about_it = shown(step.group.prompt)
    yield comment(visible(f"{step.title} ({at.path}:{at.span.line}){f': {about_it}' if about_it else ''}"))
    for node in step.gates:
        if isinstance(node.task, Gate):
            yield comment(visible(f"  gate {node.id}: {shown(node.task.reason)}").rstrip(": "))
    yield from (comment(line) for line in wrap(visible("; ".join(contract.told(step))), WIDTH))


def _help(program: Program, contract: Specification, prefix: str) -> Iterator[str]:
    """What `make help` says; each line is one that make takes for nothing of its own."""
    call = f"make {prefix}"
    told = {
        f"make{f' {prefix}run' if prefix else ''}": "begin a run and do all steps, up to the first gate that waits",
        f"{call}resume": "go on with a run that waits, has failed or was interrupted",
        f"{call}approve GATE=ID BY=WHO NOTE=TEXT": "let the run through a gate",
        f"{call}answer STEP=ID REPLY=pass": "say how a step went that a person does",
        f"{call}status": "say where the run stands",
        f"{call}timeline": "tell what happened, and when",
        f"{call}steps": "list the steps",
        f"{call}reset": "archive the run, to begin anew",
    }
    told |= {f"NAME=VALUE such as {declared.name}": about(declared) for declared in program.inputs[:1]}
    for declared in program.inputs[1:]:
        told[declared.name] = about(declared)
    told |= {
        "INPUTS=FILE": "values from a file: lines NAME: value, or JSON",
        "EXECUTOR=COMMAND": "who does the work of the steps",
        "TOOLS=FILE": "lines NAME=COMMAND: who answers to the calls of a tool",
        "MOCK=FILE": "a mock run: what executors and tools answer stands in the file",
        "ANSWERS=FILE": "answers of people, and decisions about gates",
        "HUMAN=1": "let the run through the first gate that it comes to",
        "RERUN=1 or ASSUME=WORD": "what becomes of a command that was interrupted",
        "ADOPT=1": "go on with a run of another version of the program",
    }
    yield visible(f"  {program.title or program.name}: {len(contract.steps)} steps")
    yield ""
    yield from (f"  {name:42} {visible(text)}" for name, text in told.items())
