"""Values that commands of native steps give to those after them (E2, I9)."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from compiler.ir.edges import Clear, Edge, Keep, SlotTest
from compiler.ir.program import Input, Node, Program, Settings, Variable
from compiler.ir.tasks import Ask, End
from runtime_shim.values.slots import read_output
from tests.backends.github.made import COMPLETE, STOP, TRIES, bash, node, program, ref, retried, to, words
from tests.backends.github.routed import compiled
from tests.backends.github.walking import Clean, shown, succeeded
from tests.support.github.act import end_of
from tests.support.github.compiling import steps

pytestmark = pytest.mark.tool

NAMES = ("A", "B")
SHOW = 'printf "%s|" "${A-unset}" >> "$FOLDER/shown"'


def runs(name: str, command: str, *edges: Edge, **more: Any) -> Node:
    """A command as lowering writes it: it has all values, and may give each."""
    keeps = tuple(Keep(one, "output", one) for one in NAMES)
    own = tuple(replace(edge, effects=(*keeps, *edge.effects)) for edge in edges)
    return node(name, bash(command), *own, variables=tuple(Variable(one, one) for one in NAMES), **more)


def printed() -> Node:
    return node(COMPLETE, End("complete", words("A is ", ref("A", "{{A}}"), ", and B is ", ref("B", "{{B}}"), ".")))


HOSTILE = ("$(touch owned) ${{ github.token }}\u2028\u00e9'\"", "a\n::error::b\nrdc\n", "", " x 100%0A ")


@pytest.mark.share(2)
@pytest.mark.parametrize("value", HOSTILE)
def test_a_value_goes_on_as_a_text(value: str, tmp_path: Path, clean: Clean) -> None:
    (tmp_path / "value").write_bytes(value.encode())
    gives = f'{SHOW}; {{ echo "A<<END-OF-IT"; cat "$FOLDER/value"; echo; echo END-OF-IT; }} > "$RDC_OUTPUT"; exit 1'
    made = program(
        runs("1", gives, to(STOP, "pass"), to("2", "fail")),
        runs("2", SHOW, to("3", "pass"), to(STOP, "fail")),
        runs("3", f'{SHOW}; [ -e "$FOLDER/x" ] || ! touch "$FOLDER/x"', to(COMPLETE, "pass"), to("2", "fail")),
        printed(),
        slots=NAMES,
    )
    done = succeeded(tmp_path, made, clean)
    assert shown(tmp_path) == ["unset", *[value] * 4]
    assert end_of("", done).message.split() == f"A is {value}, and B is {{{{B}}}}.".split()
    assert not (tmp_path / "owned").exists()


def test_attempts_and_loops_see_what_was_given_before(tmp_path: Path, clean: Clean) -> None:
    gives = f'{SHOW}; echo "A=$RDC_ATTEMPT" > "$RDC_OUTPUT"; [ "$RDC_ATTEMPT" = 3 ]'
    settings, again = Settings(timeout=60), retried("1", bash(gives), 5).edges[1:]
    made = program(
        runs("1", gives, to("2", "pass"), *again, retries="tries", settings=settings),
        runs("2", SHOW, to(COMPLETE, "pass"), to(STOP, "fail"), settings=settings),
        counters=(TRIES,),
        slots=NAMES,
    )
    succeeded(tmp_path, made, clean)
    assert shown(tmp_path) == ["unset", "1", "2", "3"]


def test_secrets_are_masked_from_the_moment_a_value_is_read(tmp_path: Path, clean: Clean) -> None:
    gives = """printf 'A<<E\\n%s %s-%s\\n%s\\nE\\n' "$KEY" "$KEY" more "$TEXT" > "$RDC_OUTPUT\""""
    made = program(
        runs("1", gives, to("2", "pass"), to(STOP, "fail")),
        runs("2", SHOW, to("3", "fail"), to("4", "pass")),
        runs("3", "true", to("2")),
        runs("4", f'echo "A=$LONG" > "$RDC_OUTPUT"; {SHOW}', to("5", "pass"), to("4", "fail")),
        runs("5", SHOW, to(COMPLETE)),
        slots=NAMES,
    )
    values = {"KEY": "sesame", "LONG": "sesame-open", "TEXT": "first line of it\n2nd"}
    succeeded(tmp_path, replace(made, secrets=tuple(values)), clean, secrets=values)
    assert shown(tmp_path) == ["*** ***-more\n***\n***", "*** ***-more\n***\n***", "***"]


