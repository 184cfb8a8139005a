"""A small abstract model of a runbook: what the rules speak of, and nothing of how it is written.

Nested runbooks are a mapping from the path that a list names to the runbook it stands for. An outline says which steps
a runbook has, and which jumps rule V10 allows from each of them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.differential.generate import flag, number, pick, rarely

STEP_TEMPLATE = "{N}"
CHILD_TEMPLATE = "{n}"
EXECUTABLE = frozenset({"bash", "sh", "shell"})


@dataclass(frozen=True)
class Continue:
    """Go to the next step in sequence."""


@dataclass(frozen=True)
class Complete:
    """End the runbook with success; no message is the empty one."""

    message: str = ""


@dataclass(frozen=True)
class Stop:
    """End the runbook without success; no message is the empty one."""

    message: str = ""


@dataclass(frozen=True)
class Goto:
    """A jump: `GOTO [NEXT] [step[.child]]`, with `{N}` and `{n}` written as they are."""

    step: str | None = None
    child: str | None = None
    advance: bool = False


Action = Continue | Complete | Stop | Goto


@dataclass(frozen=True)
class Retry:
    """Run the step again up to `count` times, then do `then`."""

    count: int
    then: Action


Result = Action | Retry


@dataclass(frozen=True)
class Transitions:
    """What a step says about its outcomes; None where it says nothing.

    `optimistic` is `PASS ANY / FAIL ALL`. It needs a transition to be written on, so a step that says nothing
    is never optimistic.
    """

    on_pass: Result | None = None
    on_fail: Result | None = None
    optimistic: bool = False

    def __post_init__(self) -> None:
        if self.optimistic and not self.declared:
            raise ValueError("a modifier stands on a transition")

    @property
    def declared(self) -> bool:
        """Whether the step has a transition of its own."""
        return self.on_pass is not None or self.on_fail is not None

    def explicit(self, passed: bool) -> Result | None:
        return self.on_pass if passed else self.on_fail


NOTHING = Transitions()


@dataclass(frozen=True)
class Leaf:
    """A step without children: a prompt and/or one code block. Only some blocks are executed (M2, M3).

    `arguments` are what a shell gives to what the code calls.
    """

    prompt: str = ""
    code: str | None = None
    info: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def is_command(self) -> bool:
        """Whether a shell decides the outcome, rather than an answer."""
        return self.code is not None and self.info in EXECUTABLE


@dataclass(frozen=True)
class Runbooks:
    """A list of runbooks, run in order; only a step may stand with a prompt before it (V6)."""

    paths: tuple[str, ...]
    prompt: str = ""


@dataclass(frozen=True)
class Substep:
    """An H3 step; `ident` is the part after the dot."""

    ident: str
    body: Leaf | Runbooks
    transitions: Transitions = NOTHING
    title: str = ""


@dataclass(frozen=True)
class Substeps:
    """The children of a step, in document order."""

    children: tuple[Substep, ...]
    prompt: str = ""


Body = Leaf | Runbooks | Substeps


@dataclass(frozen=True)
class Step:
    """An H2 step."""

    ident: str
    body: Body
    transitions: Transitions = NOTHING
    title: str = ""

    @property
    def is_numbered(self) -> bool:
        """Whether the step is part of the sequence; `{N}` and named steps are not."""
        return self.ident.isdecimal()

    @property
    def children(self) -> tuple[Substep, ...]:
        return self.body.children if isinstance(self.body, Substeps) else ()


@dataclass(frozen=True)
class Input:
    """What is given when a run begins (E1)."""

    name: str
    type: str = "string"
    default: str | None = None
    options: tuple[str, ...] = ()
    pattern: str | None = None
    required: bool = True


@dataclass(frozen=True)
class Settings:
    """What is said of steps (E3); None for what is left open. Times are in seconds, `asks` is an output (E14).

    With `by_agent`, the command checks an agent's work (E15).
    """

    timeout: int | None = None
    delay: int | None = None
    backoff: int | None = None
    env: tuple[tuple[str, str], ...] = ()
    asks: str = ""
    expire: int | None = None
    visits: int | None = None
    then: str | None = None
    """The message of the STOP that ends one visit too many; None for rdc's own."""
    by_agent: bool = False


