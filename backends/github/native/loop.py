"""A loop as one step: a function for each command, and a short bash loop that calls them.

A command is a quoted here-document that a new shell runs. Messages are environment variables, and so are commands that
a script cannot contain unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import assert_never

from msgspec import Struct

from backends.common.marks import Marks, marked
from backends.common.templates import quoted, render
from backends.github.native.shell import Conjunction, Registers, condition, may_use
from backends.github.options.steps import variables
from backends.github.workflow.filling import as_written, in_log, is_marked, pieces
from backends.github.yaml.scalar import FILTERS, OPEN, comment, prints
from backends.scheduling.flow import Identifiers
from backends.scheduling.places import Place
from compiler.ir.edges import Edge, may_follow
from compiler.ir.program import Counter, Node, texts_of
from compiler.ir.tasks import Agent, Ask, Branch, End, Gate, Parallel, Shell, Stage, Task, Tool, alphabet, task_texts

_PLAIN_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u2033\u2036", '\'\'""""')
"""Typographic quotes. shellcheck reports them in scripts as typing errors."""


class Loop(Struct, frozen=True):
    """What a loop needs besides its nodes.

    `counters` are those that the loop updates, `reports` those that later steps read. `registers` translates effects.
    `start` has the first node and the first value of each counter: a number, an identifier or an environment variable.
    `own` are the variables that the workflow step sets for all nodes, `secrets` those of them that each node gets. With
    `summary`, the loop records which steps ran. With `valued`, commands may set outputs.
    """

    place: Place
    ids: Identifiers
    counters: tuple[Counter, ...]
    registers: Registers
    start: Mapping[str, str]
    reports: tuple[str, ...]
    own: tuple[str, ...]
    summary: bool
    secrets: Mapping[str, tuple[str, ...]]
    valued: bool


def printed(prompt: str, variables: Iterable[str] = ("RDC_PROMPT",)) -> str:
    """Return the line that shows a prompt in the log. A command to the runner starts with `::`, or has `##[` in it."""
    plain = r"tr '\r' '\n' | sed 's/##\[/## [/g' | " if is_marked(prompt) else ""
    return rf"""printf '%s\n' "${"$".join(variables)}" | {plain}sed 's/^/| /'"""


def prompt_of(task: Task) -> str:
    """Return the prompt above a command for the log; "" for a task without one."""
    return in_log(str(task.prompt)) if isinstance(task, Shell) and str(task.prompt).strip() else ""


def functions(loops: Sequence[Loop]) -> str:
    """Return the bash functions that the loops of a job share."""
    nodes = [node for loop in loops for node in loop.place.nodes]
    kinds = {type(node.task) for node in nodes}
    first = loops[0]
    return render(
        "github/loop.sh",
        FILTERS,
        commands=Shell in kinds,
        hands_on=first.valued
        or any(may_use(str(node.task.command), "GITHUB_") for node in nodes if isinstance(node.task, Shell)),
        valued=first.valued,
        repeats=any(node.retries for node in nodes),
        summary=first.summary,
        numbers=sorted({variable.name for node in nodes for variable in node.variables}),
        own=tuple(dict.fromkeys(name for loop in loops for name in loop.own)),
        withheld=any(set(loop.own) - set(loop.secrets[node.id]) for loop in loops for node in loop.place.nodes),
        limits=any(node.settings.timeout for node in nodes),
        pauses=any(node.settings.delay for node in nodes),
    )


def written(functions: str) -> str:
    """Return the bash script that writes the functions to a file for several loops."""
    return f'mkdir -p "$RUNNER_TEMP/rdc" && cat > "$RUNNER_TEMP/rdc/loop" <<\'SCRIPT\'\n{functions}SCRIPT\n'


TAKEN = '. "$RUNNER_TEMP/rdc/loop" || exit\n'
"""Reads the functions from that file."""


def script(loop: Loop, functions: str) -> str:
    """Return the bash script of a loop, with its functions."""
    lines = functions.splitlines()
    for node in loop.place.nodes:
        lines += _function(loop, node)
    lines += [*(f"{name}={value}" for name, value in loop.start.items()), "rdc_next="]
    if _has_end(loop):
        lines.append("rdc_message=")
    lines += ['while [ -z "$rdc_next" ]; do', f"{INDENT}case $rdc_node in"]
    choices = Choices(loop, frozenset(node.id for node in loop.place.nodes))
    for node in loop.place.nodes:
        lines += [INDENT * 2 + line for line in _arm(loop, node, choices)]
    names = ["rdc_next", *(loop.ids.counters[name] for name in loop.reports), *["rdc_message"] * _has_end(loop)]
    lines += [f"{INDENT}esac", "done"]
    lines += [f'echo "{name.removeprefix("rdc_")}=${name}" >> "$GITHUB_OUTPUT" || exit' for name in names]
    return "\n".join(lines) + "\n"


