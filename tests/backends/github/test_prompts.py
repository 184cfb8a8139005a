"""Prompts that an agent answers, prompts of commands, and small runbooks whose runs went wrong once."""

import re
from pathlib import Path

import pytest

from tests.backends.github.continued import AGREE, Run, done, ending, headings, outcomes
from tests.backends.github.walking import Clean, Engine
from tests.support.github.compiling import text_of
from tests.support.runbooks import command, question

pytestmark = pytest.mark.process


def workflow(folder: Path, agent: str, document: str = AGREE) -> str:
    return text_of(folder, document, {"prompts": "agent", "agent": agent, "checkout": False, "summary": True})


LINES = "::set-output name=next::s3\\n::error::no\\nx\\r::error::cr\\n##[error]no\\n"


@pytest.mark.parametrize(
    ("agent", "end"),
    [
        (f"grep -q 'Is it good' && printf '{LINES}I looked.\\n\\n**Yes**\\n\\n'", "COMPLETE It is there"),
        ("cat > /dev/null; echo Perhaps", "STOP Not wanted"),
        pytest.param("cat > /dev/null; echo PASS; exit 3", "STOP Not wanted", marks=pytest.mark.soak),
    ],
)
def test_the_last_line_of_an_agent_decides_and_no_line_is_a_command_to_the_runner(
    agent: str, end: str, tmp_path: Path, walk: Engine
) -> None:
    ran = walk(workflow(tmp_path, agent), env={"LOG": str(tmp_path / "log")})
    assert headings(ran) == [end]
    assert done(tmp_path) == ["build", "install built" if end[0] == "C" else "withdraw built"]
    assert ("::error::no" in ran.log) == (LINES in agent)
    errors = [title for job in ran.jobs.values() for level, title, _ in job.annotations if level == "error"]
    assert not errors or end[0] == "S"


def test_an_agent_in_a_loop_is_asked_again(tmp_path: Path, walk: Engine) -> None:
    document = AGREE.replace("NO: GOTO Withdraw", "NO: RETRY 3 GOTO Withdraw")
    agent = 'cat > /dev/null; echo asked >> "$LOG"; [ "$(grep -c asked "$LOG")" = 3 ] && echo YES || echo NO'
    ran = walk(workflow(tmp_path, agent, document), env={"LOG": str(tmp_path / "log")})
    assert headings(ran) == ["COMPLETE It is there"]
    assert done(tmp_path) == ["build", "asked", "asked", "asked", "install built"]
    rows = re.findall(r"Agree\??(?:, attempt (\d))? \| \**(\w+)", ran.summary)
    assert rows == [("", "NO"), ("2", "NO"), ("3", "YES")]


HEAD = "---\nrdc:\n  inputs: {HOST: {description: A host, default: db1}}\n---\n# Deploy\n\n"
HOSTILE = """\
Watch {{HOST}}, $(touch owned) and ${{ github.token }}.

::error title=Owned::by a prompt
##[error]by a prompt
  ::set-output name=x::y
\\033 %s 'quoted' "twice"
"""
RETRY = "- FAIL: RETRY 1 STOP\n"
AGAIN = "## 2. Again\n\nOnce more on {{HOST}}.\n\n```sh\ntouch again\n```\n\n- PASS: GOTO 1\n"
LOOP = f"- FAIL: GOTO 2\n- PASS: COMPLETE\n\n{AGAIN}"
ASK = "## 2. Fine?\n\nIs it fine?\n"


def looking(shell: str, ending: str) -> str:
    command = "test -e again || ! touch again" if ending in (RETRY, LOOP) else "true"
    return f"{HEAD}## 1. Look\n\n{HOSTILE}\n```{shell}\necho looking\n{command}\n```\n\n{ending}"


