"""A program as a Makefile that runs it: a rule for each step, the flow as one table, and the loop (T-1 to T-5)."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path

from msgspec import Struct

from backends.base import MARK, CallReason, Emission
from backends.common.command import canonical_command
from backends.common.remarks import hash_of, remarks
from backends.common.templates import render
from backends.make.escaping import assigned, block, definitions, escaped, prints, recipe, usual
from backends.make.flow import Flow
from backends.make.names import FILTERS, Identifiers, comment, file_name, visible, visible_lines
from backends.make.options import MakeOptions
from compiler.analyses.domains import may_fall
from compiler.diagnostics.model import Diagnostic
from compiler.ir.program import Counter, Group, Node, Program
from compiler.ir.tasks import IDLE, Ask, Shell
from compiler.ir.texts import Text, joined
from compiler.text.source import sha256_of
from compiler.version import __version__

LONGEST_TITLE = 1000
"""In characters. Commands have the title in their environment, which is not for long strings."""

MOST = 100_000
"""In bytes: the largest table and list of steps. Linux gives a program at most 128 KiB in one string."""


def native(program: Program, options: MakeOptions) -> Emission:
    """Return the Makefile of an optimized program, or why it is too large."""
    steps = Steps(program)
    refused = tuple(steps.too_large())
    if refused:
        return Emission(None, refused)
    nested = len(program.sources) - 1
    text = render(
        "make/native.mk",
        FILTERS,
        title=comment(visible(program.title or program.name)),
        mark=MARK,
        version=__version__,
        path=program.sources[0].path,
        included=f" with {nested} nested document{'s' * (nested > 1)}" if nested else "",
        sha256=hash_of(program.sources),
        command=canonical_command("make", program, options),
        words=list(steps.words()),
        counters=list(map(steps.about, steps.flow.counters)),
        flow=steps.table,
        shell=steps.shell,
        steps=steps.lines,
        definitions=definitions(steps.lines),
        tail=tail(_identity(program), f"{state_of(program, options)}.make", *steps.names),
    )
    return Emission(text)


def state_of(program: Program, options: MakeOptions) -> str:
    """Return the state directory of a Makefile. One that calls no program adds `.make`."""
    return f"{options.state_dir.rstrip('/') or '/'}/{file_name(program)}"


def _identity(program: Program) -> str:
    """Return the identity of a program: a digest of all its sources (R4)."""
    return sha256_of("\n".join([__version__, *(source.sha256 for source in program.sources)]))[:32]


def tail(identity: str, state: str, steps: str, questions: str, counters: str) -> str:
    """Return the part below the steps, which is the same in all Makefiles except for these names."""
    names = {"ID": identity, "STATE": state, "STEPS": steps, "QUESTIONS": questions, "COUNTERS": counters}
    lines = [f"RDC_{name} := {value}".rstrip() for name, value in names.items()]
    return render("make/tail.mk", names="\n".join(lines), common=common(), version=__version__)


@cache
def common() -> str:
    """Return the part below the names: the targets and the loop."""
    return render("make/common.mk", loop=loop())


@cache
def loop() -> str:
    """Return the loop, a script for a POSIX shell."""
    return Path(__file__).with_name("loop.sh").read_text(encoding="utf-8")


class Steps(Struct, frozen=True, dict=True):
    """The steps of a program as rules."""

    program: Program

    @cached_property
    def _ids(self) -> Identifiers:
        return Identifiers(self.program, frozenset(re.findall(r"rdc_(\w+)", common())))

    @cached_property
    def flow(self) -> Flow:
        """The flow."""
        return Flow(self.program, self._ids)

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes that do something."""
        return [node for node in self.program.nodes if type(node.task) not in IDLE]

    @cached_property
    def names(self) -> tuple[str, str, str]:
        """The names of the steps, of the questions, and of the counters without `rdc_`."""
        questions = [node for node in self.nodes if isinstance(node.task, Ask)]
        steps, asking = (" ".join(self._ids.nodes[node.id] for node in nodes) for nodes in (self.nodes, questions))
        return steps, asking, " ".join(self._ids.counters[one.name].removeprefix("rdc_") for one in self.flow.counters)

    @cached_property
    def table(self) -> list[str]:
        """The lines of the flow, for make."""
        return [escaped(row) for row in self.flow.rows()]

    @cached_property
    def shell(self) -> str:
        """The shell of most commands."""
        return usual([node.task.interpreter for node in self.nodes if isinstance(node.task, Shell)])

    def words(self) -> Iterator[str]:
        """Yield the explanations of the words in the flow."""
        table = "\n".join(self.table)
        if re.search(r"\bretry \d", table):
            yield "`retry 2` runs the step again, up to two times. After that, the part behind `||` applies."
        if any(isinstance(node.task, Ask) for node in self.nodes):
            yield "After a question, pass is yes and fail is no."
        if re.search(r"\bflow ", table):
            yield "`flow X` continues at the row X."

    def about(self, counter: Counter) -> str:
        """Return what a counter counts."""
        name, of = self._ids.counters[counter.name], comment(visible(counter.of))
        match counter.role:
            case "instance":
                return f"{name}: the number of the instance of {of}"
            case "mark":
                return f"{name}: 1 after step {of} ended with {counter.outcome}"
            case "retries":
                return f"{name}: how often {of} was run again"
            case _:
                return f"{name}: {comment(visible(counter.name))}"

    @cached_property
    def lines(self) -> list[str]:
        """The lines of all rules."""
        groups = {group.id: group for group in self.program.groups}
        shown: set[str] = set()
        found: list[str] = []
        for node in self.nodes:
            above = [groups[name] for name in self.program.around(node.group) if name not in shown]
            shown.update(group.id for group in above)
            found += ["", *(line for group in reversed(above) for line in self._of_group(group)), *self._rule(node)]
        return found

    def _of_group(self, group: Group) -> Iterator[str]:
        first, *others = [*_comments(str(group.prompt).splitlines()), ""]
        if first:
            yield f"# --- {comment(visible(f'{group.id} {group.title}'))}: {first.removeprefix('# ')}"
        yield from filter(None, others)

    def _rule(self, node: Node) -> Iterator[str]:
        name, task = self._ids.nodes[node.id], node.task
        title = joined([f"{node.id} ", *node.title.parts])
        written = self.text(title, lambda part: visible(f"x{part[:LONGEST_TITLE]}x")[1:-1])
        yield f"title-{name} = {assigned(written).rstrip()}"
        if isinstance(task, Shell):
            yield from _comments(remarks(node))
            if task.interpreter != self.shell:
                yield f"step-{name}: SHELL := {task.interpreter}"
        if name != node.id:
            yield f"step-{name}: export RDC_STEP = {assigned(escaped(visible(node.id)))}"
        for variable in node.variables:
            yield f"step-{name}: export {variable.name} = $({self._ids.counters[variable.register]})"
        yield from self._work(name, node)

    def _work(self, name: str, node: Node) -> Iterator[str]:
        task = node.task
        if isinstance(task, Ask):
            shown = task.prompt if task.block is None else _below(task.prompt, task.block)
            text = visible_lines(self.text(shown))
            yield from block(f"do-{name}", text) if text else ()
            yield f"step-{name}:"
            yield "\t@printf '%s\\n' \"$$RDC_COMMAND\"" if text else "\t@:"
            return
        command = self.text(task.command) if isinstance(task, Shell) else ""
        lines = recipe(command)
        if lines is None:
            yield from block(f"do-{name}", command)
            lines = ["\t$(RDC_DO)"]
        yield f"step-{name}:"
        yield from lines

    def text(self, text: Text, change: Callable[[str], str] = str) -> str:
        """Return a text that make expands to what the run shows: counters are variables."""
        return "".join(
            escaped(change(part))
            if isinstance(part, str)
            else f"{escaped(change(part.before))}$({self._ids.counters[part.register]}){escaped(change(part.after))}"
            for part in text.parts
        )

    def too_large(self) -> Iterator[Diagnostic]:
        """Yield findings about what make could not pass to a shell (RD502)."""
        path = self.program.sources[0].path
        for what, text in {
            "table of transitions": "\n".join(self.table),
            "list of steps": " ".join(self.names),
        }.items():
            if (size := len(text.encode())) > MOST:
                problem = f"the {what} has {size:,} bytes, and a Makefile can have at most {MOST:,}"
                yield Diagnostic("RD502", path, None, problem, "split the document into smaller ones")


def beyond(program: Program) -> CallReason | None:
    """Return why a Makefile cannot run a program of commands and questions itself, or None."""
    for node in program.nodes:
        task = node.task
        if isinstance(task, Shell) and not prints(str(task.command).replace("\r", "")):
            return CallReason(
                node.origin.path, node.origin.span, f"the command of step {node.id} has an invisible character"
            )
    if may_fall(program):
        return CallReason(program.sources[0].path, None, "a counter may fall below zero")
    return None


def _comments(lines: Iterable[str]) -> Iterator[str]:
    return (f"# {shown}" for line in lines if (shown := comment(line.strip())))


def _below(prompt: Text, shown: Text) -> Text:
    return joined((*prompt.parts, "\n\n", *shown.parts)) if prompt else shown