@dataclass(frozen=True)
class Declared:
    """What a document has under `rdc` (E1, E2, E3, E10); `steps` is by the names that the document has for them."""

    inputs: tuple[Input, ...] = ()
    outputs: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    steps: tuple[tuple[str, Settings], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What commands of the document see and its texts may show."""
        return (*(declared.name for declared in self.inputs), *self.outputs)

    @property
    def asked(self) -> dict[str, str]:
        """The outputs that questions ask for, by the names of their steps (E14)."""
        return {step: settings.asks for step, settings in self.steps if settings.asks}

    @property
    def by_agents(self) -> frozenset[str]:
        """The names of the steps that agents do (E15)."""
        return frozenset(step for step, settings in self.steps if settings.by_agent)


UNDECLARED = Declared()


@dataclass(frozen=True)
class Runbook:
    """A document. `name` and `summary` are of its frontmatter, `description` is the text before its first step (D5)."""

    steps: tuple[Step, ...]
    title: str = ""
    description: str = ""
    name: str = ""
    summary: str = ""
    declared: Declared = UNDECLARED


Files = Mapping[str, Runbook]


SHORTEST = 1
"""The timeout that is always reached, in seconds."""


@dataclass(frozen=True)
class Given:
    """What a run is given, and what its commands write: `writes` chooses that, 0 for nothing."""

    inputs: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    writes: int = 0


NOTHING_GIVEN = Given()


def first_step(runbook: Runbook) -> Step:
    """M1: the first numbered step, or `{N}`; with named steps only, the first of them (V3)."""
    for step in runbook.steps:
        if step.is_numbered or step.ident == STEP_TEMPLATE:
            return step
    return runbook.steps[0]


def inclusion(step: str, runbooks: Runbooks, position: int) -> str:
    """The name of a runbook of a list: one that stands there again is numbered."""
    path = runbooks.paths[position]
    before = runbooks.paths[:position].count(path)
    return f"{step}/{path}" + (f"~{before + 1}" if before else "")


# --- Outlines ---------------------------------------------------------------------------------------------------------

CHILD_KINDS = ("none", "none", "static", "static", "template")

# Names that a careless reader takes for something else: none of them is reserved.
STEP_NAMES = ("Recover", "Next", "N", "_x1", "PASSED", "retry", "run", "help", "done", "PATH", "rdc_node", "null", "s1")
CHILD_NAMES = ("Check", "n", "Recover", "Stop", "GOTO_1", "IFS", "if", "answers", "result", "on", "s1_1", "text")


def _from_any(draw: st.DrawFn, names: tuple[str, ...]) -> Iterator[str]:
    first = number(draw, 0, len(names) - 1)
    return iter(names[first:] + names[:first])


@dataclass(frozen=True)
class Outline:
    """The identifiers of the steps in document order, each with those of its children."""

    steps: tuple[tuple[str, tuple[str, ...]], ...]


def step_idents(draw: st.DrawFn, most: int) -> tuple[str, ...]:
    """V2, V3: numbered steps or one `{N}`, named ones among them; sometimes named ones only."""
    named = [rarely(draw, 4) for _ in range(number(draw, 1, most))]
    dynamic = flag(draw)
    names = _from_any(draw, STEP_NAMES)
    idents: list[str] = []
    numbers = 0
    for is_named in named:
        numbers += not is_named
        if is_named or (dynamic and numbers > 1):
            idents.append(next(names))
        else:
            idents.append(STEP_TEMPLATE if dynamic else str(numbers))
    return tuple(idents)


def child_idents(draw: st.DrawFn, most: int) -> tuple[str, ...]:
    """V4: no children, numbered and named ones in any order, or `{n}` alone."""
    kind = pick(draw, CHILD_KINDS)
    if kind == "none":
        return ()
    if kind == "template":
        return (CHILD_TEMPLATE,)
    names = _from_any(draw, CHILD_NAMES)
    idents: list[str] = []
    numbers = 0
    for _ in range(number(draw, 1, most)):
        is_named = rarely(draw, 4)
        numbers += not is_named
        idents.append(next(names) if is_named else str(numbers))
    return tuple(idents)


def outlines(draw: st.DrawFn, most: int) -> Outline:
    """Outlines of at most so many steps, with at most so many children each."""
    idents = step_idents(draw, most)
    return Outline(tuple((ident, child_idents(draw, most)) for ident in idents))


def targets(outline: Outline, step: str, child: str | None) -> list[Goto]:
    """Every jump that a step may make (V10), the plain ones first; those to instances stand there twice."""
    found = [target for ident, children in outline.steps for target in _into(ident, children, step, child)]
    found += [target for target in found if target.child == CHILD_TEMPLATE]
    if child == CHILD_TEMPLATE or step == STEP_TEMPLATE:
        found.append(Goto(advance=True))
    return found


def _into(ident: str, children: tuple[str, ...], step: str, child: str | None) -> Iterator[Goto]:
    inside = ident == step
    if ident == STEP_TEMPLATE:
        yield Goto(ident)
        yield Goto(ident, advance=True)
    elif not (inside and child is None):  # a static step must not name itself
        yield Goto(ident)
    for name in children:
        if name == CHILD_TEMPLATE:
            yield Goto(ident, name)
            yield Goto(ident, name, advance=True)
        elif not (inside and name == child) and (inside or ident != STEP_TEMPLATE):
            yield Goto(ident, name)


# --- A short way to write models --------------------------------------------------------------------------------------

COMMAND = Leaf(code="true", info="sh")


def book(text: str) -> Runbook:
    """A runbook from a line such as `1 FAIL: RETRY 2 GOTO 3 | .1 PASS: STOP text | .2 @a ; 2 @a, @b, PASS ANY: STOP`.

    `;` separates steps, `|` substeps, and `@a` is the runbook `a.runbook.md`.
    """
    return Runbook(tuple(map(_step, text.split(" ; "))))


def _step(text: str) -> Step:
    own, *inside = text.split(" | ")
    ident, body, transitions = _parts(own)
    children = tuple(Substep(*_parts(child.removeprefix("."))) for child in inside)
    return Step(ident, Substeps(children) if children else body, transitions)


def _parts(text: str) -> tuple[str, Leaf | Runbooks, Transitions]:
    ident, *rest = re.split(r" (?=@|PASS\b|FAIL\b)", text.strip().replace(",", ""))
    paths = tuple(f"{part[1:]}.runbook.md" for part in rest if part.startswith("@"))
    written = {head[:4]: result(tail) for head, colon, tail in (part.partition(": ") for part in rest) if colon}
    optimistic = any(part.startswith(("PASS ANY", "FAIL ALL")) for part in rest)
    return (
        ident,
        Runbooks(paths) if paths else COMMAND,
        Transitions(written.get("PASS"), written.get("FAIL"), optimistic),
    )


def result(text: str) -> Result:
    """`CONTINUE`, `COMPLETE message`, `STOP message`, `GOTO [NEXT] [step[.child]]`, or `RETRY count` and another."""
    word, _, rest = text.partition(" ")
    if word == "RETRY":
        count, _, then = rest.partition(" ")
        found = result(then)
        assert not isinstance(found, Retry)
        return Retry(int(count), found)
    if word == "GOTO":
        step, _, child = rest.removeprefix("NEXT").strip().partition(".")
        return Goto(step or None, child or None, rest.startswith("NEXT"))
    if word == "CONTINUE":
        return Continue()
    return Complete(rest) if word == "COMPLETE" else Stop(rest)


def examples(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of a runbook in the notation of `book` and a path: each runbook has its paths below it, indented."""
    runbook = ""
    for line in text.splitlines():
        shown = line.partition("# ")[0]
        if shown.startswith("    "):
            yield runbook, shown.strip()
        else:
            runbook = shown or runbook
