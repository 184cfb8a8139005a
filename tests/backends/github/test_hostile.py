"""Hostile texts in every place of a document, and long messages: no tool finds anything, and each text arrives."""

import re
import shlex
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.github import GithubBackend
from tests.backends.github.walking import Clean, Engine
from tests.differential.generate.rundown import MAIN, Drawn, cases
from tests.differential.generate.rundown_text import render, render_files
from tests.support import actions_engine as engine
from tests.support.documents import program_at
from tests.support.github.act import end_of
from tests.support.github.compiling import program_of, text_of
from tests.support.github.lint import findings
from tests.support.hostile_texts import SCALARS as HOSTILE
from tests.support.runbooks import command

pytestmark = pytest.mark.tool

MODES: list[dict[str, object]] = [
    {},
    {"summary": True},
    {"prompts": "environment", "checkout": False},
    {"prompts": "agent", "agent": "cat", "summary": True},
]


@pytest.mark.soak
@pytest.mark.share(6)
@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(found=st.lists(cases(), min_size=4, max_size=4))
def test_no_tool_finds_anything_in_random_workflows(found: list[Drawn]) -> None:
    """The commands are plain: what shellcheck thinks of the author's own is for the author."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [path for number, case in enumerate(found) for path in written(Path(folder) / str(number), case)]
        assert findings(paths) == []


def written(folder: Path, case: Drawn) -> list[Path]:
    """The workflows of a case, one for each mode that takes it."""
    folder.mkdir()
    (folder / "rdc.toml").touch()
    documents = {MAIN: render(case.runbook, case.style, code_of=lambda *_: "true")}
    documents |= render_files(case.files, case.style, code_of=lambda *_: "true")
    for name, text in documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    program, paths = program_at(folder / MAIN), []
    for number, options in enumerate(MODES):
        emission = GithubBackend().emit(program, options)
        if emission.text:
            path = folder / f"{number}.yml"
            path.write_text(emission.text, encoding="utf-8")
            paths.append(path)
    return paths


def test_a_counter_that_nothing_in_a_loop_reads_is_not_set(tmp_path: Path, clean: Clean) -> None:
    """The instance of the step around a list, where the only command has one of its own."""
    (tmp_path / "inner.runbook.md").write_text("## {N}\n\n```sh\ntrue\n```\n", encoding="utf-8")
    document = "## {N}\n\n### {N}.1\n\n- inner.runbook.md\n\n- PASS ANY: RETRY 3 CONTINUE\n"
    (tmp_path / "outer.runbook.md").write_text(document, encoding="utf-8")
    clean(text_of(tmp_path, "## 1\n\n- outer.runbook.md\n"))


def test_a_condition_names_no_end_of_a_nested_runbook(tmp_path: Path, clean: Clean) -> None:
    (tmp_path / "inner.runbook.md").write_text(command("1", "true", "PASS: COMPLETE", "FAIL: STOP"), encoding="utf-8")
    clean(text_of(tmp_path, f"## 1\n\n- inner.runbook.md\n\n- FAIL: GOTO 3\n\n## 2. Sure?\n\n{command('3', 'true')}"))


# In each of these a command gets its text in another way: as the script, by a variable, in a repetition, in a loop.
SHAPES = {
    "native": "## 1\n\n```{tag}\n{command}\n```\n",
    "retry": "## 1\n\n```{tag}\n{command}\n```\n\n- FAIL: RETRY 1\n",
    "loop": "## 1\n\n```{tag}\n{command}\n```\n\n- PASS: CONTINUE\n\n## 2\n\n```bash\ntrue\n```\n\n- FAIL: GOTO 1\n",
    "dynamic": "## {{N}}\n\n```{tag}\n{command}\n```\n\n- PASS: COMPLETE\n- FAIL: GOTO NEXT\n",
}
ARGUMENTS = st.lists(
    st.one_of(
        st.sampled_from(HOSTILE),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=5),
    ),
    max_size=8,
).map("".join)


@pytest.mark.share(3)
@pytest.mark.parametrize("tag", ["bash", "sh"])
@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=6, suppress_health_check=list(HealthCheck))
@given(text=ARGUMENTS.filter(lambda text: "```" not in text and "\r" not in text and "\ufeff" not in text))
def test_a_command_gets_each_text_as_it_was_written(shape: str, tag: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        document = SHAPES[shape].format(tag=tag, command=f'printf %s {shlex.quote(text)} > "$OUT"')
        workflow = text_of(folder, document, {"checkout": False, "summary": True})
        ran = engine.run(folder, workflow, history=folder / "history", env={"OUT": str(folder / "out")})
        assert ran.exit_code == 0, ran.log
        expected = text.replace("{N}", "1") if shape == "dynamic" and "${N}" not in text else text
        assert (folder / "out").read_bytes().decode() == expected


TITLES = [
    "${{ github.token }}", "`touch canary` $(touch canary)", "'; touch canary; '", "\\", "yes", "| table | EOF",
    "::set-output name=a::b 🚀 – é 1e3",
]  # fmt: skip


def test_titles_prompts_and_messages_are_data(tmp_path: Path, walk: Engine, clean: Clean) -> None:
    step = "## {0}. {1}\n\n{1}\n\n```bash\ntrue\n```\n\n- PASS: CONTINUE\n\n"
    steps = "".join(step.format(number, title) for number, title in enumerate(TITLES, 1))
    last, shown = len(TITLES) + 1, " ".join(TITLES)
    quoted = shown.replace("\\", "\\\\")
    question = f'## {last}. {TITLES[0]}\n\n{TITLES[0]}\n\n- PASS: COMPLETE "{quoted}"\n'
    text = text_of(tmp_path, f"# {shown}\n\n{steps}{question}", {"checkout": False, "summary": True})
    clean(text)
    walk(text)
    ran = walk(text, inputs={"answers": "pass", "resume": "1"}, run_id=2)
    assert (ran.exit_code, str(end_of(text, ran))) == (0, f"COMPLETE {shown}")
    assert not list(tmp_path.rglob("canary"))


def test_a_block_of_prose_in_an_inline_program_has_no_escapes(tmp_path: Path) -> None:
    """An escape in a raw string would be another text, and the step would not show what the program runs."""
    entries = "      - {agent: a, prompt: Do it.}\n      - {agent: b, prompt: Do it.}\n"
    document = f'name: "${{{{ x"\nsteps:\n  - name: s\n    check: all\n    parallel:\n{entries}'
    (tmp_path / "rdc.toml").touch()
    program = program_of(tmp_path, document, "a.workflow.yaml")
    text = GithubBackend().emit(program, {"agent": "cat", "checkout": False, "runtime": "inline"}).text
    assert text
    assert r"$\x7b{ x" in text
    assert all(r"\x7b" not in block for block in re.findall(r'\br"""(?:\\.|.)*?"""', text, re.DOTALL))


LONGEST = 65_535
"""The most characters of all inputs of a run on GitHub."""

DOCUMENT = """\
---
rdc:
  inputs: {note: {description: A note}}