def _has_end(loop: Loop) -> bool:
    return End in {type(node.task) for node in loop.place.nodes}


def environment(loop: Loop) -> dict[str, str]:
    """Return the document's strings that a loop's script uses, by variable."""
    texts: dict[str, str] = {}
    for each in loop.place.nodes:
        node, _ = marked(each)
        name = loop.ids.nodes[node.id]
        if isinstance(node.task, Shell):
            command = str(node.task.command)
            texts |= {} if fits_script(command) else {f"RDC_COMMAND_{name}": command}
            if prompt := prompt_of(node.task):
                texts |= pieces(prompt, f"_{name}")
            pairs = enumerate(variables(each).items(), 1)
            texts |= {f"RDC_SAID_{name}_{at}": f"{key}={value}" for at, (key, value) in pairs if not fits_script(value)}
        elif isinstance(node.task, End):
            texts[f"RDC_MESSAGE_{name}"] = " ".join(str(node.task.message).split())
    return texts


def fits_script(text: str) -> bool:
    """Return whether a script on GitHub can contain a string unchanged."""
    return OPEN not in text and all(map(prints, text.split("\n")))


def here_document(variable: str, command: str) -> Iterator[str]:
    """Yield the lines that put a command into a variable, unchanged."""
    end = "COMMAND"
    while end in command.split("\n"):
        end += "_"
    yield f"IFS= read -rd '' {variable} <<'{end}'"
    yield from (*command.split("\n"), end)


def _arm(loop: Loop, node: Node, choices: Choices) -> Iterator[str]:
    name = loop.ids.nodes[node.id]
    yield f"{name})"
    yield from (INDENT + line for line in _done(loop, node, name, choices))
    yield f"{INDENT};;"


def _done(loop: Loop, node: Node, name: str, choices: Choices) -> Iterator[str]:
    match node.task:
        case Shell():
            if node.settings.delay and node.retries:
                times = f"{node.settings.delay} {node.settings.backoff}"
                yield f'pause "${loop.ids.counters[node.retries]}" {times}'
            yield f"step_{name}"
            yield from choices.lines(node)
        case End():
            yield f"rdc_message=$RDC_MESSAGE_{name}"
            yield from _filled(loop, "rdc_message", node)
            yield f"rdc_next='{name}'"
        case Branch():
            yield from choices.lines(node)
        case Ask() | Agent() | Tool() | Parallel() | Gate() | Stage():
            raise ValueError(f"a task of the kind {node.task.kind} cannot be expressed")
        case _:
            assert_never(node.task)


def _function(loop: Loop, node: Node) -> Iterator[str]:
    if not isinstance(node.task, Shell):
        return
    name, (with_marks, _) = loop.ids.nodes[node.id], marked(node)
    assert isinstance(with_marks.task, Shell)  # noqa: S101 (tells mypy)
    command = str(with_marks.task.command)
    yield f"step_{name}() {{"
    if fits_script(command):
        first, *rest = here_document("rdc_command", command)
        yield from (f"{INDENT}{first}", *rest)
    else:
        yield f"{INDENT}rdc_command=$RDC_COMMAND_{name}"
    yield from (f"{INDENT}{line}" for line in _filled(loop, "rdc_command", node))
    yield from (f"{INDENT}{line}" for line in _prompted(loop, node, prompt_of(with_marks.task)))
    words = [f"{_given(loop, node)}run", _called(node), node.task.interpreter, '"$rdc_command"']
    for number, (key, value) in enumerate(variables(node).items(), 1):
        words.append(_word(f"{key}={value}") if fits_script(value) else f'"$RDC_SAID_{name}_{number}"')
    yield f"{INDENT}{' '.join(words)}"
    yield "}"


def _prompted(loop: Loop, node: Node, prompt: str) -> Iterator[str]:
    """Yield the lines that show a node's prompt, once for all attempts."""
    if not prompt:
        return
    yield f"RDC_PROMPT=${'$'.join(pieces(prompt, f'_{loop.ids.nodes[node.id]}'))}"
    yield from _filled(loop, "RDC_PROMPT", node, prompt=True)
    once = f'[ "${loop.ids.counters[node.retries]}" -gt 0 ] || ' if node.retries else ""
    yield once + printed(prompt)