@pytest.mark.share(3)
@pytest.mark.parametrize(
    ("shell", "ending", "summary"),
    [("bash", RETRY, True), ("sh", RETRY, False), ("sh", "", False), ("bash", LOOP, True), ("sh", ASK, True)],
)
def test_a_prompt_is_in_the_log_and_is_no_command_to_the_runner(
    shell: str, ending: str, summary: bool, tmp_path: Path, walk: Engine, clean: Clean
) -> None:
    text = text_of(tmp_path, looking(shell, ending), {"checkout": False, "summary": summary})
    clean(text)
    ran = walk(text)
    assert ran.exit_code == (ending == ASK), ran.log
    assert "Watch db1, $(touch owned) and ${{ github.token }}." in ran.log
    assert "\\033 %s 'quoted' \"twice\"" in ran.log
    assert not (tmp_path / "owned").exists()
    lines = [line for line in ran.log.splitlines() if "by a prompt" in line]
    assert lines
    assert all("| ::error" in line or "## [error]" in line for line in lines) or ending == ASK


@pytest.mark.parametrize("ending", [RETRY, ""])
def test_a_value_in_a_prompt_is_no_command_to_the_runner(
    ending: str, tmp_path: Path, walk: Engine, clean: Clean
) -> None:
    given, large = b"E=\nV<<END\nx\n::error title=E::y\r::error title=E::y\r##[error]y\nEND\n", "1" * 60_000
    (tmp_path / "value").write_bytes(given + f"X={large}\nY={large}\n".encode())
    declared = "---\nrdc:\n  inputs: {NOTES: {required: false}}\n  outputs: [V, E, NONE, X, Y]\n---\n\n"
    shown = "Show [{{E}}] {{NONE}} {{NOTES}} ##{{V}}. {{X}}{{Y}} {{X}}"
    use = f"## 2. Use\n\n{shown}\n\n```bash\ntrue\n```\n\n{ending}"
    text = text_of(tmp_path, declared + command("1. Give", 'cat "$FILE" > "$RDC_OUTPUT"') + use, {"checkout": False})
    clean(text)
    ran = walk(text, env={"FILE": str(tmp_path / "value")})
    wanted = "| Show [] {{NONE}} {{NOTES}} ##x\n| ::error title=E::y\n| ::error title=E::y\n| ## [error]y. "
    wanted += f"{large}{large} {large}\n"
    assert (ran.exit_code, wanted in ran.log, "'E'" in str(ran.jobs)) == (0, True, False), ran.log


SUMMARY = {"checkout": False, "summary": True}


def test_outputs_of_a_command_in_a_loop_do_not_touch_those_of_the_loop(tmp_path: Path, walk: Engine) -> None:
    document = (
        command("1. Build", "printf 'version=1.2' >> \"$GITHUB_OUTPUT\"; test -f ok", "FAIL: GOTO Fix")
        + command("2. Deploy", 'echo deployed >> "$LOG"', "PASS: COMPLETE Deployed")
        + command("Fix", "touch ok", "PASS: GOTO 1", "FAIL: GOTO 1")
    )
    ran = walk(text_of(tmp_path, document, SUMMARY), env={"LOG": str(tmp_path / "log")})
    assert (ending(ran), (tmp_path / "log").read_text(encoding="utf-8")) == ("COMPLETE Deployed", "deployed\n")


def test_a_loop_that_is_killed_is_no_end(tmp_path: Path, walk: Engine) -> None:
    document = command("1. Die", "kill -9 $PPID; sleep 1", "PASS: COMPLETE", "FAIL: GOTO 2")
    document += command("2. Again", "true", "PASS: GOTO 1")
    ran = walk(text_of(tmp_path, document, SUMMARY))
    assert ran.exit_code
    assert "COMPLETE" not in ran.summary
    assert outcomes(ran)["COMPLETE"] == "skipped"


