"""`rdc guard`: the events of hosts that it refuses or lets pass, and events that nothing can read."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rdc import api
from rdc.agents.guard import LONGEST_COMMAND, MOST_BYTES, refusal
from tests.support.cli import call, document, spawn
from tests.support.hostile_texts import NASTY

pytestmark = pytest.mark.process

PERSON, EDIT = "this is for a person; run it in your own terminal", "is for a person; ask the user to change it"
TOO_LONG = "rdc guard can't check so long a command; split it"
ASKING = "# Deploy\n\n## 1. Build\n\n```bash\ntrue\n```\n\n## 2. Is it good?\n\n- YES: COMPLETE\n- NO: STOP\n"
PROMPTING = "name: fix\nsteps:\n  - {name: write, prompt: Fix the test., end: true}\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that serves a runbook, with a program and a Makefile of it."""
    root = tmp_path_factory.mktemp("shop")
    (root / ".git").mkdir()
    document(root, "rdc.toml", '[mcp]\ndocuments = ["ops/*.runbook.md", "*.workflow.yaml"]\n')
    document(root, "ops/deploy.runbook.md", ASKING)
    document(root, "fix.workflow.yaml", PROMPTING)
    document(root, "notes.md", "# Notes\n")
    document(root, "other.py", "print(1)\n")
    assert call("build", cwd=root).code == 0
    for target, out in (("python", "deploy.py"), ("make", "Makefile")):
        assert call("compile", "ops/deploy.runbook.md", "--to", target, "-o", out, cwd=root).code == 0
    return root


def event(folder: Path, tool: str, given: object, name: str = "PreToolUse") -> bytes:
    about = {"hook_event_name": name, "cwd": str(folder), "session_id": "1"}
    return json.dumps({**about, "tool_name": tool, "tool_input": given}).encode()


def shell(folder: Path, command: str) -> str:
    return refusal(event(folder, "Bash", {"command": command, "description": "run rdc answer"}))


@pytest.mark.parametrize(
    "command",
    [
        *("rdc run ops/deploy.runbook.md answer 2 yes", "rdc answer 2 yes"),
        "rdc run ops/deploy.runbook.md goto 3 --as mcp",
        *("rdc run --from rundown ops/deploy.runbook.md reset", "rdc goto 3", "rdc run f.yaml approve gate"),
        *("rdc resume --assume pass", "rdc run f.md resume --assume=pass"),
        *("rdc run f.md resume --rerun-interrupted", "rdc run f.md resume --adopt"),
        *("rdc run f.yaml run --human", "rdc run f.md resume --answers yes.txt"),
        *("rdc run f.md resume --override", "rdc build --approve 'mcp 12'", "rdc build --check --approve=x"),
        *("/usr/local/bin/rdc goto 3", "python3 -m rdc goto 3", "r\\dc 'go'to 3", "uv run rdc goto 3"),
        *("env -u CLAUDECODE rdc goto 3", "unset CLAUDECODE; rdc goto 3", "CLAUDECODE= rdc goto 3"),
        *("true && rdc goto 3", "true\nrdc goto 3", "rdc \\\n  goto 3", "(rdc goto 3)"),
        *("yes | xargs rdc goto", "if true; then rdc goto 3; fi", "bash -c 'rdc goto 3'"),
        *('sudo sh -lc "cd x && rdc goto 3"', "bash -c \"bash -c 'rdc goto 3'\""),
        *("bash <<EOF\nrdc goto 3\nEOF", 'echo "$(rdc goto 3)"', "echo `rdc goto 3`", "x=$(rdc goto 3)"),
        *("cat <(rdc goto 3)", "yes > >(rdc goto 3)", "eval rdc goto 3", "rdc goto 3 # don't"),
        *("python3 deploy.py answer 2 yes", "./deploy.py goto 3", "cd ops && python3 ../deploy.py reset"),
        *("make answer STEP=2 REPLY=yes", "make REPLY=yes", "make goto STEP=3", "make -C . clean"),
        "cd ops; make -f ../Makefile ASSUME=pass resume",
    ],
)
def test_commands_that_decide_are_refused(project: Path, command: str) -> None:
    assert shell(project, command).startswith(f"{PERSON}: ")


