"""The extension for VS Code: which files it is for, what it starts, and what an untrusted folder can't change."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from compiler.frontends import FRONT_ENDS
from compiler.project.project import CONFIGURATION
from compiler.text.patterns import is_matched
from tests.conftest import ROOT
from tests.support.node import MissingError, installed

pytestmark = pytest.mark.tool

FOLDER = ROOT / "editors" / "vscode"
STAND_INS = Path(__file__).parent / "extension"
OURS, OTHER = {"isOurs": True}, {"isOurs": False}

LOAD = """\
const module_ = require("module"), load = module_._load;
const any = () => new Proxy(function () {}, { get: (_, key) => (key === "prototype" ? {} : any()) });
module_._load = (name, ...rest) => (name === "vscode" ? any() : load(name, ...rest));
console.log(Object.keys(require(process.argv[1])).sort().join());
"""
"""Loads the bundle with an editor of which any part is a class."""

Done = list[tuple[str, Any]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the extension, where the editor and the client are stand-ins."""
    try:
        program = installed(FOLDER)
    except MissingError as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("extension")
    aliases = [f"--alias:vscode={STAND_INS}/vscode.mjs", f"--alias:vscode-languageclient/node={STAND_INS}/client.mjs"]
    esbuild = program.parent / "node_modules" / ".bin" / "esbuild"
    words = ["extension.mjs", "--bundle", "--platform=node", "--format=cjs", f"--outfile={folder}/extension.cjs"]
    subprocess.run([str(esbuild), *words, *aliases, "--log-level=warning"], cwd=program, check=True)
    return folder


def run(folder: Path, **script: Any) -> Done:
    words = ["node", str(STAND_INS / "main.mjs"), json.dumps(script)]
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    return [(name, rest[0] if rest else None) for name, *rest in json.loads(done.stdout) if name != "match"]


def names(done: Done) -> list[str]:
    return [name for name, _ in done]


def expanded(pattern: str) -> list[str]:
    before, brace, rest = pattern.partition("{")
    inside, _, after = rest.partition("}")
    return [before + one + after for one in inside.split(",")] if brace else [pattern]


def test_the_server_starts_with_the_first_of_our_documents_and_has_all_formats(built: Path) -> None:
    assert names(run(built, documents=[OTHER], steps=[["open", OTHER]])) == []
    done = run(built, documents=[OTHER], steps=[["open", OURS], ["open", OURS]])
    assert names(done) == ["client", "start", "stop"]
    assert done[0][1]["server"] == {"command": "rdc", "args": ["lsp"]}
    selector: list[Mapping[str, str]] = done[0][1]["options"]["documentSelector"]
    assert {one["scheme"] for one in selector} == {"file"}
    patterns = {each for one in selector for each in expanded(one["pattern"])}
    suffixes = {f"**/*{suffix}" for form in FRONT_ENDS.values() for suffix in form.suffixes}
    others = {f"**/{name}" for form in FRONT_ENDS.values() for name in (*form.names, CONFIGURATION)}
    assert patterns == suffixes | others, "the files of all formats"
    assert not is_matched("docs/README.md", tuple(patterns))


def test_another_path_restarts_the_server(built: Path) -> None:
    steps = [["set", {"rdc.path": "/opt/rdc"}], ["configuration", "editor.fontSize"], ["configuration", "rdc.path"]]
    done = run(built, documents=[OURS], steps=steps)
    assert names(done) == ["client", "start", "stop", "client", "start", "stop"]
    assert done[3][1]["server"]["command"] == "/opt/rdc"


def test_a_server_that_does_not_start_is_explained_and_can_be_started_again(built: Path) -> None:
    steps = [["set", {"fails": False}], ["rdc.restart", None]]
    done = run(built, documents=[OURS], settings={"fails": True}, steps=steps)
    assert names(done) == ["client", "error", "client", "start", "stop"]
    assert done[1][1].startswith("`rdc lsp` doesn't start: spawn rdc ENOENT. Install rdc with its extra `lsp`")


def test_the_lens_opens_the_page_in_the_folder_of_the_document(built: Path) -> None:
    uri = "file:///home/a%20b/-x.runbook.md"
    done = run(built, steps=[["rdc.showFlow", uri], ["rdc.showFlow", uri], ["rdc.showFlow", None]])
    file = "/home/a b/-x.runbook.md"
    expected = {"cwd": "/home/a b", "shellPath": "rdc", "shellArgs": ["view", "--open", file]}
    assert done[0] == ("terminal", {"name": f"rdc view {file}", **expected})
    assert names(done) == ["terminal", "show", "dispose", "terminal", "show", "terminal", "show"]
    assert done[5][1]["shellArgs"][-1] == "/active.runbook.md"


def test_an_untrusted_folder_cannot_name_the_program() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
    setting = manifest["contributes"]["configuration"]["properties"]["rdc.path"]
    assert (setting["scope"], setting["default"]) == ("machine", "rdc")
    trust = manifest["capabilities"]["untrustedWorkspaces"]
    assert (trust["supported"], trust["restrictedConfigurations"]) == ("limited", ["rdc.path"])


def test_the_package_has_one_file_of_code(built: Path) -> None:
    """It is what `make vscode` packs: the bundle needs no other package."""
    program = installed(FOLDER)
    done = subprocess.run(
        ["node", "-e", LOAD, program / "dist" / "extension.js"], check=True, capture_output=True, text=True, cwd="/"
    )
    assert done.stdout == "activate,deactivate\n"
