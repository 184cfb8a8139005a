"""Texts and commands that a careless program takes for something else, for every place of a runbook that has one."""

from tests.differential.generate.rundown_model import Leaf
from tests.support.hostile_texts import LINES, NASTY

CALL = "@VISIT@"
"""Stands in the code of a step for the command that logs the visit; such code is run as it is."""


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
    "Confirm:\n\n- [ ] one\n- [x] `two` $(exit 9) 100% ::error::no\n  more",
    "- [ ] \x1b[31m {N} ${{ secrets.X }} # \"y\" 'z' \\\n  - [ ] `PASS: STOP`\n\n1. [ ] EOF",
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
    "\"double\" 'single' \\ back\\",
    "{{N}} {{version}} {N} {n}",
    "été 🚀 ß –",
    "long " * 40 + "end",
    *(line for line in LINES if line.isprintable() and line == line.strip()),
)
"""For inputs: what a person gives on one line, without spaces around it."""

VALUES = (*GIVEN, *(text for text in NASTY if text not in GIVEN), "x" * 65_536)
"""For what commands write."""

TYPED = tuple(
    text for text in GIVEN if text.strip() == text and text.isprintable() and text.lower() not in ("", "pass")
)
"""Values that people type."""


# Each calls `CALL` once, with arguments that must arrive, and keeps its outcome. They mean the same to bash and to
# dash, and none ends its output within a line.
_DOCUMENT = """\
## 7. Code
- PASS: STOP
#> name_u1
#| $x `y` $(z) \\\\ ' " \\
#<
#: exit 9
--- # ${{ github.token }} %YAML | > & * ! @
\ttab  two  spaces
{N} ${N} {n}
$$ $(shell x) :=
rdc: COMPLETE"""

# What ends a line for some, or shows as nothing: only a line break is one.
_ODD = "é 🚀 \u2028 \x0b \x0c \x1c \x85 \xa0 \u200b \ufeff \u202e \x01 \x1b[31m \x7f |"
_LONG = "long " * 400

_GIVEN = f'given() {{\n  {CALL} "$@" "$(cat)"\n}}\n'

SNIPPETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "plain": (CALL, ()),
    "comment at the end": (f"{CALL} # don't", ()),
    "backslash at the end": (f"{CALL} a \\", ("a", "\\")),
    "blank lines around": (f"\n\n  {CALL} a\n\n", ("a",)),
    "tab first": (f"\t{CALL} 'a\tb'", ("a\tb",)),
    "spaces first": (f"    true\n{CALL} a", ("a",)),
    "continued lines": (f"{CALL} a \\\n  b \\\n", ("a", "b")),
    "here-document": (f"{_GIVEN}given <<'EOF'\n{_DOCUMENT}\nEOF", (_DOCUMENT,)),
    "here-document without an end": (f"{_GIVEN}given <<'EOF'\nno end", ("no end",)),
    "here-document with expansions": (f"x='a b'\n{_GIVEN}given <<EOF\n$x \\$x $((1 + 2))\nEOF", ("a b $x 3",)),
    "quotes": (f"{CALL} 'a\"b' \"c'd\" e\\ f \\\\ '' \"\"", ('a"b', "c'd", "e f", "\\", "", "")),
    "expansions": (
        f'x=\'a b\'; {CALL} "${{x#a }}" ${{x}} $((1+2)) "$(echo c)" `echo d`',
        ("b", "a", "b", "3", "c", "d"),
    ),
    "expressions": (f"{CALL} '${{{{ github.token }}}}' '}}}}' '${{{{'", ("${{ github.token }}", "}}", "${{")),
    "placeholders": (f"{CALL} '{{N}}' '${{N}}' '{{n}}{{N}}' '$ {{n}}'", ("{N}", "${N}", "{n}{N}", "$ {n}")),
    "odd characters": (f"{CALL} '{_ODD}'", (_ODD,)),
    "long": (f"{CALL} '{_LONG}'", (_LONG,)),
    "percent and make": (f"{CALL} '%s\\n %% %d' '$$x' '$(MAKE)' 100%", ("%s\\n %% %d", "$$x", "$(MAKE)", "100%")),
    "positional": (f'set -f; {CALL} "$#" *; code=$?; set -- a b; exit $code', ("0", "*")),
    "no variables of others": (
        f'{CALL} "${{rdc_loop-none}}" "${{rdc_expected-none}}" "${{REPLY-none}}" "${{rdc_make-none}}"',
        ("none",) * 4,
    ),
    "variables": (
        f"export rdc_node=x rdc_outcome=pass IFS=:\n{CALL}\ncode=$?\nexport LEAK=x RDC_ATTEMPT=9\nexit $code",
        (),
    ),
    "functions": (f"run() {{ exit 9; }}\nnote() {{ exit 9; }}\ndone_with() {{ exit 9; }}\n{CALL}", ()),
    "another folder": (f"{CALL}\ncode=$?\ncd /\nexit $code", ()),
    "set -e": (f"set -eu\nfalse || true\n{CALL}\ntrue", ()),
    "subshell": (f"(exit 3)\n({CALL} a)", ("a",)),
    "trap": (f"given() {{\n  {CALL}\n}}\ntrap 'given; exit $?' EXIT\ntrue", ()),
    "exec": (f"exec {CALL} a", ("a",)),
    "exit early": (f"{CALL}; exit $?\nexit 9", ()),
    "other exit codes": (f"{CALL} || exit 255", ()),
    "killed": (f"{CALL} || kill -KILL $$", ()),
    "told to end": (f"{CALL} || kill -TERM $$", ()),
    "background": (f"sleep 0.01 > /dev/null 2>&1 &\n{CALL}", ()),
    "reads": (f'[ -t 0 ] || cat > /dev/null; read -r x < /dev/null; {CALL} "${{x:-nothing}}"', ("nothing",)),
    "says": (f"echo 'rdc: COMPLETE no'; echo '##[group]x' >&2; printf 'a\\rb\\n'; {CALL}", ()),
    "closes": (f"exec > /dev/null 2>&1 < /dev/null; {CALL}", ()),
    "limits": (f"umask 077; ulimit -n 64; {CALL}", ()),
    "conditions": (f"if {CALL} a; then :; elif true; then exit 7; fi", ("a",)),
    "pipe": (f"yes | head -n 1 > /dev/null; {CALL} a > /dev/null", ("a",)),
}


def snippet(name: str, info: str, prompt: str = "") -> Leaf:
    """A step with a command of this name."""
    code, arguments = SNIPPETS[name]
    return Leaf(prompt, code, info, arguments)
