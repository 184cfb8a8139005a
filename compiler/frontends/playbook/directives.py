"""Read directives and input lines into the syntax tree (P7, P8, P10 to P13)."""

from __future__ import annotations

from typing import Literal

from compiler.frontends.playbook.lines import Line
from compiler.frontends.playbook.syntax import Elicit, Input, InputType, Output, PromptRef, ToolCall
from compiler.regex import Regex

QUESTIONS: dict[str, Literal["input", "confirm", "select"]] = {
    "input": "input",
    "confirm": "confirm",
    "select": "select",
}

TYPES: dict[str, InputType] = {
    **dict.fromkeys(("string",), "string"),
    **dict.fromkeys(("text",), "text"),
    **dict.fromkeys(("number", "num", "int", "float"), "number"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    **dict.fromkeys(("enum", "select", "choice"), "enum"),
}
"""The names of input types in lowercase; any other name means string (P8)."""

_QUOTED = Regex(r'(?P<key>\b\w+:\s*)?"(?P<text>[^"]*)"')
_VARIABLE = Regex(r"\{\{(\w+)\}\}")


def quoted(text: str) -> tuple[str, ...]:
    """Return the strings in double quotes, except after a keyword such as `default:`."""
    return tuple(found["text"] for found in _QUOTED.finditer(text) if not found["key"])


def keyword(text: str, name: str) -> str:
    """Return the last quoted string after a keyword, or ""."""
    found = [item["text"] for item in _QUOTED.finditer(text) if (item["key"] or "").rstrip().removesuffix(":") == name]
    return found[-1] if found else ""


def read_input(line: Line) -> Input:
    """Return an input of INPUTS; an empty default counts as none (P7, P8)."""
    written, colon, value = line.get("type").partition(":")
    written, value = written.strip(), value.strip()
    kind = TYPES.get(written.lower(), "string")
    is_enum = kind == "enum"
    options = tuple(option for item in value.split(",") if (option := item.strip())) if is_enum else ()
    default = value if colon and value and not is_enum else None
    return Input(line.get("name"), kind, written, line.get("description"), default, options, line.span)


def read_output(line: Line) -> Output:
    """`@output(name: type, "option", extract:"field")` (P10)."""
    more = line.get("more")
    options, extract = (quoted(more), keyword(more, "extract")) if more else ((), "")
    return Output(line.get("name"), line.get("type"), options, extract, line.span)


def read_elicit(line: Line) -> Elicit | None:
    """Return `@elicit(kind, "question", "option")`, or None for an unknown kind (P11)."""
    kind = QUESTIONS.get(line.get("kind").lower())
    if kind is None:
        return None
    question, *options = quoted(line.get("more")) or ("",)
    return Elicit(kind, question, tuple(options), line.span)


def read_prompt(line: Line) -> PromptRef:
    """`@prompt({{variable}})`, `@prompt(scheme:id)` or `@prompt(id)` (P12)."""
    written = line.get("reference")
    if variable := _VARIABLE.fullmatch(written):
        return PromptRef("variable", variable[1], line.span, written)
    scheme, colon, name = written.partition(":")
    if colon and "{{" not in scheme:
        return PromptRef(scheme.strip(), name.strip(), line.span, written)
    return PromptRef("library", written, line.span, written)


def read_tool(line: Line) -> ToolCall:
    """`@tool(connection, tool, {json})` (P13)."""
    return ToolCall(_name(line.get("connection")), _name(line.get("tool")), line.get("arguments"), line.span)


def _name(written: str) -> str:
    """Return a name without its double quotes, if any."""
    is_quoted = len(written) > 1 and written[0] == written[-1] == '"'
    return written[1:-1].strip() if is_quoted else written
