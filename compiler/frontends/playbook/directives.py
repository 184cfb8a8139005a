"""Directives and input lines: what stands in one line becomes a part of the syntax tree (P7, P8, P10 to P13)."""

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
"""The words for the types of inputs, in lowercase letters; every other word is a string (P8)."""

_QUOTED = Regex(r'(?P<key>\b\w+:\s*)?"(?P<text>[^"]*)"')
_VARIABLE = Regex(r"\{\{(\w+)\}\}")


def quoted(text: str) -> tuple[str, ...]:
    """The texts in double quotes, those after a keyword such as `default:` left out."""
    return tuple(found["text"] for found in _QUOTED.finditer(text) if not found["key"])


def keyword(text: str, name: str) -> str:
    """The text in double quotes after a keyword; "" if there is none. The last one counts."""
    found = [item["text"] for item in _QUOTED.finditer(text) if (item["key"] or "").rstrip().removesuffix(":") == name]
    return found[-1] if found else ""


def read_input(line: Line) -> Input:
    """An input of INPUTS. A default that is empty is none (P7, P8)."""
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
    """`@elicit(kind, "question", "option")`; None for a kind that there is not (P11)."""
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
    """A name, which can stand in double quotes."""
    is_quoted = len(written) > 1 and written[0] == written[-1] == '"'
    return written[1:-1].strip() if is_quoted else written
