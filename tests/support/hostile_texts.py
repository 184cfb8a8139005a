"""Texts that a careless program takes for something else; the first of each is the simplest."""

import unicodedata

NASTY = (
    "x",
    "two words",
    "$(touch x)`touch x`",
    "'; touch x; '",
    "\"double\" 'single' \\ and \\n back\\",
    "${{ github.token }} }} ${{",
    "a\nb=c",
    "::set-output name=x::y",
    "::stop-commands::x\n##[group]y",
    "]]]",
    "{{name}} {N} {n} ${N}",
    "- leading",
    "-n",
    "-e \\c %s %% 100%",
    "$$x $(MAKE) $(shell touch x) #",
    "one\r\ntwo\rthree",
    "  spaces around  ",
    "\ttab",
    "ends in lines\n\n",
    "\n\nbegins with lines",
    "été 🚀 ß – \u2028 \xa0",
    "\u202e right to left \u200b",
    "EOF\nRDC_EOF\nendef\nfi\nesac",
    "a=b<<c",
    "@file",
    "~/x *.py ?",
    "<b>&amp;</b> | [a](b) <!-- --> ```\n~~~",
    "!x ^y; a & b | c > d",
    "pass",
    "null",
    "[31m\x1b[31mred\x1b[0m\x07",
    "\x1b]0;title\x07\x9b",
    "long " * 40,
)
"""For what programs, people, agents and commands say, on one or several lines."""

LINES = tuple(text for text in NASTY if "\n" not in text and "\r" not in text)
"""For what has one line."""

PLAIN = tuple(text for text in NASTY if text.isprintable() or text == "été 🚀 ß – \u2028 \xa0")
"""For places where a person reads it only."""

IDS = (
    "1", "2", "3.1", "{N}.1", "Review", "2/lint.runbook.md/1", "2a", "a-b_c", "1~2", "module:flow:step", "été", "3.2",
)  # fmt: skip
"""Of steps."""

KEYWORDS = ("DONE", "RETRY", "NOT DONE", "OK", "LGTM!", "[x]", "no-go", "état")
"""`NOT DONE` holds another one, `LGTM!` and `[x]` end with no word character."""

PATTERNS = {
    "score: [0-9]+": "score: 12",
    "^ok": "OK",
    "done\\Z": "Done",
    "a.b|\\$\\(": "axb",
    "(?s)x.*y": "x\ny",
    "\\bétat\\b": "L'ÉTAT",
}
"""Of validations, each with something that it matches."""

FIELDS = ("field", "a", 'q"')
"""Of JSON objects that are looked for in answers."""

OBJECTS = (
    '{"field": "plain"}',
    '{"field": " spaces \\n around \\n"}',
    '{"field": "esc \\" \\\\ \\u00e9 \\ud83d\\ude80 $(touch x)"}',
    '{"a": {"field": {"field": [1, 2.50, true, null, "é\\u0001"]}}}',
    '{"field": {"b": 1, "a": [ ]}}',
    '{"field": "nul \\u0000, half \\udc80 of a pair"}',
    '{"a": "in a string: {\\"field\\": 1}", "field": 2}',
    'text {"field": "broken',
    '{"field": "first"} and {"field": "last"} and {"other": 1}',
    '{"field": 1} {broken {"a": ""}',
    '```json\n{\n  "field": "a\\nb=c"\n}\n```',
    '{"q\\"": "]]]", "field": ""}',
    "{'field': 1}",
    '{"field": "one", "field": "two"}',
    '[{"a": false}, {"field": "${{ github.token }}"}]',
)
"""Whole and broken objects in answers."""

SCALARS = [
    "${{ github.token }}",
    "yes",
    "1e3",
    "'",
    '"',
    "\\",
    "# ",
    ": ",
    "\t",
    "\r",
    "\n",
    "  ",
    "\u2028",
    "🚀",
    "|",
    ">",
    "- ",
    "---",
    "%",
]
"""For what YAML, expressions or a shell may take for something else."""
EVIL = ("'; rm -rf .", "$(touch PWNED)`touch PWNED`", "\x1b]8;;https://x\x07link", "\u2066\u202e txt", "%0a::error::x")
"""What moves a cursor, turns a line around, or is a command where somebody is careless."""


def is_unsafe(character: str) -> bool:
    """Whether a terminal may do something else than to show a character."""
    return character not in "\n\t" and unicodedata.category(character) in {"Cc", "Cf"} and character != "\u200b"
