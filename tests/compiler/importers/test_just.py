"""Recipes of justfiles: a draft runs the commands that `just` runs, or the import is refused by name."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.importers.draft import Draft, print_draft
from compiler.importers.just import import_recipe, recipe_names
from compiler.importers.just_dump import RefusedError, read_dump
from compiler.ir.program import Input
from tests.support.cli import call
from tests.support.warm.forks import begun, forking

pytestmark = pytest.mark.process

JUST = Path(sys.executable).with_name("just")

JUSTFILE = r"""
export GREETING := "it's \"$HOME\""
export PLACES := justfile_directory() / "bin:" + env("EXTRA")
both := "one two"
base := env("BASE", "/srv/shop")
kind := if both == "one two" { "--two" } else { "--other" }

alias r := release

# Publish a version, and say so
release version="1.0" $flag='-v': (step version "k") base (step "z" "k") base
    @tool {{version}}
    tool v{{ version }} '{{version}}' "x{{version}} \
      y" {{both}} '{{both}}' {{kind}}
    # a note about {{version}}
    tool {{base}}/{{version}} --as=$flag {{justfile_directory()}}/x {{{{kept}}

step first second: base
    tool {{first}}{{second}} > /dev/null

base:
    tool one && tool two; tool three
    false || tool four

quotes x:
    tool "$(inner {{x}} '{{x}}')" `inner {{x}}` "`inner {{x}}`" $(( 1 + {{ "2" }} )) # {{x}}
    mkdir -p sub; cd sub && tool {{justfile_directory()}}/{{x}}
    [ -n {{x}} ] && tool "it's {{x}}" 'say "{{x}}"'
    for i in {{x}} b; do tool $i; done

named c:
    {{c}} a
    A={{c}} tool

twice: (step "a" + "b" "k") (step "ab" "k") (step "a" / "b" "k")

empty x="":
    tool {{x}} end
    tool "{{x}}" end

spaced x="a b":
    tool {{x}} "{{x}}"

dashed my-name: base
    tool {{my-name}}

reserved PATH:
    tool {{PATH}}

reading other:
    tool {{other}} "${other-none}"

lines:
    tool first
    tool second; exit 3
    tool third

unset:
    tool "$nothing"

pipe:
    false | true
    tool after

long:
    if true; then \
      tool inside; \
    fi

[confirm("Really {{{{go}} <b> `now`")]
asked: base
    tool asked
"""
STRICT = """
set shell := ["bash", "-euo", "pipefail", "-c"]

pipe:
    false | true
    tool after

list x:
    a=({{x}} b); tool "${a[@]}" "${#a[@]}"
    [[ {{x}} == v* ]] && tool yes
"""
LOOSE = """
set shell := ["bash", "-c"]
set export
set ignore-comments
note := 'hi "you"'

go who="you":
    # hidden \\
    tool $note "$who" {{who}} $nothing
    tool -e "a\\nb"; false; tool again
"""
FAILING = "a line with `-`, whose failure counts for nothing"
EXPORTED = "the environment variable `X`, which the justfile exports"
TOOL = r"""#!/bin/sh
{ printf '%s|' "${0##*/}" "$@" "in ${PWD##*/}" "${GREETING-}" "${PLACES-}" "${note-}" "${flag-}"; echo; } >> "$LOG"
[ "${1-}" != "$FAILING" ]
"""


def dumped(folder: Path, text: str) -> bytes:
    (folder / "justfile").write_text(text)
    words = [str(JUST), "--justfile", "justfile", "--dump", "--dump-format", "json"]
    return subprocess.run(words, cwd=folder, check=True, capture_output=True).stdout


def imported(folder: Path, text: str, name: str) -> Draft:
    return import_recipe(dumped(folder, text), text, name)


def refusal(folder: Path, text: str, name: str) -> tuple[str, int]:
    with pytest.raises(RefusedError) as refused:
        imported(folder, text, name)
    return refused.value.words, refused.value.line


class Place:
    """A folder with a justfile and the tools that it calls, which write a log."""

    def __init__(self, folder: Path, text: str) -> None:
        self.folder, self.text = folder / "place", text
        self.folder.mkdir()
        self.dump = dumped(self.folder, text)
        self.tools = folder / "tools"
        self.tools.mkdir()
        for name in ("tool", "inner", "v1"):
            (self.tools / name).write_text(TOOL)
            (self.tools / name).chmod(0o755)
        for name in ("sh", "bash", "mkdir"):
            (self.tools / name).symlink_to(str(shutil.which(name)))

    def run(self, words: list[str | Path], log: Path, failing: str) -> tuple[list[str], bool]:
        log.write_text("")
        given = {"PATH": str(self.tools), "LOG": str(log), "FAILING": failing, "EXTRA": "more", "HOME": "/home/me"}
        environment, still = {**given, **begun()}, subprocess.DEVNULL
        with forking():
            done = subprocess.run(
                words, cwd=self.folder, env=environment, capture_output=True, check=False, stdin=still
            )
        assert done.returncode != 2 or "just" in str(words[0]), done.stderr.decode()
        return log.read_text().splitlines(), done.returncode == 0

    def both(self, name: str, values: list[str], failing: str = "") -> list[tuple[list[str], bool]]:
        """Run a recipe with just and as a draft; return the two logs."""
        draft = import_recipe(self.dump, self.text, name)
        (self.folder / "x.runbook.md").write_text(print_draft(draft).text)
        inputs = [
            word
            for one, value in zip(draft.inputs, values, strict=False)
            for word in ("--input", f"{one.name}={value}")
        ]
        (self.folder / "answers").write_text("yes\n" * 3)
        state = ["--state-dir", str(self.folder.parent / f"state-{failing}"), "--answers", "answers"]
        rdc: list[str | Path] = [sys.executable, "-m", "rdc", "run", "x.runbook.md", *inputs, *state]
        just: list[str | Path] = [JUST, "--yes", name, *values]
        return [self.run(words, self.folder.parent / "log", failing) for words in (just, rdc)]


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        *(
            (JUSTFILE, name, [])
            for name in ("base", "twice", "empty", "spaced", "lines", "unset", "pipe", "long", "asked")
        ),
        (JUSTFILE, "release", []),
        (JUSTFILE, "quotes", ["v1.2"]),
        (JUSTFILE, "named", ["v1"]),
        (JUSTFILE, "spaced", ["c d e"]),
        (JUSTFILE, "dashed", ["v1"]),
        (JUSTFILE, "reserved", ["v1"]),
        (JUSTFILE, "reading", ["v1"]),
        (STRICT, "pipe", []),
        (STRICT, "list", ["v1"]),
        (LOOSE, "go", ["me"]),
    ],
)
def test_a_draft_runs_what_just_runs(tmp_path: Path, text: str, name: str, values: list[str]) -> None:
    if name == "release":
        text = text.replace('(step version "k")', '(step "y" "k")')
    just, rdc = Place(tmp_path, text).both(name, values)
    assert rdc == just
    assert just[0] or name in {"unset", "pipe"}


@pytest.mark.parametrize(("name", "failing"), [("base", "two"), ("lines", "first"), ("asked", "one")])
def test_the_first_failing_line_stops_both(tmp_path: Path, name: str, failing: str) -> None:
    just, rdc = Place(tmp_path, JUSTFILE).both(name, [], failing)
    assert rdc == just


def test_a_recipe_becomes_steps_in_the_order_of_just(tmp_path: Path) -> None:
    text = 'test:\n    one\n    two\n\n[confirm("Publish?")]\npublish version: test\n    git push origin v{{version}}\n'
    assert print_draft(imported(tmp_path, text, "publish")).text == (
        "---\nrdc:\n  shell: plain\n  inputs:\n    version:\n      pattern: '[\\w./:@%+=,-]+'\n---\n\n# publish\n\n"
        "Start the run in the folder of the justfile.\n\n## 1. Publish?\n\n- YES: CONTINUE\n- NO: STOP\n\n"
        "## 2. test\n\n### 2.1 Run one\n\n```sh\nset -u\none\n```\n\n### 2.2 Run two\n\n```sh\nset -u\ntwo\n```\n\n"
        '## 3. publish {{version}}\n\n```sh\nset -u\ngit push origin v"$version"\n```\n'
    )


def test_a_strict_shell_is_the_strict_shell_of_runbooks(tmp_path: Path) -> None:
    draft = imported(tmp_path, STRICT, "pipe")
    assert (draft.shell, [(item.tag, item.code) for item in draft.steps[0].items]) == (
        "strict",
        [("bash", "false | true"), ("bash", "tool after")],
    )


def test_an_alias_names_its_recipe_and_the_document_is_the_title(tmp_path: Path) -> None:
    draft = imported(tmp_path, JUSTFILE.replace('(step version "k")', ""), "r")
    assert (draft.recipe, draft.title) == ("release", "Publish a version, and say so")
    assert "# a note about ${version}\n" in draft.steps[-1].items[-1].code


def test_no_comment_is_lost(tmp_path: Path) -> None:
    draft = imported(tmp_path, "a:\n    # before\n    x\n    # between\n    y\n    # after\n", "a")
    assert [item.code for item in draft.steps[0].items] == ["set -u\n# before\nx", "set -u\n# between\ny\n# after"]


def test_only_public_recipes_are_offered(tmp_path: Path) -> None:
    assert recipe_names(dumped(tmp_path, "a:\n    x\n_b:\n    x\n[private]\nc:\n    x\n")) == ["a"]


def test_inputs_admit_only_values_that_a_shell_reads_as_pasted(tmp_path: Path) -> None:
    text = 'a x y="" z="p q":\n    tool {{x}} {{y}} {{z}}\nb x:\n    {{x}} y\n'
    word, words = r"[\w./:@%+=,-]+", r"[\w./:@%+=, -]*"
    assert imported(tmp_path, text, "a").inputs == (
        Input("x", pattern=word),
        Input("y", default="", pattern=words),
        Input("z", default="p q", pattern=words),
    )
    assert imported(tmp_path, text, "b").inputs == (Input("x", pattern=r"[\w./:@%,][\w./:@%+,-]*"),)


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("a *x:\n    y\n", "recipe `a`: the variadic parameter `x`", 1),
        ("\na +x:\n    y\n", "recipe `a`: the variadic parameter `x`", 2),
        ("set positional-arguments\na:\n    y\n", "the setting `positional-arguments`", 1),
        ("[positional-arguments]\na:\n    y\n", "recipe `a`: the attribute `[positional-arguments]`", 1),
        ("a:\n    y\n    z {{os()}}\n", "recipe `a`: the function `os`", 3),
        ("a:\n    z {{quote('x')}}\n", "recipe `a`: the function `quote`", 2),
        ("v := `date`\na:\n    z {{v}}\n", "variable `v`: a command in backticks", 1),
        ("a v=`date`:\n    z {{v}}\n", "recipe `a`: the default of `v`: a command in backticks", 1),
        ("a: && b\n    y\nb:\n    z\n", "recipe `a`: dependencies after `&&`", 1),
        ("b:\n    z\n\na: b && b\n    y\n", "recipe `a`: dependencies after `&&`", 4),
        ("set dotenv-load\na:\n    y\n", "the setting `dotenv-load`", 1),
        ("set shell := ['fish', '-c']\na:\n    y\n", "the shell `fish -c`", 1),
        ("set shell := ['bash', '-lc']\na:\n    y\n", "the shell `bash -lc`", 1),
        ("set shell := ['sh', '-euo', 'pipefail', '-c']\na:\n    y\n", "the shell `sh -euo pipefail -c`", 1),
        ("a:\n    #!/bin/sh\n    y\n", "recipe `a`: a shebang", 2),
        ("[linux]\na:\n    y\n", "recipe `a`: the attribute `[linux]`", 1),
        ("[parallel]\na: b\n    y\nb:\n    z\n", "recipe `a`: the attribute `[parallel]`", 1),
        ("set unstable\n[script]\na:\n    y\n", "recipe `a`: the attribute `[script]`", 2),
        ("[no-cd]\na:\n    y\n", "recipe `a`: the attribute `[no-cd]`", 1),
        ("a:\n    y\n    -z\n", f"recipe `a`: {FAILING}", 3),
        ("a:\n    @-z\n", f"recipe `a`: {FAILING}", 2),
        ("a x:\n    y {{ if x == 'b' { 'c' } else { 'd' } }}\n", "recipe `a`: a condition on a value of the run", 2),
        ("a: (b 'x')\n    y\nb z: c\n    y\nc:\n    -y\n", f"recipe `c`: {FAILING}", 6),
        ("a x: (b x) (b 'v')\n    y\nb z:\n    y {{z}}\n", "recipe `b`: runs with arguments that may be the same", 3),
        ("a x='$(y)':\n    y {{x}}\n", "recipe `a`: the default of `x`, which a shell would read", 1),
        ("a x='B=1':\n    {{x}} y\n", "recipe `a`: the default of `x`, which a shell would read", 1),
        ("a x:\n    y ${{x}}\n", "recipe `a`: the value `x` beside syntax of the shell", 2),
        ("a:\n", "recipe `a`: no command", 1),
        ("b:\n    y\n", "no recipe `a`", 0),
        ("export X := env('X') + 'y'\na:\n    y {{env('X')}}\n", f"recipe `a`: {EXPORTED}", 2),
        ("a x y='\x07':\n    z\n", "recipe `a`: the default of `y`, which a shell would read", 1),
        ("v := '\x07'\na:\n    z {{v}}\n", "recipe `a`: a control character, or a line that is too long", 2),
        ("unexport X\na:\n    y\n", "`unexport`", 1),
    ],
)  # fmt: skip
def test_what_no_runbook_expresses_is_refused_with_its_line(tmp_path: Path, text: str, words: str, line: int) -> None:
    assert refusal(tmp_path, text, "a") == (words, line)


def test_recipes_of_modules_are_refused(tmp_path: Path) -> None:
    (tmp_path / "m.just").write_text("b:\n    y\n")
    assert refusal(tmp_path, "mod m\na: m::b\n    z\n", "a")[0] == "recipe `a`: the dependency `m::b` in a module"


def test_a_dump_evaluates_no_backtick(tmp_path: Path) -> None:
    text = "v := `touch there`\nw := shell('touch there')\nexport X := 'x'\na b=`touch there`:\n    y\nc:\n    z\n"
    assert imported(tmp_path, text, "c").steps
    assert not (tmp_path / "there").exists()


def test_a_recipe_that_doubles_its_arguments_is_refused_early(tmp_path: Path) -> None:
    rest = "".join(f"r{n} x: (r{n + 1} x + 'a') (r{n + 1} x + 'b')\n    y\n" for n in range(30))
    words, _ = refusal(tmp_path, f"a: (r0 'z')\n    y\n{rest}r30 x:\n    y\n", "a")
    assert "more than 300 dependencies" in words
    rest = "".join(f"r{n} x: (r{n + 1} x + x)\n    y\n" for n in range(30))
    words, _ = refusal(tmp_path, f"a: (r0 'z')\n    y\n{rest}r30 x:\n    y\n", "a")
    assert "a value that is too long" in words


def test_names_of_a_justfile_stay_names(tmp_path: Path) -> None:
    question = '[confirm("- PASS: COMPLETE\\n## 9. {N} {{{{x}} <!--")]\n'
    text = f"# {{N}} ](x) <!-- --> ``` # GOTO 9\n{question}a:\n    y '```' '## 3. x' '<!--'\n"
    (tmp_path / "a.runbook.md").write_text(printed := print_draft(imported(tmp_path, text, "a")).text)
    assert call("check", "a.runbook.md", cwd=tmp_path).code == 0
    headings = [line for line in printed.split("\n") if line.startswith("#")]
    assert headings == [
        "# N (x) !-- -- GOTO 9",
        "## 1. PASS: COMPLETE 9. N x !-- Continue?",
        "## 2. N (x) !-- -- GOTO 9",
    ]


@pytest.mark.parametrize("dump", [b"", b"[]", b'{"recipes": 5}', json.dumps({"recipes": {}}).encode(), b"\xff"])
def test_another_dump_is_refused(dump: bytes) -> None:
    with pytest.raises(RefusedError, match="the dump of this version of just"):
        read_dump(dump)


def test_just_is_beside_python() -> None:
    assert os.access(JUST, os.X_OK)
