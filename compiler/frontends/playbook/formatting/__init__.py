"""Put a playbook into its normal form (`rdc fmt`), and prove that the result means the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from compiler.frontends.base import Formatted, Job
from compiler.frontends.call_scenarios import ENDING
from compiler.frontends.frontmatter import FENCE
from compiler.frontends.naming import stem
from compiler.frontends.playbook.formatting.layout import layout
from compiler.frontends.playbook.formatting.numbering import Numbering, keep_numbers, new_numbers
from compiler.frontends.playbook.lines import texts
from compiler.frontends.playbook.reading import Read, read
from compiler.source import LINE_END, Source

DEFECT = "the formatted document would not mean the same"


def format_document(job: Job) -> Formatted:
    """Return the normal form of a playbook; a playbook with errors stays unchanged."""
    source = job.source
    made = read(source)
    if made.parsed is None or made.errors:
        return Formatted(None, made.errors)
    is_named = _is_named_elsewhere(job, made)
    numbering = keep_numbers(made.parsed.playbook) if is_named else new_numbers(made.parsed.playbook)
    text = _text(source, made.frontmatter.next_line, layout(source, made.parsed.tree, numbering))
    if not same_meaning(source, made, replace(source, text=text), numbering):
        return Formatted(None, (), defect=DEFECT)
    return Formatted(text, (), numbering.changes)


def _is_named_elsewhere(job: Job, made: Read) -> bool:
    """Return whether something else refers to step numbers, which formatting must keep then (P11)."""
    source, own = job.source, made.frontmatter
    if "__elicit_step_" in source.text or own.scenarios is not None or "steps" in own.options.values:
        return True
    own_stem = stem(source.name, ".md", ".playbook")
    return bool(own_stem) and job.project.find_below(source, f"{own_stem}{ENDING}") is not None


def _text(source: Source, begin: int, lines: list[str]) -> str:
    """Return the unchanged frontmatter and these lines, with the most common line ending."""
    head = list(source.lines[: begin - 1])
    between = [""] if head or (lines and FENCE.fullmatch(lines[0])) else []  # a rule on top would start a frontmatter
    ends = Counter(LINE_END.findall(source.text))
    end = max(("\n", "\r\n", "\r"), key=lambda one: ends[one])
    return "".join(line + end for line in (*head, *between, *lines))


_PLACES = {"span", "system_span", "content_line", "lines"}


def same_meaning(source: Source, before: Read, result: Source, numbering: Numbering) -> bool:
    """Return whether the result reads as the same document with new numbers."""
    after = read(result)
    if before.parsed is None or after.parsed is None or after.errors:
        return False
    same_tree = _plain(numbering.playbook) == _plain(after.parsed.playbook)
    same_options = repr(before.frontmatter.scenarios) == repr(after.frontmatter.scenarios)
    return same_tree and same_options and list(_written(source, before)) == list(_written(result, after))


def _plain(value: object) -> object:
    """Return a tree as tuples, without places."""
    if isinstance(value, Struct):
        return tuple(_plain(getattr(value, name)) for name in value.__struct_fields__ if name not in _PLACES)
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


def _written(source: Source, made: Read) -> Iterator[str]:
    """Yield the lines of text that are not blank."""
    for number in texts(made.parsed.scanned.lines if made.parsed else ()):
        if line := source.lines[number - 1].rstrip():
            yield line
