"""What a host sees: the tools, the output of steps, and nothing that is secret."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.support.agents import MODES, Host, Table, content_of, drive, serve

pytestmark = pytest.mark.process

LOUD = """---
rdc:
  secrets: [TOKEN]
---
# Loud
## 1. Print
```bash
printf '%s\\n' "token $TOKEN" $'\\e[31mred\\e[0m\\a' $'tok\\x1b[0men'
head -c 1000000 /dev/zero | tr '\\0' x
echo; echo "last $TOKEN"
```
"""


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_have_hints_and_one_result(tmp_path: Path, mode: str) -> None:
    serve(tmp_path, "loud.runbook.md", LOUD)

    async def act(host: Host) -> None:
        tools = (await host.client.list_tools()).tools
        hints = {tool.name: tool.annotations and tool.annotations.model_dump(exclude_none=True) for tool in tools}
        changes = {"read_only_hint": False}
        assert hints == {
            "list": {"read_only_hint": True, "open_world_hint": False},
            "status": {"read_only_hint": True, "open_world_hint": False},
            "start": {**changes, "destructive_hint": False, "open_world_hint": False},
            "next": {**changes, "destructive_hint": True, "open_world_hint": True},
            "report": {**changes, "destructive_hint": False, "open_world_hint": False},
        }
        (schema,) = {json.dumps(tool.output_schema) for tool in tools}
        assert len(b",".join(tool.model_dump_json(by_alias=True, exclude_none=True).encode() for tool in tools)) < 3_072
        listed = await host.raw("list")
        valid = Draft202012Validator(json.loads(schema))
        valid.validate(content_of(listed))
        wrong: dict[str, object] = {"message": 3, "step": "2", "done": {}, "documents": "", "resumed": "yes"}
        assert not any(valid.is_valid({**content_of(listed), name: value}) for name, value in wrong.items())
        loud = {"document": "loud.runbook.md", "title": "Loud", "inputs": [], "runs": {}}
        assert content_of(listed)["documents"] == [loud]
        await host.call("start", document="loud.runbook.md", name="blue")
        assert (await host.call("list"))["documents"][0]["runs"] == {"loud.runbook.md@blue": "ready"}

    drive(tmp_path, act, mode=mode, TOKEN="s3cret-value")


def test_a_result_has_the_end_of_the_output_without_secrets_which_steers_no_terminal(tmp_path: Path) -> None:
    def output(number: int, text: str, more: str, token: str) -> Table:
        folder = tmp_path / str(number)
        folder.mkdir()
        serve(folder, "loud.runbook.md", text, more)

        async def act(host: Host) -> Table:
            shown = await host.call("start", document="loud.runbook.md")
            result = await host.raw("next", run=shown["run"], at=shown["at"])
            assert len(result.model_dump_json()) < 16_000
            assert "s3cret" not in result.model_dump_json()
            return content_of(result)

        return drive(folder, act, TOKEN=token)

    shown = output(1, LOUD, "", "s3cret-value")
    assert shown["state"] == "complete"
    assert shown["output"].endswith("x\nlast ***\n")
    assert len(shown["output"]) == 4_000
    hidden = output(2, LOUD, 'output = "none"\n', "s3cret-value")
    assert "output" not in hidden, "as the project wants"
    assert shown["output_bytes"] == hidden["output_bytes"] > 1_000_000
    small = output(3, LOUD.replace("1000000", "10"), "", "token")
    assert small["output"] == "*** ***\n red ?\ntok en\nxxxxxxxxxx\nlast ***\n"


def test_runs_get_no_agent_and_options_after_the_dashes(tmp_path: Path) -> None:
    """The agent that calls the server does the agents' steps, except those with a command of their own."""
    mine = "{name: mine, agent: helper, prompt: Say it., next: yours}"
    yours = "{name: yours, agent: other, prompt: Say it too., end: true}"
    serve(tmp_path, "two.workflow.yaml", f"name: two\nsteps:\n  - {mine}\n  - {yours}\n")

    async def act(host: Host) -> list[Table]:
        first = await host.call("start", document="two.workflow.yaml")
        return [first, await host.call("next", run=first["run"], at=first["at"])]

    variables = {"RDC_AGENT": "false", "RDC_AGENTS": "none", "CLAUDECODE": "1", "CODEX_THREAD_ID": "1", "AI_AGENT": "x"}
    first, second = drive(tmp_path, act, "--", "--agent-for", "helper=env; cat", **variables)
    assert (first["step"]["by"], second["step"]["by"]) == ("rdc", "agent")
    assert "Say it." in second["output"]
    assert not any(f"{name}=" in second["output"] for name in variables)
