"""What `rdc trace` and `rdc diff` say of programs with texts, words and inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.ir.paths import Visit
from compiler.ir.semantics import Outcome
from compiler.ir.tasks import Agent, Ask, End, Reading, Shell
from compiler.ir.texts import Text, text
from rdc.trace.outcomes import read_outcomes, write_outcomes
from tests.conftest import ROOT
from tests.support.cli import call
from tests.support.sample_programs import hostile_texts, node, program, to

REGION = "examples/programs/choose-region.program.json"


def trace(*words: str) -> str:
    return call("trace", REGION, *words, cwd=ROOT).out


# --- rdc trace ------------------------------------------------------------------------------------------------------


def test_inputs_choose_the_way() -> None:
    assert trace() == (
        "version = 1.0  (default)\nregion = ask  (default)\n"
        "choose  Which region?  eu    to deploy\ndeploy  Deploy to eu   PASS  to done\n=> COMPLETE Deployed to eu\n"
    )
    assert trace("--input", "region=us") == (
        "version = 1.0  (default)\nregion = us\ndeploy  Deploy to us  PASS  to done\n=> COMPLETE Deployed to us\n"
    )


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--input", "region=mars"), "--input: region: it must be one of eu, us, ask"),
        (("--input", "planet=mars"), "--input: there is no input 'planet'; the inputs are version, region"),
        (("--input", "region"), "is not NAME=VALUE"),
        (("--input", "region=eu", "--all"), "remove --input"),
        (("--outcomes", "choose=mars"), "the outcomes are eu, us"),
        (("--outcomes", "deploy=pass;x"), "write an output as ;NAME=VALUE"),
    ],
)
def test_wrong_inputs_and_outcomes(words: tuple[str, ...], complaint: str) -> None:
    result = call("trace", REGION, *words, cwd=ROOT)
    assert result.code == 2
    assert complaint in result.err


def test_all_walks_begin_with_all_inputs_that_matter() -> None:
    lines = trace("--all").splitlines()
    assert lines[:2] == [
        "region=eu: deploy pass => COMPLETE Deployed to eu",
        "region=eu: deploy fail => STOP The deployment failed",
    ]
    assert lines[-2:] == ["6 paths in total", "5 of 5 transitions taken"]
    found = json.loads(trace("--all", "--format", "json"))
    assert [trace["inputs"] for trace in found["paths"]][:3] == [{"region": "eu"}, {"region": "eu"}, {}]


def test_texts_and_values_can_be_given() -> None:
    loop = "examples/programs/review-loop.program.json"
    shown = call("trace", loop, "--outcomes", "count=pass;words=12 ask=no review=AGAIN,GOOD", cwd=ROOT).out
    assert "review  Review the draft   AGAIN  to write\n" in shown
    assert shown.endswith("=> STOP Somebody did not want it\n")


KINDS = (
    (Shell("sh", text("x")), ("pass", "fail")),
    (Agent("", Text(), Reading(("A,B", "c=d", "e:f;g\\"))), ("A,B", "c=d", "e:f;g\\", "none")),
    (Ask("select", Text(), options=(text("x, y"), text("n\nm"))), ("x, y", "n\nm")),
    (Ask("confirm", Text()), ("yes", "no")),
)


@st.composite
def visits(draw: st.DrawFn) -> list[Visit]:
    name, (_, known) = draw(st.sampled_from([(f"{n}=x", kind) for n, kind in enumerate(KINDS)]))
    values = st.lists(st.tuples(hostile_texts, hostile_texts), max_size=2).map(tuple)
    outcomes = draw(st.lists(st.builds(Outcome, st.sampled_from(known), hostile_texts, values), min_size=1, max_size=3))
    return [Visit(name, 1, (), outcome, ()) for outcome in outcomes]


@settings(max_examples=60)
@given(made=visits())
def test_outcomes_are_read_as_they_were_written(made: list[Visit]) -> None:
    steps = [node(f"{n}=x", task, to("e")) for n, (task, _) in enumerate(KINDS)]
    known = program(*steps, node("e", End("complete")))
    wanted = [one.outcome for one in made]
    while len(wanted) > 1 and wanted[-1] == wanted[-2]:
        wanted.pop()  # the last outcome of a step stays
    read = read_outcomes(write_outcomes(made, known), known)
    assert list(read.get(made[0].step, (Outcome("pass"),))) == wanted


# --- rdc diff -------------------------------------------------------------------------------------------------------


def compared(folder: Path, change: dict[str, Any]) -> str:
    """What `rdc diff` says of an example of which a node, by its number, or a key of the program is another."""
    old = json.loads((ROOT / "examples" / "programs" / "review-loop.program.json").read_text(encoding="utf-8"))
    new = {**old, **{key: value for key, value in change.items() if not key.isdigit()}}
    new["nodes"] = [{**item, **change.get(str(number), {})} for number, item in enumerate(old["nodes"])]
    for name, value in (("old.json", old), ("new.json", new)):
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    result = call("diff", "old.json", "new.json", cwd=folder)
    assert result.code == 0, result.err
    return "\n".join(result.out.splitlines()[2:])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"limit": 30}, "- runs at most 20 steps\n+ runs at most 30 steps"),
        (
            {"inputs": []},
            "- input task: text, default Announce the new version",
        ),
        ({"0": {"settings": {"timeout": 900}}}, "~ write Write a draft: settings"),
        ({"2": {"edges": [{"target": "ask"}]}}, "~ count Count the words: texts"),
        ({"2": {"variables": []}}, "~ count Count the words: texts"),
        ({"3": {"edges": [{"target": "sent"}]}}, "> ask Shall it be sent?: "),
    ],
    ids=["limit", "inputs", "settings", "kept", "variables", "words"],
)
def test_what_changes_in_a_program_is_told(change: dict[str, Any], said: str, tmp_path: Path) -> None:
    assert said in compared(tmp_path, change)


def test_a_counter_that_is_changed_otherwise_is_another_transition(tmp_path: Path) -> None:
    edges = json.loads((ROOT / "examples" / "programs" / "review-loop.program.json").read_text(encoding="utf-8"))
    changed = edges["nodes"][1]["edges"]
    changed[1]["effects"][0]["amount"] = 2
    shown = compared(tmp_path, {"1": {"edges": changed}})
    assert "AGAIN · rounds < 3 · rounds + 1: write" in shown
    assert "rounds + 2: write" in shown
