"""Inputs, values and settings of runbooks and programs in the commands of rdc (E1 to E3)."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.ir.paths import Visit
from compiler.ir.semantics import Outcome
from compiler.ir.tasks import Agent, Ask, End, Reading, Shell
from compiler.ir.texts import Text
from compiler.ir.texts import text as text_of
from compiler.scenarios.outcomes import read_outcomes, write_outcomes
from tests.conftest import ROOT
from tests.support.cli import call
from tests.support.sample_programs import hostile_texts, node, program, to

pytestmark = pytest.mark.process

RELEASE = """\
---
scenarios:
  prompted:
    inputs: {version: 1.10, region: us}
    commands:
      - rd run --prompted --input region=eu release.runbook.md
      - rd fail --value id=7
      - rd pass --value id='a b' --value note=$HOME;x
      - rd yes
    result: COMPLETE
  real:
    inputs: {version: 1.20}
    commands: [rd run release.runbook.md, rd yes]
    result: COMPLETE
rdc:
  inputs:
    version: {description: The version, pattern: '[0-9.]+'}
    region: {type: choice, options: [eu, us], default: us}
  outputs: [id, note]
---
## 1. Ship {{version}} to {{region}}
```sh
test "$version-$region" = 1.20-us && echo "id=9" >> "$RDC_OUTPUT" && echo "note=" >> "$RDC_OUTPUT"
```
- FAIL: RETRY 1
## 2. Is {{id}} right?
- YES: COMPLETE "{{version}} {{region}} {{id}} {{note}}"
- NO: STOP
"""


def tried(folder: Path, text: str, *words: str) -> list[str]:
    (folder / "rdc.toml").touch()
    (folder / "release.runbook.md").write_text(text, encoding="utf-8")
    return call("test", "release.runbook.md", "-q", *words, cwd=folder).out.splitlines()


@pytest.mark.parametrize("target", ["python", "make"])
def test_scenarios_give_inputs_and_values(target: str, tmp_path: Path) -> None:
    first, second, third, last = tried(tmp_path, RELEASE, "--on", target)
    assert first.split()[3:] == ["semantics", "COMPLETE", "1.10", "eu", "a", "b", "$HOME;x"]
    assert second.split()[3:] == [target, "COMPLETE", "1.10", "eu", "a", "b", "$HOME;x"]
    assert third.split() == ["PASSED", "release.runbook.md", "real", target, "COMPLETE", "1.20", "us", "9"]
    assert last == "3 passed"


def test_a_question_gives_no_value(tmp_path: Path) -> None:
    lines = tried(tmp_path, RELEASE.replace("rd yes\n    result", "rd yes --value id=3\n    result", 1))
    assert "step 2 has no output `id`" in "".join(lines)


def test_no_secret_is_needed_where_nothing_runs(tmp_path: Path) -> None:
    text = RELEASE.replace("rdc:\n", "rdc:\n  secrets: [TOKEN]\n")
    first, second, third, problem, _ = tried(tmp_path, text, "--on", "make")
    assert [line.split()[0] for line in (first, second, third)] == ["PASSED", "PASSED", "FAILED"]
    assert problem.startswith("         the target failed")  # commands run there, and they need it


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("version: 1.10", "versoin: 1.10", "there is no input `versoin`; the inputs are version, region"),
        ("version: 1.10", "version: x", "the value of input `version` is not valid: it does not match [0-9.]+"),
        ("version: 1.10, ", "", "input `version` has no default, and the scenario gives no value"),
        ("region=eu", "region=asia", "the value of input `region` is not valid: it must be one of eu, us"),
        ("--input region=eu", "--input region", "`--input` needs NAME=VALUE"),
        ("--value id=7", "--value ix=7", "there is no output `ix`"),
        ("fail --value id=7", "goto 1 --value id=7", "`rd goto 1 --value id=7` must be"),
        ("fail --value id=7", "fail --value id", "`--value` needs NAME=VALUE"),
    ],
)
def test_what_cannot_be_tested_is_told_at_its_line(old: str, new: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").touch()
    text = RELEASE.replace(old, new, 1)
    (tmp_path / "release.runbook.md").write_text(text, encoding="utf-8")
    result = call("check", "release.runbook.md", cwd=tmp_path)
    assert f"warning[RD014]: scenario `prompted` cannot be tested: {problem}" in result.err + result.out
    assert tried(tmp_path, text)[0].startswith("FAILED")


STEPS = """\
---
rdc:
  inputs: {version: {default: 1.10}}
  steps: {"3": {timeout: 9s}, 4.2: {env: {A: 1.10}}, '*': {retry-delay: 1s}}