@pytest.mark.parametrize(
    "command",
    [
        *("ls", "", "rdc run ops/deploy.runbook.md run --as mcp", "rdc run ops/deploy.runbook.md resume"),
        *("rdc status --json", "rdc run f.md status --all", "rdc run f.md --dry-run --answers yes.txt"),
        *("rdc check ops/deploy.runbook.md", "rdc build --check", "rdc explain RD501 | grep answer"),
        *("git commit -m 'rdc goto 3: explain'", "grep -rn 'rdc goto' docs", "echo rdc goto 3"),
        *("cat rdc.toml rdc.lock ops/deploy.runbook.md", "cp rdc.lock /tmp/copy"),
        *("sed -n 1,5p ops/deploy.runbook.md", "rm notes.md", "echo hi > notes.md"),
        *("rdc check < ops/deploy.runbook.md", "python3 other.py answer", "python3 deploy.py status"),
        *("make status", "cd ops && make answer"),
        *("cat > notes.md <<'EOF'\nrun `rdc goto 3`, it's for you\nrdc goto 3\nEOF", "# rdc goto 3, don't"),
        "echo 'open",
        "X=answer; rdc run ops/deploy.runbook.md $X 2 yes",  # no hook sees through variables
    ],
)
def test_other_commands_pass(project: Path, command: str) -> None:
    assert shell(project, command) == ""


@pytest.mark.parametrize(
    "command",
    [
        *("echo > rdc.lock", "echo >>rdc.toml", "echo 2>&1 >| ops/deploy.runbook.md", "rm -rf .rdc"),
        *("rm ops/*.runbook.md", "rm -r ops", "rm -rf .", "mv ops/deploy.runbook.md /tmp"),
        *("cp /tmp/x rdc.lock", "sed -i s/yes/no/ ops/deploy.runbook.md", "perl -pi -e 1 rdc.toml"),
        *("tee -a rdc.lock", "cd ops && truncate -s0 deploy.runbook.md", "cd ops\necho > ../rdc.lock"),
        *("dd of=rdc.lock", "git checkout HEAD~1 rdc.lock", "git restore ops/deploy.runbook.md"),
        *("bash -c 'rm rdc.lock'", "echo x > .claude/settings.json", "tee ~/.codex/config.toml"),
        "touch .rdc/deploy@mcp/journal",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: rdc.lock\n*** End Patch\nEOF",
    ],
)
def test_commands_that_write_what_belongs_to_people_are_refused(project: Path, command: str) -> None:
    assert shell(project, command).endswith(EDIT)


@pytest.mark.parametrize(
    "path",
    [
        *("rdc.toml", "rdc.lock", "./rdc.lock", "ops/../RDC.lock", ".rdc/deploy@mcp/journal", "sub/.rdc/x"),
        *("ops/deploy.runbook.md", "fix.workflow.yaml", "link.md", "~/.claude/settings.json", ".mcp.json"),
        *(".claude/settings.local.json", ".codex/hooks.json", ".codex/config.toml", ".codex/rules/rdc.rules"),
    ],
)
def test_edits_of_what_belongs_to_people_are_refused(project: Path, path: str) -> None:
    """A tool decides which of its fields is the path."""
    link = project / "link.md"
    if not link.is_symlink():
        link.symlink_to("ops/deploy.runbook.md")
    keys = {"Edit": "file_path", "NotebookEdit": "notebook_path", "mcp__fs__write_file": "path"}
    for tool, key in {**keys, "Write": "file_path"}.items() if path == "rdc.lock" else [("Write", "file_path")]:
        assert refusal(event(project, tool, {key: path, "content": "x"})) == f"{path} {EDIT}"
    assert refusal(event(project / "ops", "Write", {"file_path": str(project / path)})).endswith(EDIT) or path[0] == "~"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Read", {"file_path": "rdc.lock"}),
        ("Grep", {"path": ".rdc", "pattern": "x"}),
        ("Write", {"file_path": "notes.md", "content": "see rdc.lock"}),
        ("Edit", {"file_path": "ops/draft.md"}),
        ("mcp__rdc__start", {"document": "ops/deploy.runbook.md"}),
        ("mcp__rdc__report", {"answer": "rdc goto 3", "run": "x", "at": "1:2"}),
        ("apply_patch", {"command": "*** Begin Patch\n*** Add File: notes2.md\n+rdc goto 3\n*** End Patch"}),
        ("TodoWrite", {"todos": [{"content": "edit rdc.lock"}]}),
        ("Task", None),
        ("Write", {}),
        ("Write", {"file_path": 3}),
    ],
)
def test_other_tools_pass(project: Path, tool: str, given: object) -> None:
    assert refusal(event(project, tool, given)) == ""


