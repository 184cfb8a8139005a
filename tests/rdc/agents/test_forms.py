"""Forms: only a person's reply answers, in both versions of the protocol."""

import getpass
import re
from pathlib import Path

import pytest
from mcp.types import ElicitResult, ErrorData, InputRequiredResult, InputResponses

from rdc.agents.forms import Form
from tests.support.agents import MODES, NEW, FormReply, Host, Table, accepted, drive, journal_of, outcomes, serve

pytestmark = pytest.mark.process

QUESTION = """# Ask
## 1. Does the build look right?
- YES: CONTINUE
- NO: STOP "Nothing was deployed"
"""
NO_REPLIES: list[FormReply] = [
    *(ElicitResult(action="decline"), ElicitResult(action="cancel"), ElicitResult(action="accept")),
    *(ElicitResult(action="accept", content={}), accepted("maybe")),
    ErrorData(code=-32603, message="no form here"),
]
"""Six results that are no reply: hosts decline without a form, and accept an empty one."""


def by() -> str:
    return f"{getpass.getuser()} via tester (form)"


@pytest.mark.parametrize("mode", MODES)
def test_only_a_reply_answers(tmp_path: Path, mode: str) -> None:
    """Nothing but a reply changes the journal, and the run still waits."""
    serve(tmp_path, "ask.runbook.md", QUESTION)

    async def act(host: Host) -> None:
        shown = await host.call("start", document="ask.runbook.md")
        place, before = {"run": shown["run"], "at": shown["at"]}, journal_of(tmp_path)
        for reply in NO_REPLIES:
            if isinstance(reply, ErrorData) and mode == NEW:
                continue  # the client gives up the call: there is nothing to send
            shown = await host.call("next", **place)
            assert (journal_of(tmp_path), shown["at"]) == (before, place["at"]), reply
            assert "answer 1 yes --as mcp" in shown["hint"]
        assert (await host.call("next", **place))["state"] == "complete"
        assert {form.message for form in host.forms} == {"1 Does the build look right?"}
        assert all(form.requested_schema["required"] == ["reply"] for form in host.forms)
        assert host.forms[0].requested_schema["properties"]["reply"]["enum"] == ["yes", "no"]

    replies = iter([*NO_REPLIES[: 5 if mode == NEW else 6], accepted("yes")])
    drive(tmp_path, act, "--forms", mode=mode, form=lambda _: next(replies))
    assert list(outcomes(tmp_path)) == [("1", "pass", by())]


def test_a_client_without_forms_gets_the_command_and_no_is_a_reply(tmp_path: Path) -> None:
    serve(tmp_path, "ask.runbook.md", QUESTION)

    async def first(host: Host) -> Table:
        shown = await host.call("start", document="ask.runbook.md")
        return await host.call("next", run=shown["run"], at=shown["at"])

    async def then(host: Host) -> Table:
        return await host.to_end(await host.call("start", document="ask.runbook.md"), {})

    assert "answer 1 yes" in drive(tmp_path, first, "--forms")["hint"]
    last = drive(tmp_path, then, "--forms", mode=NEW, form=lambda _: accepted("no"))
    assert (last["state"], last["message"]) == ("stop", "Nothing was deployed")
    assert list(outcomes(tmp_path)) == [("1", "fail", by())]


def test_an_old_reply_fits_no_later_question(tmp_path: Path) -> None:
    """At 2026-07-28 the client repeats the call: its key names the run and the place."""
    serve(tmp_path, "ask.runbook.md", f"{QUESTION}\n## 2. Is it done?\n\n- YES: GOTO 1\n- NO: COMPLETE\n")

    async def act(host: Host) -> None:
        shown = await host.call("start", document="ask.runbook.md")
        place = {"run": shown["run"], "at": shown["at"]}
        call = host.client.session.call_tool
        required = await call("next", place, allow_input_required=True)
        assert isinstance(required, InputRequiredResult)
        (key,) = required.input_requests or {}
        replies: InputResponses = {key: accepted("yes")}
        assert not (await call("next", place, input_responses=replies)).is_error
        later = {**place, "at": "1:2"}
        before = journal_of(tmp_path)
        again = await call("next", later, input_responses=replies, allow_input_required=True)
        assert isinstance(again, InputRequiredResult)
        assert [*(again.input_requests or {})] != [key]
        assert (await call("next", place, input_responses=replies)).is_error
        assert journal_of(tmp_path) == before

    drive(tmp_path, act, "--forms", mode=NEW, form=lambda _: accepted("yes"))


LIST = """# List
## 1. Prepare
- [ ] one
- [ ] two
- PASS: CONTINUE
- FAIL: STOP
"""
RULED = """---
rdc:
  rules:
    looked: 1 YES by a person before 2
---
# Ruled
## 1. Have you looked?
- YES: CONTINUE
- NO: STOP
## 2. Deploy
```bash
true
```
"""
GATE = "name: gated\nsteps:\n  - {name: deploy, prompt: Deploy it., human: true, end: true}\n"


@pytest.mark.parametrize(
    ("name", "text", "words", "hint"),
    [
        ("list.runbook.md", LIST, ("--gates", "form"), " answer 1 | resume "),
        ("ruled.runbook.md", RULED, ("--gates", "form"), " answer 1 | resume "),
        ("gated.workflow.yaml", GATE, (), "approved --as mcp"),
    ],
)
def test_what_needs_a_terminal(tmp_path: Path, name: str, text: str, words: tuple[str, ...], hint: str) -> None:
    serve(tmp_path, name, text)

    async def act(host: Host) -> None:
        shown = await host.call("start", document=name)
        before = journal_of(tmp_path)
        shown = await host.call("next", run=shown["run"], at=shown["at"])
        assert (shown["step"]["by"], host.forms, journal_of(tmp_path)) == ("person", [], before)
        assert re.search(hint, shown["hint"])

    drive(tmp_path, act, "--forms", *words, form=lambda _: accepted("approved"))


def test_a_server_may_allow_forms_for_gates(tmp_path: Path) -> None:
    serve(tmp_path, "gated.workflow.yaml", GATE)

    async def act(host: Host) -> None:
        shown = await host.call("start", document="gated.workflow.yaml")
        shown = await host.call("next", run=shown["run"], at=shown["at"])
        (form,) = host.forms
        assert form.requested_schema["properties"]["reply"]["enum"] == ["approved", "rejected"]
        assert (shown["step"]["id"], shown["step"]["by"]) == ("deploy", "agent")

    drive(tmp_path, act, "--forms", "--gates", "form", form=lambda _: accepted("approved"))
    assert list(outcomes(tmp_path)) == [("deploy/human", "approved", by())]


@pytest.mark.parametrize(
    ("replies", "is_number", "given"),
    [
        (("-", "fail"), True, {2.5: "2.5", 20000000: "20000000", True: None, "2": None}),
        (("-", "fail"), False, {"any text": "any text", " ": None, 2: None}),
        (("yes", "no"), False, {"-": None, ("yes",): None}),
    ],
)
def test_a_form_has_its_field(replies: tuple[str, ...], given: dict[object, str | None], *, is_number: bool) -> None:
    form = Form("", "", replies, is_number=is_number)
    for value, reply in given.items():
        assert form.reply(accepted([*value] if isinstance(value, tuple) else value)) == reply, value
    assert form.schema["required"] == ["reply"]
    assert "default" not in form.schema["properties"]["reply"]
