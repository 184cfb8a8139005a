"""How long reading a playbook takes, against the reference parser of the format."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.compiling import Worker
from benchmarks.figures import Figure
from benchmarks.rounds import alternate

HEAD = """\
# Move a shop, service by service

Every service is described, reviewed and announced on its own.

## SYSTEM

You know the shop well. Be brief, and say where you are not sure.

## INPUTS

- `region` (string: north): Where the shop is
- `tone` (enum: formal, casual): How announcements sound

"""

STEP = """\
## STEP {n}: Describe service {n}

Describe what service {n} does in {{{{region}}}}, for people who have never seen it:

- what it is for, and who uses it
- what it needs, in this order: data, other services, people

| part | question |
| --- | --- |
| data | Where does it lie, and who may read it? |
| people | Who is called when it stops? |

```python
print("service {n}")
```

@output(description_{n}, extract:"text")

"""

ROUTE = """\
## STEP {n}: Announce service {before}

@elicit(select, "Who is told of service {before}?", "everybody", "those who pay")
@output(audience_{n})

```if tone == "formal"```

### STEP {n}a: Formally

Write a letter about {{{{description_{before}}}}} to {{{{audience_{n}}}}}.

```else```

### STEP {n}b: Casually

Write two sentences about {{{{description_{before}}}}}.

```endif```

"""

LARGEST = 195_000
"""In bytes: a playbook has at most 200,000."""


def playbook(size: int) -> str:
    """A playbook of at most that size, without errors or warnings."""
    parts, length, number = [HEAD], len(HEAD), 1
    while True:
        pair = STEP.format(n=number) + ROUTE.format(n=number + 1, before=number)
        if length + len(pair) > size:
            return "".join(parts)
        parts.append(pair)
        length += len(pair)
        number += 2


def reading(size: int = LARGEST, rounds: int = 7, limit: float = 4.0) -> list[Figure]:
    """Parse and check against the parse of the reference; the best of the rounds of each."""
    with TemporaryDirectory() as folder:
        source = Path(folder, "benchmark.playbook.md")
        source.write_text(playbook(size), encoding="utf-8")
        times = alternate({name: Worker(name, source) for name in ("playbook", "reference")}, rounds)
    best = {name: min(seconds) for name, seconds in times.items()}
    what = f"read a playbook of {size // 1000} KB"
    return [Figure(what, "the reference parser", best["playbook"], best["reference"], limit)]
