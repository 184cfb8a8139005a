"""`rdc graph`: formats, places, themes, and what happens without Graphviz."""

import json
import shutil
import struct
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from pygraphviz import AGraph

from backends.base import MARK
from rdc.commands.graph import FORMATS
from rdc.draw import graphviz
from tests.conftest import ROOT
from tests.support.cli import GOOD, MISSING_TITLE, UNKNOWN_TARGET, call, document
from tests.support.graphviz import seen

pytestmark = pytest.mark.tool


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a document; the Graphviz is the one that the project installs."""
    document(tmp_path, "deploy.runbook.md", GOOD)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    return tmp_path


@pytest.mark.usefixtures("drawn_once")
def test_an_svg_stands_beside_the_source(folder: Path) -> None:
    result = call("graph", "deploy.runbook.md", "--link-base", "https://example.org/x", cwd=folder)
    assert (result.code, result.out, result.err) == (0, "", "wrote deploy.svg\n")
    picture = (folder / "deploy.svg").read_bytes()
    assert MARK.encode() in b"".join(picture.split(b"\n")[:5])
    assert b"DOCTYPE" not in picture
    found = seen(picture)
    links = {box.name: box.link for box in found.boxes if box.name in "12"}
    assert links == {name: f"https://example.org/x/deploy.runbook.md#L{line}" for name, line in (("1", 3), ("2", 9))}
    assert next(box.tooltip for box in found.boxes if box.name == "1") == "deploy.runbook.md:3\necho building"
    assert {"worked", "failed"} <= {arrow.label for arrow in found.arrows}


@pytest.mark.usefixtures("drawn_once")
def test_an_svg_takes_the_colors_of_its_page_unless_told(folder: Path) -> None:
    themes = ((), ("--theme", "light"), ("--theme", "dark"))
    pictures = [call("graph", "deploy.runbook.md", "-o", "-", *theme, cwd=folder).out for theme in themes]
    assert ["prefers-color-scheme: dark" in picture for picture in pictures] == [True, False, False]
    assert ["#ffffff" in picture for picture in pictures] == [True, True, False]
    assert all(seen(picture.encode()).boxes for picture in pictures)


@pytest.mark.usefixtures("drawn_once")
def test_a_png_says_where_it_comes_from(folder: Path) -> None:
    assert call("graph", "deploy.runbook.md", "-o", "x.png", cwd=folder).code == 0
    picture = (folder / "x.png").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert MARK.encode() in picture[:200]
    width, height = struct.unpack(">II", picture[16:24])
    assert 100 < height < width
    assert call("graph", "deploy.runbook.md", "-o", "x.png", "--theme", "dark", cwd=folder).code == 0
    assert picture != (folder / "x.png").read_bytes()
    assert call("graph", "deploy.runbook.md", "-o", "x.png", "--no-legend", cwd=folder).code == 0
    head = (folder / "x.png").read_bytes()[:600]
    assert b"written by this command:   rdc graph deploy.runbook.md -o x.png --no-legend --format png" in head
    assert b"rdc verify" not in head, "no text can be compared"


def test_one_box_for_each_step_is_only_for_specifications(folder: Path) -> None:
    shutil.copytree(ROOT / "examples" / "specifications", folder / "s")
    words = ("graph", "s/plan-product.stepspec.yaml", "--format", "mermaid", "-o", "-")
    whole, steps = (call(*words, *flag, cwd=folder).out for flag in ((), ("--steps",)))
    assert ("check the inputs" in whole, "check the inputs" in steps) == (True, False)
    assert "-O boxes=steps" in steps
    assert "only for step specifications" in call("graph", "deploy.runbook.md", "--steps", cwd=folder).exits(1).err
    assert not (folder / "deploy.svg").exists()


@pytest.mark.usefixtures("drawn_once")
def test_a_foreign_picture_is_not_overwritten(folder: Path) -> None:
    for name, content in (("x.png", b"\x89PNG\r\n\x1a\nphoto"), ("x.svg", b"<svg/>")):
        (folder / name).write_bytes(content)
        result = call("graph", "deploy.runbook.md", "-o", name, cwd=folder)
        assert (result.code, "error[RD510]" in result.err, (folder / name).read_bytes()) == (1, True, content)
        assert call("graph", "deploy.runbook.md", "-o", name, "--force", cwd=folder).code == 0


@pytest.mark.usefixtures("drawn_once")
def test_the_ending_of_the_output_chooses_the_format(folder: Path) -> None:
    for suffix in (".gv", *(form.suffix for form in FORMATS.values())):
        assert call("graph", "deploy.runbook.md", "-o", f"x{suffix}", cwd=folder).code == 0
    endings = [call("graph", "deploy.runbook.md", "--format", form, cwd=folder).err for form in FORMATS]
    assert endings == [f"wrote deploy{suffix}\n" for suffix in (".svg", ".png", ".dot", ".mmd", ".json")]
    assert AGraph(string=(folder / "x.gv").read_text()).number_of_nodes() > 2
    assert (folder / "x.gv").read_text().replace("x.gv", "x.dot") == (folder / "x.dot").read_text()
    assert "flowchart TD" in (folder / "x.mmd").read_text()
    assert json.loads((folder / "x.json").read_text())["name"] == "deploy"
    for form in ("dot", "mermaid", "json"):
        drawn = call("graph", "deploy.runbook.md", "--format", form, "-o", "-", cwd=folder)
        compiled = call("compile", "deploy.runbook.md", "--to", form, "-o", "-", cwd=folder)
        assert (drawn.code, drawn.out) == (compiled.code, compiled.out) == (0, drawn.out)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        *(
            (("-o", f"{name}"), f"cannot write {ending} files; use .svg, .png, .dot, .mmd, .json or .gv")
            for name, ending in (("x.jpg", ".jpg"), ("sub/x.svgz", ".svgz"))
        ),
        (("--format", "png", "--link-base", "https://example.org"), ""),
        (("--format", "json", "--theme", "dark"), ""),
        (("--format", "json", "--steps"), "--steps has no effect on --format json"),
        (("--link-base", "javascript:alert(1)"), ""),
        (("--format", "gif"), ""),
        (("--format", "png", "-o", "-"), ""),
    ],
)
def test_wrong_use_is_told(words: tuple[str, ...], problem: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PNG is not for a terminal."""
    monkeypatch.setattr("rdc.commands.common.pictures.is_terminal", lambda: True)
    for name in ("deploy.runbook.md", *(["nowhere.runbook.md"] if problem.startswith("cannot") else [])):
        result = call("graph", name, *words, cwd=folder)
        assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
        assert problem in result.err
    assert [path.name for path in folder.iterdir()] == ["deploy.runbook.md"]
    assert call("graph", "deploy.runbook.md", "--format", "dot", "-o", "-", cwd=folder).code == 0


