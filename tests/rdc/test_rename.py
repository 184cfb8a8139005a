"""Renames of steps, inputs and outputs: what is edited, what proves it, and what is refused."""

# ruff: noqa: E501 (a case is one line)

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from compiler.diagnostics.model import Edit, edited
from compiler.driver import Compilation, Opened, Settings, compile_opened, marks_of, open_file
from compiler.frontends import FRONT_ENDS
from compiler.frontends.common.marks import Kind, Mark, names, of_same_part
from compiler.ir.sameness import Rename, difference
from compiler.project.project import Located, Project
from compiler.text.source import Source
from rdc.rewrite import rename as renaming
from rdc.rewrite.rename import RefusedError, Renamed, rename
from tests.conftest import ROOT
from tests.support.marked import PLAYBOOK, PROGRAM, RUNBOOK, SPECIFICATION, WORKFLOW

pytestmark = pytest.mark.process  # the project asks git for its documents

LINT = "## 1. Lint\n\n```sh\ntrue\n```\n"
HELPED = LINT + "\n- FAIL: GOTO Help\n\n## Help\n\nx\n"
OUTER = "---\nrdc:\n  steps:\n    {}: {{labels: [x]}}\n---\n\n## 1. A\n\n- {}\n"
FILES = {
    "release.runbook.md": RUNBOOK,
    "report.playbook.md": PLAYBOOK.replace("@prompt(file:prompts/check.md)\n", ""),
    "w.workflow.yaml": WORKFLOW,
    "s.stepspec.yaml": SPECIFICATION,
    "p.program.json": PROGRAM,
    "lint.runbook.md": LINT,
}


def written(folder: Path, files: dict[str, str]) -> None:
    (folder / "rdc.toml").touch()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def made(folder: Path, file: str, kind: Kind, name: str, new: str) -> Renamed:
    opened = open_file(str(folder / file))
    span = next(one.span for one in marks_of(opened, Settings()) if (one.kind, one.id) == (kind, name))
    return rename(opened, Settings(), span.line, span.column, new)


def changed(text: str, one: Renamed) -> list[str]:
    assert isinstance(one.opened.source, Source)
    pairs = zip(text.split("\n"), one.opened.source.text.split("\n"), strict=True)
    return [f"{number}: {new.strip()}" for number, (old, new) in enumerate(pairs, 1) if old != new]


S, I, O = Kind.STEP, Kind.INPUT, Kind.OUTPUT  # noqa: E741 (a case is one line)
RENAMES = [
    # file, kind, old name, new name, the changed lines
    ("release.runbook.md", S, "Restore", "Undo", ["9: Undo: {labels: [undo]}", "11: once: Undo at most 9 times",
        "15: commands: [rd run release.runbook.md --prompted, rd goto Undo, rd pass]", "27: - FAIL: RETRY 2 GOTO Undo",
        "42: - NO: GOTO Undo", "44: ## Undo"]),
    ("release.runbook.md", S, "2.Last", "Lint", ["33: - YES: GOTO 2.Lint", "36: ### 2.Lint"]),
    ("release.runbook.md", I, "version", "tag", ["5: tag: {description: The version}", "14: inputs: {tag: 1.5}",
        '24: echo "backup=$tag" >> "$RDC_OUTPUT"', "29: ## 2. Install {{tag}}", "40: ## 3. Does {{tag}} look right?"]),
    ("release.runbook.md", O, "backup", "archive", ["6: outputs: [archive]", '24: echo "archive=$version" >> "$RDC_OUTPUT"',
        '34: - NO: STOP "no {{archive}}"', "46: Use {{archive}} and {{other}}."]),
    ("release.runbook.md", I, "version", "VERSION", ["5: VERSION: {description: The version}", "14: inputs: {VERSION: 1.5}",
        '24: echo "backup=$VERSION" >> "$RDC_OUTPUT"', "29: ## 2. Install {{VERSION}}", "40: ## 3. Does {{VERSION}} look right?"]),
    ("report.playbook.md", I, "topic", "animal", ["4: inputs: {animal: cats}", "13: - `animal` (string): The topic",
        "17: On {{animal}}.", '24: ```if animal == "cats"```']),
    ("report.playbook.md", O, "draft", "text", ["18: @output(text)", '22: @elicit(confirm, "Is {{text}} fine?")',
        "28: {{text}} {{__elicit_step_2}} {{unknown}}"]),
    ("w.workflow.yaml", S, "plan", "think", ["5: - name: think", "14: - {keyword: REDO, goto: think}"]),
    ("w.workflow.yaml", S, "review", "look", ["3: steps: {look: {timeout: 5m}}", "9: next: look", "10: - name: look"]),
    ("w.workflow.yaml", S, "ship", "release-2", ['16: goto: "release-2"', "18: - name: release-2"]),
    ("s.stepspec.yaml", S, "draft", "outline", ["5: outline: {labels: [first]}", "7: - id: outline"]),
    ("s.stepspec.yaml", S, "check", "proof-read", [
        '10: - {id: proof-read, inputs: {artifacts: ["{output_folder}/a.md"]}}']),
    ("s.stepspec.yaml", I, "subject", "topic", ["2: variables: {output_folder: out, topic: cats}", "8: description: About {topic}"]),
    ("p.program.json", S, "write", "compose it", ['5: "entry": "compose it",', '8: "id": "compose it",']),
    ("p.program.json", S, "end", "done", [
        '10: "edges": [{"effects": [{"kind": "keep", "slot": "text"}], "target": "done"}]',
        '12: {"id": "done", "task": {"kind": "end", "result": "complete", "message": [{"register": "text"}]}}']),
    ("p.program.json", I, "topic", "subject", ['3: "inputs": [{"name": "subject"}],',
        '4: "slots": [{"name": "subject"}, {"name": "text"}],',
        '9: "task": {"kind": "agent", "agent": "writer", "prompt": ["On ", {"register": "subject"}]},']),
    ("p.program.json", O, "text", "letter", ['4: "slots": [{"name": "topic"}, {"name": "letter"}],',
        '10: "edges": [{"effects": [{"kind": "keep", "slot": "letter"}], "target": "end"}]',
        '12: {"id": "end", "task": {"kind": "end", "result": "complete", "message": [{"register": "letter"}]}}']),
    ("s.stepspec.yaml", S, "draft", "Draft", ["5: Draft: {labels: [first]}", "7: - id: Draft"]),
    ("w.workflow.yaml", S, "plan", "p.l-a_n", ["5: - name: p.l-a_n", "14: - {keyword: REDO, goto: p.l-a_n}"]),
]  # fmt: skip


