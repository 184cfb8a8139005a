"""Explanations in generated files: the prose above a command, the meaning of a placeholder."""

from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import wrap

from compiler.analyses.values import most_visits
from compiler.ir.program import Counter, Node, Program, SourceFile, texts_of
from compiler.ir.tasks import Ask, Gate, Parallel, Stage, Tool, agents_of
from compiler.text.regex import Regex
from compiler.text.source import sha256_of

MOST = 8  # the number of lines that are shown; the document has all of them

_SPAN, _SPACE = Regex("`[^`]*`"), "\0"
WIDTH = 116  # characters of a line in a header, without `# `


def remarks(node: Node) -> list[str]:
    """Return the first lines of a command's prose, without empty ones."""
    task = node.task
    if task.kind != "shell" or not task.prompt.parts:
        return []
    lines = [line for line in str(task.prompt).splitlines() if line.strip()]
    return lines if len(lines) <= MOST else [*lines[:MOST], "…"]


def printable(text: str) -> str:
    """Return a string with a space for each invisible character."""
    return text if text.isprintable() else "".join(char if char.isprintable() else " " for char in text)


def comment(text: str, longest: int = 200) -> str:
    """Return a string for a comment: one line, limited length, only visible characters."""
    return printable(text[:longest]) + "…" * (len(text) > longest)


def shells(program: Program) -> list[str]:
    """Return the shells that a program's commands need."""
    return sorted({node.task.interpreter for node in program.nodes if node.task.kind == "shell"})


def listed(things: Sequence[str]) -> str:
    """Return things as part of a sentence: `make, bash and python3`."""
    return f"{', '.join(things[:-1])} and {things[-1]}" if things[1:] else "".join(things)


def most_calls(program: Program, commands: Callable[[Node], Sequence[str]]) -> dict[str, int | None]:
    """Return the commands that nodes call, each with the most calls in a run, or None for no limit.

    `commands` returns those of one visit. A document's limit of steps also limits the calls (I24).
    """
    called = [(node.id, command, times) for node in program.nodes for command, times in Tally(commands(node)).items()]
    visits = most_visits(program) if called else {}  # only for these, because it takes time
    found: dict[str, int | None] = {}
    for name, command, times in called:
        most, before = visits[name], found.get(command, 0)
        found[command] = None if most is None or before is None else before + most * times
    limit = None if program.limit is None else program.limit * max((times for _, _, times in called), default=1)
    return {command: min((n for n in (most, limit) if n is not None), default=None) for command, most in found.items()}


def times(number: int | None) -> str:
    """Return how often something is called at most: `×4`."""
    return "(no limit)" if number is None else f"×{number}"


def _at_most(number: int | None) -> str:
    return "no limit" if number is None else "at most once" if number == 1 else f"at most {number} times"


def of_run(program: Program) -> Iterator[str]:
    """Yield lines on the decisions of people in a run, and on the number of its calls of agents and tools."""
    sentences: list[str] = []
    if asking := [node.id for node in program.nodes if isinstance(node.task, Ask | Gate)]:
        sentences.append(f"A person decides: {', '.join(asking)}.")
    if calls := [f"{called} ({_at_most(most)})" for called, most in most_calls(program, _called).items()]:
        sentences.append(f"Calls {listed(calls)}.")
    return wrapped(sentences)


def of_rules(program: Program) -> Iterator[str]:
    """Yield a line on each rule that a program respects. The targets make comments of at most `WIDTH` from them."""
    yield from (f"rdc proved rule {rule.name}: {rule.sentence}" for rule in program.rules[:MOST])
    if left := len(program.rules[MOST:]):
        yield f"rdc proved {left} more rule{'s' * (left > 1)}."


def excused(program: Program) -> list[str]:
    """Return the keywords that need no match of a validation."""
    return sorted({word for node in program.nodes for agent in agents_of(node.task) for word in agent.reading.excused})


def ending_words(program: Program) -> Iterator[str]:
    """Yield a sentence on the answers that end a run as COMPLETE at any step, if there are any."""
    words = excused(program)
    if words and program.kind == "workflow":  # elsewhere, a transition of each step decides
        in_parallel = any(isinstance(node.task, Parallel) for node in program.nodes)
        also = " In a parallel step, all agents must give it." if in_parallel else ""
        yield f"An answer with {listed(words)} ends the run as COMPLETE at any step: a rule of the format.{also}"


def wrapped(sentences: Iterable[str]) -> Iterator[str]:
    """Yield lines with sentences. Only one that is longer than a line has a line break in it, outside of code spans."""
    line = ""
    for sentence in sentences:
        if line and len(line) + len(sentence) >= WIDTH:
            yield line
            line = ""
        *lines, line = broken(f"{line} {sentence}".strip(), WIDTH)
        yield from lines
    if line:
        yield line


def broken(text: str, width: int) -> list[str]:
    """Return the lines of a text, without line breaks in code spans."""
    joined = _SPAN.sub(lambda span: span[0].replace(" ", _SPACE), text)
    return [line.replace(_SPACE, " ") for line in wrap(joined, width, break_long_words=False, break_on_hyphens=False)]


def _called(node: Node) -> list[str]:
    """Return the agents and tools that a visit of a node calls. Only a run knows their commands."""
    if isinstance(node.task, Tool):
        return [f"the tool {node.task.connection}"]
    if isinstance(node.task, Stage):
        return {"execute": ["the executor"], "tool": [f"the tool {node.task.subject}"]}.get(node.task.stage, [])
    return [f"the agent {agent.agent}" if agent.agent else "an agent" for agent in agents_of(node.task)]


def of_placeholders(nodes: Iterable[Node], counters: Iterable[Counter]) -> Iterator[str]:
    """Yield a sentence on the placeholders in some nodes' strings, if there are any."""
    instances = {counter.name for counter in counters if counter.role == "instance"}
    if not instances:
        return
    texts = (text for node in nodes for text in texts_of(node))
    found = {item.written for text in texts for item in text.references if item.register in instances}
    if found:
        are = "are the numbers of the instances" if len(found) > 1 else "is the number of the instance"
        yield f"{listed([f'`{name}`' for name in sorted(found)])} {are}."


def hash_of(sources: Sequence[SourceFile]) -> str:
    """Return the hash of a document, or one hash of it and the documents in it."""
    hashes = [source.sha256 for source in sources]
    return sha256_of("\n".join(hashes)) if hashes[1:] else hashes[0]