def _given(loop: Loop, node: Node) -> str:
    """Return the assignments before a node's command."""
    given = [f"{variable.name}=${loop.ids.counters[variable.register]} " for variable in node.variables]
    hidden = [f"-u {name}" for name in loop.own if name not in loop.secrets[node.id]]
    if hidden:
        given.append(f"rdc_without='{' '.join(hidden)}' ")
    if node.settings.timeout:
        given.append(f"rdc_limit={node.settings.timeout} ")
    if node.retries:
        given.append(f"RDC_ATTEMPT=$(({loop.ids.counters[node.retries]} + 1)) ")
    return "".join(given)


def _called(node: Node) -> str:
    """Return a node's title for the log, as a word of the script: on one line, without active characters."""
    shown = as_written(str(node.title)) or node.id  # without its number, which changes when a node is inserted
    text = comment(" ".join(shown.replace("%", "%25").split()), 100).translate(_PLAIN_QUOTES)
    return _word(text)


def _word(text: str) -> str:
    if not set("$`\\") & set(text):
        return quoted(text)
    return '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'  # shellcheck reports these as errors in single quotes


def _filled(loop: Loop, variable: str, node: Node, *, prompt: bool = False) -> Iterator[str]:
    """Yield the lines that put instance numbers into a string. An expansion such as ${N} stays."""
    for mark, register in _placeholders(node, prompt=prompt).items():
        yield f"{variable}=${{{variable}//{quote(mark)}/${loop.ids.counters[register]}}}"


def _placeholders(node: Node, *, prompt: bool) -> dict[str, str]:
    used = {reference for text in task_texts(node.task) for reference in text.references}
    if isinstance(node.task, Shell):
        used = set((node.task.prompt if prompt else node.task.command).references)
    references = Marks(texts_of(node)).references
    return {mark: reference.register for mark, reference in references.items() if reference in used}


INDENT = "  "


class Choices(Struct, frozen=True):
    """Writes the choice among the edges of a node. Words are those of commands and verdicts, never an author's."""

    loop: Loop
    own: frozenset[str]

    def lines(self, node: Node) -> Iterator[str]:
        """Yield the lines that continue after a node."""
        words = alphabet(node.task)
        transitions: dict[tuple[Edge, ...], list[str]] = {}
        for word in words:
            edges = tuple(edge for edge in node.edges if may_follow(edge, word))
            transitions.setdefault(edges, []).append(word)
        if len(transitions) < 2:
            yield from self._choice(next(iter(transitions), node.edges))
            return
        yield "case $rdc_outcome in"
        for edges, tokens in transitions.items():
            yield from self._arm(" | ".join(tokens), list(self._choice(edges)))
        yield "esac"

    def _take(self, edge: Edge) -> list[str]:
        variable = "rdc_node" if edge.target in self.own else "rdc_next"
        return [*self.loop.registers.done(edge.effects), f"{variable}='{self.loop.ids.nodes[edge.target]}'"]

    def _arm(self, pattern: str, lines: list[str]) -> Iterator[str]:
        if len(lines) == 1:
            yield f"{INDENT}{pattern}) {lines[0]} ;;"
            return
        yield f"{INDENT}{pattern})"
        yield from (INDENT * 2 + line for line in lines)
        yield f"{INDENT * 2};;"

    def _choice(self, edges: Sequence[Edge]) -> Iterator[str]:
        """Yield the lines that take the first edge whose guard holds. The last one needs no test (I2)."""
        branches = list(self._branches(edges))
        if len(branches) == 1:
            yield from branches[0][1]
            return
        for index, (alternatives, lines) in enumerate(branches):
            word = "elif" if index else "if"
            is_last = index == len(branches) - 1
            yield "else" if is_last else f"{word} {condition(alternatives)}; then"
            yield from (INDENT + line for line in lines)
        yield "fi"

    def _branches(self, edges: Sequence[Edge]) -> Iterator[tuple[list[Conjunction], list[str]]]:
        """Yield the tests and lines of the edges, up to one that always holds. Equal neighbors are joined."""
        alternatives: list[Conjunction] = []
        lines: list[str] = []
        for edge in edges:
            tests, found = self.loop.registers.asked(edge), self._take(edge)
            if alternatives and not (found == lines and tests):
                yield alternatives, lines
                alternatives = []
            alternatives, lines = [*alternatives, tests], found
            if not tests:
                break
        yield alternatives, lines