@pytest.mark.parametrize(("file", "kind", "old", "new", "lines"), RENAMES)
def test_a_rename_edits_every_place(
    tmp_path: Path, file: str, kind: Kind, old: str, new: str, lines: list[str]
) -> None:
    written(tmp_path, FILES)
    found = made(tmp_path, file, kind, old, new)
    assert changed(FILES[file], found) == lines
    assert (tmp_path / file).read_text(encoding="utf-8") == FILES[file], "nothing is written"
    assert {one.text for one in found.edits} == {new.rpartition(".")[2] if "2." in new else new}
    opened = found.opened
    assert old not in names(marks_of(opened, Settings()), kind)


EXAMPLES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "examples").rglob("*.*")
    if any(form.has(path.name) for form in FRONT_ENDS.values())
)
ANY_NAME = st.from_regex(r"[A-Z][a-z_]{3,9}", fullmatch=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copied = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "examples", copied / "examples")
    (copied / "rdc.toml").touch()
    return copied


@pytest.mark.most(7)
@pytest.mark.parametrize("format_name", FRONT_ENDS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_an_example_is_the_same_after_a_rename_back(folder: Path, format_name: str, data: st.DataObject) -> None:
    """The way back is a second rename: it gives the first text, so no other place was changed."""
    name = data.draw(st.sampled_from([one for one in EXAMPLES if FRONT_ENDS[format_name].has(one)]))
    opened = open_file(str(folder / name))
    found = [one for one in marks_of(opened, Settings()) if one.kind in (S, I, O)]
    mark, new = data.draw(st.sampled_from(found)), data.draw(ANY_NAME)
    there = tried(opened, mark, new)
    if there is None:
        return
    assert isinstance(opened.source, Source)
    assert isinstance(there.opened.source, Source)
    assert compile_opened(there.opened, Settings()).program
    assert there.opened.source.text.count(new) == len(there.edits)
    place = next(one.span for one in marks_of(there.opened, Settings()) if one.name == there.edits[0].text)
    back = rename(there.opened, Settings(), place.line, place.column, mark.name)
    assert isinstance(back.opened.source, Source)
    assert back.opened.source.text == opened.source.text
    before, after = (compile_opened(one, Settings()) for one in (opened, back.opened))
    assert [one.id for one in before.program.nodes] == [one.id for one in after.program.nodes]  # type: ignore[union-attr]


def tried(opened: Opened, mark: Mark, new: str) -> Renamed | None:
    """The rename, or None if it is refused for a good reason."""
    try:
        return rename(opened, Settings(), mark.span.line, mark.span.column, new)
    except RefusedError as refusal:
        reason = str(refusal)
    assert reason.endswith(REFUSALS)
    return None


REFUSALS = (
    "only names can be renamed",  # a number
    "so it has no other name",  # a word of the format
    "set the name of the report first",
    "another file may use the name `language`",  # a prompt in a file of its own
    "this document",  # a placeholder without a value
)


def test_a_companion_file_with_scenarios_is_edited_too(tmp_path: Path) -> None:
    scenarios = 'good:\n  answers: {ship: x}\n  agents: {plan: a, review_0: DONE, "ship": b}\n  result: COMPLETE\n'
    scenarios = scenarios.replace("  answers: {ship: x}\n", "")
    written(tmp_path, {"w.workflow.yaml": WORKFLOW, "w.scenarios.yaml": scenarios})
    found = made(tmp_path, "w.workflow.yaml", S, "review", "look")
    [(source, edits)] = found.others
    assert Path(source.path).name == "w.scenarios.yaml"
    assert edited(source, edits).text == scenarios.replace("review_0", "look_0")
    assert compile_opened(found.opened, Settings()).scenarios


@pytest.mark.parametrize(
    ("file", "kind", "old", "new", "reason"),
    [
        ("release.runbook.md", S, "3", "Check", "step 3 has a number, which `rdc fmt` changes when the step moves; only names"),
        ("release.runbook.md", S, "2.1", "Check", "step 2.1 has a number"),
        ("report.playbook.md", S, "2a", "b", "step 2a has a number"),
        ("release.runbook.md", S, "Restore", "Restore", "the step already has the name `Restore`"),
        ("release.runbook.md", S, "2.Last", "1", "the name `1` already exists"),
        ("release.runbook.md", I, "version", "backup", "the name `backup` already exists"),
        ("release.runbook.md", S, "Restore", "STOP", "`STOP` is a word of the language"),
        ("release.runbook.md", S, "Restore", "Roll back", "a step's name has letters, digits and `_`"),
        ("release.runbook.md", S, "Restore", "4", "a step's name has letters, digits and `_`"),
        ("release.runbook.md", I, "version", "PATH", "`PATH` cannot be the name of an input: the shell uses this variable"),
        ("release.runbook.md", I, "version", "a-b", "`a-b` cannot be the name of an input"),
        ("release.runbook.md", I, "version", "echo", "the command of step 1 already has the word `echo`"),
        ("report.playbook.md", O, "draft", "9a", "`9a` cannot be the name of an output"),
        ("w.workflow.yaml", S, "plan", "ship", "the name `ship` already exists"),
        ("w.workflow.yaml", S, "plan", "-x", "a step's name has letters, digits, `.`, `_` and `-`"),
        ("w.workflow.yaml", S, "plan", "5", "with the name `5`, the document has an error: "),
        ("s.stepspec.yaml", I, "output_folder", "out", "`output_folder` is a word of the format"),
        ("s.stepspec.yaml", S, "draft", "check", "the name `check` already exists"),
        ("s.stepspec.yaml", S, "draft", "a/b", "with the name `a/b`, the document has an error: "),
        ("p.program.json", S, "end", 'a"b', "a name is a printable text of at most 200 characters"),
        ("p.program.json", S, "end", "write", "the name `write` already exists"),
    ],
)  # fmt: skip
def test_a_refusal_has_its_reason(tmp_path: Path, file: str, kind: Kind, old: str, new: str, reason: str) -> None:
    written(tmp_path, FILES)
    assert refusal(tmp_path, file, kind, old, new).startswith(reason)


def refusal(folder: Path, file: str, kind: Kind, old: str, new: str) -> str:
    with pytest.raises(RefusedError) as refused:
        made(folder, file, kind, old, new)
    return str(refused.value)


def refused(folder: Path, line: int, column: int, text: str = RUNBOOK) -> str:
    written(folder, {**FILES, "release.runbook.md": text})
    with pytest.raises(RefusedError) as found:
        rename(open_file(str(folder / "release.runbook.md")), Settings(), line, column, "Other")
    return str(found.value)


def test_only_names_can_be_renamed(tmp_path: Path) -> None:
    assert refused(tmp_path, 27, 3) == "this isn't the name of a step, an input or an output"
    assert refused(tmp_path, 38, 5) == "this isn't the name of a step, an input or an output"
    assert refused(tmp_path, 46, 24) == "`other` has the name of neither an input nor an output of this document"
    text = RUNBOOK.replace("- NO: GOTO Restore", "- NO: GOTO Nowhere")
    assert refused(tmp_path, 42, 14, text) == "this document has no step `Nowhere`"
    reason = refused(tmp_path, 44, 4, text)
    assert reason.startswith("the document has an error, so a rename can't be proved: there is no step `Nowhere`")


@pytest.mark.parametrize(
    "command",
    [
        *('printenv "version"', "python3 -c 'import os; os.environ[\"version\"]'"),
        *("printf '%s' 'Set $version first'", "cat <<'END'\n$version\nEND"),
    ],
)
def test_a_variable_that_a_command_names_in_another_way_is_not_renamed(tmp_path: Path, command: str) -> None:
    written(tmp_path, {**FILES, "release.runbook.md": RUNBOOK.replace("```\n\n- FAIL", f"{command}\n```\n\n- FAIL")})
    reason = refusal(tmp_path, "release.runbook.md", I, "version", "tag")
    assert "the command of step 1 has the word `version` in another form" in reason
    text = RUNBOOK.replace("```\n\n- FAIL", 'tool --version "$version" "it\'s $version\'s"\n```\n\n- FAIL')
    written(tmp_path, {"release.runbook.md": text})
    found = made(tmp_path, "release.runbook.md", I, "version", "tag")
    assert '25: tool --version "$tag" "it\'s $tag\'s"' in changed(text, found), (
        "an option with its name is no hindrance"
    )


def test_a_report_that_a_prompt_names_keeps_its_name(tmp_path: Path) -> None:
    written(tmp_path, {"w.workflow.yaml": WORKFLOW.replace("prompt: Ship it", "prompt: Ship what plan.md says")})
    with pytest.raises(RefusedError, match=r"step ship names the report `plan\.md`, which would get another name"):
        made(tmp_path, "w.workflow.yaml", S, "plan", "think")
    named = WORKFLOW.replace("    next: review", "    report: {name: plan, format: x}\n    next: review")
    written(tmp_path, {"w.workflow.yaml": named.replace("prompt: Ship it", "prompt: Ship what plan.md says")})
    assert made(tmp_path, "w.workflow.yaml", S, "plan", "think").edits


@pytest.mark.parametrize(
    ("label", "child"),
    [
        ("1/lint.runbook.md/Help", "lint.runbook.md"),
        ('"1/mid.runbook.md/1/\\u006cint.runbook.md/Help"', "mid.runbook.md"),  # its text has no `lint.runbook.md`
        ("1/alias.runbook.md/Help", "alias.runbook.md"),  # a link to it
    ],
)
def test_another_document_that_includes_this_one_stays_the_same(tmp_path: Path, label: str, child: str) -> None:
    outer = OUTER.format(label, child)
    middle = "## 1. B\n\n- lint.runbook.md\n"
    written(tmp_path, {"lint.runbook.md": HELPED, "mid.runbook.md": middle, "outer.runbook.md": outer})
    (tmp_path / "alias.runbook.md").symlink_to("lint.runbook.md")
    with pytest.raises(RefusedError, match=r"outer\.runbook\.md includes this document, and would do something else"):
        made(tmp_path, "lint.runbook.md", S, "Help", "Aid")
    written(tmp_path, {"outer.runbook.md": OUTER.format("1/lint.runbook.md/1", "lint.runbook.md")})
    assert made(tmp_path, "lint.runbook.md", S, "Help", "Aid").edits


def test_a_shared_input_and_a_name_that_a_rule_uses_are_refused(tmp_path: Path) -> None:
    head = "---\nrdc: {inputs: {version: {default: '1'}}}\n---\n\n"
    written(tmp_path, {**FILES, "lint.runbook.md": head + LINT.replace("true", 'echo "$version"')})
    assert "would do something else" in refusal(tmp_path, "release.runbook.md", I, "version", "tag")
    rule = '[[rule]]\nname = "few"\nrule = "Restore at most 5 times"\nfor = "*.runbook.md"\n'
    (tmp_path / "rdc.toml").write_text(rule, encoding="utf-8")
    reason = refusal(tmp_path, "release.runbook.md", S, "Restore", "Undo")
    assert "another file may use the name `Restore`" in reason
    text = "---\nrdc: {rules: {a: Deploy at most 2 times}}\n---\n\n## 1. Deploy\n\nx\n\n- FAIL: GOTO Help\n\n## Help\n\nx\n"
    written(tmp_path, {"a.runbook.md": text})
    assert made(tmp_path, "a.runbook.md", S, "Help", "Aid").edits
    assert "would do something else" in refusal(tmp_path, "a.runbook.md", S, "Help", "Deploy")


@pytest.mark.parametrize("is_project", [True, False])
def test_documents_are_found_in_the_project_or_only_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_project: bool
) -> None:
    """A folder without a project may be anything, such as the folder of a user, so nothing below it is read."""
    (tmp_path / "below").mkdir()
    label = "1/../lint.runbook.md/Help" if is_project else "1/lint.runbook.md/Help"
    (tmp_path / "below" / "outer.runbook.md").write_text(OUTER.format(label, "../lint.runbook.md"), encoding="utf-8")
    (tmp_path / "lint.runbook.md").write_text(HELPED, encoding="utf-8")
    if is_project:
        (tmp_path / "rdc.toml").touch()
    read: list[str] = []

    def compiling(one: Opened, given: Settings) -> Compilation:
        read.append(one.path)
        return compile_opened(one, given)

    monkeypatch.setattr(renaming, "compile_opened", compiling)
    try:
        made(tmp_path, "lint.runbook.md", S, "Help", "Aid")
    except RefusedError:
        assert is_project
    assert any("outer" in path for path in read) is is_project


