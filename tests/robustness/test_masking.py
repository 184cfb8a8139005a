"""No secret is stored or sent on, however a command, an agent or a person writes it (I26)."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime_shim.values.secrets import masking
from tests.robustness.places import Generated, environment

pytestmark = pytest.mark.process

RUNBOOK = """---
rdc:
  secrets: [TOKEN]
---
# Demo
## 1. Work
```bash
touch ran; printf '%s\\n' "$TOKEN" "$DUMPED"
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
@output(whole)
## STEP 2: Use
Use {{whole}}.
## STEP 3: Ask again
Ask it.
@output(field, extract:"x")
## STEP 4: Use
Use {{field}}.
"""

AGENT = """case $RDC_STEP in 1 | 3) printf '%s\\n' "$SAYS" ;; *) cat > seen.$RDC_STEP; echo fine ;; esac"""

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
ESCAPED = {ord(sign): f"\\u{ord(sign):04X}" for sign in "<>&"} | {ord("/"): "\\/"}
DUMPS: dict[str, Callable[[str], str]] = {
    "ASCII": lambda token: json.dumps({"x": token}),
    "as it is": lambda token: json.dumps({"x": token}, ensure_ascii=False),
    "of another writer": lambda token: json.dumps({"x": token}).translate(ESCAPED),
    "nested": lambda token: json.dumps({"x": {"y": [token]}}, ensure_ascii=False),
    "JSON in JSON": lambda token: json.dumps({"x": json.dumps({"y": token})}),
    "each line": lambda token: json.dumps({"x": token.splitlines()}),
}


def own(text: str, number: int) -> str:
    """Return a value or a part of it that has nothing in common with those of other numbers."""
    for part in ("Qzk7", "8j", "Xy9"):
        text = text.replace(part, f"{part}{number}")
    return text


def everything(place: Generated) -> str:
    """All that a run has left, except for what its commands have printed."""
    paths = (path for path in (place.folder / ".rdc").rglob("*") if path.is_file())
    return "\n".join(path.read_bytes().decode("utf-8", "replace") for path in paths)


PRINTED = [("make", "lines", "JSON in JSON"), *(("python", value, dump) for dump in DUMPS for value in VALUES)]


@pytest.mark.share(10)
@pytest.mark.parametrize(("target", "value", "dump"), PRINTED)
def test_no_agent_gets_a_secret_that_one_printed_as_json(target: str, value: str, dump: str, tmp_path: Path) -> None:
    secret, parts = VALUES[value]
    place = Generated(tmp_path, "playbook", PLAYBOOK, target)
    words = ["run", "--agent", AGENT] if target == "python" else [f"AGENT={AGENT}"]
    result = place.call(*words, TOKEN=secret, SAYS=DUMPS[dump](secret))
    assert result.code == 0, result
    seen = [(tmp_path / f"seen.{step}").read_text(encoding="utf-8") for step in (2, 4)]
    assert all("***" in text for text in seen)
    for text in (*seen, everything(place)):
        assert [part for part in parts if part in text] == [], text


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_logs_hide_what_commands_print_of_a_secret(value: tuple[str, list[str]], tmp_path: Path) -> None:
    secret, parts = value
    place = Generated(tmp_path, "runbook", RUNBOOK)
    assert place.call("run", "--logs", TOKEN=secret, DUMPED=json.dumps(secret)).code == 75
    text = everything(place)
    assert text.count("***") >= 2
    assert [part for part in parts if part in text] == [], text


def test_logs_hide_secrets_that_overlap_in_the_output(tmp_path: Path) -> None:
    document = RUNBOOK.replace("[TOKEN]", "[TOKEN, OTHER]").replace('"$DUMPED"', '"$TOKEN${OTHER#?????}" "abab$THIRD"')
    place = Generated(tmp_path, "runbook", document.replace("OTHER]", "OTHER, THIRD]"))
    result = place.call("run", "--logs", TOKEN="shop-user7", OTHER="user7-correct-horse", THIRD="ababac-ababac")
    assert result.code == 75, result
    text = everything(place)
    assert [part for part in ("shop", "user7", "correct", "horse") if part in text] == [], text


def test_no_end_of_a_secret_that_overlaps_itself_stays() -> None:
    assert masking(["abcab", "longer\nab-cab"])("<abcabcabcab> <ab-cab-cab>") == "<***> <***>"
    assert masking([])("abcab") == "abcab"


LOCALES = {"C": ("C", "0"), "UTF-8": ("C.UTF-8", "1")}


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("secret", ["geheimé-wörter", os.fsdecode(b"geheim\xe9-w\xf6rter")], ids=["UTF-8", "Latin-1"])
def test_secrets_are_hidden_in_any_locale(secret: str, locale: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK)
    name, mode = LOCALES[locale]
    options = {"LC_ALL": name, "PYTHONUTF8": mode, "PYTHONCOERCECLOCALE": "0", "TOKEN": secret, "DUMPED": "x"}
    command: list[str | Path] = [sys.executable, place.script, "run", "--logs"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(**options), capture_output=True, check=False)
    assert done.returncode == 75, done.stderr
    stored = b"".join(path.read_bytes() for path in place.state.rglob("*") if path.is_file())
    assert b"***" in stored
    assert not any(part in stored for part in (b"geheim", b"rter")), stored


@pytest.mark.parametrize("code", [r"\u00E9", r"\u00e9", r"\\u00E9", r"\u00{e}9"])
def test_codes_of_json_hide_nothing_in_any_case(code: str) -> None:
    mask = masking(["Qzk7é+/Vw8j"])
    for plus in ("+", r"\u002B", r"\u002b"):
        for slash in ("/", r"\/", r"\u002F", r"\u002f"):
            text = f'{{"x": "Qzk7{code}{plus}{slash}Vw8j", "y": "\\"}}'
            assert (mask(text) == '{"x": "***", "y": "\\"}') is ("{" not in code), text
    assert mask(r"\u0051zk7\u00e9\u002b/Vw\u0038j") == "***"


# The values that an operator can type. Each has its own parts, so that what hides one cannot hide another.
TYPED = [
    (own(secret, number), [own(part, number) for part in parts])
    for number, (name, (secret, parts)) in enumerate(VALUES.items())
    if "control" not in name
]
NOTES: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "ASCII": json.dumps,
    "of another writer": lambda text: json.dumps(text, ensure_ascii=False).replace("/", "\\/"),
}


@pytest.mark.parametrize("target", ["python", "make"])
def test_what_an_operator_says_of_a_secret_is_hidden(target: str, tmp_path: Path) -> None:
    names = [f"TOKEN{number}" for number, _ in enumerate(TYPED)]
    place = Generated(tmp_path, "runbook", RUNBOOK.replace("[TOKEN]", f"[{', '.join(names)}]"), target)
    secrets = dict(zip(names, [secret for secret, _ in TYPED], strict=True))
    given = {**secrets, "TOKEN": "\n".join(secrets.values()), "DUMPED": json.dumps([*secrets.values()])}
    stripped = [secret.split("\n")[0].strip() for secret in secrets.values()]
    for how in NOTES.values() if target == "python" else [json.dumps]:
        note = " ".join(f"as {how(text)}!" for text in stripped)
        if target == "python":
            assert place.call("run", **given).code == 75
            assert place.call("answer", "2", "yes", "--note", note, **given).code == 0
        else:
            assert place.call(**given).code == 2
            assert place.call("answer", "STEP=2", "REPLY=yes", f"NOTE={note}", **given).code == 0
        place.call("resume", **given)
        text = everything(place)
        assert text.count("as ***!") + text.count('as \\"***\\"!') >= len(TYPED), text
        for (_, parts), shown in zip(TYPED, stripped, strict=True):
            assert [part for part in parts if part in text and part in shown] == [], text


SHORT = ("a", "éé€", " abc\n", "abc\r\n", "\U0001f511" * 3, " ", "\t \r\n")


@pytest.mark.parametrize(
    ("target", "value"), [*(("python", value) for value in SHORT), ("make", " abc\n"), ("make", "\n")]
)
def test_a_secret_that_cannot_be_hidden_ends_the_run_first(target: str, value: str, tmp_path: Path) -> None:
    place = Generated(tmp_path, "runbook", RUNBOOK, target)
    result = place.call(*(["run"] if target == "python" else []), TOKEN=value).exits(2)
    assert not (tmp_path / "ran").exists()
    assert not (place.state / "journal").exists()
    shown = result.out + result.err
    assert "TOKEN" in shown
    assert "four" in shown or not value.strip()  # what it needs; how long the value is, is written nowhere


def test_a_secret_of_four_characters_is_enough(tmp_path: Path) -> None:
    for number, (target, value) in enumerate((("python", "abcd"), ("python", "éé€é"), ("make", " abcd\n"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        Generated(folder, "runbook", RUNBOOK, target).call(*(["run"] if target == "python" else []), TOKEN=value)
        assert (folder / "ran").exists()
