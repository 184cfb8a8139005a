"""What the oracle of runbooks goes by: visits, what declarations mean, and where an operator's jump can lead.

The rules of declarations are E1, E2, E3, E9 and E10: slots, what is visible where, settings, values, secrets.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.differential import case
from tests.differential.case import Call, Json, Jump, Limits, Question, Trace
from tests.differential.generate import rundown_model as model
from tests.differential.generate.hostile import TYPED, VALUES
from tests.differential.oracles.answers import MalformedError, values_of

End = tuple[str, str]
Instances = tuple[int | None, int | None]


@dataclass(frozen=True)
class Beyond:
    """What rules E1 to E10 add to a visit; a document that declares nothing has nothing of it.

    A command `sees` variables, is given a file for values if `keeps`, and `writes` to it: `values`, in which secrets
    are masked, unless what it writes makes it fail (`is_broken`). `timeout` and `waits` are in seconds. The
    text of a prompt is `shown`, if it may have a reference to a value. A question `asks` for an output (E14).
    """

    sees: tuple[tuple[str, str], ...] = ()
    keeps: bool = False
    writes: str = ""
    values: tuple[tuple[str, str], ...] = ()
    is_broken: bool = False
    timeout: int | None = None
    waits: int = 0
    shown: str = ""
    asks: str = ""
    expire: int = 0

    @property
    def hangs(self) -> bool:
        """Whether the command goes on until its time is over."""
        return self.timeout == model.SHORTEST


NOTHING = Beyond()


@dataclass(frozen=True)
class Visit:
    """One attempt at a leaf step; `file` is the path of the nested runbook that holds it, else empty.

    `arguments` are what its command must be given.
    """

    label: str
    attempt: int
    step_instance: int | None
    substep_instance: int | None
    index: int
    file: str = ""
    is_command: bool = False
    arguments: tuple[str, ...] = ()
    beyond: Beyond = NOTHING
    is_agent: bool = False

    @property
    def step(self) -> str:
        """The step's name within its own file."""
        return self.label.rpartition("/")[2]


class LimitError(Exception):
    """A step was visited as often as it may be; the argument is the end."""


OutcomeOf = Callable[[int], bool]
Settled = tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class Taken:
    """The visits with their outcomes, and the end; None where the path was cut off at its limit."""

    visits: tuple[tuple[Visit, bool], ...]
    end: End | None
    given: model.Given = model.NOTHING_GIVEN
    jumps: tuple[Jump, ...] = ()
    settled: tuple[Settled, ...] = ()
    """For each visit, the outcomes of the steps with children and of the runbooks that it decided."""


class CutOffError(Exception):
    """The path would need one visit more than its limit allows."""


@dataclass
class Recorder:
    """Asks for outcomes and keeps the path."""

    outcome_of: OutcomeOf
    limit: int
    visits: list[tuple[Visit, bool]] = field(default_factory=list)
    jumps: list[Jump] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)

    def settle(self, name: str, passed: bool) -> None:
        """Note that the last visit decided the outcome of a step with children, or of a nested runbook (P-6)."""
        self.settled[-1] += ((name, passed),)

    def ask(self, visit: Visit) -> bool:
        """Visit a leaf, whose placeholders are filled, and give its outcome."""
        if len(self.visits) >= self.limit:
            raise CutOffError
        beyond = visit.beyond
        passed = not (beyond.hangs or beyond.is_broken) and self.outcome_of(visit.index)
        self.visits.append((visit, passed))
        self.settled.append(())
        return passed


ALL = "*"

Numbers = Mapping[str, int | None]
"""The numbers of the instances that a step is in, by `N` and `n`."""


@dataclass
class Slots:
    """What a run holds: the text of each slot, None where it is unset. `given` is what the run was given."""

    given: model.Given
    held: dict[str, str | None] = field(default_factory=dict)

    def masked(self, text: str) -> str:
        """E10: without the values of secrets and their lines, in one pass, the longest first."""
        whole = [secret for _, secret in self.given.secrets]
        hidden = {part for secret in whole for part in (secret, *secret.splitlines()) if part.strip()}
        if not hidden:
            return text
        longest_first = sorted(hidden, key=lambda part: -len(part))
        return re.sub("|".join(map(re.escape, longest_first)), "***", text)


Stated = tuple[tuple[str, model.Settings], ...]


