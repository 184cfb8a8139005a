"""The pages about rules: each pictured run is judged as it says, the generated picture is current, each rule holds."""

import json
import re
import shutil
from pathlib import Path

import pytest

from compiler.driver import compile_file
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import Ask
from rdc import api
from tests.conftest import ROOT
from tests.support.cli import call
from tests.support.pages import File, actions, blocks, text, titled

PAGE = "docs/how-to/rules.md"
PROJECT = "docs/how-to/project-rules.md"
DOCUMENT = "deploy.runbook.md"
RUN = re.compile(r"^    (?P<run>[ab]1[^\n]*)$", re.MULTILINE)
VISIT = re.compile(r'\w\d[\[{(]+"([^"]+)"[\]})]+(?: -- (\w+) -->)?')
SENTENCE = re.compile(r"^`([^`\n]+)`\n\n```mermaid\n(.*?)```", re.MULTILINE | re.DOTALL)
COPIED = re.compile(r"^\| (?:\w+ )?\| `(.+?)`[^|]* \| `(\S+)` \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def deploy(tmp_path_factory: pytest.TempPathFactory) -> Program:
    folder = tmp_path_factory.mktemp("page")
    name, written = titled(f"{DOCUMENT} from {PAGE}")
    (folder / name).write_text(written, encoding="utf-8")
    program = compile_file(str(folder / name)).program
    assert program
    return program


def events(program: Program, run: str) -> list[Event]:
    """The events of a pictured run: boxes are named by ids or ids with titles, arrows by outcomes."""
    nodes = {f"{node.id} {node.title}".strip(): node for node in program.nodes}
    nodes |= {node.id: node for node in program.nodes}
    found: list[Event] = []
    for name, word in VISIT.findall(run):
        if name in ("COMPLETE", "STOP"):
            found.append(Event("", name.lower()))
            continue
        node = nodes[name]
        meaning = {"YES": "pass", "NO": "fail"} if isinstance(node.task, Ask) else {"PASS": "pass", "FAIL": "fail"}
        found += [Event(node.id), *([Event(node.id, meaning[word])] if word else [])]
    return found


def breach(rule: Rule, happened: list[Event]) -> int | None:
    """The place of the first event that breaks a rule."""
    value = rule.initial
    for place, event in enumerate(happened):
        if rule.breaks(value, event):
            return place
        value = rule.after(value, event)
    return None


PICTURES = SENTENCE.findall(text(PAGE))


@pytest.mark.parametrize(("sentence", "picture"), PICTURES, ids=[sentence for sentence, _ in PICTURES])
def test_a_pictured_run_respects_or_breaks_the_rule(deploy: Program, sentence: str, picture: str) -> None:
    (rule,) = [rule for rule in deploy.rules if rule.sentence == sentence]
    good, bad = (events(deploy, run) for run in RUN.findall(picture))
    assert breach(rule, good) is None
    assert breach(rule, bad) == len(bad) - 1, "the last box is the red one"
    last = RUN.findall(picture)[1].split(" --> ")[-1]
    assert re.findall(r"style (\w\d)", picture) == [last[:2]]


def test_each_sentence_has_a_picture_and_that_of_the_broken_rule_is_current(tmp_path: Path) -> None:
    name, written = titled(f"{DOCUMENT} from {PAGE}")
    (tmp_path / name).write_text(re.sub("^- NO: .*", "- NO: GOTO 3", written, flags=re.MULTILINE), encoding="utf-8")
    words = ("--rule", "approved", "--no-legend", "--format", "mermaid", "-o", "-")
    drawn = call("graph", name, *words, cwd=tmp_path).out
    forms = [re.sub(r"\b(?:\d+|[A-Z]\w*)\b", "", sentence).split() for sentence, _ in PICTURES]
    assert {"before", "again", "no", "always", "most"} <= {word for form in forms for word in form}
    expected = "".join(line for line in drawn.splitlines(keepends=True) if not line.lstrip().startswith("%%"))
    assert expected in [block.text for block in blocks(PAGE) if block.kind == "mermaid"]


RULES = COPIED.findall(text(PAGE))


@pytest.mark.parametrize(("rule", "document"), RULES, ids=[rule for rule, _ in RULES])
def test_a_rule_to_copy_holds_for_its_example(tmp_path: Path, rule: str, document: str) -> None:
    assert len(RULES) == 10
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shared = f'[[rule]]\nname = "copied"\nrule = {json.dumps(rule)}\nfor = {json.dumps(f"examples/{document}")}\n'
    (tmp_path / "rdc.toml").write_text(shared, encoding="utf-8")
    checked = api.check(tmp_path / "examples" / document)
    assert checked.ok, checked.diagnostics
    assert [result.proof.status for result in checked.rules] == ["holds"]


@pytest.mark.process
def test_the_documented_object_is_the_one_in_the_output(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    for step in actions(PROJECT):
        path = folder / getattr(step, "name", "")
        if isinstance(step, File) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
    found = json.loads(call("check", "--rules", "--format", "json", cwd=folder).out)["rules"]
    (documented,) = [json.loads(block.text) for block in blocks(PROJECT) if block.kind == "json"]
    assert documented in found
