"""Formatting: pairs of documents, and that any runbook keeps its meaning and any normal form stays what it is."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.diagnostics.issues import OptionSource
from compiler.driver import Settings, compile_file, format_opened, open_file
from compiler.frontends.common.interface import Formatted, Job
from compiler.frontends.rundown import LAYOUTS, Layout
from compiler.frontends.rundown.format import document as formatting
from compiler.frontends.rundown.format.document import format_document, is_equivalent
from compiler.frontends.rundown.parse.document import parse
from compiler.frontends.rundown.parse.outline import Scanned, scan
from compiler.ir.paths import walk
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Verdict
from compiler.project.project import Project
from compiler.text.source import Source
from tests.conftest import CONFORMANCE, ROOT
from tests.differential.generate.rundown import Drawn, cases
from tests.support.documents import finding

EXAMPLES = sorted((ROOT / "examples").rglob("*.runbook.md"))
CONFORMING = sorted((CONFORMANCE / "rundown" / "valid").glob("*.runbook.md"))
FOLDER = Path(__file__).parent / "formatting"


_layouts = st.sampled_from([None, *LAYOUTS])


MARKS: dict[str, Layout] = {".header.": "after-header", ".body.": "after-body"}


def formatted(text: str, layout: Layout | None = None, configured: Mapping[str, object] | None = None) -> Formatted:
    """What formatting a document gives."""
    source, given = Source.from_text("numbers.md", text), {"transitions": layout} if layout else {}
    return format_document(Job(source, Project("/"), given, configured or {}, link=False))


def normal(text: str, layout: Layout | None = None) -> str:
    """The normal form of a document that has one."""
    result = formatted(text, layout)
    assert result.text is not None, result
    return result.text


def findings(text: str) -> list[str]:
    """Why a document is left alone."""
    result = formatted(text)
    assert result.text is None
    assert not result.defect
    return [finding(item) for item in result.diagnostics]


@pytest.mark.parametrize(
    "after", sorted(FOLDER.glob("*.after.md")), ids=lambda path: path.name.removesuffix(".after.md")
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_pairs(after: Path, line_end: str) -> None:
    mark, layout = next(((mark, layout) for mark, layout in MARKS.items() if mark in after.name), (".", None))
    before = after.with_name(after.name.replace(".after.", ".before."))
    before = before if before.exists() else before.with_name(before.name.replace(mark, "."))
    old, new = (path.read_text(encoding="utf-8").replace("\n", line_end) for path in (before, after))
    assert normal(old, layout) == new
    assert formatted(new, layout) == Formatted(new)


@pytest.mark.parametrize("path", EXAMPLES + CONFORMING, ids=lambda path: path.name)
def test_examples_are_in_their_normal_form_and_have_one_in_each_layout(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path in EXAMPLES:
        assert formatted(text) == Formatted(text)
    for layout in LAYOUTS:
        assert check(text, layout).text is not None


def check(text: str, layout: Layout | None) -> Formatted:
    """What must hold of any text: there is a normal form, which is its own, or a reason why not, and no defect."""
    result = formatted(text, layout)
    assert not result.defect, text
    assert (result.text is None) == bool(result.diagnostics)
    if result.text is not None:
        assert formatted(result.text, layout) == Formatted(result.text)
    return result


@pytest.mark.most(10)
@pytest.mark.share(2)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(cases(), _layouts)
def test_a_random_runbook_has_a_normal_form(case: Drawn, layout: Layout | None) -> None:
    for text in case.documents().values():
        assert check(text.removeprefix("\ufeff"), layout).text is not None


@pytest.mark.most(10)
@pytest.mark.share(2)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(cases(most=4))
def test_a_formatted_runbook_takes_the_same_walk(tmp_path_factory: pytest.TempPathFactory, case: Drawn) -> None:
    folder = tmp_path_factory.mktemp("paths")
    (folder / "rdc.toml").touch()
    for name, text in case.documents().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    before = walked(folder / case.main, case.outcomes.seed)
    for name in case.documents():
        opened = open_file(str(folder / name))
        result = format_opened(opened, Settings()).result
        assert result.text is not None
        assert isinstance(opened.source, Source)
        (folder / name).write_bytes(opened.source.encode(result.text))
    assert walked(folder / case.main, case.outcomes.seed) == before


def walked(document: Path, seed: int) -> list[tuple[object, ...]]:
    """The steps of a path, and where each leads; outcomes are a function of the seed."""
    program = compile_file(str(document)).program
    assert program
    luck = random.Random(seed)
    found = walk(Machine(program), lambda *_: Outcome(Verdict.PASS if luck.random() < 0.7 else Verdict.FAIL), 60)
    return [(visit.step, visit.outcome, visit.instances, visit.taken) for visit in found.visits]


def test_sections_of_prose_that_the_project_names_are_kept() -> None:
    text = (FOLDER / "prose.before.md").read_text(encoding="utf-8")
    after = (FOLDER / "prose.after.md").read_text(encoding="utf-8")
    head, _, body = text.removeprefix("---\n").partition("---\n")
    assert "prose" in head
    names = {name: OptionSource("RD501", "rdc.toml", None) for name in ("Prerequisites", "Troubleshooting", "Notes")}
    result = formatted(body, configured={"prose": names})
    assert result.text == after.removeprefix("---\n").partition("---\n")[2].lstrip("\n")


@pytest.mark.parametrize(
    ("text", "times"),
    [("## 1. A\n* PASS: STOP\n", 2), ("## 1. A\n- PASS: STOP\n\nB\n", 2), ("## 1. A\n\nB\n- NO: STOP\n\nC\n", 3)],
    ids=["default", "other-layout", "mixed"],
)
def test_a_document_is_read_once_before_and_once_after_each_change(
    text: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(source: Source, prose: Mapping[str, OptionSource]) -> Scanned:
        read.append(source.text)
        return scan(source, prose)

    monkeypatch.setattr(formatting, "scan", counted)
    assert formatted(text).text not in {None, text}
    assert len(read) == times


STEPS = "## 1. A\n\n## 3. C\n"
LATER = "## 1. A\n\nText.\n\n## Step 2: B\n\nText.\n\n## 3. C\n\nText.\n"
OPEN = "## 1. A\n\n```sh\na\n\n## 2. B\n\n```sh\nb\n```\n\n## 3. C\n"
COMMENT = (
    "## 1. A\n\n### 1.1 B\n\n```sh\n```\n\n- FAIL: CONTINUE\n\n<!-- c\n\n- PASS ALL: STOP\ntext\n- FAIL ANY: STOP\n"
)
TWICE = "## 1. A\n\n- PASS: GOTO {}\n\n## 2. B\n\n### 2.1 C\n\n## 2. D\n\n### 2.1 E\n"


def going_to(step: str) -> str:
    """A frontmatter with a scenario that goes to a step."""
    return f"---\nscenarios: {{a: {{commands: [rd run numbers.md, {step}], result: STOP}}}}\n---\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## 1. A\n\n- PASS: GOTO 7\n", ["RD201 3:14"]),
        # errors that were hidden
        ("## 1. A\n\n- PASS: GOTO 1\n\ntext\n\n```sh\n```\n\nbelow\n", ["RD203 3:14", "RD112 10:1"]),
        ("## 1. A\n\n```sh\n```\n\nbelow\n\n- PASS: GOTO 8\n", ["RD112 6:1", "RD201 8:14"]),
        # a reference that is not there does not come to life
        ("## 1. A\n\n- PASS: GOTO 2\n\n## 3. C\n", ["RD201 3:14", "RD102 5:4"]),
        (going_to("rd goto 2") + STEPS, ["RD102 6:4", "RD117 2:47"]),
        (going_to('"rd goto \\x33"') + STEPS, ["RD102 6:4", "RD117 2:47"]),  # it cannot be edited
        # what is doubled and referred to
        (TWICE.format("2"), ["RD108 9:4", "RD117 3:14"]),
        (TWICE.format("2.1"), ["RD108 9:4", "RD117 3:14"]),
        ("## 1. A\n\n## B\n\n## B\n", ["RD108 5:4"]),
        (LATER, ["RD102 9:4"]),  # no step gets the number of one whose header does not begin with it
        (OPEN, ["RD049 3:1", "RD102 12:4"]),
        (COMMENT, ["RD048 10:1", "RD120 12:1"]),  # it has the rest of the document in it
    ],
)
def test_what_is_left_alone(text: str, expected: list[str]) -> None:
    assert findings(text) == expected


def test_what_is_not_left_alone() -> None:
    for text in (LATER.replace("2: B", "two"), OPEN.replace("```sh\na", "````sh\na").replace("b\n```", "b\n````")):
        assert normal(text) == text.replace("## 3.", "## 2.")
    late = "## 1. A\n\nx\n\n# T\n"
    assert normal(late) == late, "a late title keeps its place"
    assert normal(going_to("rd goto 2") + STEPS.replace("3", "2"))


def test_the_proof_sees_what_a_program_does(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source.from_text("numbers.md", "")
    texts = ("## 1. A\n", "## 1. A\n\n- FAIL: CONTINUE\n", "## 1. A\n\nB\n", "## 1. B\n", "# T\n\n## 1. A\n")
    trees = [parse(Source.from_text("numbers.md", text)).runbook for text in texts]
    alike = [bool(trees[0] and tree and is_equivalent(source, trees[0], tree)) for tree in trees]
    assert alike == [True, False, False, False, False]
    monkeypatch.setattr(formatting, "is_equivalent", lambda *_: False)
    result = formatted("## 1. A\n- PASS: STOP\n")
    assert (result.text, bool(result.defect)) == (None, True), "a result with another meaning is not given"


@pytest.mark.parametrize(
    ("text", "is_offered"),
    [
        ("## 1. A\n\nx\n\n## 3. B\n\ny\n", True),
        ("## 1. A\n\n- PASS: STOP\n- FAIL: STOP\n\n```bash\nx\n```\n\n## 3. B\n\ny\n", True),
        ("## 1. A\n\nx\n\n- PASS: GOTO 3\n\n## 3. B\n\ny\n\n## 3. C\n\nz\n", False),
        ("## 1. A\n\n- PASS: STOP\n\n```bash\nx\n```\n\n## 2. B\n\n- FAIL: GOTO\n", False),
    ],
)
def test_a_check_offers_to_format_without_formatting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_offered: bool
) -> None:
    assert (formatted(text).text is not None) is is_offered
    (file := tmp_path / "a.runbook.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(formatting, "is_equivalent", None)
    assert any("`rdc fmt`" in one.help for one in compile_file(str(file)).diagnostics) is is_offered