def test_documents_without_the_name_are_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project may have ten thousand of them."""
    written(tmp_path, {**FILES, "lint.runbook.md": HELPED, "outer.runbook.md": "## 1. A\n\n- lint.runbook.md\n"})
    (tmp_path / "odd.runbook.md").write_bytes(b"\xff lint.runbook.md")
    located: list[str] = []
    locate = Project.locate

    def locating(one: Project, path: str) -> Located:
        located.append(path)
        return locate(one, path)

    monkeypatch.setattr(Project, "locate", locating)
    assert made(tmp_path, "lint.runbook.md", S, "Help", "Aid").edits
    names = {Path(path).name.removesuffix(".runbook.md") for path in located}
    assert names == {"lint", "outer", "odd", "release"}


WRONG = [
    # a text in the renamed document, and what a wrong rename to `zzz` would write there
    ("release.runbook.md", S, "Restore", "## 1. Back up", "## 1. Back zzz"),
    ("release.runbook.md", S, "Restore", "- NO: GOTO zzz", "- NO: GOTO 1"),
    ("release.runbook.md", I, "version", "Use {{backup}}", "Use {{zzz}}"),
    ("release.runbook.md", I, "version", 'echo "backup', 'echo "$zzz backup'),
    ("report.playbook.md", O, "draft", "On {{topic}}", "On {{zzz}}"),
    ("w.workflow.yaml", S, "plan", "Plan: it", "Plan: zzz"),
    ("w.workflow.yaml", S, "plan", 'goto: "ship"', "goto: zzz"),
    ("s.stepspec.yaml", S, "draft", "{id: check", "{id: checks"),
    ("p.program.json", S, "write", '"target": "end"', '"target": "zzz"'),
    ("p.program.json", O, "text", '{"register": "topic"}', '{"register": "zzz"}'),
]


@pytest.mark.parametrize(("file", "kind", "name", "old", "wrong"), WRONG)
def test_a_wrong_edit_is_not_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, kind: Kind, name: str, old: str, wrong: str
) -> None:
    """With an edit too many, or another name in one place, the proof refuses the rename."""
    written(tmp_path, FILES)
    assert made(tmp_path, file, kind, name, "zzz").edits, "the right edits are proved"

    def wrongly(source: Source, edits: list[Edit]) -> Source:
        found = edited(source, edits)
        assert old in found.text
        return replace(found, text=found.text.replace(old, wrong))

    monkeypatch.setattr(renaming, "edited", wrongly)
    assert "would do something else" in refusal(tmp_path, file, kind, name, "zzz")


@pytest.mark.parametrize("missing", range(6))
def test_a_forgotten_place_is_not_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: int) -> None:
    written(tmp_path, FILES)
    monkeypatch.setattr(
        renaming, "of_same_part", lambda marks, one: (*(p := of_same_part(marks, one))[:missing], *p[missing + 1 :])
    )
    assert refusal(tmp_path, "release.runbook.md", S, "Restore", "Undo")


def test_sameness_is_one_to_one() -> None:
    one, other = {"a": "x old"}, {"a": "x new"}
    rename_of = Rename("old", "new", is_step=True)
    assert difference(one, other, rename_of) == ""
    assert difference(one, {"a": "y new"}, rename_of) == "tables"
    assert difference(one, {"b": "x new"}, rename_of) == "tables"
    assert difference({"a": ["x"]}, {"a": ["x", "y"]}, rename_of) == "tables"