---
# T
## 1. Ship {{version}}
Done?
## 3. A
- PASS: CONTINUE
```sh
echo "$version"
```
## 4. B
### 4.1 C
Done?
### 4.2 D
```sh
echo "$A"
```
"""


def test_formatting_renumbers_steps_that_settings_name(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(STEPS.replace('"3":', '"2":'), encoding="utf-8")
    assert "there is no step `2`" in call("fmt", "a.runbook.md", cwd=tmp_path).err, "only renumbering would name it"
    (tmp_path / "a.runbook.md").write_text(STEPS, encoding="utf-8")
    call("fmt", "a.runbook.md", cwd=tmp_path).exits(0)
    text = (tmp_path / "a.runbook.md").read_text(encoding="utf-8")
    assert "  inputs: {version: {default: 1.10}}\n" in text
    assert """  steps: {"2": {timeout: 9s}, 3.2: {env: {A: 1.10}}, '*': {retry-delay: 1s}}\n""" in text


def test_what_runbooks_declare_is_compared(tmp_path: Path) -> None:
    new = STEPS.replace("default: 1.10", "default: 1.11").replace("9s", "10s").replace("A: 1.10", "A: 2")
    new = new.replace("  steps", "  secrets: [TOKEN]\n  outputs: [id]\n  steps")
    for name, text in (("old", STEPS), ("new", new)):
        plain = text.replace("## 3", "## 2").replace("## 4", "## 3").replace("4.1", "3.1").replace("4.2", "3.2")
        plain = plain.replace('"3"', '"2"').replace("- PASS: CONTINUE\n", "")
        (tmp_path / f"{name}.runbook.md").write_text(plain, encoding="utf-8")
    lines = call("diff", "old.runbook.md", "new.runbook.md", cwd=tmp_path).out.splitlines()
    assert lines[2:] == [
        "- input version: string, default 1.10",
        "+ input version: string, default 1.11",
        "+ needs the secrets TOKEN",
        "+ value id",
        "~ 2 A: settings, texts",
        "    -timeout: 9",
        "    +timeout: 10",
        "     delay: 0",
        "~ 3.2 D: environment, texts",
        "    -A: 1.10",
        "    +A: 2",
    ]


def test_pictures_show_who_reads_and_writes(tmp_path: Path) -> None:
    (tmp_path / "release.runbook.md").write_text(RELEASE, encoding="utf-8")
    shown = call("graph", "release.runbook.md", "--format", "mermaid", "-o", "-", "-q", cwd=tmp_path).out
    assert "reads version, region<br/>writes id, note" in shown
    assert "2 Is {{id}} right?<br/>reads id" in shown


# --- What `rdc trace` and `rdc diff` say of programs with texts, words and inputs -------------------------------------


REGION = "examples/programs/choose-region.program.json"
LOOP = ROOT / "examples" / "programs" / "review-loop.program.json"


def trace(*words: str) -> str:
    return call("trace", REGION, *words, cwd=ROOT).out


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
    assert complaint in call("trace", REGION, *words, cwd=ROOT).exits(2).err


def test_all_walks_begin_with_all_inputs_that_matter() -> None:
    lines = trace("--all").splitlines()
    assert lines[0] == "region=eu: deploy pass => COMPLETE Deployed to eu"
    assert lines[1] == "region=eu: deploy fail => STOP The deployment failed"
    assert lines[-2:] == ["6 paths in total", "5 of 5 transitions taken"]
    found = json.loads(trace("--all", "--format", "json"))
    assert [trace["inputs"] for trace in found["paths"]][:3] == [{"region": "eu"}, {"region": "eu"}, {}]


def test_texts_and_values_can_be_given() -> None:
    shown = call("trace", str(LOOP), "--outcomes", "count=pass;words=12 ask=no review=AGAIN,GOOD", cwd=ROOT).out
    assert "review  Review the draft   AGAIN  to write\n" in shown
    assert shown.endswith("=> STOP Somebody did not want it\n")


KINDS = (
    (Shell("sh", text_of("x")), ("pass", "fail")),
    (Agent("", Text(), Reading(("A,B", "c=d", "e:f;g\\"))), ("A,B", "c=d", "e:f;g\\", "none")),
    (Ask("select", Text(), options=(text_of("x, y"), text_of("n\nm"))), ("x, y", "n\nm")),
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
    known = program(*[node(f"{n}=x", task, to("e")) for n, (task, _) in enumerate(KINDS)], node("e", End("complete")))
    wanted = [one.outcome for one in made]
    while len(wanted) > 1 and wanted[-1] == wanted[-2]:
        wanted.pop()  # the last outcome of a step stays
    read = read_outcomes(write_outcomes(made, known), known)
    assert list(read.get(made[0].step, (Outcome("pass"),))) == wanted


def compared(folder: Path, change: dict[str, Any]) -> str:
    """What `rdc diff` says of an example of which a node, by its number, or a key of the program is another."""
    old = json.loads(LOOP.read_text(encoding="utf-8"))
    new = {**old, **{key: value for key, value in change.items() if not key.isdigit()}}
    new["nodes"] = [{**item, **change.get(str(number), {})} for number, item in enumerate(old["nodes"])]
    for name, value in (("old.json", old), ("new.json", new)):
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return "\n".join(call("diff", "old.json", "new.json", cwd=folder).exits(0).out.splitlines()[2:])


@pytest.mark.parametrize(
    ("change", "output"),
    [
        ({"limit": 30}, "- runs at most 20 steps\n+ runs at most 30 steps"),
        ({"inputs": []}, "- input task: text, default Announce the new version"),
        ({"0": {"settings": {"timeout": 900}}}, "~ write Write a draft: settings"),
        ({"2": {"edges": [{"target": "ask"}]}}, "~ count Count the words: texts"),
        ({"2": {"variables": []}}, "~ count Count the words: texts"),
        ({"3": {"edges": [{"target": "sent"}]}}, "> ask Shall it be sent?: "),
    ],
    ids=["limit", "inputs", "settings", "kept", "variables", "words"],
)
def test_what_changes_in_a_program_is_told(change: dict[str, Any], output: str, tmp_path: Path) -> None:
    assert output in compared(tmp_path, change)


def test_a_counter_that_is_changed_otherwise_is_another_transition(tmp_path: Path) -> None:
    changed = json.loads(LOOP.read_text(encoding="utf-8"))["nodes"][1]["edges"]
    changed[1]["effects"][0]["amount"] = 2
    shown = compared(tmp_path, {"1": {"edges": changed}})
    assert "AGAIN · rounds < 3 · rounds + 1: write" in shown
    assert "rounds + 2: write" in shown
