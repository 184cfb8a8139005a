"""The YAML frontmatter of a document (D3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from compiler.diagnostic import Diagnostic
from compiler.options import read_options
from compiler.scenarios import read_scenarios
from compiler.source import Source

FENCE = re.compile(r"---[ \t]*")


class Frontmatter(NamedTuple):
    """The values, the line of each top-level key, and the line on which the document goes on."""

    values: Mapping[str, Any]
    lines: Mapping[str, int]
    next_line: int


def read_frontmatter(source: Source) -> tuple[Frontmatter, list[Diagnostic]]:
    """The frontmatter at the first line of a source, empty if there is none, with what is wrong in it."""
    lines = source.lines
    if not FENCE.fullmatch(lines[0]):
        return Frontmatter({}, {}, 1), []
    end = next((number for number, line in enumerate(lines[1:], 2) if FENCE.fullmatch(line)), None)
    if end is None:
        problem = "the frontmatter that begins here never ends"
        return Frontmatter({}, {}, 1), [
            Diagnostic("RD011", source.path, source.line_span(1), problem, "close it with a line `---`")
        ]
    values, key_lines, found = _load(source, "\n".join(lines[1 : end - 1]))
    if not found:
        found = [*_metadata_problems(source, values, key_lines), *_option_problems(source, values, key_lines)]
    return Frontmatter(values, key_lines, end + 1), found


def _load(source: Source, text: str) -> tuple[dict[str, Any], dict[str, int], list[Diagnostic]]:
    """The values, the line of each key, and what is wrong with the YAML."""
    import yaml  # noqa: PLC0415 (most documents have no frontmatter, and importing it takes time)

    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return {}, {}, [_broken(source, mark.line + 2 if mark else 2, error.problem or "it cannot be read")]
    except (yaml.YAMLError, RecursionError) as error:
        return {}, {}, [_broken(source, 2, str(error).split("\n", 1)[0])]
    if node is None:
        return {}, {}, []
    if not isinstance(node, yaml.MappingNode):
        return {}, {}, [_broken(source, 2, "it is not a mapping of names to values")]
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 2
        try:
            name = loader.construct_object(key, deep=True)
            values[str(name)] = loader.construct_object(value, deep=True)
            lines[str(name)] = line
        except (yaml.YAMLError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
            return {}, {}, [_broken(source, line, "this value cannot be read")]
    return values, lines, []


def _broken(source: Source, line: int, problem: str) -> Diagnostic:
    text = f"the frontmatter is not valid YAML: {problem}"
    remedy = "write `key: value` lines; quote values that hold `: ` or `#`"
    return Diagnostic("RD010", source.path, source.line_span(line), text, remedy)


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
    readers = {"rdc": read_options, "scenarios": read_scenarios}
    problems = [(key, text) for key, read in readers.items() if key in values for text in read(values[key])[1]]
    remedy = "see `rdc explain RD013` for what can be given here"
    return [Diagnostic("RD013", source.path, source.line_span(lines[key]), text, remedy) for key, text in problems]
