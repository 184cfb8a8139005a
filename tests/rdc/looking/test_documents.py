"""The document of a page: what a saved, broken, removed or large one shows, with its picture or the outline."""

import os
import time
from pathlib import Path

import pytest

from compiler.driver import Compilation, compile_file
from tests.support.cli import document
from tests.support.looking import DEPLOY, NAME, Client, saved, serving
from tests.support.runbooks import command

pytestmark = pytest.mark.process


def test_a_saved_document_is_a_new_edition(client: Client, folder: Path) -> None:
    stream = client.stream("deploy")
    stream.until("state")
    saved(folder / NAME, DEPLOY.replace("## 1. Build", "## 1. Compile"))
    assert stream.until("document")["edition"] == 2, "the empty file in between is no edition"
    found = client.ask("/api/document").json
    assert (found["edition"], found["drawn"], found["steps"][0]["title"]) == (2, 2, "Compile")
    (folder / NAME).touch()
    time.sleep(0.4)
    assert client.ask("/api/document").json["edition"] == 2, "a file with the same content neither"
    saved(folder / NAME, DEPLOY)
    assert stream.until("document")["edition"] == 3


def test_a_change_while_it_compiles_is_seen(client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    later = [DEPLOY.replace("1. Build", "1. Pack")]

    def compiling(file: str) -> Compilation:
        done = compile_file(file)
        if later:
            (folder / NAME).write_text(later.pop(), encoding="utf-8")
        return done

    monkeypatch.setattr("rdc.looking.drawing.compile_file", compiling)
    stream = client.stream("deploy")
    (folder / NAME).write_text(DEPLOY.replace("1. Build", "1. Compile"), encoding="utf-8")
    assert [stream.until("document")["edition"] for _ in range(2)] == [2, 3]
    assert client.ask("/api/document").json["steps"][0]["title"] == "Pack"


@pytest.mark.tool
def test_the_last_good_picture_stays_after_an_error(client: Client, folder: Path) -> None:
    picture = client.ask("/api/picture")
    assert picture.headers["Content-Type"] == "image/svg+xml"
    assert b"<style" not in picture.body
    stream = client.stream("deploy")
    saved(folder / NAME, DEPLOY.replace("FAIL: RETRY 2", "FAIL: GOTO 9"))
    stream.until("document")
    found = client.ask("/api/document").json
    assert (found["edition"], found["drawn"]) == (2, 1)
    assert [(one["severity"], one["line"] > 0) for one in found["diagnostics"]] == [("error", True)]
    assert client.ask("/api/picture").body == picture.body
    saved(folder / NAME, DEPLOY)
    stream.until("document")
    assert client.ask("/api/document").json["diagnostics"] == []


def test_a_document_with_errors_from_the_start_has_no_picture(folder: Path) -> None:
    document(folder, NAME, DEPLOY.replace("FAIL: RETRY 2", "FAIL: GOTO 9"))
    with serving(NAME) as client:
        found = client.ask("/api/document").json
        assert (found["drawn"], found["steps"], len(found["diagnostics"])) == (0, [], 1)
        assert client.ask("/api/picture").status == 404
        stream = client.stream("deploy")
        saved(folder / NAME, DEPLOY)
        stream.until("document")
        assert client.ask("/api/document").json["title"] == "Deploy"


def test_a_document_that_becomes_a_pipe_stops_nothing(client: Client, folder: Path) -> None:
    (folder / NAME).unlink()
    os.mkfifo(folder / NAME)
    assert client.ask("/api/document").json["diagnostics"][0]["message"] == "the path is not a regular file"


def test_a_removed_document_keeps_its_picture(client: Client, folder: Path) -> None:
    stream = client.stream("deploy")
    (folder / NAME).unlink()
    stream.until("document")
    found = client.ask("/api/document").json
    assert (found["drawn"], found["steps"][0]["title"], found["diagnostics"][0]["severity"]) == (1, "Build", "error")


def test_a_document_that_it_includes_counts_too(folder: Path) -> None:
    inner = "# Inner\n\n## 1. Look\n\n```sh\ntrue\n```\n"
    document(folder, "inner.runbook.md", inner)
    document(folder, NAME, "# Deploy\n\n## 1. Inner\n\n- inner.runbook.md\n")
    with serving(NAME) as client:
        stream = client.stream("deploy")
        saved(folder / "inner.runbook.md", inner.replace("Look", "Watch"))
        stream.until("document")
        assert "Watch" in [one["title"] for one in client.ask("/api/document").json["steps"]]


@pytest.mark.tool
def test_boxes_and_arrows_have_ids_in_the_picture(client: Client) -> None:
    found, picture = client.ask("/api/document").json, client.ask("/api/picture").body.decode()
    for one in (*found["boxes"], *found["arrows"]):
        assert picture.count(f'<g id="{one["id"]}" class="') == 1, one
    steps = {one["step"]: one["source"] for one in found["boxes"]}
    assert steps == {"1": "", "2": "", "3": "", "2/STOP": "", "STOP": "1", "COMPLETE": ""} or "STOP" in steps
    arrows = {(one["source"], tuple(one["outcomes"])): one["target"] for one in found["arrows"]}
    assert (arrows["", ()], arrows["2", ("pass",)], arrows["2", ("fail",)]) == ("1", "3", "2/STOP")


LARGE = "# Large\n\n" + "".join(command(f"{number}. Step {number}", "true") for number in range(1, 302))


@pytest.mark.tool
def test_a_large_picture_is_drawn_on_request(folder: Path) -> None:
    document(folder, NAME, LARGE)
    with serving(NAME) as client:
        found = client.ask("/api/document").json
        assert found["is_large"]
        assert len(found["steps"]) > 301
        refused = client.ask("/api/picture")
        assert (refused.status, refused.json["error"]) == (409, "the picture is large")
        assert client.ask("/api/picture?draw=anyway").body.count(b"Step ") >= 301


def test_without_graphviz_there_is_the_outline(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdc.draw.graphviz.shutil.which", lambda _: None)
    monkeypatch.setattr("rdc.draw.graphviz.find_spec", lambda _: None)
    found = client.ask("/api/picture")
    assert (found.status, found.json["error"].partition(";")[0]) == (503, "Graphviz is not installed")
    assert client.ask("/api/document").json["steps"][0]["id"] == "1"
