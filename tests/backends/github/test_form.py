"""The form of a workflow, and the golden workflows: no tool finds anything, and each runs to its end."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from backends.github.native.shell import may_use
from tests.backends.github.walking import Clean
from tests.conftest import ROOT
from tests.support import actions_engine as engine
from tests.support.github import act
from tests.support.github.act import End, end_of
from tests.support.github.compiling import LOADER, steps, text_of
from tests.support.github.lint import findings
from tests.support.golden import INPUTS, NAMES, SECRETS, STOPS, listed, workflows
from tests.support.runbooks import command, question

pytestmark = pytest.mark.tool

DEFAULTS = "# Deploy\n\n" + "\n".join(
    f"## {number}. {title}\n\n```bash\n{command}\n```\n"
    for number, (title, command) in enumerate(
        [("Run tests", "make test"), ("Build", "./build.sh --all"), ("Publish", "scp out host:")], 1
    )
)


def test_a_runbook_of_defaults_is_native_steps_and_nothing_else(tmp_path: Path) -> None:
    text = text_of(tmp_path, DEFAULTS)
    assert len(text.splitlines()) <= 43
    assert not {word for word in ("awk", "RUNNER_TEMP", "RDC_") if word in text}
    first, *others = steps(text)
    assert (set(first), others[0]) == ({"name", "uses", "with"}, {"name": "1. Run tests", "run": "make test"})
    assert [set(step) for step in others] == [{"name", "run"}] * 3
    text = text_of(tmp_path, DEFAULTS.replace("make test", 'make test RUN="$RDC_RUN_ID"'))
    assert ("RDC_RUN_ID: ${{ github.run_id }}" in text, "RDC_ATTEMPT" in text) == (True, False)


SEEN = [
    "", "echo a", "mkdir -p x && cp a b", "echo a 2>&1 | tee x", "if [ -f x ]; then cat x; else true; fi",
    "(cd x; ls)",
]  # fmt: skip
UNSEEN = [
    *["make", "echo a; make", "echo a\nmake", "echo a &&\nmake", "false ||make", "echo a>b;make", "echo a#b; make"],
    *["A=1 echo", "$X", "echo $(make)", "echo `make`", "cat <(make)", "cat <<E\n$(make)\nE", "xargs make", "./echo"],
    *[
        "env", "export", "echo ${!X*}", "cat /proc/self/env*", "eval echo", ". ./x", "echo 'a", "f() { make; }; f",
        "> x make",
    ],
    *["echo a # it's\nmake\necho b # it's", "# see \\\nmake", 'echo a;# "\nmake\n# "'],
]  # fmt: skip


@pytest.mark.parametrize("command", [*SEEN, *UNSEEN])
def test_only_plain_tools_read_no_variables(command: str) -> None:
    assert may_use(command, "RDC_") == (command in UNSEEN)
    assert command in UNSEEN or may_use(f"{command} # $RDC_ATTEMPT", "RDC_")


STEPS = [
    ("Run tests", "- FAIL: RETRY 2 STOP broken"),
    ("Build", "- FAIL: GOTO Fix"),
    ("Deploy", "- FAIL: RETRY 2 GOTO Fix"),
    ("Watch it", "- PASS: COMPLETE Done\n- FAIL: CONTINUE"),
    ("Look again", "- PASS: GOTO {look}\n- FAIL: STOP Tired"),
]


def _document(nodes: list[tuple[str, str]]) -> str:
    numbers = {title: number for number, (title, _) in enumerate(nodes, 1)}
    parts = [
        f"## {number}. {title}\n\n```bash\necho {title}\n```\n\n{printed.format(look=numbers['Watch it'])}\n"
        for number, (title, printed) in enumerate(nodes, 1)
    ]
    return "\n".join([*parts, "## Fix\n\n```bash\nmake fix\n```\n\n- PASS: STOP Mended\n"])


def _acts(text: str) -> dict[str, tuple[str, str]]:
    return {step["id"]: (step.get("if", ""), step["run"]) for step in steps(text) if "id" in step}


@pytest.mark.parametrize("summary", [False, True])
@pytest.mark.parametrize("place", range(4))
def test_a_step_that_is_inserted_changes_no_other_but_by_its_name(place: int, summary: bool, tmp_path: Path) -> None:
    options = {"summary": summary}
    before = _acts(text_of(tmp_path, _document(STEPS), options))
    after = _acts(text_of(tmp_path, _document([*STEPS[:place], ("Sign", ""), *STEPS[place:]]), options))
    assert set(after) - set(before) <= {"sign", "STOP"}, "its own step, and the end that it leads to"
    assert set(before) <= set(after)
    changed = [name for name in before if after[name] != before[name] and name != "STOP"]
    assert [name for name in changed if after[name][1] != before[name][1]] == []
    assert all("steps.sign." in after[name][0] for name in changed)
    assert len(changed) <= 2


TITLES = [
    'a $HOME `touch x` "b" $(touch x) ${N}', "it's 100%0A::error::x", "a ::warning title=a::b", "a $", "a ' b",
    "Esac", "Done", "Test", "Time", "It's", "In $x `y`", "C:\\dir", "Ends \\", "It\u2019s",
    "Say \u201c$x\u201d",
]  # fmt: skip


def test_titles_of_steps_in_a_loop_are_data(tmp_path: Path, clean: Clean) -> None:
    nodes = [f'## {n}. {title}\n\n```bash\necho {n} >> "$LOG"\n```\n\n' for n, title in enumerate(TITLES, 1)]
    text = text_of(tmp_path, "".join(nodes) + "- PASS: COMPLETE\n- FAIL: GOTO 1\n", {"checkout": False})
    clean(text)
    run = engine.run(tmp_path, text, history=tmp_path / "h", env={"LOG": str(tmp_path / "log")})
    assert run.conclusion == "success", run.log
    assert (tmp_path / "log").read_text().split() == [str(number) for number in range(1, len(TITLES) + 1)]
    plain = [re.sub("[\u201c\u201d]", '"', title.replace("\u2019", "'").replace("%", "%25")) for title in TITLES]
    assert [title for title in plain if f"::group::{title}\n" not in run.log] == []
    assert not list(tmp_path.rglob("x"))
    assert run.jobs["runbook"].annotations == ()


LOOPED = (
    "## 1. Roll out\n\n"
    + command("### 1.1 Move", "true", 'FAIL: COMPLETE "Nothing is left"')
    + question("### 1.2 Look", "Is it good?", 'YES: STOP "It is out"', "NO: GOTO 1.1")
)


@pytest.mark.parametrize(
    ("prompts", "who"),
    [("answers", "The run waits here. A person continues it with the answer."), ("agent", "Asks the agent: cat")],
)
def test_a_loop_says_what_follows_and_who_is_asked(prompts: str, who: str, tmp_path: Path) -> None:
    text = text_of(tmp_path, LOOPED, {"prompts": prompts, "agent": "cat"})
    lines = [
        "      # 1.1. Move", "      #   PASS: GOTO 1.2", '      #   FAIL: COMPLETE "Nothing is left"',
        "      # 1.2. Look", f"      #   {who}", '      #   YES: STOP "It is out"', "      #   NO: GOTO 1.1",
        "      - name: 'Loop: 1. Roll out'",
    ]  # fmt: skip
    assert "\n".join(lines) in text


WORKFLOWS = listed(".yml")

BY_ACT = ("deploy-with-rollback", "nightly-cleanup")
"""The examples that act runs, an engine of other people; the second engine runs the others."""


@pytest.mark.share(8)
@pytest.mark.parametrize("part", range(8))
def test_no_tool_finds_anything(part: int) -> None:
    assert len(WORKFLOWS) >= len(NAMES)
    assert findings([workflows()[path] for path in WORKFLOWS[part::8]]) == []


def test_the_parser_of_github_complains_of_nothing() -> None:
    texts = {path: workflows()[path].read_text(encoding="utf-8") for path in WORKFLOWS}
    assert {path: engine.complaints(text) for path, text in texts.items()} == {path: [] for path in WORKFLOWS}
    assert engine.complaints(texts[WORKFLOWS[0]].replace("runs-on:", "runs_on:")) != []


@pytest.mark.share(8)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in BY_ACT])
def test_it_runs_to_its_end(name: str, tmp_path: Path) -> None:
    folder, workflow = tmp_path / "repository", workflows()[f"{name}/{name}.yml"]
    shutil.copytree(workflow.parents[2], folder)
    text = workflow.read_text(encoding="utf-8")
    environments = {"approval": ["approved"]} if "environment: approval" in text else {}
    answers = ROOT / "examples" / "answers" / f"{name}.txt"
    lines = answers.read_text(encoding="utf-8").splitlines() if answers.exists() else []
    inputs = dict(word.split("=", 1) for word in INPUTS.get(name, ()) if "=" in word)
    given: dict[str, Any] = {"history": tmp_path / "history", "secrets": SECRETS, "environments": environments}
    ran = engine.run(folder, text, inputs=inputs, **given)
    for number, line in enumerate(lines, 2):
        if end_of(text, ran).word == "WAITING":
            ran = engine.run(folder, text, inputs={"answers": line, "resume": str(number - 1)}, run_id=number, **given)
    has_ended_well(name, end_of(text, ran), ran.exit_code)


@pytest.mark.parametrize("name", BY_ACT)
def test_act_runs_it_to_its_end(name: str) -> None:
    workflow = workflows()[f"{name}/{name}.yml"]
    ran = act.run(workflow.parents[2], workflow, secrets={**act.TOKEN, **SECRETS})
    has_ended_well(name, end_of(workflow.read_text(encoding="utf-8"), ran), ran.exit_code)


def has_ended_well(name: str, end: End, code: int) -> None:
    assert (end.word, bool(end.message)) == ("STOP" if name in STOPS else "COMPLETE", True)
    assert bool(code) == (name in STOPS)


def test_no_script_holds_an_expression() -> None:
    for path in WORKFLOWS:
        for job in yaml.load(workflows()[path].read_text(encoding="utf-8"), LOADER)["jobs"].values():
            assert not any("${{" in step.get("run", "") for step in job["steps"]), path
