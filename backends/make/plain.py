"""The form `plain`: a rule with a stamp file for each step, for runbooks without branches."""

from __future__ import annotations

from backends.base import MARK, Emission
from backends.command import canonical_command
from backends.make.recipes import prints, recipe
from backends.make.identifiers import FILTERS, comment, visible
from backends.make.line import Line, Step, line_of, refusal
from backends.make.native import state_of
from backends.make.options import MakeOptions
from backends.remarks import listed, shells
from backends.templating import quoted, render
from compiler.ir.program import Program
from compiler.ir.tasks import Shell
from compiler.version import __version__

LONGEST = 100_000
"""The largest command, in bytes, for an environment variable."""

_OF_A_RUN = ("RDC_RUN_ID", "RDC_TITLE")
"""Environment variables that commands in other Makefiles have."""


def plain(program: Program, options: MakeOptions) -> Emission:
    """Return the Makefile of an optimized program, or a finding about the first step that cannot be a rule."""
    line = line_of(program)
    if not isinstance(line, Line):
        return Emission(None, (line,))
    for step in line.steps:
        if clause := _unfit(step):
            return Emission(None, (refusal(step.node, clause),))
    prefix, shell = options.prefix, line.steps[0].interpreter
    rules = [_rule(step, before, prefix) for step, before in zip(line.steps, (None, *line.steps), strict=False)]
    text = render(
        "make/plain.mk",
        FILTERS,
        p=prefix,
        scope=f"$({prefix}RDC_STAMPS): " if prefix else "",
        title=comment(visible(program.title or program.name)),
        mark=MARK,
        command=canonical_command("make", program, options),
        version=__version__,
        source=program.sources[0],
        needs=listed(["GNU make 3.81 or newer", *shells(program)]),
        state=state_of(program, options),
        steps=" ".join(step.node.id for step in line.steps),
        shell=shell,
        others=" ".join(step.node.id for step in line.steps if step.interpreter != shell),
        other="sh" if shell == "bash" else "bash",
        last=line.steps[-1].node.id,
        message=recipe(quoted(visible(line.message))) if line.message else "",
        has_blocks=not all(map(is_direct, line.steps)),
        has_retries=any(step.retries for step in line.steps),
        names=[],
        rules=rules,
    )
    return Emission(text)


def _unfit(step: Step) -> str:
    """Return why a step cannot be a rule, as the end of a sentence; "" if it can."""
    if name := next((name for name in _OF_A_RUN if name in step.command), ""):
        return f"whose command uses {name}, which only a run has"
    if is_direct(step):
        return ""
    if not prints(step.command):
        return "whose command has an invisible character"
    return "whose command is too long" if len(step.command.encode()) > LONGEST else ""


def is_direct(step: Step) -> bool:
    """Return whether make can pass the command to the shell as a recipe line."""
    command = step.command
    is_line = command.isprintable() and command == command.strip() and not command.endswith("\\")
    return is_line and not command.startswith(("@", "-", "+")) and bool(command) and not (step.retries or step.stop)


def _rule(step: Step, before: Step | None, prefix: str) -> list[str]:
    """Return the lines of a step: a heading, a block unless the command fits on a recipe line, and the rule."""
    name, ignore = step.node.id, "-" if step.stop is None else ""
    lines, task = [f"# {step.node.id}"], step.node.task
    prompt = []
    shown = [f"\t@printf '%s\\n' {recipe(quoted(line))}" for line in prompt]
    if is_direct(step):
        done = recipe(step.command)
    else:
        lines += [f"define {prefix}do_{name}", *map(recipe, step.command.split("\n")), "endef"]
        tries = " ".join(map(str, range(1, step.retries + 2)))
        done = f"$(call {prefix}RDC_TRY,{tries})" if step.retries else f"$({prefix}RDC_DO)"
        done += f" || {{ printf '%s\\n' {recipe(quoted(visible(step.stop)))}; exit 1; }}" if step.stop else ""
    needs = f"$({prefix}RDC_DONE)/{before.node.id}" if before else f"$({prefix}RDC_DONE)"
    return [*lines, f"$({prefix}RDC_DONE)/{name}: | {needs}", *shown, f"\t{ignore}{done}", "\t@touch $@"]
