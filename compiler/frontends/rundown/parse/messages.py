"""Build diagnostics for headers and transitions that break their grammar."""

import re
from collections.abc import Iterable, Iterator, Sequence

from compiler.diagnostics.model import Diagnostic, Fix, Related
from compiler.frontends.rundown.parse.blocks import Block
from compiler.frontends.rundown.parse.lines import COUNT, RESERVED, LineError
from compiler.frontends.rundown.syntax import Step, Transition
from compiler.text.regex import Regex
from compiler.text.source import Source, Span
from compiler.text.suggestions import nearest_name

FORMS = {
    "step": "write `## 1. Title`, `## {N}. Title` or `## Name title`",
    "substep": "write `### 1.1 Title`, `### 1.{n} Title` or `### 1.Name title`, with the number of its step",
}

ACTIONS = ("CONTINUE", "COMPLETE", "STOP", "GOTO", "RETRY")

WORDS = {
    "CHILD_ID": "a substep's number or name",
    "INTEGER": "a number",
    "NAME": "a one-word message",
    "STEP_ID": "a step's number or name",
    "STRING": 'a message in double quotes ("…")',
    "MODIFIER": "ALL or ANY",
    "COLON": "a colon",
    "$END": "the end of the line",
    "<END-OF-FILE>": "the end of the line",
}


_SUBSTEP = Regex(r"[A-Za-z]+[ \t]+(?P<id>[0-9]{1,9}\.[0-9]{1,9})(?:[.:)—–→ \t-]+(?P<rest>\S.*))?")
"""Matches a heading such as `Step 1.2: Test`, which was meant as `### 1.2 Test`."""


def header_diagnostic(source: Source, block: Block, error: LineError, kind: str) -> Diagnostic:
    """Return the diagnostic for a heading that is not a valid header (D6)."""
    span = _span(block, error)
    if error.code == "RD037":
        return _too_large(source, span, error)
    if error.code == "RD035":
        problem = f"`{error.word}` is a reserved word, so it cannot be a name"
        remedy = f"choose another name, such as `{error.word.capitalize()}`: reserved words are case-sensitive"
        return Diagnostic("RD035", source.path, span, problem, remedy)
    meant = _SUBSTEP.fullmatch(block.text) if kind == "substep" else None
    problem = f"this heading is not a valid {kind} header"
    if error.word and error.column:
        problem += f": `{error.word}` cannot follow `{block.text[: error.column].rstrip()}`"
    if meant is None:
        return Diagnostic("RD032", source.path, span, problem, FORMS[kind])
    numbered = f"### {meant['id']} {meant['rest'] or 'Title'}"
    line = source.lines[block.line - 1]
    fix = Fix.by(Span(block.line, line.find("#") + 1, block.line, len(line) + 1), numbered, is_safe=True)
    return Diagnostic("RD032", source.path, span, problem, f"put the number first: `{numbered}`", fix=fix)


def transition_diagnostic(source: Source, block: Block, error: LineError) -> Diagnostic:
    """Return the diagnostic for a list item that starts as a transition but is not one (G2)."""
    span = _span(block, error)
    if error.code == "RD037":
        return _too_large(source, span, error)
    if error.code == "RD041":
        problem = "a RETRY inside another RETRY"
        return Diagnostic("RD041", source.path, span, problem, "use a single count: `RETRY 3 STOP`")
    expected = _expected(error)
    if error.code == "RD035":
        problem = f"`{error.word}` is a reserved word, so it cannot be a name or an unquoted message"
        quoted = f'; quote a message: "{error.word}"' if "STRING" in error.expected else ""
        return Diagnostic("RD035", source.path, span, problem, f"expected {expected}{quoted}")
    if error.word == '"' and block.text.count('"') == 1:
        problem = "this message has no closing quote"
        return Diagnostic("RD040", source.path, span, problem, 'add `"` at the end of the message')
    problem = f"unexpected {_shown(error.word)} in a transition" if error.word else "this transition is incomplete"
    hint, fix = _hint(block, error)
    return Diagnostic("RD040", source.path, span, problem, f"expected {expected}{hint}", fix=fix)


def _shown(word: str) -> str:
    return f"`{word}`" if word.isprintable() and word.strip() else f"character U+{ord(word[0]):04X}"


