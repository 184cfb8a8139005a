"""Where a document of each format becomes slow as it grows: every dimension is doubled, and the worst one is shown.

Compilation to a program is to be linear in each of them: twice the size takes twice the time, and little more.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.figures import Figure
from compiler.driver import compile_file
from compiler.reading.yaml import read_mapping

Dimension = Callable[[int], str]
"""A document of some size."""

LONG = (
    "a", " ", "\t", "#", "*", "_", "`", "[", "<", '"', "'", "\\", "&", "{", "$", "${", "$(", "(", "; ", "| ", "-", "!",
    ":", "@", "%", "=", "aa ", "a\n", "<!--", "http://a ", "a && ", "if a; then ", "cat <<A\n", "{{a}} ", "{N} ", "- ",
)  # fmt: skip
"""What long lines and texts consist of."""

SHORTEST = 0.03
"""In seconds: what takes less is too short to be compared."""

ROUNDS = 3


class Growth(NamedTuple):
    """A document and one twice as large in one dimension, by the seconds that they take."""

    dimension: str
    size: int
    once: float
    twice: float

    @property
    def ratio(self) -> float:
        """How many times as long the larger one takes."""
        return self.twice / self.once


def repeated(head: str, part: str, tail: str = "") -> Dimension:
    """Parts one below the other; `{n}` is the number of each, `{m}` the one after."""

    def document(size: int) -> str:
        numbers = range(1, size + 1)
        fill = (part.replace("{n}", str(n)).replace("{m}", str(n + 1)) for n in numbers)
        return head + "".join(fill) + tail.replace("{m}", str(size + 1))

    return document


def longer(document: str, name: str) -> dict[str, Dimension]:
    """A document in which a long text takes the place of `…`, for each part that such a text can consist of."""

    def filled(part: str) -> Dimension:
        return lambda size: document.replace("…", (part * size)[:size])

    return {f"{name} of {part!r}": filled(part) for part in LONG}


COMMAND = "\n```bash\ntrue\n```\n\n"
RUNBOOKS: dict[str, Dimension] = {
    "steps": repeated("# T\n\n", f"## {{n}}. S\n{COMMAND}"),
    "substeps": repeated("# T\n\n## 1. S\n\n", f"### 1.{{n}} S\n{COMMAND}"),
    "named steps": repeated(f"# T\n\n## 1. S\n{COMMAND}- PASS: COMPLETE\n\n", f"## N{{n}}\n{COMMAND}"),
    "references forwards": repeated("# T\n\n", f"## {{n}}. S\n{COMMAND}- FAIL: GOTO End\n\n", f"## End\n{COMMAND}"),
    "references backwards": repeated(
        f"# T\n\n## A\n{COMMAND}", f"## N{{n}}\n{COMMAND}- PASS: CONTINUE\n- FAIL: GOTO A\n\n"
    ),
    "retries": repeated(f"# T\n\n## A\n{COMMAND}", f"## N{{n}}\n{COMMAND}- FAIL: RETRY 2 GOTO A\n\n"),
    "unknown references": repeated("# T\n\n", f"## {{n}}. A{{n}}\n{COMMAND}- FAIL: GOTO X{{n}}\n\n"),
    "numbers given twice": repeated("# T\n\n", f"## 1. S\n{COMMAND}"),
    "list items": repeated("# T\n\n## 1. S\n\n", "- item {n}\n", COMMAND),
    "nested lists": lambda size: (
        "# T\n\n## 1. S\n\n" + "".join("  " * (n % 300) + "- a\n" for n in range(size)) + COMMAND
    ),
    "nested quotes": lambda size: "# T\n\n## 1. S\n\n" + ">" * size + f" a\n{COMMAND}",
    "fences in a command": repeated("# T\n\n## 1. S\n\n```bash\n", "## {n}. x\n``` `\n", "```\n"),
    "comments": repeated("# T\n\n", "<!-- {n} -->\n\n", f"## 1. S\n{COMMAND}"),
    "tags": repeated("---\nname: a\ndescription: b\ntags:\n", "  - t{n}\n", f"---\n# T\n\n## 1. S\n{COMMAND}"),
    **longer(f"# T\n\n## 1. S\n\n…\n{COMMAND}", "a line"),
    **longer(f"# T\n\n## 1. S…x\n{COMMAND}", "a title"),
    **longer("# T\n\n## 1. S\n\n```bash\n…\n```\n", "a command"),
    **longer(f'# T\n\n## 1. S\n{COMMAND}- FAIL: STOP "…"\n', "a message"),
}
PLAYBOOKS: dict[str, Dimension] = {
    "steps": repeated("# A\n\n", "## STEP {n}: B\n\nC.\n\n"),
    "inputs": repeated("# A\n\n## INPUTS\n\n", "- `i{n}` (string): x\n", "\n## STEP 1: B\n\nC.\n"),
    "references": repeated(
        "# A\n\n## STEP 1: B\n\nC.\n\n@output(o1)\n\n", "## STEP {m}: B\n\nC {{o{n}}}.\n\n@output(o{m})\n\n"
    ),
    "branches": repeated(
        "# A\n\n## INPUTS\n\n- `x` (string): y\n\n",
        '## STEP {n}: B\n\n```if x == "a"```\n\n### STEP {n}a: C\n\nD {{x}}.\n\n```endif```\n\n',
    ),
    **longer("# A\n\n## STEP 1: B\n\n…\n", "a line"),
    **longer("# A\n\n## STEP 1: B…x\n\nC.\n", "a title"),
}
WORKFLOWS: dict[str, Dimension] = {
    "steps": repeated(
        "name: a\nsteps:\n",
        "  - {name: s{n}, agent: c, prompt: D., next: s{m}}\n",
        "  - {name: s{m}, agent: c, prompt: D., end: true}\n",
    ),
    "steps with conditions": repeated(
        "name: a\nsteps:\n",
        "  - {name: s{n}, agent: c, prompt: D., report: {name: r{n}, format: x, validation: OK|NO}, "
        "conditions: [{keyword: OK, goto: s{m}}, {keyword: NO, goto: s{n}}]}\n",
        "  - {name: s{m}, agent: c, prompt: D., end: true}\n",
    ),
    "conditions": repeated(
        "name: a\nsteps:\n  - name: s\n    agent: c\n    prompt: D.\n    next: e\n    conditions:\n",
        "      - {keyword: K{n}, goto: e}\n",
        "  - {name: e, agent: c, prompt: D., end: true}\n",
    ),
    "aliases": repeated(
        "name: a\nx: &p D.\nsteps:\n",
        "  - {name: s{n}, agent: c, prompt: *p, next: s{m}}\n",
        "  - {name: s{m}, agent: c, prompt: *p, end: true}\n",
    ),
    "unknown keys": repeated("name: a\n", "k{n}: x\n", "steps:\n  - {name: b, agent: c, prompt: D., end: true}\n"),
    **longer("name: a\nsteps:\n  - name: b\n    agent: c\n    end: true\n    prompt: |-\n      x…\n", "a prompt"),
}


def specification(size: int) -> str:
    """A specification of so many steps, each of which reads what the one before has written."""
    steps = [
        {
            "id": f"s{n}",
            "name": "a",
            "inputs": {"artifacts": [f"{{output_folder}}/{n - 1}"] if n else []},
            "outputs": [f"{{output_folder}}/{n}"],
        }
        for n in range(size)
    ]
    return json.dumps(steps)


def described(part: str) -> Dimension:
    """A specification with a long description."""
    return lambda size: json.dumps([{"id": "a", "name": "b", "description": (part * size)[:size], "outputs": ["x"]}])


SPECIFICATIONS: dict[str, Dimension] = {
    "steps": specification,
    **{f"a description of {part!r}": described(part) for part in LONG},
}
DIMENSIONS: dict[str, dict[str, Dimension]] = {
    "a.runbook.md": RUNBOOKS,
    "a.playbook.md": PLAYBOOKS,
    "a.workflow.yaml": WORKFLOWS,
    "a.stepspec.json": SPECIFICATIONS,
}
"""By the name of a file, which says its format, in what its documents can grow."""


def growing_worst(limit: float = 2.2, largest: int = 300_000) -> list[Figure]:
    """The dimension of each format in which twice the size costs most."""
    figures = []
    for name, dimensions in DIMENSIONS.items():
        found = [growth for dimension in dimensions for growth in growths(name, dimension, limit, largest)]
        worst = max(found, key=lambda growth: growth.ratio)
        what = f"{name}: twice {worst.size:,}, {worst.dimension}"
        figures.append(Figure(what, f"the worst of {len(dimensions)}", worst.twice, worst.once, limit))
    return figures


def growths(name: str, dimension: str, limit: float, largest: int) -> Iterator[Growth]:
    """How the time grows in a dimension, if it can be told; what exceeds the limit has to do so at two sizes."""
    document = DIMENSIONS[name][dimension]
    with TemporaryDirectory() as folder, no_collection():
        path = Path(folder, name)
        size, once = 250, seconds(path, document(250))
        while once < SHORTEST and size < largest:
            size, once = 2 * size, seconds(path, document(2 * size))
        found = Growth(dimension, size, once, seconds(path, document(2 * size)))
        if found.ratio > limit:
            again = Growth(dimension, 2 * size, found.twice, seconds(path, document(4 * size)))
            found = min(found, again, key=lambda growth: growth.ratio)
        if found.once >= SHORTEST / 10:
            yield found


def seconds(path: Path, text: str) -> float:
    """The processor time to compile a document; the best of the rounds, or the first one that takes long."""
    path.write_text(text, encoding="utf-8")
    best = float("inf")
    for _ in range(ROUNDS):
        read_mapping.cache_clear()  # it keeps the last text
        begun = time.process_time()
        compile_file(str(path))
        best = min(best, time.process_time() - begun)
        if best > 1:
            break
    return best


@contextmanager
def no_collection() -> Iterator[None]:
    """Look for no garbage meanwhile, as the command does."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()
