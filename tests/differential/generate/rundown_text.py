"""From the model of a runbook to Markdown, and the commands in it. A `Style` chooses spellings that mean the same."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tests.differential.generate import rundown_model as model

RESERVED = frozenset(
    ["NEXT", "CONTINUE", "COMPLETE", "STOP", "GOTO", "RETRY", "PASS", "FAIL", "YES", "NO", "ALL", "ANY"]
)
Yaml: TypeAlias = "str | int | Sequence[Yaml] | Mapping[str, Yaml] | None"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Style:
    """How a runbook is written; no field changes what it means."""

    separator: str = ". "
    yes_no: bool = False  # YES and NO for PASS and FAIL
    omit_defaults: bool = False  # where the default would do the same
    omit_modifiers: bool = False  # ALL/ANY where they follow from the rest
    modify_leaves: bool = False  # PASS ALL on a step without children: a warning, no more
    bare_messages: bool = False  # a message that is a name stands without quotes
    short_retry: bool = False  # G3
    bare_next: bool = False  # G4
    fail_first: bool = False
    late_transitions: bool = False  # V8: after the last substep
    closing_hashes: bool = False
    tight: bool = False  # no blank lines where CommonMark needs none
    frontmatter: bool = False
    after_header: bool = False  # V7: the later layout
    tildes: bool = False
    long_fence: bool = False
    crlf: bool = False
    bom: bool = False


PLAIN = Style()

# Gives the text that stands for a command: (path of the file, label of the step in it, the leaf) -> code.
CodeOf = Callable[[str, str, model.Leaf], str]


def own_code(_path: str, _label: str, leaf: model.Leaf) -> str:
    return leaf.code or ""


def render(runbook: model.Runbook, style: Style = PLAIN, path: str = "", code_of: CodeOf = own_code) -> str:
    return _Writer(style, path, code_of).document(runbook)


def render_files(files: model.Files, style: Style = PLAIN, code_of: CodeOf = own_code) -> dict[str, str]:
    return {path: render(runbook, style, path, code_of) for path, runbook in files.items()}


@dataclass(frozen=True)
class _Writer:
    style: Style
    path: str
    code_of: CodeOf

    def document(self, runbook: model.Runbook) -> str:
        blocks = list(self.blocks(runbook))
        # A text straight below an item would go on with it.
        gap = "\n" if self.style.tight and not self.style.after_header else "\n\n"
        text = gap.join(block for block in blocks if block) + "\n"
        if self.style.crlf:
            text = text.replace("\n", "\r\n")
        return ("\ufeff" if self.style.bom else "") + text

    def blocks(self, runbook: model.Runbook) -> Iterator[str]:
        entries = list(self.frontmatter(runbook))
        if entries:
            yield "\n".join(["---", *entries, "---"])
        if runbook.title:
            yield f"# {runbook.title}"
        yield runbook.description
        for step in runbook.steps:
            yield from self.step(step)

    def frontmatter(self, runbook: model.Runbook) -> Iterator[str]:
        for key, text in (("name", runbook.name), ("description", runbook.summary)):
            if text or self.style.frontmatter:
                yield f"{key}: {json.dumps(text or 'generated')}"
        beyond = list(declarations(runbook.declared))
        if self.style.after_header:
            beyond.insert(0, "transitions: after-header")
        if beyond:
            yield "\n  ".join(["rdc:", *beyond])

    def step(self, step: model.Step) -> Iterator[str]:
        yield self.header("##", step.ident, step.title)
        late = self.stands_late(step)
        written = self.step_transitions(step, late)
        if not isinstance(step.body, model.Substeps):
            yield from self.ordered(written, self.body(step.ident, step.body))
            return
        yield from self.ordered("" if late else written, [step.body.prompt])
        for child in step.children:
            yield from self.substep(step, child)
        if late:
            yield written

    def substep(self, step: model.Step, child: model.Substep) -> Iterator[str]:
        label = f"{step.ident}.{child.ident}"
        yield self.header("###", label, child.title)
        modified = child.transitions.optimistic or isinstance(child.body, model.Runbooks)
        written = self.transitions(child.transitions, modified, self.style.omit_modifiers)
        yield from self.ordered(written, self.body(label, child.body))

    def ordered(self, transitions: str, rest: Iterable[str]) -> Iterator[str]:
        """V7: where the transitions of a step stand."""
        return iter([transitions, *rest] if self.style.after_header else [*rest, transitions])

    def header(self, hashes: str, label: str, title: str) -> str:
        text = f"{hashes} {label}{self.style.separator}{title}" if title else f"{hashes} {label}"
        return f"{text} {hashes}" if self.style.closing_hashes else text

    def body(self, label: str, body: model.Leaf | model.Runbooks) -> Iterator[str]:
        yield body.prompt
        if isinstance(body, model.Runbooks):
            yield "\n".join(f"- {path}" for path in body.paths)
        elif body.code is not None:
            code = self.code_of(self.path, label, body)
            fence = self.fence(code)
            yield f"{fence}{body.info}\n{code}\n{fence}"

    def fence(self, code: str) -> str:
        """A fence that the code does not close."""
        mark = "~" if self.style.tildes else "`"
        inside = [len(run) for run in re.findall(f"(?m)^ {{0,3}}({mark}{{3,}})", code)]
        return mark * max([5 if self.style.long_fence else 3, *(length + 1 for length in inside)])

    # -- transitions ---------------------------------------------------------------------------------------

    def stands_late(self, step: model.Step) -> bool:
        """V8: only a leaf as last substep leaves the place after it to the step."""
        wanted = self.style.late_transitions and not self.style.after_header and step.transitions.declared
        return wanted and bool(step.children) and isinstance(step.children[-1].body, model.Leaf)

    def step_transitions(self, step: model.Step, late: bool) -> str:
        transitions = step.transitions
        if self.style.omit_defaults:
            transitions = without_defaults(transitions, keep_one=bool(step.children))
        modified = not isinstance(step.body, model.Leaf) or self.style.modify_leaves  # V9: there it only warns
        return self.transitions(transitions, modified, self.style.omit_modifiers and not late)

    def transitions(self, transitions: model.Transitions, modified: bool, omit: bool) -> str:
        """The items of a step; ALL and ANY are written if `modified`, with `omit` only where needed."""
        any_all = ("ANY", "ALL") if transitions.optimistic else ("ALL", "ANY")
        words = ("YES", "NO") if self.style.yes_no else ("PASS", "FAIL")
        items = []
        # One modifier of an optimistic pair implies the other (V9); none means the pessimistic pair.
        missing = transitions.optimistic
        for word, modifier, result in zip(words, any_all, (transitions.on_pass, transitions.on_fail), strict=True):
            if result is not None:
                shown = modified and (missing or not omit)
                items.append(f"- {word}{' ' + modifier if shown else ''}: {self.result(result)}")
                missing = missing and not shown
        if self.style.fail_first:
            items.reverse()
        return ("\n" if self.style.tight else "\n\n").join(items)

    def result(self, result: model.Result) -> str:
        if not isinstance(result, model.Retry):
            return self.action(result)
        short = self.style.short_retry
        count = "" if short and result.count == 1 else f" {result.count}"
        if short and isinstance(result.then, model.Stop):
            return f"RETRY{count}{self.message(result.then.message)}"
        return f"RETRY{count} {self.action(result.then)}"

    def action(self, action: model.Action) -> str:
        match action:
            case model.Continue():
                return "CONTINUE"
            case model.Complete(message):
                return f"COMPLETE{self.message(message)}"
            case model.Stop(message):
                return f"STOP{self.message(message)}"
            case model.Goto():
                return self.goto(action)

    def goto(self, goto: model.Goto) -> str:
        words = ["NEXT"] if goto.advance else []
        if goto.step is not None:
            words.append(goto.step + (f".{goto.child}" if goto.child is not None else ""))
        if words == ["NEXT"] and self.style.bare_next:
            return "NEXT"
        return " ".join(["GOTO", *words])

    def message(self, message: str) -> str:
        if not message:
            return ""
        if self.style.bare_messages and _NAME.fullmatch(message) and message not in RESERVED:
            return f" {message}"
        escaped = message.replace("\\", "\\\\").replace('"', '\\"')  # G5
        return f' "{escaped}"'


def declarations(declared: model.Declared) -> Iterator[str]:
    """What stands under `rdc`, a line for each key; YAML in which all is in quotes."""
    if declared.inputs:
        yield f"inputs: {in_yaml({item.name: _input(item) for item in declared.inputs})}"
    if outputs := [name for name in declared.outputs if name not in declared.asked.values()]:
        yield f"outputs: {in_yaml(outputs)}"
    if declared.secrets:
        yield f"secrets: {in_yaml(list(declared.secrets))}"
    if declared.steps:
        yield f"steps: {in_yaml({step: _settings(settings) for step, settings in declared.steps})}"


def _input(item: model.Input) -> Mapping[str, Yaml]:
    stated = {"type": item.type, "default": item.default, "options": list(item.options), "pattern": item.pattern}
    found: dict[str, Yaml] = {key: value for key, value in stated.items() if value not in (None, [], "string")}
    return found if item.required else {**found, "required": False}


def _settings(given: model.Settings) -> Mapping[str, Yaml]:
    found: dict[str, Yaml] = {}
    for key, seconds in (("timeout", given.timeout), ("retry-delay", given.delay)):
        if seconds is not None:
            found[key] = f"{seconds // 60}m" if seconds and seconds % 60 == 0 else f"{seconds}s"
    if given.backoff is not None:
        found["retry-backoff"] = given.backoff
    if given.asks:
        found["asks"] = {"output": given.asks, "type": "text"} if given.backoff else given.asks
    if given.by_agent:
        found["by"] = "agent"
    if given.expire is not None:
        found["expire"] = f"{given.expire}s"
    if given.visits is not None:
        found["max-visits"] = given.visits
    if given.then is not None:
        escaped = given.then.replace("\\", "\\\\").replace('"', '\\"')
        found["then"] = f'STOP "{escaped}"' if given.then else "STOP"
    return {**found, "env": dict(given.env)} if given.env else found


def in_yaml(value: Yaml) -> str:
    """A value as flow YAML; what does not print is escaped as YAML does it."""
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in escaped) + '"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{in_yaml(key)}: {in_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(in_yaml, value)) + "]"
    return str(value).lower()


def without_defaults(transitions: model.Transitions, keep_one: bool) -> model.Transitions:
    """Leave out what the defaults say (M6); a step with substeps keeps one, or it is transparent (M11)."""
    on_pass = None if transitions.on_pass == model.Continue() else transitions.on_pass
    on_fail = None if transitions.on_fail == model.Stop() else transitions.on_fail
    if on_pass is None and on_fail is None and (keep_one or transitions.optimistic):
        return transitions
    return model.Transitions(on_pass, on_fail, transitions.optimistic)