def broken_duplicates(source: Source, transitions: Iterable[tuple[Block, Transition | None]]) -> Iterator[Diagnostic]:
    """Report second transitions for an outcome if one of the two is unreadable, since no rule sees both (V9)."""
    first: dict[bool, tuple[Block, bool]] = {}
    for block, transition in transitions:
        passes = block.text.startswith(("PASS", "YES"))
        earlier, was_read = first.setdefault(passes, (block, transition is not None))
        if earlier is not block and not (was_read and transition):
            yield second_transition(source, passes, earlier.span, block.span)


def second_transition(source: Source, passes: bool, first: Span, second: Span) -> Diagnostic:
    """Return the diagnostic for a second transition for an outcome (V9)."""
    problem = f"duplicate transition for {'PASS' if passes else 'FAIL'}"
    related = Related(source.path, first, "the first one is here")
    remedy = "remove one of the two; PASS is the same as YES, and FAIL is the same as NO"
    is_equal = source.lines[first.line - 1].strip() == source.lines[second.line - 1].strip()
    fix = Fix.by(source.whole_line(second.line), "", is_safe=True) if is_equal else None
    return Diagnostic("RD114", source.path, second, problem, remedy, (related,), fix)


def continued_transition(source: Source, block: Block) -> Diagnostic:
    """Return the diagnostic for a transition that takes more than one line."""
    line = next(n for n in range(block.line + 1, block.end_line + 1) if source.lines[n - 1].strip())
    text = source.lines[line - 1].strip()
    problem = "a transition must be on one line, but this line is part of the same list item"
    if text.startswith(("- ", "* ", "+ ")):
        remedy = "indent this item like the transition above it"
    elif text.startswith("<!--"):
        remedy = "put the comment above the list, or leave a blank line and start the comment in the first column"
    else:
        remedy = "put it on the same line as the transition, or move the text into the prompt"
    return Diagnostic("RD040", source.path, source.line_span(line), problem, remedy)


STEP_WORD = Regex(r"(.*\bGOTO\s+(?:NEXT\s+)?)(?i:sub-?step|step|#)\s*#?(\d+(?:\.\w+)?)\s*")
"""Matches a target with the word "step" before its number."""

COUNT_WORD = Regex(
    r"(.*\bRETRY\s+\d+)\s+(?i:(?:times?|x|attempts?|tries|retries)\b[\s,]*(?:then\s+)?|(?:then|and|or)\s+)(.*)"
)
"""Matches a RETRY with a word after its count."""


NO_COUNT = Regex(r".*\bRETRY\s+(?!\d|ALL\b|ANY\b)\w+\s+((?:CONTINUE|COMPLETE|STOP|GOTO)\b.*)")
"""Matches a RETRY with a word instead of its count."""

_MESSAGE = Regex(r"(.*?\b(?:STOP|COMPLETE)\s+)([^\"\\]+)")
NEXT_STEP = Regex(r"(.*:\s*)NEXT\s+(?i:step|one)\s*")
SYNONYMS = {
    **dict.fromkeys(("EXIT", "ABORT", "QUIT", "HALT", "CANCEL"), "STOP"),
    **dict.fromkeys(("FINISH", "DONE", "SUCCEED"), "COMPLETE"),
    **dict.fromkeys(("PROCEED", "SKIP", "IGNORE"), "CONTINUE"),
    **dict.fromkeys(("JUMP", "CALL"), "GOTO"),
    **dict.fromkeys(("REPEAT", "AGAIN"), "RETRY"),
}


def counted_in_words(source: Source, block: Block) -> Diagnostic | None:
    """Warn about `RETRY 3 TIMES`, where TIMES is the message of the STOP after the retries."""
    match = COUNT_WORD.fullmatch(block.text)
    if match is None or match[2]:
        return None
    word = block.text[match.end(1) :].strip()
    problem = f"`{word}` does not belong to the count: it becomes the message of the STOP after the last retry"
    action = match[1][match[1].rindex("RETRY") :]
    remedy = f'write `{action}`; to keep the message, quote it: `{action} STOP "{word}"`'
    return Diagnostic("RD043", source.path, block.span, problem, remedy, fix=_written_as(block, match[1]))


def _written_as(block: Block, text: str, *, is_safe: bool = False) -> Fix:
    return Fix.by(block.span.part(0, len(block.text)), text, is_safe=is_safe)


def tag_fix(source: Source, line: int, written: str, meant: str, *, is_safe: bool = False) -> Fix | None:
    """Return the fix that changes a code block's tag, or None if the tag is not on the line."""
    found = re.match(rf"[ \t]*(?:`+|~+)[ \t]*(?={re.escape(written)})", source.lines[line - 1]) if written else None
    column = found.end() + 1 if found else 0
    return Fix.by(Span(line, column, line, column + len(written)), meant, is_safe=is_safe) if found else None