@pytest.mark.parametrize(
    ("document", "end"),
    [
        ('## {N}. Item {N}\n\n```bash\ntrue\n```\n\n- PASS: COMPLETE "finished {N}"\n', "COMPLETE finished 1"),
        ('## {N}. Item {N}\n\n```bash\nfalse\n```\n\n- FAIL: STOP "broken {N}, not ${N}"\n', "STOP broken 1, not ${N}"),
        ('## 1. All\n\n### 1.{n} One\n\n```bash\nfalse\n```\n\n- FAIL: STOP "item {n}"\n', "STOP item 1"),
    ],
)
def test_placeholders_in_messages_outside_of_loops(document: str, end: str, tmp_path: Path, walk: Engine) -> None:
    assert re.sub(r"\\(.)", r"\1", ending(walk(text_of(tmp_path, document, SUMMARY)))) == end


def test_names_of_steps_are_no_names_of_files(tmp_path: Path) -> None:
    begin = '## 1. Begin\n\n```bash\necho begin >> "$LOG"\n```\n\n- PASS: GOTO answers\n\n'
    named = "".join(
        f'## {name}\n\n```bash\necho {name} >> "$LOG"\n```\n\n- PASS: GOTO {to}\n\n'
        for name, to in (("answers", "journal"), ("journal", "Ask2"))
    )
    run = Run(tmp_path, f"{begin}{named}## Ask2\n\nAgain?\n\n- NO: GOTO answers\n- YES: COMPLETE Fine\n")
    assert (ending(run()), ending(run(resume="1", answers="no"))) == ("WAITING Ask2", "WAITING Ask2")
    assert ending(run(resume="2", answers="yes")) == "COMPLETE Fine"
    assert run.done() == ["begin", *["answers", "journal"] * 2]


def test_a_command_in_a_loop_sees_its_own_variables(tmp_path: Path, walk: Engine) -> None:
    document = command(
        "1. Show", 'echo "$next $step $code $outcome $N" >> "$LOG"', "PASS: COMPLETE", "FAIL: GOTO 2"
    ) + command("2. Never", "true", "PASS: GOTO 1")
    values = {"next": "v2", "step": "kg", "code": "abc", "outcome": "good", "N": "7"}
    text = text_of(tmp_path, document, {"checkout": False, "summary": True, "env": values})
    walk(text, env={"LOG": str(tmp_path / "log")})
    assert (tmp_path / "log").read_text(encoding="utf-8") == "v2 kg abc good 7\n"


NAMED = (
    command("1. Build", "true", "FAIL: GOTO Drain")
    + "## Drain the hot node\n\n"
    + command("### Drain.1 Look at it", "true")
    + command("### Drain.Off switch", "true", "PASS: GOTO Again")
    + command("Again and again", "true", "FAIL: GOTO Drain.Off")
)


def test_titles_read_as_they_were_written(tmp_path: Path) -> None:
    text = text_of(tmp_path, NAMED, {"checkout": False, "summary": True})
    assert "      # --- Drain the hot node\n" in text
    assert "- name: 1. Build\n" in text
    assert "- name: Drain.1. Look at it\n" in text
    assert "run 'and again' bash" in text
    assert "run 'switch' bash" in text


def test_conditions_name_steps_as_the_program_does(tmp_path: Path, walk: Engine) -> None:
    document = (
        question("1. Is it needed?", "Look at the list.", "YES: GOTO 3.{n}", 'NO: RETRY 1 COMPLETE "Not now"')
        + command("2. Say it", 'echo never >> "$LOG"')
        + "## 3. Deploy\n\n"
        + command("### 3.{n} Deploy it", 'echo deployed >> "$LOG"', "PASS: COMPLETE Deployed")
    )
    options = {"checkout": False, "summary": True, "prompts": "agent", "agent": "echo YES", "runtime": "inline"}
    ran = walk(text_of(tmp_path, document, options), env={"LOG": str(tmp_path / "log")})
    assert (ending(ran), (tmp_path / "log").read_text(encoding="utf-8")) == ("COMPLETE Deployed", "deployed\n")
