"""Steps of runbooks, as text: `command("1. Build", "make", "FAIL: STOP") + question("2. Ship?", "Is it good?")`."""


def command(heading: str, script: str, *transitions: str, text: str = "", shell: str = "bash") -> str:
    """A step that runs a script. A heading without `#` is that of a step; `### 1.1 Look` is one below it."""
    return _step(heading, text, f"```{shell}\n{script}\n```", *_listed(transitions))


def question(heading: str, text: str, *transitions: str) -> str:
    """A step that asks a person."""
    return _step(heading, text, *_listed(transitions))


def _step(heading: str, *parts: str) -> str:
    first = heading if heading.startswith("#") else f"## {heading}"
    return "".join(f"{part}\n\n" for part in (first, *parts) if part)


def _listed(transitions: tuple[str, ...]) -> list[str]:
    return ["\n".join(f"- {line}" for line in transitions)] if transitions else []


LOOP = """
## 1. Good?

- YES: COMPLETE
- NO: GOTO 2

## 2. Fix

```sh
true
```

- PASS: GOTO 1
"""
"""A question in a loop."""


def limited(most: int) -> str:
    """A question in a loop, which a run may ask so often."""
    return f"""\
---
rdc:
  steps:
    "1": {{max-visits: {most}, then: STOP "enough"}}
---
{LOOP}"""