---
## 1. Ship

"""
COMMAND = """\
```sh
true
```

- PASS: STOP "100% \\\\ {{note}}, {{note}} and {{note}} %s"
- FAIL: COMPLETE
"""
QUESTION = """\
Is it shipped?

- YES: STOP "100% \\\\ {{note}}, {{note}} and {{note}} %s"
- NO: COMPLETE
"""


@pytest.mark.parametrize("step", [COMMAND, QUESTION], ids=["native", "calling"])
def test_a_message_shows_a_long_input_three_times(step: str, tmp_path: Path, walk: Engine) -> None:
    workflow = text_of(tmp_path, DOCUMENT + step, {"checkout": False, "runtime": "inline", "summary": True})
    note = "%x" * ((LONGEST - 100) // 2)
    run = walk(workflow, inputs={"note": note})
    if step == QUESTION:
        run = walk(workflow, inputs={"answers": "yes", "resume": "1"}, run_id=2)
    reported = [printed for job in run.jobs.values() for _, title, printed in job.annotations if title == "STOP"]
    assert (reported or [end_of(workflow, run).message])[0] == f"100% \\ {note}, {note} and {note} %s"
    assert run.conclusion == "failure"


MESSAGES = (
    "{{HOST}} has {{VERSION}}",
    "{{HOST}}{{VERSION}}{{HOST}}",
    "$(touch x) `id` '{{HOST}}' $VALUE_1 ${{{{ github.token }}}} 100%s \\\\n {{VERSION}}!",
    "Only {{HOST}}",
)
TWO = "---\nrdc:\n  inputs: {HOST: {description: A host, default: db1}, "
TWO += "VERSION: {description: A version, default: '%s\\'}}\n---\n"


@pytest.mark.parametrize("summary", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_messages_with_several_values_are_clean_and_exact(
    summary: bool, tmp_path: Path, walk: Engine, clean: Clean
) -> None:
    for number, first in enumerate(MESSAGES):
        message = first.replace("{{{{", "{{").replace("}}}}", "}}")
        script = "true" if (number % 2 == 0) == summary else "false"
        asks = "1. Ask {{HOST}} for {{VERSION}}"
        document = TWO + command(asks, script, "FAIL: GOTO 2", f'PASS: COMPLETE "{message}"', shell="sh")
        document += command("2. Again", "false", f'FAIL: STOP "{message}"', f'PASS: STOP "{message} and {{{{HOST}}}}"')
        workflow = text_of(tmp_path, document, {"checkout": False, "summary": summary})
        clean(workflow)
        run = walk(workflow)
        expected = message.replace("\\\\", "\\").replace("{{HOST}}", "db1").replace("{{VERSION}}", "%s\\")
        assert end_of(workflow, run).message == expected
        assert run.conclusion == ("success" if script == "true" else "failure")
