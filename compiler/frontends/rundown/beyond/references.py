"""Find references such as `{{ versoin }}` that are not replaced: misspelled, undeclared or in a command (E1, E2)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import islice

from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Fix
from compiler.frontends.naming import NAMED
from compiler.frontends.rundown.beyond.visible import written
from compiler.frontends.rundown.syntax import AnyStep, Complete, Runbook, Stop, all_steps
from compiler.regex import Regex
from compiler.source import Source, Span
from compiler.suggestions import nearest_names

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
        said = {match[0]: match[1] for text in (*written_here, block) for match in _ANY.finditer(text)}
        for whole, name in said.items():
            if name in declared:
                continue
            if close := _nearest(name.strip(), declared):
                span = _place(places, step, lines, whole)
                problem = f"`{whole}` is not a reference, so it is shown unchanged; did you mean `{written(close)}`?"
                remedy = f"to show the value of `{close}`, write `{written(close)}` without spaces"
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
    values = [(said, key, text) for said in runbook.declared.steps for key, text in said.env.items()]
    known = {*declared, *(key for _, key, _ in values)}
    for said, key, text in values:
        span, meant = said.place("env", key).span, frozenset(NAMED.findall(text))
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
    """Return the lines and columns of everything in double braces."""
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