@dataclass(frozen=True)
class Scope:
    """What the steps of one inclusion of a runbook have from declarations.

    `names` are the slots of what its texts and commands see, `values` the names that commands may write. `stated` has
    the settings by full names of steps, those of outer documents first; `around` are the names of what stands around.
    """

    slots: Slots
    names: Mapping[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ()
    stated: Stated = ()
    around: tuple[str, ...] = ()
    asked: Mapping[str, str] = field(default_factory=dict)
    by_agents: frozenset[str] = frozenset()

    def include(self, declared: model.Declared, prefix: str, around: tuple[str, ...]) -> Scope:
        """The scope of a runbook that begins (E9): names of both are the same, others are its own, and new."""
        names = {name: self.names.get(name, prefix + name) for name in declared.names}
        given = {} if prefix else dict(self.slots.given.inputs)
        for item in declared.inputs:
            if item.name not in self.names:
                self.slots.held[names[item.name]] = given.get(item.name, item.default)
        for name in declared.outputs:
            if name not in self.names:
                self.slots.held[names[name]] = None
        stated = tuple(
            (prefix.rstrip("/") if step == ALL else prefix + step, settings) for step, settings in declared.steps
        )
        asked = {prefix + step: name for step, name in declared.asked.items()}
        by_agents = frozenset(prefix + step for step in declared.by_agents)
        return Scope(self.slots, names, declared.outputs, self.stated + stated, around, asked, by_agents)

    def filled(self, text: str, numbers: Numbers) -> str:
        """M5, E1: a text with the placeholders of its step replaced, in one pass; one of an unset value stays."""
        held = {f"{{{{{name}}}}}": self.slots.held[slot] for name, slot in self.names.items()}
        values = {written: written if value is None else value for written, value in held.items()}
        return _replaced(text, {**values, **_shown(numbers)})

    def settings(self, around: Sequence[str]) -> model.Settings:
        """E3: what holds for a step within others; the nearest counts, of two documents the one that includes."""
        found = model.Settings()
        env: dict[str, str] = {}
        for name in ("", *around):
            for step, settings in reversed(self.stated):
                if step == name:
                    numbers = {key: getattr(settings, key) for key in ("timeout", "delay", "backoff", "expire")}
                    found = replace(found, **{key: number for key, number in numbers.items() if number is not None})
                    env |= settings.env
        return replace(found, env=tuple(env.items()))

    def limit(self, label: str) -> model.Settings | None:
        """The settings that limit the visits of a step: of the outermost document that has some for the step itself."""
        return next((of_step for step, of_step in self.stated if step == label and of_step.visits), None)

    def visit(self, leaf: model.Leaf, around: Sequence[str], attempt: int, index: int, shown: str) -> Beyond:
        """What there is beyond the rules of paths in a visit."""
        settings = self.settings(around)
        waits = waits_of(settings, attempt)
        if not leaf.is_command:
            return Beyond(waits=waits, shown=shown, asks=self.asked.get(around[-1], ""), expire=settings.expire or 0)
        held = {name: self.slots.held[slot] for name, slot in self.names.items()}
        sees = {**dict(settings.env), **{name: value for name, value in held.items() if value is not None}}
        is_quiet = settings.timeout == model.SHORTEST or not self.values
        text = "" if is_quiet else written(self.slots.given, index, self.values)
        values = values_in(text, self.values)
        return Beyond(
            tuple(sorted(sees.items())),
            keeps=bool(self.values),
            writes=text,
            values=tuple((name, self.slots.masked(value)) for name, value in (values or {}).items()),
            is_broken=values is None,
            timeout=settings.timeout,
            waits=0 if around[-1] in self.by_agents else waits,  # the agent has waited
        )

    def work(self, label: str, around: Sequence[str], attempt: int, shown: str) -> Beyond | None:
        """E15: what there is beyond the rules of paths in the work of an agent; None if no agent does the step."""
        if label not in self.by_agents:
            return None
        return Beyond(waits=waits_of(self.settings(around), attempt), shown=shown)

    def keep(self, values: Sequence[tuple[str, str]]) -> None:
        """E2: what a command wrote is known from the next step on."""
        for name, value in values:
            self.slots.held[self.names[name]] = value


def waits_of(settings: model.Settings, attempt: int) -> int:
    """How long a run waits before an attempt."""
    return (settings.delay or 0) * (settings.backoff or 1) ** (attempt - 2) if attempt > 1 else 0


def value_of(visit: Visit) -> str:
    """The value that a person gives, where a question asks for one."""
    return TYPED[visit.index % len(TYPED)]


def with_numbers(text: str, numbers: Numbers) -> str:
    """M5: the text of a command with the numbers of instances; values are never text in it (E1)."""
    return _replaced(text, _shown(numbers))


def _shown(numbers: Numbers) -> dict[str, str]:
    return {f"{{{name}}}": str(number) for name, number in numbers.items() if number is not None}


def _replaced(text: str, placeholders: Mapping[str, str]) -> str:
    if not placeholders:
        return text
    pattern = "|".join(map(re.escape, placeholders))
    return re.sub(rf"(?<!\$)(?:{pattern})", lambda match: placeholders[match[0]], text)


def values_in(text: str, names: Sequence[str]) -> dict[str, str] | None:
    """The values in what a command wrote; None if it is malformed."""
    try:
        return values_of(text, names)
    except MalformedError:
        return None


# --- What commands write ----------------------------------------------------------------------------------------------


def written(given: model.Given, index: int, names: Sequence[str]) -> str:
    """What the command of a visit writes: nothing, values in both forms, seldom something else."""
    if not given.writes:
        return ""
    chances = _chances(f"{given.writes}/{index}")
    kind = next(chances) % 16
    if kind < 5:
        return ""
    if kind == 15:
        return _broken(chances, names)
    lines = [_line(chances, names[next(chances) % len(names)], given) for _ in range(1 + (kind > 11))]
    return "".join(lines)[: -1 if kind == 6 else None]


def _line(chances: Iterator[int], name: str, given: model.Given) -> str:
    number = next(chances)
    value = VALUES[(number * 256 + next(chances)) % len(VALUES)]
    if given.secrets and number % 4 == 0:
        value = f"a{given.secrets[number % len(given.secrets)][1]}{value}"
    if "\n" in value or number % 3 == 0:
        return f"{name}<<END_OF_VALUE\n{value}\nEND_OF_VALUE\n"
    return f"{name}={value}\n"


def _broken(chances: Iterator[int], names: Sequence[str]) -> str:
    first = f"{names[0]}=lost\n"
    return (
        "undeclared=1\n",
        f"{first}{names[0]}\n",
        f"{first}\n",
        f"{names[0]}<<END\nno end\n",
        f"{names[0]}<<\n\n",
        f"{first}PATH=/nowhere\n",
        f" {names[0]}=space\n",
        f"{names[0]}={'x' * 65_537}\n",
        f"{first}export {names[0]}=1\n",
    )[next(chances) % 9]


def _chances(text: str) -> Iterator[int]:
    """Numbers below 256 that look random, always the same for a text."""
    yield from hashlib.sha256(text.encode()).digest()


# --- Where an operator's jump can lead (E6) ---------------------------------------------------------------------------

Hop = tuple[str, str | None, int | None]
"""A step, a child of it or None, and the position of a runbook in its list, or None where the route ends."""

Route = tuple[Hop, ...]


@dataclass(frozen=True)
class Landing:
    """A step by its full name and by the way to it; `leads_to` is the leaf that a run then comes to.

    `inside` has the runbooks around it: the step of each list, and the runbook in it. With `is_runbook` the last of
    these is where the route ends.
    """

    label: str
    route: Route
    leads_to: str
    inside: tuple[tuple[str, str], ...] = ()
    is_runbook: bool = False

    @property
    def frame(self) -> str:
        """What the names of the steps of its runbook begin with."""
        around = self.inside[:-1] if self.is_runbook else self.inside
        return f"{around[-1][1]}/" if around else ""

    def is_plain_from(self, waiting: str) -> bool:
        """Whether the rules say what a jump does: no GOTO leads to another runbook of the same list."""
        for step, runbook in self.inside:
            if not waiting.startswith(f"{runbook}/"):
                return not waiting.startswith(f"{step}/")
        return not self.is_runbook


@dataclass(frozen=True)
class Landings:
    """The landings in a runbook, and in those that it includes."""

    runbook: model.Runbook
    files: model.Files
    prefix: str = ""
    route: Route = ()
    inside: tuple[tuple[str, str], ...] = ()

    def __iter__(self) -> Iterator[Landing]:
        for step in self.runbook.steps:
            hop: tuple[str, str | None] = (step.ident, None)
            yield Landing(
                self.prefix + step.ident, (*self.route, (*hop, None)), self.first_leaf(step), inside=self.inside
            )
            if isinstance(step.body, model.Runbooks):
                yield from self.of_list(hop, step.body)
            for child in step.children:
                label, hop = f"{self.prefix}{step.ident}.{child.ident}", (step.ident, child.ident)
                leaf = self.leaf_of(label, child.body)
                yield Landing(label, (*self.route, (*hop, None)), leaf, inside=self.inside)
                if isinstance(child.body, model.Runbooks):
                    yield from self.of_list(hop, child.body)

    def of_list(self, hop: tuple[str, str | None], runbooks: model.Runbooks) -> Iterator[Landing]:
        """The runbooks of a step, and what is in them."""
        step = self.prefix + ".".join(part for part in hop if part is not None)
        for position, path in enumerate(runbooks.paths):
            label = model.inclusion(step, runbooks, position)
            route, inside = (*self.route, (*hop, position)), (*self.inside, (step, label))
            nested = Landings(self.files[path], self.files, f"{label}/", route, inside)
            yield Landing(label, route, nested.first_leaf(model.first_step(nested.runbook)), inside, is_runbook=True)
            yield from nested

    def first_leaf(self, step: model.Step) -> str:
        """The leaf that a run comes to by the header of a step."""
        label = self.prefix + step.ident
        if isinstance(step.body, model.Substeps):
            child = step.body.children[0]
            return self.leaf_of(f"{label}.{child.ident}", child.body)
        return self.leaf_of(label, step.body)

    def leaf_of(self, label: str, body: model.Leaf | model.Runbooks) -> str:
        """The leaf that a run comes to in a step without substeps."""
        if isinstance(body, model.Leaf):
            return label
        nested = self.files[body.paths[0]]
        return Landings(nested, self.files, f"{model.inclusion(label, body, 0)}/").first_leaf(model.first_step(nested))


# --- As all oracles have it -------------------------------------------------------------------------------------------


def written_name(text: str) -> str:
    """A name in a command, where braces would stand for an instance (M5)."""
    return text.replace("{N}", "@N").replace("{n}", "@n")


def logged(visit: Visit) -> str:
    """The name that the command of a visit logs: the step in its own file, and the file."""
    return f"{written_name(visit.step)} {written_name(visit.file) or '-'}"


def reply_to(visit: Visit, passed: bool) -> Json:
    """What a command or an agent does; what is wrong with what it writes shall be all that makes it fail."""
    if visit.is_agent:
        return {"exit": int(not passed), "answer": "Done."}
    if visit.beyond.hangs:
        return {"hangs": True}
    fails = not (passed or visit.beyond.is_broken)
    return {"exit": int(fails), "says": "", "output": visit.beyond.writes or None}


def trace_of(taken: Taken) -> Trace:
    """A path as all oracles have it."""
    decided = zip(taken.visits, taken.settled, strict=True)
    visits = tuple(_visit(*visit, dict(taken.given.secrets), settled) for visit, settled in decided)
    return Trace(visits, taken.end, jumps=taken.jumps)


def _visit(visit: Visit, passed: bool, secrets: Mapping[str, str], settled: Settled) -> case.Visit:
    word, beyond = "pass" if passed else "fail", visit.beyond
    numbers = {"RDC_STEP_INSTANCE": visit.step_instance, "RDC_SUBSTEP_INSTANCE": visit.substep_instance}
    instances = {name: number for name, number in numbers.items() if number is not None}
    variables = {**dict(beyond.sees), **secrets, **{name: str(number) for name, number in instances.items()}}
    reply = value_of(visit) if passed and beyond.asks else word
    call = Call(logged(visit), visit.attempt, "", visit.arguments, variables, beyond.keeps)
    if visit.is_agent:
        call = Call(visit.label, visit.attempt, beyond.shown, (), variables, callee="")
    return case.Visit(
        visit.label,
        visit.attempt,
        (call,) if visit.is_command or visit.is_agent else (),
        None if visit.is_command or visit.is_agent else Question(beyond.shown or None, reply),
        word,
        reply if beyond.asks else None,
        values=dict(beyond.values),
        instances=instances,
        limits=Limits(beyond.timeout, beyond.waits, beyond.expire),
        settles=tuple((name, "pass" if each else "fail") for name, each in settled),
    )
