"""Warn about blocks without a command, and about commands written for a reader or another program."""

import re
from collections.abc import Iterator, Mapping, Sequence

from compiler.diagnostics.model import Diagnostic, Edit, Fix, Related
from compiler.frontends.common.names import name_issues
from compiler.frontends.rundown.syntax import Code, Runbook, all_steps
from compiler.text.regex import Regex
from compiler.text.source import Source, Span

_PART = Regex(
    r"(?P<comment>(?<![^\s;&|()])#[^\n]*)"
    r"|(?P<here>(?<!<)<<(?!<)-?[ \t]*(?P<quote>['\"\\]?)(?P<end>[\w.-]++)[^\n]*+(?:\n|\Z))"
    r"(?P<body>(?>(?:(?!\t*(?P=end)$)[^\n]*\n)*))|\\.|'[^']*+'|\$'(?>(?:\\.|[^'\\])*)'|\"(?P<double>(?>(?:\\.|[^\"\\])*))\"",
    re.DOTALL | re.MULTILINE,
)
"""Matches comments, here-documents and strings, where characters have another meaning."""

_COMMENTS = Regex(r"(?>(?:[ \t]*(?:#[^\n]*)?\n?)*)")

_PROMPT = Regex(
    r"^[ \t]*(?P<prompt>(?:[$%❯➜]|\w[\w.-]*@[\w.-]+(?:[: ]\S{0,80})?[$#%]|\[\w[\w.-]*@[^\]\n]{1,80}\][$#]"
    r"|(?:bash|zsh|sh)-[\d.]+[$#])[ \t]+)(?=\S)",
    re.MULTILINE,
)

PLACEHOLDER = Regex(
    r"(?<!<)<(?:[^\W\d_]\w*+(?:-\w++| (?!\d+>)\w++){0,6}>(?![\w>&|(])|[A-Z][A-Z0-9_]++(?:[ -][A-Z0-9_]++){0,6}>(?!>))"
    r"|(?:(?<=[/=:@.,-])<[^\W\d_][\w ./:-]{0,60}>|(?<!<)<[^\W\d_][\w ./:-]{0,60}>(?=[ \t]*(?:[;)]|$)))(?![>&|(])",
    re.MULTILINE,
)
"""Matches `<POD_NAME>`, which a shell reads as two redirections; `<in.txt>out.txt` isn't a placeholder."""

_EXPRESSION = Regex(r"(?<!\\)\$\{\{[ \t]*(?P<kind>[\w-]++)(?>(?:\.(?P<name>[\w-]++))?)[^{}\n]{0,200}\}\}")
_COMMENT = Regex(r"(?<!\S)#[^\n]*")
_FILE = Regex(r"(?:\$\{?|[\[(][\"']|[.:])(GITHUB_(?:OUTPUT|ENV|PATH|STATE)|RDC_OUTPUT)\b")
_WRITES = Regex(r"\bcat\b[^|\n]*(?<!<)>|\btee\b")
_WRITTEN = Regex(r"([A-Za-z_]\w*)(?:=|<<)[^\n]{0,300}>>[ \t]*[\"']?\$\{?RDC_OUTPUT\b")


