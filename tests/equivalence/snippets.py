"""Commands that are run as they stand: each calls `CALL` once, with arguments that must arrive, and keeps its outcome.

They mean the same to bash and to dash, and none ends its output within a line.
"""

from __future__ import annotations

from tests.equivalence.model import Leaf
from tests.equivalence.scenario import CALL

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

_TOLD = f'told() {{\n  {CALL} "$@" "$(cat)"\n}}\n'

SNIPPETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "plain": (CALL, ()),
    "comment at the end": (f"{CALL} # don't", ()),
    "backslash at the end": (f"{CALL} a \\", ("a", "\\")),
    "blank lines around": (f"\n\n  {CALL} a\n\n", ("a",)),
    "tab first": (f"\t{CALL} 'a\tb'", ("a\tb",)),
    "spaces first": (f"    true\n{CALL} a", ("a",)),
    "continued lines": (f"{CALL} a \\\n  b \\\n", ("a", "b")),
    "here-document": (f"{_TOLD}told <<'EOF'\n{_DOCUMENT}\nEOF", (_DOCUMENT,)),
    "here-document without an end": (f"{_TOLD}told <<'EOF'\nno end", ("no end",)),
    "here-document with expansions": (f"x='a b'\n{_TOLD}told <<EOF\n$x \\$x $((1 + 2))\nEOF", ("a b $x 3",)),
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
    "trap": (f"told() {{\n  {CALL}\n}}\ntrap 'told; exit $?' EXIT\ntrue", ()),
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
    code, said = SNIPPETS[name]
    return Leaf(prompt, code, info, said)
