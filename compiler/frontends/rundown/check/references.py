"""Find references such as `{{ versoin }}` that are not replaced: misspelled, undeclared or in a command."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Fix
from compiler.frontends.common.names import NAMED
from compiler.frontends.rundown.lower.frames import written
from compiler.frontends.rundown.syntax import (
    UNKNOWN,
    AnyStep,
    Complete,
    Dynamic,
    Goto,
    Identifier,
    Runbook,
    Step,
    Stop,
    Substep,
    Target,
    all_steps,
    spell,
)
from compiler.text.regex import Regex
from compiler.text.source import Source, Span
from compiler.text.suggestions import nearest_name, nearest_names

_SINGLE = Regex(r"(?P<single>'[^']*')|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
_ANY = Regex(r"(?<!\$)\{\{([^{}\n]{1,100})\}\}")
_OF_TEMPLATES = frozenset({"end", "else", "break", "continue", "nil"})
"""Words of Go's templates, which commands such as `docker ps --format` take."""

_VARIABLE = Regex(r"(?<![\\$])\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


def almost_references(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about names in double braces that are close to a declared name, or that nothing declares."""
    if "{{" not in source.text:
        return
    declared, places = runbook.declared.slots, _places(source)
    for step in all_steps(runbook):
        written_here, lines = list(_texts(step)), _lines(step)
        meant = {whole for text in written_here for whole in NAMED.findall(text)}
        block = step.code.text if step.code and not step.code.interpreter else ""
        output = {match[0]: match[1] for text in (*written_here, block) for match in _ANY.finditer(text)}
        for whole, name in output.items():
            if name in declared:
                continue
            if close := _nearest(name.strip(), declared):
                span = _place(places, step, lines, whole)
                problem = f"`{whole}` is not a reference, so it is shown unchanged; did you mean `{written(close)}`?"
                spaces = " without spaces" if name.strip() != name else ""
                remedy = f"to show the value of `{close}`, write `{written(close)}`{spaces}"
                is_there = span.end_column - span.column == len(whole)
                fix = Fix.by(span, written(close)) if is_there else None
                yield Diagnostic("RD016", source.path, span, problem, remedy, fix=fix)
            elif whole in meant:
                yield _undeclared(source.path, _place(places, step, lines, whole), whole, runbook)
    for whole in dict.fromkeys(NAMED.findall(runbook.title)):
        if whole.strip("{} ") in declared:
            continue
        line = next((line for line, _ in places[whole] if source.lines[line - 1][:1] == "#"), places[whole][0][0])
        problem = f"`{whole}` is shown unchanged: rdc replaces no name in the title of a document"
        remedy = "write the value itself; only the title and text of a step can have names"
        yield Diagnostic("RD140", source.path, source.line_span(line), problem, remedy)


def _undeclared(path: str, span: Span | None, whole: str, runbook: Runbook) -> Diagnostic:
    name = whole.strip("{} ")
    problem = f"`{whole}` stays as it is: no input or output has this name"
    remedy = f"declare it in the frontmatter: `rdc: {{inputs: {{{name}: {{description: …}}}}}}`"
    if name in runbook.declared.secrets:
        remedy = "remove it: rdc never shows a secret"
    return Diagnostic("RD140", path, span, problem, remedy)


def references_in_settings(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Report references and variables in values under `env`, which commands get unchanged (E3)."""
    declared = runbook.declared.slots
    values = [(settings, key, text) for settings in runbook.declared.steps for key, text in settings.env.items()]
    known = {*declared, *(key for _, key, _ in values)}
    for settings, key, text in values:
        span, meant = settings.place("env", key).span, frozenset(NAMED.findall(text))
        for match in _ANY.finditer(text):
            name = match[1].strip()
            if name in declared:
                problem = f"`{match[0]}` is not replaced in `env`: the command gets it unchanged"
                remedy = f'set `{key}` in the command: there, write `"${name}"`'
                yield Diagnostic("RD134", source.path, span, problem, remedy)
            elif match[0] in meant:
                yield _undeclared(source.path, span, match[0], runbook)
        for match in _VARIABLE.finditer(text):
            name = match[1] or match[2]
            if name in known or name.isupper():
                problem = f"`{match[0]}` is not replaced in `env`: the command gets it unchanged"
                remedy = f"write the whole value, or set `{key}` in the command"
                yield Diagnostic("RD141", source.path, span, problem, remedy)


def references_in_commands(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Report references in commands, which get inputs and outputs as environment variables instead."""
    declared = runbook.declared.slots
    places = _places(source) if "{{" in source.text else {}
    for step in all_steps(runbook) if places else ():
        command = step.code.text if step.code and step.code.interpreter else ""
        quoted = [match.span() for match in _SINGLE.finditer(command) if match["single"]]
        lines, starts, here_document = _lines(step), [start for start, _ in quoted], command.find("<<")
        found = list(_ANY.finditer(command))
        is_template = any(NAMED.fullmatch(match[0]) is None or match[1].strip() in _OF_TEMPLATES for match in found)
        for match in found:
            name = match[1].strip()
            before = bisect_left(starts, match.start())
            is_quoted = before > 0 and match.start() < quoted[before - 1][1]
            if name not in declared:
                if not (is_template or is_quoted or 0 <= here_document < match.start() - 1):
                    span = _place(places, step, lines, match[0], in_command=True)
                    remedy = f'declare {name} under `inputs` in the frontmatter, and write `"${name}"` in the command'
                    yield replace(_undeclared(source.path, span, match[0], runbook), help=remedy)
                continue
            problem = f"`{match[0]}` is not replaced in a command: the shell gets it unchanged"
            remedy = f'write `"${name}"`' + (" outside the single quotes" if is_quoted else "")
            span = _place(places, step, lines, match[0], in_command=True)
            yield Diagnostic("RD135" if is_quoted else "RD134", source.path, span, problem, remedy)


def _texts(step: AnyStep) -> Iterator[str]:
    yield from (step.title, step.prompt)
    for transition in step.transitions:
        if isinstance(transition.action, Complete | Stop):
            yield transition.action.message


def _nearest(name: str, declared: Collection[str]) -> str | None:
    if name in declared or not declared:
        return name if declared else None
    folded = {known.casefold().replace("_", "-"): known for known in declared}
    plain = name.casefold().replace("_", "-")
    close = [plain] if plain in folded else nearest_names(plain, folded, 1, 0.75)
    return folded[close[0]] if close else None


def _places(source: Source) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for number, line in enumerate(source.lines, 1):
        if "{{" in line:
            for match in _ANY.finditer(line):
                found.setdefault(match[0], []).append((number, match.start() + 1))
    return found


def _lines(step: AnyStep) -> range:
    """Return the lines of a step's command. Counting them takes as long as reading them, so do it once for a step."""
    code = step.code if step.code and step.code.interpreter else None
    return range(code.span.line, code.span.line + code.text.count("\n") + 2) if code else range(0)


def _place(
    places: dict[str, list[tuple[int, int]]], step: AnyStep, lines: range, whole: str, *, in_command: bool = False
) -> Span:
    """Return the first place of a string in a step, in or outside its command's lines, or the place of the header."""
    found = places.get(whole, [])
    for line, column in islice(found, bisect_left(found, (step.span.line, 0)), None):
        if (line in lines) == in_command:
            return Span(line, column, line, column + len(whole))
    return step.span


WORD = Regex(r"\W")
"""Matches the end of the name at the start of a heading."""


MOST_SUGGESTED = 100  # the most unknown steps per document that get a suggestion: comparing names is slow


class Jump(Struct, frozen=True):
    """A GOTO with its step, and its substep unless the transition belongs to the step."""

    path: str
    target: Target
    step: Step
    substep: Substep | None

    def finding(self, code: str, problem: str, remedy: str, meant: str = "") -> Diagnostic:
        """Return a diagnostic at the target, with the fix that names the intended one."""
        fix = Fix.respelling(self.target.span, str(self.target), meant)
        return Diagnostic(code, self.path, self.target.span, problem, remedy, fix=fix)


class Known(Struct, frozen=True, dict=True):
    """The possible targets of a GOTO: steps, substeps by step, and prose sections."""

    steps: dict[Identifier, Step]
    children: set[tuple[Identifier, Identifier]]
    prose: set[str]

    @cached_property
    def listed(self) -> str:
        """The first steps, for messages."""
        return ", ".join(spell(identifier) for identifier in list(reversed(self.steps))[:12])

    @cached_property
    def names(self) -> dict[str, str]:
        """The steps by name and by the first word of their title, to find misspelled names."""
        named = {spell(name).casefold(): spell(name) for name in self.steps if not isinstance(name, int)}
        words = ((word, step) for step in self.steps.values() for word in WORD.split(step.title, maxsplit=1)[:1])
        return named | {
            word.casefold(): spell(step.id) for word, step in words if word and word.casefold() not in named
        }


def check_targets(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Report each GOTO whose target doesn't exist or cannot be reached from its place."""
    known = Known(
        {step.id: step for step in reversed(runbook.steps)},
        {(step.id, substep.id) for step in runbook.steps for substep in step.substeps},
        {WORD.split(heading, maxsplit=1)[0] for heading in runbook.prose},
    )
    found = 0
    for place in _jumps(source, runbook):
        if problem := _diagnostic(place, known, suggests=found < MOST_SUGGESTED):
            found += 1
            yield problem


def _jumps(source: Source, runbook: Runbook) -> Iterator[Jump]:
    for step in runbook.steps:
        for substep in (None, *step.substeps):
            for transition in (substep or step).transitions:
                if isinstance(transition.action, Goto):
                    yield Jump(source.path, transition.action.target, step, substep)


def _diagnostic(place: Jump, known: Known, *, suggests: bool) -> Diagnostic | None:
    target = place.target
    if target.step is None:
        return _bare_next(place)
    step = known.steps.get(target.step)
    if step is None:
        # The unreadable header could be the target.
        return None if UNKNOWN in known.steps else _no_step(place, known, suggests=suggests)
    if target.child is not None and (step.id, target.child) not in known.children:
        return None if (step.id, UNKNOWN) in known.children else _no_child(place, step)
    if target.next:
        return _next_of_static(place)
    if target.step is Dynamic.STEP and target.child not in {None, Dynamic.SUBSTEP} and place.step is not step:
        text = f"`GOTO {target}` goes into the current instance of {{N}} from outside"
        return place.finding("RD205", text, "use `GOTO {N}` to start the current instance again")
    return _itself(place, step)


def _bare_next(place: Jump) -> Diagnostic | None:
    in_substep = place.substep is not None and place.substep.id is Dynamic.SUBSTEP
    if in_substep or place.step.id is Dynamic.STEP:
        return None
    text = "`GOTO NEXT` needs a dynamic step, but this step is not dynamic"
    remedy = "name a step (`GOTO 2`, `GOTO NEXT {N}`), or use CONTINUE for the following step"
    return place.finding("RD206", text, remedy)


def _no_step(place: Jump, known: Known, *, suggests: bool) -> Diagnostic:
    target = place.target
    if target.step is Dynamic.STEP:
        text = f"`GOTO {target}` needs a dynamic step, but there is none"
        return place.finding("RD204", text, f"the steps are {known.listed}")
    meant = _meant(target, known.names) if suggests else ""
    own = "" if target.next else meant
    remedy = f"did you mean `GOTO {meant}`? The steps are {known.listed}" if meant else f"the steps are {known.listed}"
    if target.step in known.prose:
        remedy = f"the section `{target.step}` is text by the option `prose`; remove it from the option, or: {remedy}"
    return place.finding("RD201", f"there is no step `{spell(target.step or '')}`", remedy, own)


def _meant(target: Target, names: dict[str, str]) -> str:
    wanted = spell(target.step or "").casefold()
    if target.child is not None or wanted.isdigit():
        return ""
    return names.get(nearest_name(wanted, names), "")


def _no_child(place: Jump, step: Step) -> Diagnostic:
    target = place.target
    known = ", ".join(f"{spell(step.id)}.{spell(substep.id)}" for substep in step.substeps[:12])
    remedy = f"the substeps of step {spell(step.id)} are {known}" if known else f"step {spell(step.id)} has no substeps"
    if target.child is Dynamic.SUBSTEP:
        text = f"`GOTO {target}` needs a dynamic substep, but step {spell(step.id)} has none"
        return place.finding("RD204", text, remedy)
    if any(substep.id is Dynamic.SUBSTEP for substep in step.substeps):
        text = f"`GOTO {target}`: the substeps of step {spell(step.id)} are instances of {{n}}"
        dynamic = f"{spell(step.id)}.{{n}}"
        remedy = f"use `GOTO {dynamic}` for the current instance or `GOTO NEXT {dynamic}` for the next"
        return place.finding("RD202", text, remedy)
    return place.finding("RD201", f"there is no step `{target}`", remedy)


def _next_of_static(place: Jump) -> Diagnostic | None:
    target = place.target
    if target.child is Dynamic.SUBSTEP or (target.step is Dynamic.STEP and target.child is None):
        return None
    plain = str(target).removeprefix("NEXT ")
    text = f"`GOTO {target}` needs a dynamic step, but step {plain} is not dynamic"
    return place.finding("RD207", text, f"write `GOTO {plain}`", plain)


def _itself(place: Jump, step: Step) -> Diagnostic | None:
    """Report a static step that jumps to itself, because nothing limits the loop."""
    own = (place.step.id, place.substep.id if place.substep else None)
    if own != (step.id, place.target.child) or Dynamic.SUBSTEP in own or own == (Dynamic.STEP, None):
        return None
    remedy = "use RETRY, which limits the loop: `RETRY 3 STOP`"
    return place.finding("RD203", f"`GOTO {place.target}` jumps to its own step", remedy)
