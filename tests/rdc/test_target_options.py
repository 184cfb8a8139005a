"""The options of a target: on the command line, in the frontmatter, in the project's configuration."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from backends.options.model import listed
from backends.registry import BACKENDS, load
from tests.rdc import sample_target
from tests.support.cli import GOOD, ROOT, Result, call, document, spawn

pytestmark = pytest.mark.process

TO = ("compile", "--to", "sample")


@pytest.fixture(autouse=True)
def _sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "sample", sample_target.PATH)


def write(folder: Path, frontmatter: str = "", configuration: str = "") -> None:
    head = f"---\n{frontmatter}\n---\n" if frontmatter else ""
    document(folder, "a.runbook.md", head + GOOD)
    document(folder, "rdc.toml", configuration)


def effective(folder: Path, *arguments: str) -> dict[str, Any]:
    result = call(*TO, "a.runbook.md", "-o", "-", *arguments, cwd=folder)
    assert (result.code, result.err) == (0, "")
    options: dict[str, Any] = json.loads(result.out.splitlines()[1])
    return options


def findings(result: Result) -> list[str]:
    """The findings in a text report, as `place CODE message`."""
    found = re.findall(r"^(\S+): error\[(\w+)\]: (.*)$", result.err, re.MULTILINE)
    assert result.code == (1 if found else 0), result.err
    return [" ".join(parts) for parts in found]


@pytest.mark.parametrize(
    ("word", "value"),
    [
        *(("timeout-minutes=90", 90), ("checkout=false", False), ("checkout=no", False)),
        *(("title=[x]", "[x]"), ("title=5", "5"), ("title=a=b", "a=b")),
        *(("labels=[a, b]", ["a", "b"]), ("labels=- a\n- b", ["a", "b"])),
        ('env={PORT: "80", NO: x}', {"PORT": "80", "NO": "x"}),
        ("env=PORT: 0644", {"PORT": "0644"}),
        *(("runs-on=self-hosted", "self-hosted"), ("runs-on=a: b", "a: b"), ("runs-on=5", "5")),
        ("runs-on=[self-hosted, linux]", ["self-hosted", "linux"]),
        ("setup=[{uses: a, with: {b: 1.10}}]", [{"uses": "a", "with": {"b": "1.10"}}]),
        *(("on=push", "push"), ("on=[push]", ["push"])),
        ("on={push: {branches: [main]}}", {"push": {"branches": ["main"]}}),
    ],
)
def test_a_word_becomes_what_its_option_takes(tmp_path: Path, word: str, value: object) -> None:
    write(tmp_path)
    assert effective(tmp_path, "-O", word) == {word.partition("=")[0]: value}


@pytest.mark.parametrize(
    ("words", "output"),
    [
        ([f"timeout-minutes={'long ' * 10}"], "`timeout-minutes` should be a whole number"),
        (["timeout-minutes=0"], "`timeout-minutes` should be greater than or equal to 1, not '0'"),
        (["prompts=guess"], "`prompts` should be 'answers' or 'agent', not 'guess'"),
        (["env=a"], "`env` should be a mapping of names to values, not 'a'"),
        (["runs-on={a: b}"], "`runs-on` should be a string or a list"),
        (["runs-on=[a"], "`runs-on` is not valid YAML: this bracket is not closed"),
        (["runs_on=a"], "there is no option `runs_on`; did you mean `runs-on`?"),
        (["color=a", "checkout=c"], "`checkout` should be true or false, not 'c'; there is no option `color`"),
        (["prompts=agent"], "`prompts: agent` needs the option `agent`"),
    ],
)
def test_what_is_wrong_on_the_command_line_is_wrong_use(tmp_path: Path, words: list[str], output: str) -> None:
    write(tmp_path)
    result = call(*TO, "a.runbook.md", *[argument for word in words for argument in ("-O", word)], cwd=tmp_path)
    assert (result.code, result.out) == (2, "")
    assert result.err == f"rdc: target sample: {output} (see 'rdc targets sample')\n"


def test_prompts_is_a_short_form(tmp_path: Path) -> None:
    write(tmp_path, "rdc: {sample: {agent: claude}}")
    assert effective(tmp_path, "--prompts", "agent") == {"agent": "claude", "prompts": "agent"}
    assert effective(tmp_path, "--prompts", "agent", "-O", "prompts=agent")["prompts"] == "agent"
    write(tmp_path, "rdc: {sample: {agent: claude, prompts: agent}}")
    assert effective(tmp_path, "--prompts", "answers") == {"agent": "claude"}
    result = call(*TO, "a.runbook.md", "--prompts", "agent", "-O", "prompts=answers", cwd=tmp_path)
    assert (result.code, "have different values" in result.err) == (2, True)
    result = call("compile", "--to", "python", "a.runbook.md", "--prompts", "answers", cwd=tmp_path)
    assert result.err == "rdc: target python: there is no option `prompts` (see 'rdc targets python')\n"
    write(tmp_path, "rdc: {sample: {agent: claude}")  # what may stand in an unreadable document is not missing
    [found] = findings(call(*TO, "a.runbook.md", "--prompts", "agent", cwd=tmp_path))
    assert found.startswith("a.runbook.md:2:1 RD010 ")
    [found] = findings(call(*TO, "missing.runbook.md", "--prompts", "agent", cwd=tmp_path))
    assert found.startswith("missing.runbook.md RD001 ")


def test_the_command_line_outweighs_the_document_and_that_the_project(tmp_path: Path) -> None:
    configuration = '[sample]\ntitle = "project"\ncheckout = false\ntimeout-minutes = 1\nenv = {A = "1"}\n'
    write(tmp_path, "rdc: {sample: {title: document, timeout-minutes: 2, env: {B: 1.10}}}", configuration)
    expected = {"title": "document", "checkout": False, "timeout-minutes": 3, "env": {"B": "1.10"}}  # no deep merge
    assert effective(tmp_path, "-O", "timeout-minutes=3") == expected
    document(tmp_path, "b.runbook.md", GOOD)
    call(*TO, "a.runbook.md", "b.runbook.md", "-O", "checkout=true", cwd=tmp_path).exits(0)
    assert '"title": "document"' in (tmp_path / "a.txt").read_text()
    assert '"title": "project"' in (tmp_path / "b.txt").read_text(), "each document has its own"


@pytest.mark.parametrize("name", ["a.workflow.yaml", "a.playbook.md"])
def test_variables_of_all_formats_stay_as_written(name: str, tmp_path: Path) -> None:
    head = "rdc: {github: {env: {B: 1.10}, agent: x}}"
    text = f"name: a\n{head}\nsteps: [{{name: one, prompt: x, end: true}}]\n"
    document(tmp_path, name, text if "workflow" in name else f"---\n{head}\n---\n# A\n\n## STEP 1: Do it\n\nDo it.\n")
    result = call("compile", name, "--to", "github", cwd=tmp_path)
    assert "      B: '1.10'\n" in (tmp_path / "a.yml").read_text(), result.err


def test_the_project_can_be_a_pyproject(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", GOOD)
    document(tmp_path, "pyproject.toml", "[tool.rdc.sample]\nrunson = 1\n\n[tool.rdc.python]\n\n[tool.other]\nx = 1\n")
    problem = "the configuration is not valid: target sample: there is no option `runson`; did you mean `runs-on`?"
    assert findings(call("check", "a.runbook.md", cwd=tmp_path)) == [f"pyproject.toml:2:1 RD501 {problem}"]
    document(tmp_path, "pyproject.toml", '[tool.rdc]\nsample = {title = "x"}\n')
    assert effective(tmp_path) == {"title": "x"}


def test_the_options_of_included_runbooks_are_ignored(tmp_path: Path) -> None:
    write(tmp_path, "rdc: {sample: {title: [], color: red}, nothing: {}}")
    document(tmp_path, "b.runbook.md", "# Whole\n\n## 1. Part\n\n- a.runbook.md\n")
    result = call(*TO, "b.runbook.md", "-o", "-", cwd=tmp_path)
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("\n{}\n")
    assert findings(call("check", "b.runbook.md", cwd=tmp_path)) == []


FRONTMATTER = """rdc:
  sample:
    on: {push: }
    run-on: ubuntu
    timeout-minutes: soon
    env: {PORT: [80], port: x}
    runs-on:
      - linux
      - [a]
    setup:
      - uses: a
        with: {b: [1]}
      - {use: c}"""
WRONG = [
    "a.runbook.md:5:5 RD013 target sample: there is no option `run-on`; did you mean `runs-on`?",
    "a.runbook.md:6:5 RD013 target sample: `timeout-minutes` should be a whole number, not 'soon'",
    "a.runbook.md:7:11 RD013 target sample: `env.PORT` should be a string",
    "a.runbook.md:7:23 RD013 target sample: the name `port` in `env` should match pattern '^[A-Z]+$'",
    "a.runbook.md:10:9 RD013 target sample: `runs-on.1` should be a string",
    "a.runbook.md:13:16 RD013 target sample: `setup.0.with.b` should be a string",
    "a.runbook.md:14:9 RD013 target sample: `setup.1.uses` is missing",
    "a.runbook.md:14:10 RD013 target sample: there is no option `setup.1.use`; did you mean `setup.1.uses`?",
]


@pytest.mark.parametrize("command", [TO, ("check",)])
def test_every_error_in_a_document_is_told_where_it_is(tmp_path: Path, command: tuple[str, ...]) -> None:
    write(tmp_path, FRONTMATTER)
    assert findings(call(*command, "a.runbook.md", cwd=tmp_path)) == WRONG
    assert not (tmp_path / "a.txt").exists()
    document(tmp_path, "a.runbook.md", "---\nrdc: {sample: {checkout: 3}}\n---\n# No steps\n")
    codes = [line.split()[1] for line in findings(call("check", "a.runbook.md", cwd=tmp_path))]
    assert codes == ["RD101", "RD013"]


def test_every_error_in_the_configuration_is_told_where_it_is(tmp_path: Path) -> None:
    configuration = """\
