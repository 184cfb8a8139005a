"""`python -m tools.screens` writes pictures of the page of `rdc view` to `golden/page/`, with Debian's Chromium.

They are for people to look at. Fonts differ between machines, so no test compares them.
"""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "golden" / "page"
EXAMPLES = ROOT / "examples"
RDC = [sys.executable, "-P", "-m", "rdc"]

INCIDENT = """---
name: payments
---

# Payments are failing

Find out why payments fail, and install the fixed version.

## 1. Measure the error rate

```bash
echo "error rate: 7 %"
```

- PASS: CONTINUE
- FAIL: STOP "The metrics are not available"

## 2. Does the database accept connections?

Open the dashboard. If connections are refused, answer NO.

- YES: CONTINUE
- NO: STOP "Call the database team"

## 3. Install version 1.5.0

```bash
echo "installing 1.5.0"
[ "$RELEASE" = good ] || { echo "pod payments-7f9c: CrashLoopBackOff" >&2; exit 1; }
```

- PASS: CONTINUE
- FAIL: RETRY 2 GOTO Rollback

## 4. Check the payments

```bash
echo "all payments work"
```

- PASS: COMPLETE "Version 1.5.0 is live"
- FAIL: GOTO Rollback

## Rollback

```bash
echo "live: 1.4.2"
```

- PASS: STOP "Rolled back to 1.4.2"
- FAIL: STOP
"""
TITLE = "Payments are failing"
LONG_TITLE = "Payments fail after the release of the new settlement service in the region of Frankfurt"

HOSTS = """# Update fifty hosts

## {N}. Update host {N}

### {N}.1 Is a host left?

```sh
[ {N} -le 25 ]
```

- PASS: CONTINUE
- FAIL: COMPLETE "All hosts have the new kernel"

### {N}.2 Restart it

```sh
echo "host {N}: draining"; [ {N} -lt 25 ] || sleep 60
```

- PASS: GOTO NEXT {N}
- FAIL: STOP "Host {N} does not start"
"""

REGIONS = [
    "eu-central-1",
    "eu-west-1",
    "us-east-1 (read only)",
    "us-west-2",
    "ap-southeast-2",
    "wait for the storage team",
]
REGION = {
    "title": "Move the traffic of a data center",
    "kind": "program",
    "slots": [{"name": "region"}],
    "entry": "choose",
    "nodes": [
        {
            "id": "choose",
            "title": "Which region takes over the traffic?",
            "task": {
                "kind": "ask",
                "question": "select",
                "prompt": "Look at the capacity dashboard first. A region needs 30 % of free capacity.\n\n"
                "If two regions have it, take the nearer one.",
                "options": REGIONS,
            },
            "edges": [{"effects": [{"kind": "keep", "slot": "region"}], "target": "done"}],
        },
        {
            "id": "done",
            "task": {
                "kind": "end",
                "result": "complete",
                "message": ["The traffic moves to ", {"register": "region", "written": "{region}"}],
            },
        },
    ],
}


def rdc(folder: Path, *words: str, release: str = "", given: str = "") -> None:
    """Call `rdc run` without a terminal."""
    variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "RELEASE": release}
    subprocess.run(
        [*RDC, "run", *words], cwd=folder, env=variables, input=given, text=True, capture_output=True, check=False
    )


@contextmanager
def process(folder: Path, *words: str) -> Iterator[str]:
    """Start rdc and give the first line of its output. It ends with the block."""
    variables = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*RDC, *words], cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdout
        try:
            yield started.stdout.readline().strip()
        finally:
            started.terminate()


# --- Documents with their runs: each function prepares a folder and returns the document -----------------------------


def incident(folder: Path, title: str = TITLE) -> str:
    """Prepare an incident that waits, one that was healed, and one that was rolled back."""
    file = "payments.runbook.md"
    (folder / file).write_text(INCIDENT.replace(TITLE, title), encoding="utf-8")
    for name, release in (("healed", "good"), ("stopped", "bad")):
        rdc(folder, file, "--as", name, "--logs")
        rdc(folder, file, "answer", "2", "yes", "--by", "alice", "--note", "40 idle connections", "--as", name)
        rdc(folder, file, "resume", "--as", name, "--logs", release=release)
    rdc(folder, file, "--logs")
    return file


def long_title(folder: Path) -> str:
    """Prepare the incident with a long title."""
    return incident(folder, LONG_TITLE)


def region(folder: Path) -> str:
    """Prepare a question with six options."""
    (folder / "region.program.json").write_text(json.dumps(REGION), encoding="utf-8")
    rdc(folder, "region.program.json")
    return "region.program.json"


def hosts(folder: Path) -> str:
    """Prepare a loop, which runs while pictures are taken."""
    (folder / "hosts.runbook.md").write_text(HOSTS, encoding="utf-8")
    return "hosts.runbook.md"


def stages(folder: Path) -> str:
    """Prepare a step specification that waits for an approval."""
    shutil.copytree(EXAMPLES / "specifications", folder, dirs_exist_ok=True)
    rdc(folder, "plan-product.stepspec.yaml", "--logs")
    return "plan-product.stepspec.yaml"