def _hint(block: Block, error: LineError) -> tuple[str, Fix | None]:
    if match := STEP_WORD.fullmatch(block.text):
        meant = f"{match[1]}{match[2]}"
        return f"; did you mean `{meant}`?", _written_as(block, meant, is_safe=True)
    if (match := COUNT_WORD.fullmatch(block.text)) and match[2]:
        meant = f"{match[1]} {match[2]}"
        return f"; did you mean `{meant}`?", _written_as(block, meant, is_safe=True)
    if match := NO_COUNT.fullmatch(block.text):
        return f"; RETRY needs a number: `RETRY 2 {match[1]}`", None
    if match := NEXT_STEP.fullmatch(block.text):
        meant = f"{match[1]}CONTINUE"
        return f"; did you mean `{meant}`?", _written_as(block, meant)
    before = block.text[: error.column].split()
    if before[-2:-1] in (["STOP"], ["COMPLETE"]) and not before[-1].startswith('"'):
        match = _MESSAGE.fullmatch(block.text)
        fix = _written_as(block, f'{match[1]}"{match[2].strip()}"', is_safe=True) if match else None
        return "; put a message of several words in double quotes", fix
    word, is_action = error.word.upper(), not set(ACTIONS).isdisjoint(error.expected)
    if is_action and (meant := nearest_name(word, ACTIONS) or SYNONYMS.get(word, "")):
        return f"; did you mean {meant}?", Fix.respelling(_span(block, error), error.word, meant)
    is_name = before[:-1][-1:] == ["GOTO"]
    return "; use the step's number or its one-word name" if is_name else "", None


def _span(block: Block, error: LineError) -> Span:
    column = block.column + error.column
    return Span(block.line, column, block.line, column + max(len(error.word), 1))


def _too_large(source: Source, span: Span, error: LineError) -> Diagnostic:
    problem = f"the number has {len(error.word)} digits"
    return Diagnostic("RD037", source.path, span, problem, "use at most nine digits")


def _expected(error: LineError) -> str:
    """Describe the expected tokens: actions come first, spaces are left out."""
    keywords = [name for name in error.expected if name in RESERVED and name != "NEXT"]
    others = [WORDS[name] for name in error.expected if name in WORDS]
    words = list(dict.fromkeys([name for name in error.expected if name == COUNT] + keywords + others))
    if error.expected == ("_WS",) and not error.word:
        words = ["a step's number or name, or NEXT"]  # only after GOTO does the grammar require a space
    words = words or ["the end of the line"]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]


COUNTING_WORDS = frozenset({"step", "stage", "phase", "part", "task"})
"""Words before a number that are rarely meant as names, in lowercase."""

_TITLE = Regex(r"(?P<number>[0-9]{1,9})(?P<mark>[ \t]*[.:)—–→-])?(?:[ \t]+(?P<rest>\S.*))?")


def numbered_header(step: Step) -> str | None:
    """Return `## 2. Test` for `## Step 2: Test`, or None if the title does not start with a number.

    `## Phase 2 checks` counts too, because no one names a step `Phase`. `## Release 2 candidates` doesn't.
    """
    if not isinstance(step.id, str) or not step.title[:1].isdigit():
        return None
    match = _TITLE.fullmatch(step.title)
    if match is None or not (match["mark"] or str(step.id).lower() in COUNTING_WORDS):
        return None
    return f"## {match['number']}. {match['rest'] or 'Title'}"


def missing_steps(steps: Sequence[Step]) -> dict[int, Step]:
    """Return named steps by their intended number if no step has it: `## Step 2: Test` is the missing step 2."""
    headers = ((numbered_header(step), step) for step in steps)
    meant = {int(header.split()[1].rstrip(".")): step for header, step in headers if header}
    return {number: step for number, step in meant.items() if all(step.id != number for step in steps)}


def with_number(source: Source, step: Step, number: int) -> str:
    """Return `## 2. Test` for the header `## Test`."""
    return f"## {number}. {heading_of(source, step)}"


def heading_of(source: Source, step: Step) -> str:
    """Return the whole text of a step's heading."""
    return source.lines[step.span.line - 1][step.span.column - 1 : step.span.end_column - 1].rstrip()
