"""No secret is kept or sent on, however a command, an agent or a person writes it (I26)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .generated import Generated

RUNBOOK = """---
rdc:
  secrets: [TOKEN]
---
# Demo

## 1. Work

```bash
touch ran; printf '%s\\n' "$TOKEN"; python3 -c 'import json, os; print(json.dumps(os.environ["TOKEN"]))'
```

## 2. Ask

Is it good?

- YES: CONTINUE
- NO: STOP
"""

PLAYBOOK = """---
rdc:
  secrets: [TOKEN]
---
# Demo

## STEP 1: Ask

Ask it.

@output(answer{extract})

## STEP 2: Use

Use {{{{answer}}}}.
"""

DUMP = (
    "import json, os, sys; token = os.environ['TOKEN']; value = {value}; print(json.dumps({{'x': value}}, {how}){then})"
)
PYTHON = """case $RDC_STEP in 1) python3 -c "$SAYS" ;; *) cat > seen; echo fine ;; esac"""

# Of each value, the parts that must not be seen anywhere.
VALUES = {
    "a line end": ("Qzk7-Vw8j\n", ["Qzk7", "Vw8j"]),
    "spaces around it": (" \t Qzk7-Vw8j \r\n ", ["Qzk7", "Vw8j"]),
    "quotes": ("Qzk7\"'Vw8j", ["Qzk7", "Vw8j"]),
    "backslashes": ("Qzk7\\n\\Vw8j", ["Qzk7", "Vw8j"]),
    "letters": ("Qzk7é€\U0001f511Vw8j", ["Qzk7", "Vw8j"]),
    "slashes": ("Qzk7/a/Vw8j", ["Qzk7", "Vw8j"]),
    "signs of HTML": ("Qzk7<&>Vw8j", ["Qzk7", "Vw8j"]),
    "control characters": ("Qzk7\t\x01\x7fVw8j", ["Qzk7", "Vw8j"]),
    "lines": ('Qzk7\na\nVw"8j\r\nXy9é\n', ["Qzk7", 'Vw"8j', 'Vw\\"8j', "Xy9"]),
}
DUMPS = {
    "ASCII": ("token", "", ""),
    "as it is": ("token", "ensure_ascii=False", ""),
    "of another writer": ("token", "", ".replace('/', '\\/').replace('<', '\\u003C').replace('&', '\\u0026')"),
    "nested": ("{'y': [token]}", "ensure_ascii=False", ""),
    "JSON in JSON": ("json.dumps({'y': token})", "", ""),
    "each line": ("token.split()", "", ""),
}


def everything(place: Generated) -> str:
    """All that a run has left, but for what its commands have printed."""
    kept = (path for path in (place.folder / ".rdc").rglob("*") if path.is_file())
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in kept)


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("target", ["python", "make"])
@pytest.mark.share(4)
def test_a_later_agent_never_gets_a_secret_that_an_earlier_one_printed_as_json(
    target: str, value: tuple[str, list[str]], dump: tuple[str, str, str], tmp_path: Path
) -> None:
    secret, parts = value
    for number, extract in enumerate(["", ', extract:"x"']):
        folder = tmp_path / str(number)
        folder.mkdir()
        place = Generated(folder, "playbook", PLAYBOOK.format(extract=extract), target)
        says = DUMP.format(value=dump[0], how=dump[1], then=dump[2])
        words = ["run", "--agent", PYTHON] if target == "python" else [f"AGENT={PYTHON}"]
        said = place.call(*words, TOKEN=secret, SAYS=says)
        assert said.code == 0, said
        seen = (folder / "seen").read_text(encoding="utf-8")
        assert "***" in seen
        for text in (seen, everything(place)):
            assert [part for part in parts if part in text] == [], text


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_logs_hide_what_commands_print_of_a_secret(value: tuple[str, list[str]], tmp_path: Path) -> None:
    secret, parts = value
    place = Generated(tmp_path, "runbook", RUNBOOK)
    assert place.call("run", "--logs", TOKEN=secret).code == 75
    text = everything(place)
    assert text.count("***") >= 2
    assert [part for part in parts if part in text] == [], text


@pytest.mark.parametrize("target", ["python", "make"])
@pytest.mark.parametrize("value", [value for name, value in VALUES.items() if "control" not in name])
def test_what_an_operator_says_of_a_secret_is_hidden(target: str, value: tuple[str, list[str]], tmp_path: Path) -> None:
    secret, parts = value
    stripped = secret.split("\n")[0].strip()
    place = Generated(tmp_path, "runbook", RUNBOOK, target)
    for note in (stripped, json.dumps(stripped), json.dumps(stripped, ensure_ascii=False).replace("/", "\\/")):
        if target == "python":
            assert place.call("run", TOKEN=secret).code == 75
            assert place.call("answer", "2", "yes", "--note", f"as {note}!", TOKEN=secret).code == 0
            place.call("resume", TOKEN=secret)
        else:
            assert place.call(TOKEN=secret).code == 2
            assert place.call("answer", "STEP=2", "REPLY=yes", f"NOTE=as {note}!", TOKEN=secret).code == 0
            place.call("resume", TOKEN=secret)
        text = everything(place)
        assert [part for part in parts if part in text and part in stripped] == [], text


@pytest.mark.parametrize("value", ["a", "abc", "éé€", " abc\n", "abc\r\n", "\U0001f511" * 3])
@pytest.mark.parametrize("target", ["python", "make"])
def test_a_secret_that_cannot_be_hidden_ends_the_run_before_anything_runs(
    target: str, value: str, tmp_path: Path
) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK, target)
    said = place.call(*(["run"] if target == "python" else []), TOKEN=value)
    assert said.code == 2, said
    assert not (tmp_path / "ran").exists()
    assert not (place.state / "journal").exists()
    shown = said.out + said.err
    assert "TOKEN" in shown
    assert "four" in shown  # what it needs; how long the value is, is said nowhere


@pytest.mark.parametrize("value", [" ", "\n", "\t \r\n"])
@pytest.mark.parametrize("target", ["python", "make"])
def test_a_secret_of_spaces_is_missing(target: str, value: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK, target)
    said = place.call(*(["run"] if target == "python" else []), TOKEN=value)
    assert said.code == 2, said
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("target", ["python", "make"])
def test_a_secret_of_four_characters_is_enough(target: str, tmp_path: Path) -> None:
    for number, value in enumerate(("abcd", "éé€é", " abcd\n")):
        folder = tmp_path / str(number)
        folder.mkdir()
        Generated(folder, "runbook", RUNBOOK, target).call(*(["run"] if target == "python" else []), TOKEN=value)
        assert (folder / "ran").exists()
