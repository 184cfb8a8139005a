"""Random declarations for runbooks: inputs, values, secrets, settings of steps, and what a run is given."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from hypothesis import strategies as st

from tests.differential.generate import flag, number, pick, picks, rarely
from tests.differential.generate import rundown_model as model
from tests.differential.generate.hostile import CALL, CODES, ENVIRONMENT, GIVEN, MESSAGES, SECRETS, SHOWING, VARIABLES

PATTERN = r"[0-9.]*|[a-z ]+|\$\(touch x\).*"
_NUMBERS = ("3", "-1.50", "0", "007", "12345678901234567890")
_TIMEOUTS = (None, 90, 600, 7200)
_THEN = ("", *(text for text in MESSAGES if text.isprintable()))

AnyStep = TypeVar("AnyStep", model.Step, model.Substep)
PLAIN_GIVEN = tuple(text for text in GIVEN if "{{" not in text.replace("${{", ""))  # a name is an error in a setting


def definitions(draw: st.DrawFn, name: str) -> model.Input:
    kind = pick(draw, ("string", "string", "pattern", "number", "boolean", "choice"))
    if kind == "choice":
        options = picks(draw, tuple(filter(None, GIVEN)), 1, 3)
        return model.Input(name, "choice", options[-1], tuple(options))
    pattern = PATTERN if kind == "pattern" else None
    plain = model.Input(name, kind if kind in {"number", "boolean"} else "string", pattern=pattern)
    return replace(plain, default=pick(draw, fitting(plain)))


def fitting(item: model.Input) -> tuple[str, ...]:
    if item.type == "choice":
        return item.options
    some = {"number": _NUMBERS, "boolean": ("true", "false")}.get(item.type, GIVEN)
    return tuple(text for text in some if item.pattern is None or re.fullmatch(item.pattern, text))


def declared(
    draw: st.DrawFn, runbook: model.Runbook, files: model.Files
) -> tuple[model.Runbook, dict[str, model.Runbook], model.Given]:
    """The same documents with declarations and texts that show values, and what a run of them is given."""
    documents = {"": runbook, **files}
    first = number(draw, 0, len(VARIABLES) - 1)
    names = [VARIABLES[(first + index) % len(VARIABLES)] for index in range(number(draw, 0, 4))]
    inputs: dict[str, list[model.Input]] = {path: [] for path in documents}
    values: dict[str, list[str]] = {path: [] for path in documents}
    for name in names:
        # Runbooks include later ones only: what is an input stays one, and what is a text of any kind stays that (E9).
        may_be_value, definition = flag(draw), definitions(draw, name)
        for path in documents:
            kind = pick(draw, ("there", "there", "plain", "nothing"))
            if kind == "there" and may_be_value:
                values[path].append(name)
            elif kind == "there":
                inputs[path].append(definition if path else main_inputs(draw, definition))
            elif kind == "plain":
                may_be_value, definition = False, model.Input(name, default=definition.default)
                inputs[path].append(definition)
    found = {}
    for path, document in documents.items():
        secrets = tuple(picks(draw, tuple(SECRETS), 0, 2))
        steps = settings(draw, document, files, is_main=not path)
        steps = asking(draw, document, steps, values[path])
        shown, steps = working(draw, showing(draw, document), steps)
        declares = model.Declared(tuple(inputs[path]), tuple(values[path]), secrets, steps)
        found[path] = replace(shown, declared=declares)
    main = found.pop("")
    known = {name for each in (main, *found.values()) for name in each.declared.secrets}
    given = model.Given(
        given_values(draw, main.declared.inputs),
        tuple((name, SECRETS[name]) for name in sorted(known)),
        number(draw, 0, 2**16),
    )
    return main, found, given


def main_inputs(draw: st.DrawFn, definition: model.Input) -> model.Input:
    """An input of the outermost document, which may have no default, and may be left out."""
    default = pick(draw, (definition.default, None))
    return replace(definition, default=default, required=flag(draw))


def given_values(draw: st.DrawFn, inputs: tuple[model.Input, ...]) -> tuple[tuple[str, str], ...]:
    """Values for what has to be given, and for some of the rest."""
    found = [
        (item.name, pick(draw, fitting(item)))
        for item in inputs
        if (item.required and item.default is None) or flag(draw)
    ]
    return tuple(found)


# --- Settings of steps ------------------------------------------------------------------------------------------------


def settings(
    draw: st.DrawFn, runbook: model.Runbook, files: model.Files, *, is_main: bool
) -> tuple[tuple[str, model.Settings], ...]:
    """What a document says of all of it, of some steps, and of runbooks in it and their steps."""
    steps = {"*": None, **dict(named(runbook, files, "", "" if is_main else None))}
    chosen = picks(draw, tuple(steps), 0, 3)
    found = {name: settings_of(draw, steps[name], is_own="/" not in name) for name in chosen}
    able = [name for name, step in steps.items() if step and "/" not in name and _may_hang(step)]
    if able and number(draw, 0, 3) == 3:
        found[pick(draw, tuple(able))] = model.Settings(model.SHORTEST)
    return tuple(found.items())


def asking(
    draw: st.DrawFn, runbook: model.Runbook, steps: tuple[tuple[str, model.Settings], ...], names: list[str]
) -> tuple[tuple[str, model.Settings], ...]:
    """The same settings, but some questions ask for an output."""
    found = dict(steps)
    for name, step in named(runbook, {}, "", None):
        body = step.body if step else None
        is_plain = isinstance(body, model.Leaf) and not body.is_command and "- [ ]" not in body.prompt
        if is_plain and names and flag(draw):
            found[name] = replace(found.get(name, model.Settings()), asks=pick(draw, names))
    return tuple(found.items())


def working(
    draw: st.DrawFn, runbook: model.Runbook, settings: tuple[tuple[str, model.Settings], ...]
) -> tuple[model.Runbook, tuple[tuple[str, model.Settings], ...]]:
    """The same runbook and settings, but agents do some steps with commands (E15). Their texts arrive as they are."""
    found = dict(settings)

    def done(name: str, step: AnyStep) -> AnyStep:
        body = step.body
        if not (isinstance(body, model.Leaf) and body.is_command and rarely(draw, 2)):
            return step
        found[name] = replace(found.get(name, model.Settings()), by_agent=True)
        prompt: str = pick(draw, ("", "Check the result.", *SHOWING))
        return replace(
            step, title=pick(draw, (*(("",) if prompt else ()), "Title", *SHOWING)), body=replace(body, prompt=prompt)
        )

    steps: list[model.Step] = []
    for step in runbook.steps:
        if isinstance(step.body, model.Substeps):
            children = tuple([done(f"{step.ident}.{child.ident}", child) for child in step.body.children])
            steps.append(replace(step, body=replace(step.body, children=children)))
        else:
            steps.append(done(step.ident, step))
    return replace(runbook, steps=tuple(steps)), tuple(found.items())


def _may_hang(step: model.Step | model.Substep) -> bool:
    """Whether a step is a command that does nothing but visit, and so can be ended at any time."""
    return isinstance(step.body, model.Leaf) and step.body.is_command and step.body.code in {CALL, *CODES}


def settings_of(draw: st.DrawFn, step: model.Step | model.Substep | None, *, is_own: bool) -> model.Settings:
    """What may be said of a step; None is more than one."""
    body = step.body if step else None
    leaf = body if isinstance(body, model.Leaf) else None
    is_repeated = step is None or leaf is None or _repeats(step.transitions)
    delay = pick(draw, (None, 0, 0, 0, 1)) if is_repeated and is_own and flag(draw) else None
    backoff = pick(draw, (None, 1, 2)) if delay else None
    expire = pick(draw, (3600, 86_400)) if not (leaf and leaf.is_command) and number(draw, 0, 7) == 7 else None
    visits = pick(draw, (None, None, 1, 2)) if leaf else None
    then = pick(draw, (None, *_THEN)) if visits else None
    if leaf and not leaf.is_command:
        return model.Settings(delay=delay, backoff=backoff, expire=expire, visits=visits, then=then)
    names = picks(draw, tuple(ENVIRONMENT), 0, 2)
    env = tuple((name, pick(draw, PLAIN_GIVEN)) for name in names)
    timeout = pick(draw, _TIMEOUTS)
    return model.Settings(timeout, delay, backoff, env, expire=expire, visits=visits, then=then)


def _repeats(transitions: model.Transitions) -> bool:
    return isinstance(transitions.on_pass, model.Retry) or isinstance(transitions.on_fail, model.Retry)


def named(
    runbook: model.Runbook, files: model.Files, prefix: str, deeper: str | None
) -> Iterator[tuple[str, model.Step | model.Substep | None]]:
    """The steps of a document by the names that it has for them; with `deeper` those of runbooks in it too."""
    for step in runbook.steps:
        children = [(child, f"{step.ident}.{child.ident}") for child in step.children]
        every: list[tuple[model.Step | model.Substep, str]] = [(step, step.ident), *children]
        for node, name in every:
            yield prefix + name, node
            if deeper is None or not isinstance(node.body, model.Runbooks):
                continue
            for position, path in enumerate(node.body.paths):
                label = model.inclusion(prefix + name, node.body, position)
                yield label, None
                yield from named(files[path], files, f"{label}/", None)


# --- Texts that show values -------------------------------------------------------------------------------------------


def showing(draw: st.DrawFn, runbook: model.Runbook) -> model.Runbook:
    """The same runbook, in which some texts have references."""
    return replace(runbook, steps=tuple([_showing_step(draw, step) for step in runbook.steps]))


def _showing_step(draw: st.DrawFn, step: model.Step) -> model.Step:
    if isinstance(step.body, model.Substeps):
        children = tuple([_showing_part(draw, child) for child in step.body.children])
        step = replace(step, body=replace(step.body, children=children))
    return _showing_part(draw, step)


def _showing_part(draw: st.DrawFn, step: AnyStep) -> AnyStep:
    place = pick(draw, ("", "", "title", "prompt", "message", "message"))
    text = pick(draw, SHOWING)
    if place == "title":
        return replace(step, title=text)
    if place == "prompt" and (isinstance(step, model.Step) or isinstance(step.body, model.Leaf)):
        return replace(step, body=replace(step.body, prompt=text))
    if place == "message":
        own = step.transitions
        transitions = model.Transitions(_saying(own.on_pass, text), _saying(own.on_fail, text), own.optimistic)
        return replace(step, transitions=transitions)
    return step


def _saying(result: model.Result | None, text: str) -> model.Result | None:
    if isinstance(result, model.Retry):
        return replace(result, then=_ending(result.then, text))
    return _ending(result, text) if result else None


def _ending(action: model.Action, text: str) -> model.Action:
    return replace(action, message=text) if isinstance(action, model.Complete | model.Stop) else action