@cache
def script() -> str:
    made = program(runs("1", "true", to(COMPLETE, "pass"), to(STOP, "fail")), slots=NAMES)
    return next(str(step["run"]) for step in steps(compiled(made)) if step["name"] == "Prepare the outputs")


def handed_on(folder: Path, content: bytes, code: int = 0) -> tuple[int, dict[str, str]]:
    """What becomes of a file of values: the exit code, and the variables in the order of the runner."""
    env = {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(folder), "OUTPUTS": " ".join(NAMES)}
    if not (folder / "rdc").exists():
        subprocess.run(["bash", "-c", script()], env=env, check=True)
    (folder / "content").write_bytes(content)
    (folder / "env").write_bytes(b"")
    command = ["sh", "-c", f'cat "$RUNNER_TEMP/content" > "$RDC_OUTPUT"; exit {code}']
    env["GITHUB_ENV"] = str(folder / "env")
    done = subprocess.run([folder / "rdc" / "valued", *command], env=env, check=False)
    lines, found = iter((folder / "env").read_bytes().decode().split("\n")[:-1]), {}
    for line in lines:
        name, _, end = line.partition("<<")
        inner: list[str] = []
        while (one := next(lines)) != end:
            inner.append(one)
        found[name] = "\n".join(inner)
    assert all(bool(found.pop(f"rdc_empty_{name}", "")) != bool(found[name]) for name in NAMES if name in found)
    return done.returncode, found


CONTENTS = (
    b"", b"A=1", b"A=1\nB=2\n", b"A=1\nA=2\n", b"A=\n", b"A=x=y<<z\n", b"A<<E\nE\n", b"A<<E\n\nE\n",
    b"A<<E\na\n b\n\nE\nB=E\n", b"A<<E=F\na\nE=F\n", b"A<<E\na", b"\n", b"A=1\n\n", b"C=1\n", b"A B=1\n", b"A*=1\n",
    b"=1\n", b"nothing\n", b"A=\xff\n", b"A=\xed\xa0\x80\n", "A=\u00e9\U0001f600\n".encode(), b"A=\0\n", b"A=1\r\n",
    b"A=" + b"x" * 65_536, b"A=" + b"x" * 65_537, b"A<<E\n" + b"x\n" * 32_769 + b"E\n",
    b"A=rdc\nB<<rdc_\nrdc\nrdc_\n", b"A=${{ x }} $(touch y) `z`\\\n",
)  # fmt: skip


@pytest.mark.parametrize(
    ("code", "contents"),
    [(0, CONTENTS[::2]), (7, CONTENTS[:4]), pytest.param(0, CONTENTS[1::2], marks=pytest.mark.soak)],
    ids=["passes", "fails", "passes, the others"],
)
def test_values_are_read_as_every_target_reads_them(code: int, contents: Sequence[bytes], tmp_path: Path) -> None:
    for content in contents:
        try:
            wanted = (code, read_output(content, NAMES))
        except ValueError:
            wanted = (code or 1, {})
        assert handed_on(tmp_path, content, code) == wanted, content[:40]


ONE = runs("1", "true", to(COMPLETE))
TOLD = program(
    node("1", Ask("yes_no", words("Is ", ref("A", "{{A}}"), " well?")), to("2", "pass"), to(STOP, "fail")),
    runs("2", "true", to("1", "fail"), to(COMPLETE, "pass")),
    slots=NAMES,
)


def giving(*edges: Edge) -> Program:
    return program(replace(ONE, edges=edges), slots=NAMES)


TAKES = ONE.edges[0]
ROUTED: Mapping[str, tuple[Program, dict[str, object]]] = {
    "a value that not every command gives": (giving(to(COMPLETE, do=[Keep("A", "output", "A")])), {}),
    "a value that is cleared": (giving(replace(TAKES, effects=(Clear("A"),))), {}),
    "a test on a value": (giving(replace(TAKES, guard=(SlotTest("A", "==", "x"),)), TAKES), {}),
    "a loop that shows a value": (TOLD, {}),
    "an environment": (giving(TAKES), {"steps": {"1": {"environment": "production"}}}),
    "a secret of the same name": (giving(TAKES), {"secrets": ["A"]}),
    "an input under another name": (program(ONE, slots=NAMES, inputs=[Input("X")]), {}),
}


@pytest.mark.parametrize("why", ROUTED)
def test_what_native_steps_cannot_hand_on_is_left_to_the_runtime(why: str) -> None:
    made, options = ROUTED[why]
    assert "CALL" in compiled(made, options)