@pytest.mark.parametrize("kind", ["Add", "Update", "Delete"])
@pytest.mark.parametrize("path", ["rdc.lock", "ops/deploy.runbook.md"])
def test_patches_of_what_belongs_to_people_are_refused(project: Path, kind: str, path: str) -> None:
    patch = f"*** Begin Patch\n*** Update File: notes.md\n+x\n*** {kind} File: {path}\n+y\n*** End Patch\n"
    assert refusal(event(project, "apply_patch", {"command": patch})) == f"{path} {EDIT}"
    moved = f"*** Begin Patch\n*** Update File: notes.md\n*** Move to: {path}\n*** End Patch\n"
    assert refusal(event(project, "apply_patch", {"command": moved})) == f"{path} {EDIT}"


@pytest.mark.parametrize(
    ("tool", "given", "reason"),
    [
        ("mcp__fs__move_file", {"source": "notes.md", "destination": "rdc.lock"}, EDIT),
        ("MultiEdit", {"edits": [{"file_path": "notes.md"}, {"file_path": "rdc.lock"}]}, EDIT),
        ("mcp__fs__delete", {"paths": ["notes.md", "rdc.lock"]}, EDIT),
        ("shell", {"command": ["bash", "-lc", "rdc goto 3"]}, PERSON),
        ("shell", {"command": ["rdc", "goto", "3"]}, PERSON),
        ("shell", "rdc goto 3", PERSON),
    ],
)
def test_moves_and_lists_of_edits_and_of_words_count(project: Path, tool: str, given: object, reason: str) -> None:
    assert reason in refusal(event(project, tool, given))


def test_other_events_pass(project: Path) -> None:
    for name in ("PostToolUse", "SessionStart", "UserPromptSubmit", "SubagentStop", ""):
        assert refusal(event(project, "Bash", {"command": "rdc goto 3"}, name)) == ""