@pytest.mark.parametrize(
    ("words", "path", "start"),
    [
        (["-o", "X.PNG"], "X.PNG", b"\x89PNG"),
        *((["--format", "svg", "-o", name], name, b"<?xml") for name in ("x.png", "x.jpg", "x")),
        *((["-o", name], "out.d/deploy.svg", b"<?xml") for name in ("out.d", "out.d/")),
    ],
)
def test_case_folders_and_a_named_format(words: list[str], path: str, start: bytes, folder: Path) -> None:
    """The case of an ending doesn't matter, a folder has no ending, and a named format is written whatever it is."""
    (folder / "out.d").mkdir()
    assert call("graph", "deploy.runbook.md", *words, cwd=folder).code == 0
    assert (folder / path).read_bytes().startswith(start)


def test_a_document_with_errors_is_not_drawn_and_one_with_warnings_unless_asked(folder: Path) -> None:
    document(folder, "bad.runbook.md", UNKNOWN_TARGET)
    assert "error[RD201]" in call("graph", "bad.runbook.md", cwd=folder).exits(1).err
    assert not (folder / "bad.svg").exists()
    document(folder, "odd.runbook.md", MISSING_TITLE)
    assert call("graph", "odd.runbook.md", "--strict", cwd=folder).code == 1
    assert not (folder / "odd.svg").exists()
    assert call("graph", "odd.runbook.md", "--quiet", cwd=folder).code == 0


@pytest.mark.parametrize(
    ("script", "output"),
    [
        ('sys.stdin.read(); print("<svg a=\\"1\\">", sys.argv[1:], "</svg>")', ""),
        ('sys.exit("syntax error\\nin line 3")', "in line 3"),
        ("sys.exit(3)", "exit code 3"),
        ('print("<svg></svg>"); print("Error: lost an edge", file=sys.stderr)', "lost an edge"),
        ("time.sleep(30)", "longer than 1 seconds"),
    ],
)
def test_the_dot_on_the_path_is_taken(script: str, output: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document(folder, "nothing/dot", f"#!{sys.executable}\nimport sys, time\n{script}\n").chmod(0o755)
    monkeypatch.setattr(graphviz, "TIME_LIMIT", 1 if output.startswith("longer") else 60)
    result = call("graph", "deploy.runbook.md", cwd=folder)
    if not output:
        assert (result.code, "['-Tsvg', '-Gdpi=72']" in (folder / "deploy.svg").read_text()) == (0, True)
        return
    assert (result.code, "error[RD514]" in result.err, output in result.err) == (1, True, True)
    assert not (folder / "deploy.svg").exists()


def test_half_a_picture_is_none_and_graphviz_can_be_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphviz draws what it has read before an error; that of a graph must not pass for the whole."""
    with pytest.raises(graphviz.DrawingError, match="syntax error"):
        graphviz.render("digraph { a; b; subgraph { c", "svg")
    monkeypatch.setattr(graphviz, "find_spec", lambda _: None)
    result = call("graph", "deploy.runbook.md", cwd=folder)
    assert (result.code, "error[RD514]" in result.err, "uv tool install '.[graph]'" in result.err) == (1, True, True)
    assert call("graph", "deploy.runbook.md", "--format", "mermaid", cwd=folder).code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there are always fonts")
def test_a_machine_without_fonts_draws_letters(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "none.conf").write_text("<fontconfig></fontconfig>", encoding="utf-8")
    monkeypatch.setenv("FONTCONFIG_FILE", str(folder / "none.conf"))
    monkeypatch.setattr(graphviz, "FONT_FOLDERS", (str(folder),))
    for name in ("iii", "WWW"):
        document(folder, f"{name}.runbook.md", f"## 1. {name * 8}\n")
        assert call("graph", f"{name}.runbook.md", "-o", f"{name}.svg", cwd=folder).code == 0
    widths = [ET.parse(folder / f"{name}.svg").getroot().get("width") for name in ("iii", "WWW")]
    assert widths[0] != widths[1], "every letter is the same empty box"
    assert {path.suffix for path in graphviz.FONT.parent.iterdir()} == {".ttf", ".txt"}, "nothing is left there"


@pytest.mark.skipif(not shutil.which("dot"), reason="there is no dot here")
def test_the_real_dot_draws(tmp_path: Path) -> None:
    document(tmp_path, "deploy.runbook.md", GOOD)
    assert call("graph", "deploy.runbook.md", cwd=tmp_path).code == 0
    assert len(seen((tmp_path / "deploy.svg").read_bytes()).boxes) > 2
