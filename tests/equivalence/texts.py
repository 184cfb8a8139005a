"""Texts that a careless program takes for something else, for every place that has one; the first is the simplest."""

from __future__ import annotations

LONG = "A long text, " * 60 + "and its end"

# Three of them stand in folders. V11 has neither spaces nor backslashes.
PATHS = (
    "lint.runbook.md",
    "deep-check.runbook.md",
    "lib/types.runbook.md",
    "-x'y\"$(id)`z`%#1@2.runbook.md",
    "ein$HOME/été🚀&|<>*?[a](b)!.runbook.md",
    "a/b/--/{N}~2:=,.runbook.md",
)
MAINS = (
    "main.runbook.md",
    "-n two words.runbook.md",
    'it\'s "$(id)" `x` #1 100%.runbook.md',
    "été🚀\\$HOME:=;&.runbook.md",
    "lib/run.runbook.md",
)
NAMES = ("", "release", "..", "-rf /", "$(id) `x` 'y' \"z\" \\ é 🚀", "a/../../b", "yes", "1e3", "~")

TITLES = (
    "",
    "Title",
    'Run `x` "now" & <later> $HOME {N} {n}',
    "Été 🚀 100% – ${{ github.token }} \\o/ 'q'",
    "% # & | ## \\# :: = := $(x) $$ ^ ~ {{ x }} {% y %}",
    "'; exit 9; # it's",
    "yes",
    "null: [a, *b] - {c}",
    "odd \u200b\u202e\xa0\u2028 characters \x1b[31m",
    "<!-- --> <b> </script> &amp; [a](b) ![c](d)",
    "ends with \\",
    "EOF",
    LONG,
)
MESSAGES = (
    "",
    "Done",
    "Next",
    "GOTO",  # reserved: needs its quotes
    "two words",
    'say "no" \\ back\\slash',
    "$HOME `id` $(id) ${{ secrets.X }} %PATH% !x",
    "batch {N} item {n}, not ${N} ${n}",
    "🚀 – é",
    "it's; a & b | c > d # e * [f](g) <h> &amp;",
    " ends with \\",
    "- PASS: STOP",
    "-n",
    "-e \\n %s %% %d 100%",
    "::error::no ##[group]",
    "COMPLETE {N}{N} {n}{N}",
    "WAITING 1",
    "EOF",
    LONG,
)
HOSTILE_CHARACTERS = "aN n0{}$\\\"`'#<>&|*_%!;:-.,()[]~^=+?/@é🚀"
PROMPTS = (
    "",
    "Check the result.",
    "Check `x` \"y\" 'z' $HOME \\ 100% {N} {n} ${N} ${{ secrets.X }} $(id) 🚀",
    "First do this.\n\nThen PASS: STOP",
    "Look:\n\n- NO changes needed\n- PASS rate above 90 %",
    "> ## 7. Quoted\n> - PASS: STOP",
    "<!--\n## 7. Hidden\n- FAIL: COMPLETE\n-->",
    "1. one\n2. two",
    "::error::no\n##[group]no\n#> name_u1\n#<\n#: exit 9\nEOF\nRDC_EOF\nends with \\",
    "#hashtag %s %% $$ $(shell exit 9) '; exit 9; '",
    "odd \u200b\u202e\xa0 \x0b \x0c \x1b[31m characters\twith a tab",
    "a very\n" * 40 + "long prompt",
    LONG,
)
CODES = (
    "true",
    "exit 3",
    "echo \"a\\b\" '$x' ${HOME} ${{ github.token }} {N} {n} ${N} 100% # é 🚀",
    "cat <<'EOF'\n## 7. Code\n- PASS: STOP\n### x\nEOF",
    "false\n\n  true",
    "```\n- FAIL: STOP\n~~~\n````",
    "#> name_u1\n#| text\n#<\n#: exit 9\nends with \\",
)

# --- What stands under `rdc`, for documents that have it --------------------------------------------------------------

# Names that the drivers of targets, shells or GitHub could take for their own; none is reserved.
VARIABLES = ("version", "N", "n", "x_1", "outcome", "i", "step_1", "name", "Result", "rdc", "_a", "TITLE")
ENVIRONMENT = ("GREETING", "env_1", "pass")
SECRETS = {"API_TOKEN": "s3cr3t/+=4f1", "DEPLOY_KEY": "s3cr3t/+=4f1$(id)'\"`${{ x }}`", "TOKEN_3": "key 0\nkey 1 \\ é"}
"""Each name with its value; one value holds another, one has several lines."""

SHOWING = (
    "{{version}}",
    "v{{version}}-{{x_1}}, {{N}}{{n}} {N}{n} ${{version}} ${N}",
    "{{ version }} {{undeclared}} {{{outcome}}} {{{{i}}}} {{name}}{{rdc}}",
    "$(echo {{step_1}}) `{{Result}}` '{{_a}}' \"{{TITLE}}\" {{PATH}} {{API_TOKEN}} {{GREETING}}",
    "$ {{version}} $${{version}} {{version}}}} {{version {version}",
)
"""For titles, prompts and messages: values, and what only looks like one."""

GIVEN = (
    "1.2.3",
    "",
    "two words",
    "$(touch x)`touch x`",
    "'; touch x; '",
    "\"double\" 'single' \\ back\\",
    "${{ github.token }} }} ${{",
    "{{N}} {{version}} {N} {n}",
    "-n",
    "-e \\c %s %% 100%",
    "$$x $(MAKE) $(shell touch x) #",
    "~/x *.py ?",
    "<b>&amp;</b> | [a](b) <!-- -->",
    "a=b<<c",
    "::set-output name=x::y",
    "été 🚀 ß –",
    "null",
    "long " * 40 + "end",
)
"""For inputs: what a person gives on one line, without spaces around it."""

VALUES = (
    *GIVEN,
    "one\ntwo",
    "a\nb=c",
    "ends in lines\n\n",
    "\n\nbegins with lines",
    "one\r\ntwo\rthree",
    "  spaces around  ",
    "\ttab",
    "EOF\nRDC_EOF\nendef\nfi\nesac",
    "\u202e right to left \u200b \x07 \x1b[31mred",
    "::stop-commands::x\n##[group]y",
    "x" * 65_536,
)
"""For what commands write."""
