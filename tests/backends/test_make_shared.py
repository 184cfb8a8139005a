"""What the steps of a Makefile have in common, said once; and steps that differ, which are as their program says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from compiler.ir.edges import Clear, Keep
from compiler.ir.program import Node, Program, Settings, Variable
from tests.backends.makefiles import Place, emitted
from tests.backends.programs import Made, always, ask, node, program, ref, shell, slots, words

DOCUMENT = """\
---
rdc:
  inputs:
    TOPIC: {default: rain}
  outputs: [seen]
---

# Look

## 1. Look at {{TOPIC}}

```sh
echo "seen=$TOPIC" >> "$RDC_OUTPUT"
[ -e there ]
```

- PASS: CONTINUE
- FAIL: RETRY 1 GOTO Help

## 2. Was it {{seen}}?

Say it.

- YES: CONTINUE
- NO: STOP "No {{seen}}"

## Help

```sh
echo "$seen" > helped
```

- PASS: COMPLETE "Helped with {{seen}}"
"""
STEPS = """\
all variable TOPIC TOPIC
all variable seen seen
all keeps seen
all mark '{{seen}}' seen '' '' '{{seen}}'
node 1 sh 'Look at {{TOPIC}}'
  mark '{{TOPIC}}' TOPIC '' '' '{{TOPIC}}'
node 2 yes_no 'Was it {{seen}}?'
node Help sh ''
"""


def block(makefile: str, name: str) -> str:
    """The text of a block."""
    found = re.search(rf"^define {re.escape(name)}\n(.*?)^endef$", makefile, re.MULTILINE | re.DOTALL)
    assert found, makefile
    return found[1]


def test_what_steps_share_is_said_once_and_transitions_are_those_of_the_document(tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT)
    makefile = (tmp_path / "Makefile").read_text()
    assert block(makefile, "RDC_NODES") == STEPS
    assert block(makefile, "after_1") == "pass) CONTINUE 2 ;;\nfail) retry 1 || GOTO Help ;;\n"
    assert place.make("TOPIC=snow").stdout == "rdc: COMPLETE Helped with snow\n"
    assert place.lines("helped") == ["snow"]


def test_a_value_that_was_kept_by_itself_is_there_when_a_run_goes_on(tmp_path: Path) -> None:
    place = Place(tmp_path, DOCUMENT)
    (tmp_path / "there").touch()
    assert place.make("TOPIC=a'b").stdout == "rdc: WAITING 2\n"
    assert place.make("answer", "STEP=2", "REPLY=no").returncode == 0
    assert place.make("resume").stdout == "rdc: STOP No a'b\n"


def gives(name: str, value: str, target: str, *kept: Keep | Clear, **fields: Any) -> Node:
    """A command that gives what it keeps, which is the same for each outcome, with the variables A and B."""
    fields.setdefault("variables", (Variable("A", "a"), Variable("B", "b")))
    said = "".join(f"echo {keep.name}={value}; " for keep in kept if isinstance(keep, Keep))
    command = f'{{ {said}}} >> "$RDC_OUTPUT"; echo "{name} ${{A-}} ${{B-}}" >> log'
    return node(name, shell(command), always(target, *kept), **fields)


BOTH = (Keep("a", of="output", name="a"), Keep("b", of="output", name="b"))


def mixed() -> Program:
    """Commands that keep both of two values, and some that keep one, swap them, clear one or have other variables."""
    swapped = (Keep("b", of="output", name="a"), Keep("a", of="output", name="b"))
    return program(
        gives("one", "1", "two", *BOTH),
        gives("two", "2", "three", *BOTH, title=words("x {b}")),
        gives("three", "3", "four", BOTH[0]),
        gives("four", "4", "five", *swapped, variables=(Variable("A", "b"),)),
        gives("five", "5", "six", *BOTH, title=words("x ", ref("a"))),
        gives("six", "6", "seven", *BOTH, Clear("b"), title=words(ref("a"), " and ", ref("b"))),
        gives("seven", "7", "done", *BOTH, title=words(ref("b"), ref("a"))),
        message=words(ref("a"), ref("b"), " {c}"),
        slots=slots("a", "b"),
    )


def test_steps_that_differ_are_as_their_program_says(tmp_path: Path) -> None:
    made = Made(tmp_path, mixed())
    done = made.make()
    assert (done.returncode, done.stdout) == (0, b"rdc: COMPLETE 77 {c}\n"), done.stderr
    titles = [line for line in done.stderr.decode().splitlines() if not line.startswith(" ")]
    assert titles == ["one", "two x {b}", "three", "four", "five x 4", "six 5 and 5", "seven 6"]
    assert made.read("log").decode().splitlines() == [
        *("one  ", "two 1 1", "three 2 2", "four 2 ", "five 4 4", "six 5 5", "seven 6 "),
    ]


def test_a_step_that_lacks_something_says_all_that_it_has() -> None:
    makefile = emitted(mixed())
    rows = block(makefile, "RDC_NODES")
    steps = {found[1]: found[2] for found in re.finditer(r"^node (\w+).*\n((?:  .*\n)*)", rows, re.MULTILINE)}
    assert rows.splitlines()[:3] == ["all variable A a", "all variable B b", "all keeps a b"]
    assert steps["one"] == ""
    assert steps["two"].splitlines()[0] == "  only", "its title has `{b}`, which is no reference there"
    assert steps["three"] == "  only\n  variable A a\n  variable B b\n  keeps a\n"
    assert steps["four"] == "  only\n  variable A b\n  keeps a=b b=a\n"
    assert "keep_value" in block(makefile, "after_six"), "it clears what it has kept"


@pytest.mark.parametrize("title", ["{a} is plain", "a {{a}} b", "{a"])
def test_a_text_that_looks_like_a_reference_stays_as_it_is(title: str, tmp_path: Path) -> None:
    steps = [gives("one", "1", "two", *BOTH, title=words(title, " ", ref("b")))]
    steps += [gives(name, "2", to, *BOTH, title=words(ref("a"))) for name, to in (("two", "three"), ("three", "p"))]
    made = Made(tmp_path, program(*steps, node("p", ask("yes_no"), title=words(title)), slots=slots("a", "b")))
    said = made.make().stderr.decode().splitlines()
    assert [line.rstrip() for line in said if line[0] in "otp"] == [f"one {title}", "two 1", "three 2", f"p {title}"]


def test_a_program_without_values_says_nothing_for_all() -> None:
    makefile = emitted(program(node("a", shell("true")), node("b", shell("true"))))
    assert "\nall " not in makefile
    assert "RDC_MODULE_SHARED" not in makefile


def limited() -> Program:
    """A command with a time limit."""
    return program(node("a", shell("sleep 30"), settings=Settings(timeout=1)))


def test_a_makefile_with_time_limits_carries_only_what_they_need(tmp_path: Path) -> None:
    made = Made(tmp_path, limited())
    makefile = emitted(limited())
    found = set(re.findall(r"^define RDC_MODULE_(\w+)$", makefile, re.MULTILINE))
    assert {"HELPER", "LIMITS"} <= found
    assert not found & {"CALLS", "VALUES", "TEXTS", "WORDS", "SHARED"}
    assert len(block(makefile, "python_helper").splitlines()) <= 310
    assert made.end() == "rdc: STOP"
    assert b"timeout" in made.make("status").stdout