def parallel(folder: Path) -> str:
    """Prepare a parallel step with one answer."""
    file = "security-audit.workflow.yaml"
    shutil.copy(EXAMPLES / "workflows" / file, folder)
    rdc(folder, file)
    rdc(folder, file, "answer", "audit_0", "-", given="No secrets were found.\nPASSED\n")
    return file


def large(folder: Path) -> str:
    """Prepare a document with more boxes than the page draws."""
    steps = [f"## {n}. Migrate table {n}\n\n```sh\ntrue\n```\n\n- FAIL: CONTINUE\n\n" for n in range(1, 320)]
    steps[3] = "## 4. Is the replica ready?\n\n- YES: CONTINUE\n- NO: STOP\n\n"
    (folder / "tables.runbook.md").write_text(f"# Migrate all tables\n\n{''.join(steps)}", encoding="utf-8")
    rdc(folder, "tables.runbook.md")
    return "tables.runbook.md"


# --- Pictures ---------------------------------------------------------------------------------------------------------


class State(NamedTuple):
    """A picture: its document, width and theme, and the acts of a person before it."""

    name: str
    prepare: Callable[[Path], str]
    width: int
    theme: str
    act: Callable[[Page], None] = lambda page: page.locator("#question button").first.wait_for()

    @property
    def file(self) -> str:
        """The name of the picture."""
        return f"{self.name}-{self.width}-{self.theme}.png"


def choose(page: Page, key: str, name: str) -> None:
    """Press a key that opens a list, and choose the first item that fits."""
    page.keyboard.press(key)
    page.locator("#needle").fill(name)
    page.keyboard.press("Enter")


def stopped(page: Page) -> None:
    """Look at the failed step of the run that was rolled back."""
    choose(page, "r", "stopped")
    page.locator("#v5").click()
    page.get_by_label("Log").get_by_text("installing").wait_for()


def compared(page: Page) -> None:
    """Compare the run that was rolled back with the one that was healed."""
    choose(page, "r", "stopped")
    choose(page, "c", "healed")
    page.locator(".other").first.wait_for()


def running(page: Page) -> None:
    """Look at the step that runs."""
    page.locator("#state", has_text="RUNNING").wait_for()
    page.locator("#v50").wait_for()
    page.keyboard.press("End")
    page.get_by_label("Log").get_by_text("draining").wait_for()


def wrong(page: Page) -> None:
    """Break the document."""
    page.locator("svg .node").first.wait_for()
    page.locator("#problems p").first.wait_for()


STATES = (
    State("waiting", incident, 1440, "light"),
    State("stopped", incident, 1440, "dark", stopped),
    State("compared", incident, 1024, "light", compared),
    State("runs", incident, 1024, "dark", lambda page: page.keyboard.press("r")),
    State("phone", long_title, 390, "dark"),
    State("details", long_title, 390, "light", stopped),
    State("options", region, 1024, "light"),
    State("stages", stages, 1440, "dark"),
    State("parallel", parallel, 1440, "light"),
    State("loop", hosts, 1440, "light", running),
    State("outline", large, 1024, "dark", lambda page: page.locator("#steps .row").first.wait_for()),
    State("error", incident, 1440, "light", wrong),
)
"""The pictures in `golden/page/`."""


def take() -> None:
    """Take all pictures. Each document has one server."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as tools, ExitStack() as stack:
        browser = tools.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for prepare in dict.fromkeys(state.prepare for state in STATES):
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="rdc-")))
            file = prepare(folder)
            with process(folder, "view", file) as address, ExitStack() as runs:
                if prepare is hosts:
                    runs.enter_context(process(folder, "run", file, "--logs"))
                for state in STATES:
                    if state.prepare is prepare:
                        _take(browser, state, address, folder / file)
        browser.close()


def _take(browser: Browser, state: State, address: str, file: Path) -> None:
    context = browser.new_context(
        viewport={"width": state.width, "height": 844 if state.width < 500 else 860},
        color_scheme="dark" if state.theme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address)
    page.locator("#state:not(:empty)").wait_for()
    if state.act is wrong:
        file.write_text(file.read_text(encoding="utf-8").replace("GOTO Rollback", "GOTO Rolback"), encoding="utf-8")
    state.act(page)
    page.wait_for_timeout(1_200)  # the commands that continue a run come a little later
    (PICTURES / state.file).write_bytes(smaller(page.screenshot()))
    context.close()


def smaller(png: bytes) -> bytes:
    """Return a PNG compressed as far as possible; Chromium's is compressed fast."""
    chunks, data, place = list[tuple[bytes, bytes]](), b"", 8
    while place < len(png):
        (size,) = struct.unpack(">I", png[place : place + 4])
        kind, body = png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        place += 12 + size
        data += body if kind == b"IDAT" else b""
        if kind == b"IHDR":
            chunks.append((kind, body))
    chunks += [(b"IDAT", zlib.compress(zlib.decompress(data), 9)), (b"IEND", b"")]
    parts = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    ]
    return png[:8] + b"".join(parts)


if __name__ == "__main__":
    take()