# for all runbooks
[sample]
title = 5
labels = "a"

[sample.env]
  PORT = 80 # not a text

[[sample.setup]]
uses = "a"

[[sample.setup]]
uses = 5
with.b = 1
"""
    write(tmp_path, "rdc: {sample: {labels: [b]}}", configuration)
    begin = "RD501 the configuration is not valid: target sample:"
    assert findings(call(*TO, "a.runbook.md", cwd=tmp_path)) == [
        f"rdc.toml:3:1 {begin} `title` should be a string, not 5",
        f"rdc.toml:7:3 {begin} `env.PORT` should be a string, not 80",
        f"rdc.toml:13:1 {begin} `setup.1.uses` should be a string, not 5",
        f"rdc.toml:14:1 {begin} `setup.1.with.b` should be a string, not 1",
    ]
    assert "3 | title = 5\n  | ^^^^^^^^^\n" in call("check", "a.runbook.md", cwd=tmp_path).err


def test_an_error_stands_at_its_option_or_at_the_table(tmp_path: Path) -> None:
    write(tmp_path, "rdc:\n  sample: {prompts: agent}")
    problem = "a.runbook.md:3:3 RD013 target sample: `prompts: agent` needs the option `agent`"
    for command in (("check",), TO):
        assert findings(call(*command, "a.runbook.md", cwd=tmp_path)) == [problem]
    assert effective(tmp_path, "-O", "agent=claude") == {"prompts": "agent", "agent": "claude"}
    write(tmp_path, "rdc: {sample: {title: 5}, python: {}}")
    assert call("compile", "--to", "python", "a.runbook.md", cwd=tmp_path).code == 0, "it is of another target"
    problem = "a.runbook.md:2:16 RD013 target sample: `title` should be a string, not 5"
    assert findings(call("check", "a.runbook.md", cwd=tmp_path)) == [problem]
    assert effective(tmp_path, "-O", "title=x") == {"title": "x"}, "the command line can repair an option"
    write(tmp_path, "rdc: {sample: {most-steps: 1}}")
    [found] = findings(call(*TO, "a.runbook.md", cwd=tmp_path))
    assert found.startswith("a.runbook.md RD502 "), "the backend refuses the program"
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.parametrize("command", [("check",), TO, ("compile", "--to", "python")])
def test_a_table_for_no_target_is_an_error(tmp_path: Path, command: tuple[str, ...]) -> None:
    write(tmp_path, "rdc: {sampel: {title: x}}", "[transition]\n")
    problem = "the configuration is not valid: there is no option or target `transition`; did you mean `transitions`?"
    assert findings(call(*command, "a.runbook.md", cwd=tmp_path)) == [
        "a.runbook.md:2:7 RD013 there is no option or target `sampel`; did you mean `sample`?",
        f"rdc.toml:1:1 RD501 {problem}",
    ]


@pytest.mark.parametrize(
    ("table", "remedy"),
    [
        ("github: {runs_on: x}", "`rdc targets github` lists the valid options"),
        ("zzz: {}", "`rdc targets` lists the targets"),
        ("githb: {}", "replace `githb` with `github`"),
    ],
)
def test_the_help_for_a_wrong_option_leads_to_the_list(tmp_path: Path, table: str, remedy: str) -> None:
    write(tmp_path, f"rdc: {{{table}}}")
    assert f"= help: {remedy}\n" in call("check", ".", cwd=tmp_path).err


def test_check_loads_no_backend_where_there_are_no_tables(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", GOOD)
    document(tmp_path, "rdc.toml", 'transitions = "after-body"\n')
    result = spawn("check", "a.runbook.md", cwd=tmp_path, PYTHONVERBOSE="1").exits(0)
    imported = set(re.findall(r"^import '([\w.]+)'", result.err, re.MULTILINE))
    assert "compiler.driver" in imported
    assert not {"pydantic", "yaml", "importlib.metadata", *(f"backends.{name}" for name in BACKENDS)} & imported


PROMPT = "# T\n\n## 1. Agree\n\nIs it good?\n"
SCHEDULE = "on: {schedule: [{cron: 0 3 * * *}]}"
WARNING = re.compile(r"^(\S+): warning\[(RD523)\]", re.MULTILINE)


def test_a_finding_about_an_option_stands_at_its_key(tmp_path: Path) -> None:
    to = ("compile", "a.runbook.md", "--to", "github", "-o", "-")
    document(tmp_path, "a.runbook.md", f"---\nrdc:\n  github: {{{SCHEDULE}}}\n---\n{PROMPT}")
    assert WARNING.findall(call(*to, cwd=tmp_path).err) == [("a.runbook.md:3:17", "RD523")]
    document(tmp_path, "a.runbook.md", PROMPT)
    shown = call(*to, "-O", SCHEDULE.replace(": ", "=", 1), cwd=tmp_path).err
    assert WARNING.findall(shown) == [("a.runbook.md", "RD523")]
    document(tmp_path, "rdc.toml", '[github.on]\nschedule = [{cron = "0 3 * * *"}]\n')
    ((place, _),) = WARNING.findall(call(*to, cwd=tmp_path).err)
    assert place.startswith("rdc.toml:")


@pytest.mark.parametrize("name", [name for name in BACKENDS if name != "sample"])
def test_every_option_of_every_target_is_described(name: str, tmp_path: Path) -> None:
    options = listed(load(name).options)
    assert all(option.description.endswith(".") for option in options), options
    output = call("targets", name, cwd=tmp_path).out
    assert all(f"\n{option.name}  ({option.type}; " in output for option in options)
    page = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    assert all(f"| `{option.name}` |" in page for option in options)


def test_the_options_of_a_target_are_listed(tmp_path: Path) -> None:
    output = call("targets", "sample", cwd=tmp_path).out
    assert "\nruns-on  (string or list of string; default: ubuntu)\n" in output
    assert "\ntimeout-minutes  (whole number from 1; default: 5)\n" in output
    assert "\nsetup  (list of mapping; default: none)\n" in output
    assert "\nsetup[].uses  (string; required)\n" in output
    assert "\nprompts  (answers or agent; default: answers)\n" in output
    rows = json.loads(call("targets", "sample", "--format", "json", cwd=tmp_path).out)
    assert rows["target"] == "sample"
    by_name = {row["name"]: row for row in rows["options"]}
    about = {"type": "true/false", "required": False, "default": True, "description": ""}
    assert by_name["checkout"] == {"name": "checkout", **about}
    assert call("targets", "json", cwd=tmp_path).out.endswith("This target has no options.\n")
    result = call("targets", "sampel", cwd=tmp_path)
    assert (result.code, result.err) == (2, "rdc: unknown target 'sampel'; did you mean sample? (see 'rdc targets')\n")


def test_an_option_without_use_for_make_is_refused_with_a_remedy(tmp_path: Path) -> None:
    to_make = ("compile", "a.runbook.md", "--to", "make", "-o", "Makefile")
    for form in ("", 'form = "plain"\n'):
        write(tmp_path, "", f'[make]\nprogram = "a.py"\n{form}')
        refused = call(*to_make, cwd=tmp_path)
        problem = "`program: a.py` has no effect, because this Makefile calls no program"
        assert (refused.code, f"rdc.toml:2:1: error[RD540]: {problem}\n" in refused.err) == (1, True)
        assert "remove the option `program`" in refused.err
        assert not (tmp_path / "Makefile").exists()
        write(tmp_path, "", f"[make]\n{form}")
        assert call(*to_make, cwd=tmp_path).code == 0
        (tmp_path / "Makefile").unlink()
