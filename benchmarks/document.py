"""The runbook that is measured: as large as asked for, always the same, with everything that people write."""

from __future__ import annotations

from collections.abc import Callable

HEAD = """\
---
name: benchmark
description: A long runbook, to measure the compiler with.
tags: [benchmark, generated]
---

# Move a shop, service by service

Every service is built, tested and moved on its own. Whatever goes wrong leads to **Rollback**.
"""

ROLLBACK = """\
## Rollback

Put back what was there before, and say so.

```bash
./restore --all && ./notify "the move was undone"
```

- PASS: STOP "Everything is as it was"
- FAIL: RETRY 2 STOP "Call the person on duty"
"""


def _plain(n: int) -> str:
    return f"""\
## {n}. Fetch service {n}

The source is fetched as it was tagged.

```bash
git fetch --tags origin &&
git checkout "release-{n}"
```
"""


def _explicit(n: int) -> str:
    return f"""\
## {n}. Build service {n}

```bash
make -C "services/{n}" clean all \\
  JOBS=4 \\
  VERSION="$(cat services/{n}/VERSION)"
```

- PASS: CONTINUE
- FAIL: STOP "Service {n} does not build"
"""


def _question(n: int) -> str:
    return f"""\
## {n}. Is service {n} announced?

Ask the people who use it:

- those who pay for it
- those who are paid for it

Go on only when *both* know.

- YES: CONTINUE
- NO: GOTO Rollback
"""


def _retry(n: int) -> str:
    return f"""\
## {n}. Test service {n}

```bash
./run-tests --service {n} --attempt "${{RDC_ATTEMPT:-1}}"
```

- FAIL: RETRY 3 GOTO Rollback
"""


def _back(n: int) -> str:
    return f"""\
## {n}. Compare service {n}

The new answers are compared with the old ones. If they differ, it is tested again.

```bash
diff -u "answers/{n}.old" "answers/{n}.new" > "answers/{n}.diff"
```

- PASS: CONTINUE
- FAIL: GOTO {n - 1}
"""


def _substeps(n: int) -> str:
    return f"""\
## {n}. Move service {n}

All three belong together.

- PASS ALL: CONTINUE
- FAIL ANY: RETRY 1 GOTO Rollback

### {n}.1 Drain it

```bash
./drain --service {n} --timeout 60
```

### {n}.2 Switch it

```bash
for host in $(cat "hosts/{n}"); do
  ./switch "$host" || exit 1
done
```

- FAIL: STOP "Service {n} is half moved"

### {n}.3 Look at it

Does it answer?
"""


def _checked(n: int) -> str:
    return f"""\
## {n}. Check service {n} by hand

Open its page and compare it with the screenshot.

```bash prompt
open "https://shop.example/services/{n}"
```

- PASS: GOTO {n + 1}
- FAIL: RETRY STOP "Service {n} looks wrong"
"""


def _tidy(n: int) -> str:
    return f"""\
## {n}. Tidy up after service {n}

```sh
rm -rf "work/{n}"
```

- PASS: CONTINUE
- FAIL: CONTINUE
"""


SHAPES: tuple[tuple[int, Callable[[int], str]], ...] = (
    (1, _plain),
    (1, _explicit),
    (1, _question),
    (1, _retry),
    (1, _back),
    (3, _substeps),
    (1, _checked),
    (1, _tidy),
)
"""The steps that follow each other, over and over, with the number of leaf steps that each has."""

LAST = '## {n}. Say that it is done\n\n```bash\n./notify "moved"\n```\n\n- PASS: COMPLETE "All services are moved"\n'


def runbook(steps: int) -> str:
    """A runbook with so many leaf steps: steps without substeps, and substeps.

    Args:
        steps: How many; at least 5, for the last two are an end and a step back to which one of the first three leads.

    Returns:
        Its text. It has neither errors nor warnings.
    """
    sections = [HEAD]
    left, step = steps - 2, 0
    while left > 0:
        count, shape = SHAPES[step % len(SHAPES)]
        step += 1
        if count > left:
            shape, count = _plain, 1
        sections.append(shape(step))
        left -= count
    return "\n".join([*sections, LAST.format(n=step + 1), ROLLBACK])


NOTHING = "NOTHING"
"""The variable of the environment with which the runbook of `commands` ends after its first step."""


def commands(steps: int) -> str:
    """A runbook of so many commands that do nothing, and a first one that asks whether they are to be run."""
    first = f'## 1. Is there anything to do?\n\n```bash\n[ -z "${{{NOTHING}-}}" ]\n```\n\n- FAIL: COMPLETE\n'
    sections = (f"## {n}. Step {n}\n\n```bash\ntrue\n```\n" for n in range(2, steps + 2))
    return "\n".join(["# Nothing, many times\n", first, *sections])