def check_commands(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about the commands of a document; each warning is at the fence, where an ignore comment can be above it."""
    blocks = [step.code for step in all_steps(runbook) if step.code and step.code.interpreter]
    for code in blocks:
        if _COMMENTS.fullmatch(code.text):
            problem = (
                f"this block {'has only comments' if code.text.strip() else 'is empty'}, so the step always passes"
            )
            remedy = "write the command; if `#` is a prompt, remove it; for a manual step, write text instead"
            yield Diagnostic("RD053", source.path, code.span, problem, remedy)
        if _PROMPT.search(code.text):
            yield from _prompts(source, code)
        if "<" in code.text and PLACEHOLDER.search(code.text):
            yield from _placeholders(source, code)
        if "${{" in code.text:
            yield from _expressions(source, code)
        if "GITHUB_" in code.text or "RDC_OUTPUT" in code.text:
            yield from _files(source, code, runbook, blocks)


def shell_text(command: str, *, all_words: bool = False) -> str:
    """Return a command with comments and quoted here-documents replaced, at the same lines and columns.

    With `all_words`, strings and all here-documents are replaced too, except commands in strings.
    """

    def shown(match: re.Match[str]) -> str:
        if match["here"]:
            is_hidden = all_words or match["quote"]
            return match["here"] + (re.sub(r"[^\n]", " ", match["body"]) if is_hidden else match["body"])
        if match["comment"] or not all_words:
            return " " * len(match[0]) if match["comment"] else match[0]
        _, opening, rest = (match["double"] or "").partition("$(")
        hidden = re.sub(r"[^\n\\]", "_", match[0].removesuffix(f'{rest}"') if opening else match[0])
        return hidden + (f"{shell_text(rest, all_words=True)}_" if opening else "")

    return _PART.sub(shown, command)


def _warning(
    source: Source, code: Code, name: str, at: tuple[int, str], words: tuple[str, str], fix: Fix | None = None
) -> Diagnostic:
    """Return a warning with its message and help; `at` are the line in the block and the words that it is about."""
    related = Related(source.path, _place(source, code, at), "it is here")
    return Diagnostic(name, source.path, code.span, *words, (related,), fix)


def _at(found: re.Match[str], group: int = 0) -> tuple[int, str]:
    return found.string.count("\n", 0, found.start(group)), found[group]


def _place(source: Source, code: Code, at: tuple[int, str]) -> Span:
    line = code.span.line + 1 + at[0]
    column = source.lines[line - 1].find(at[1]) + 1
    return Span(line, column, line, column + len(at[1])) if column else source.line_span(line)


def _prompts(source: Source, code: Code) -> Iterator[Diagnostic]:
    """Warn about prompts; without a fix if a line below a prompt may be output."""
    found, output = _session(shell_text(code.text, all_words=True))
    if not found:
        return
    has_output = bool(output)
    problem = f"`{found[0][1].strip()}` is the prompt of a terminal, but the shell runs it as a command"
    remedy = f"write only the command{'s, without the output' if has_output else ''}"
    fix = None if has_output else Fix(tuple(Edit(_place(source, code, at), "") for at in found))
    yield _warning(source, code, "RD054", found[0], (problem, remedy), fix)


def _session(shown: str) -> tuple[list[tuple[int, str]], frozenset[int]]:
    lines = [*enumerate(shown.split("\n"))]
    starts = [(number, line) for number, line in lines if not (number and lines[number - 1][1].endswith("\\"))]
    found = [(number, match["prompt"]) for number, line in starts if (match := _PROMPT.match(line))]
    known = frozenset(number for number, _ in found)
    below = starts if found else []
    output = (number for number, line in below if line.strip() and number > found[0][0] and number not in known)
    return found, frozenset(output)


def _placeholders(source: Source, code: Code) -> Iterator[Diagnostic]:
    shown = shell_text(code.text, all_words=True)
    _, output = _session(shown)
    found = [match for match in PLACEHOLDER.finditer(shown) if _at(match)[0] not in output]
    if not found:
        return
    first, *others = dict.fromkeys(match[0] for match in found)
    more = f" (also {', '.join(f'`{other}`' for other in others)})" if others else ""
    problem = f"the shell reads the placeholder `{first}` as two redirections, because nothing replaces it{more}"
    name = re.sub(r"\W+", "_", first[1:-1], flags=re.ASCII).strip("_").upper()
    name = f"MY_{name}" if any(name_issues(name, "an input", ())) else name
    yield _warning(source, code, "RD055", _at(found[0]), (problem, _declare("inputs", f"{{{name}: {{}}}}", name)))


def _declare(key: str, value: str, name: str) -> str:
    return f'declare `rdc: {{{key}: {value}}}`, and write `"${name}"`'


def _expressions(source: Source, code: Code) -> Iterator[Diagnostic]:
    match = _EXPRESSION.search(shell_text(code.text))
    if match is None:
        return
    name = (match["name"] or match["kind"]).replace("-", "_")
    remedy = _declare("inputs", f"{{{name}: {{}}}}", name)
    if match["kind"] == "github":
        remedy = f'write `"$GITHUB_{name.upper()}"` if GitHub sets this variable; otherwise declare an input'
    elif match["kind"] == "secrets":
        remedy = _declare("secrets", f"[{name}]", name)
    problem = f"`{match[0]}` is not replaced in a command: the shell gets it unchanged"
    yield _warning(source, code, "RD056", _at(match), (problem, remedy))


def _files(source: Source, code: Code, runbook: Runbook, blocks: Sequence[Code]) -> Iterator[Diagnostic]:
    """Warn about files of GitHub's runner, and about RDC_OUTPUT without declared outputs (E2)."""
    text = _COMMENT.sub("", _PART.sub(_without_written_text, code.text))
    named = {match[1]: match for match in _FILE.finditer(text)}
    found = [match for name, match in named.items() if not _is_guarded(text, name)]
    runners = [match for match in found if match[1] != "RDC_OUTPUT"]
    if runners:
        problem = f"{runners[0][1]} exists only in workflows of GitHub where no step calls the program"
        remedy = "pass the value on as an output: declare it in `outputs`, and write it to $RDC_OUTPUT"
        yield _warning(source, code, "RD541", _at(runners[0], 1), (problem, remedy))
    settings = runbook.metadata.get("rdc", {})
    is_unreadable = source.lines[0].strip() == "---" and not runbook.metadata
    is_declared = is_unreadable or not isinstance(settings, Mapping) or settings.get("outputs")
    if len(runners) < len(found) and not is_declared:
        at = next(match for match in found if match not in runners)
        names = ", ".join(dict.fromkeys(name for block in blocks for name in _WRITTEN.findall(block.text)))
        problem = "this command writes to $RDC_OUTPUT, but the document declares no outputs"
        fix = _declaring(source, names) if names and "rdc" not in runbook.metadata else None
        yield _warning(
            source, code, "RD137", _at(at, 1), (problem, f"declare `rdc: {{outputs: [{names or 'NAME'}]}}`"), fix
        )


def _without_written_text(match: re.Match[str]) -> str:
    before = match.string[match.string.rfind("\n", 0, match.start()) + 1 : match.start()]
    is_text = match["quote"] and _WRITES.search(before + match["here"])
    return match["here"] if is_text else match[0]


def _declaring(source: Source, names: str) -> Fix:
    setting = f"rdc: {{outputs: [{names}]}}\n"
    is_there = source.lines[0].strip() == "---"
    return Fix.by(Span(2, 1, 2, 1), setting) if is_there else Fix.by(Span(1, 1, 1, 1), f"---\n{setting}---\n\n")


def _is_guarded(text: str, name: str) -> bool:
    guard = rf"-[nzefsvw][ \t]+[\"']?\$\{{?{name}\b|\$\{{{name}:?[-+=?]|(?<![\w$]){name}=|\bunset[ \t]+{name}\b"
    return re.search(guard, text) is not None