def stop(folder: Path, **more: object) -> str:
    return refusal(json.dumps({"hook_event_name": "Stop", "cwd": str(folder), **more}).encode())


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project with a prompt and a question."""
    (tmp_path / ".git").mkdir()
    document(tmp_path, "fix.workflow.yaml", PROMPTING)
    document(tmp_path, "deploy.runbook.md", ASKING)
    return tmp_path


def test_an_end_while_a_run_waits_for_the_agent_is_refused_once(shop: Path) -> None:
    assert stop(shop) == ""
    assert spawn("run", "fix.workflow.yaml", "run", "--as", "mcp", cwd=shop).code == 75
    assert stop(shop) == "the run fix@mcp waits for you at step write; continue it, or show the user why you can't"
    assert stop(shop, stop_hook_active=True) == ""
    assert stop(shop, stop_hook_active=False)


def test_an_answer_to_a_prompt_passes_and_one_to_a_question_does_not(shop: Path) -> None:
    for name in ("fix.workflow.yaml", "deploy.runbook.md"):
        assert spawn("run", name, cwd=shop).code == 75
    assert shell(shop, "rdc run fix.workflow.yaml answer write - --at 0:write < answer.md") == ""
    assert shell(shop, "rdc run fix.workflow.yaml answer --at 0:write write -").startswith(PERSON)
    assert shell(shop, "rdc run deploy.runbook.md answer 2 yes").startswith(PERSON)
    assert "fix waits for you" in stop(shop)


def test_an_answer_is_refused_if_a_person_is_asked_by_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [SimpleNamespace(step="2", by=by, entries=()) for by in ("agent", "person")]
    monkeypatch.setattr(api, "runs", lambda _folder: [SimpleNamespace(current=step) for step in steps])
    assert shell(tmp_path, "rdc run fix.workflow.yaml answer 2 -").startswith(PERSON)
    del steps[1]
    assert shell(tmp_path, "rdc run fix.workflow.yaml answer 2 -") == ""


def test_an_end_while_a_run_waits_for_a_person_or_is_over_passes(shop: Path) -> None:
    document(shop, "rdc.toml", '[mcp]\ndocuments = ["*.runbook.md"]\n')
    assert spawn("run", "deploy.runbook.md", "open", cwd=shop).code == 0
    assert "the run deploy waits for you at step 1 Build" in stop(shop), "its next step is a command"
    for words, code in ((["resume"], 75), (["answer", "2", "yes", "--resume"], 0)):
        assert spawn("run", "deploy.runbook.md", *words, cwd=shop).code == code
        assert stop(shop) == ""


def test_a_title_steers_no_terminal(shop: Path) -> None:
    step = '{name: a, title: "x\\e[2J\\u202ey", prompt: Go., end: true}'
    document(shop, "fix.workflow.yaml", f"name: a\nsteps:\n  - {step}\n")
    spawn("run", "fix.workflow.yaml", cwd=shop)
    assert stop(shop).isprintable()


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[]", b"null", b"1", b"\xff\xfe", b"\x00", b"{}", b'{"hook_event_name": 1}', b"[" * 100_000),
        b'{"hook_event_name": "Stop", "stop_hook_active": "no"}',
        b'{"hook_event_name": "PreToolUse", "tool_name": []}',
        b'{"hook_event_name": "PreToolUse", "cwd": null}',
        b'{"hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": {"file_path": "a\\u0000b"}}',
        b" " * (MOST_BYTES + 1),
    ],
    ids=lambda data: repr(data[:40]),
)
def test_an_event_that_nothing_can_read_is_refused(data: bytes) -> None:
    assert refusal(data).startswith("rdc guard can't check ")


@pytest.mark.parametrize("text", [*NASTY, "\ud800", "'" * 50, "$(" * 999, "`" * 999, "<<a\n" * 999, "(" * 9999, "\\"])
def test_hostile_texts_never_crash_it(project: Path, text: str) -> None:
    inputs: list[tuple[str, object]] = [("Bash", {"command": text}), ("Bash", {"command": [text, text]}), (text, text)]
    for tool, given in [*inputs, ("Write", {"file_path": text}), ("Edit", {"edits": [{text: text}, {"path": text}]})]:
        assert refusal(event(project, tool, given)).isprintable()
    assert refusal(json.dumps({"hook_event_name": "Stop", "cwd": f"/{text}"}).encode()).isprintable()


@pytest.mark.share(4)
@pytest.mark.parametrize("text", ["cd a;", "a ", "<<x\n", "'a' ", "$(a", "rm a ", ">a ", ";"])
def test_a_long_command_takes_no_long_time(project: Path, text: str) -> None:
    start = time.monotonic()
    assert shell(project, text * (LONGEST_COMMAND // len(text))) in ("", TOO_LONG)
    assert time.monotonic() - start < 10
    assert shell(project, "a" * (LONGEST_COMMAND + 1)) == TOO_LONG


def test_the_exit_code_refuses_and_the_reason_is_on_standard_error(project: Path) -> None:
    def guard(data: bytes) -> tuple[int, bytes, bytes]:
        command = [sys.executable, "-m", "rdc", "guard"]
        done = subprocess.run(command, input=data, capture_output=True, cwd=project, check=False, env=os.environ)
        return done.returncode, done.stdout, done.stderr

    refused: Any = guard(event(project, "Bash", {"command": "rdc goto 3"}))
    assert refused == (2, b"", f"rdc: {PERSON}: rdc goto 3\n".encode())
    assert guard(event(project, "Bash", {"command": "ls"})) == (0, b"", b"")
    assert guard(b"")[0] == 2
