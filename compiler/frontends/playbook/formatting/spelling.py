"""Write each kind of line in its normal form; a line without one stays unchanged."""

from __future__ import annotations

from compiler.frontends.playbook.directives import QUESTIONS, read_input
from compiler.frontends.playbook.formatting.numbering import Numbering
from compiler.frontends.playbook.lines import Line
from compiler.regex import Regex
from compiler.source import Source

_ARGUMENT = Regex(r'(?:\b(?P<key>\w+):\s*)?(?P<text>"[^"]*")')


class Spelling:
    """Write the lines of one document with its new step numbers."""

    def __init__(self, source: Source, numbering: Numbering) -> None:
        self.source = source
        self.numbering = numbering

    def line(self, line: Line) -> str:
        """Return the line in its normal form."""
        written = self.source.lines[line.number - 1]
        match line.kind:
            case "STEP":
                return f"## STEP {self.numbering.label(line)}: {line.get('title') or ' '}"  # a space is also a title
            case "SUBSTEP":
                return f"### STEP {self.numbering.label(line)}: {line.get('title')}"
            case "TITLE":
                return f"# {line.get('title')}"
            case "SYSTEM" | "INPUTS" | "ARTIFACTS":
                return f"## {' '.join(written[2:].upper().split())}"
            case "SECTION":
                return f"## {written[2:].strip()}" if written[2:].strip() else written
            case "TYPE":
                kind = line.get("type")
                return f"type: {kind if '{{' in kind else kind.lower()}"
            case "IF" | "ELIF" | "ELSE" | "ENDIF":
                return _marker(line)
            case _:
                return self._inner(line, written.strip())

    def _inner(self, line: Line, written: str) -> str:
        match line.kind:
            case "INPUT":
                return _input(line, written)
            case "OUTPUT":
                kind = f": {line.get('type')}" if line.get("type") else ""
                return f"@output({', '.join([line.get('name') + kind, *(_arguments(line.get('more')) or [])])})"
            case "ELICIT":
                arguments = _arguments(line.get("more"))
                if arguments is None or line.get("kind").lower() not in QUESTIONS:
                    return written
                return f"@elicit({', '.join([line.get('kind').lower(), *arguments])})"
            case "PROMPT":
                return f"@prompt({line.get('reference')})"
            case _:
                parts = (line.get("connection"), line.get("tool"), line.get("arguments"))
                return f"@tool({', '.join(part for part in parts if part)})"


def _marker(line: Line) -> str:
    """Return a marker; spaces in its condition's string matter."""
    word, found = line.kind.lower(), line.found
    if found is None or "name" not in found.re.groupindex:
        return f"```{word}```"
    if found["operator"] is None:
        return f"```{word} {found['name']}```"
    return f'```{word} {found["name"]} {found["operator"]} "{found["value"]}"```'


def _arguments(more: str) -> list[str] | None:
    """Return the strings in double quotes, or None if there is anything else between them."""
    between = _ARGUMENT.sub("", more)
    if between.replace(",", "").strip():
        return None
    return [f"{found['key']}:{found['text']}" if found["key"] else found["text"] for found in _ARGUMENT.finditer(more)]


def _input(line: Line, written: str) -> str:
    declared = read_input(line)
    if not declared.written:
        return written
    value = ", ".join(declared.options) if declared.type == "enum" else declared.default
    kind = f"{declared.written}: {value}" if value else declared.written
    description = f": {declared.description}" if declared.description else ""
    return f"- `{declared.name}` ({kind}){description}"
