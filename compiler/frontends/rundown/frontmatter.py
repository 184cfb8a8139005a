"""The YAML frontmatter of a document (D3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compiler.diagnostic import Diagnostic
from compiler.source import Source, Span

FENCE = re.compile(r"---[ \t]*")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The values, the line of each top-level key, and the line on which the document goes on."""

    values: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    next_line: int = 1


def read_frontmatter(source: Source) -> tuple[Frontmatter, list[Diagnostic]]:
    """The frontmatter at the first line of a source, empty if there is none, with what is wrong in it."""
    lines = source.lines
    if not FENCE.fullmatch(lines[0]):
        return Frontmatter(), []
    end = next((number for number, line in enumerate(lines[1:], 2) if FENCE.fullmatch(line)), None)
    if end is None:
        problem = "the frontmatter that begins here never ends"
        return Frontmatter(), [
            Diagnostic("RD011", source.path, source.line_span(1), problem, "close it with a line `---`")
        ]
    values, key_lines, found = _load(source, "\n".join(lines[1 : end - 1]))
    if not found:
        found = [*_metadata_problems(source, values, key_lines), *_option_problems(source, values, key_lines)]
    return Frontmatter(values, key_lines, end + 1), found


def _load(source: Source, text: str) -> tuple[dict[str, Any], dict[str, int], list[Diagnostic]]:
    import yaml  # noqa: PLC0415 (most documents have no frontmatter, and importing it takes time)

    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        values = {} if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        span = (
            Span(2, 1, 2, 2) if mark is None else Span(mark.line + 2, mark.column + 1, mark.line + 2, mark.column + 2)
        )
        return {}, {}, [_broken(source, span, error.problem or "it cannot be read")]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return (
            {},
            {},
            [_broken(source, source.line_span(2), str(error).split("\n", 1)[0] or "it nests too deeply")],
        )
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        return {}, {}, [_broken(source, source.line_span(2), "it is not a mapping of names to values")]
    pairs = [] if node is None else node.value
    return values, {str(key.value): key.start_mark.line + 2 for key, _ in pairs}, []


def _broken(source: Source, span: Span, problem: str) -> Diagnostic:
    text = f"the frontmatter is not valid YAML: {problem}"
    return Diagnostic("RD010", source.path, span, text, "write `key: value` lines; quote values that hold `: ` or `#`")


def _metadata_problems(source: Source, values: Mapping[str, Any], lines: Mapping[str, int]) -> list[Diagnostic]:
    """Metadata of a wrong type is ignored, but not in silence."""
    texts = ("name", "description", "version", "author")
    found = [_ignored(source, lines[key], key, "a text") for key in texts if isinstance(values.get(key), (list, dict))]
    tags = values.get("tags", [])
    if not isinstance(tags, list) or any(isinstance(tag, (list, dict)) for tag in tags):
        found.append(_ignored(source, lines["tags"], "tags", "a list of texts"))
    return found


def _ignored(source: Source, line: int, key: str, form: str) -> Diagnostic:
    problem = f"`{key}` in the frontmatter is not {form}, and is ignored"
    return Diagnostic("RD012", source.path, source.line_span(line), problem, f"give {form}, or leave the key out")


def _option_problems(source: Source, values: Mapping[str, Any], lines: Mapping[str, int]) -> list[Diagnostic]:
    """What is wrong in the two keys that rdc itself reads: `rdc` (options) and `scenarios` (S1)."""
    problems = []
    if "rdc" in values:
        from compiler.options import document_options  # noqa: PLC0415 (pydantic is needed only here)

        problems += [("rdc", text) for text in document_options(values["rdc"])[1]]
    if "scenarios" in values:
        from compiler.scenarios import read_scenarios  # noqa: PLC0415 (the same)

        problems += [("scenarios", text) for text in read_scenarios(values["scenarios"])[1]]
    remedy = "see `rdc explain RD013` for what can be given here"
    return [Diagnostic("RD013", source.path, source.line_span(lines[key]), text, remedy) for key, text in problems]
