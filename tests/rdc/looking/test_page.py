"""The page of `rdc view` in Chromium: what it shows of a run, how it answers, and that content stays content."""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

pytest.importorskip("playwright", reason="playwright is not installed")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from rdc.looking.model import Asked, Item, Question, State, Visit
from tests.support.browser import CHROMIUM, NO_CHROMIUM, Visitor, chromium, incidents, run, started, view
from tools.screens import INCIDENT, PICTURES, STATES, choose

pytestmark = [pytest.mark.tool, pytest.mark.skipif(not CHROMIUM, reason=NO_CHROMIUM)]

People = Callable[..., Visitor]
FILE = "payments.runbook.md"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page with three runs that no test changes."""
    with view(incidents(tmp_path_factory.mktemp("incident")), FILE) as address:
        yield address


@pytest.fixture
def person(browser: Browser) -> Iterator[People]:
    """People with a browser. No page may report an error, and no request leaves the server."""
    people: list[Visitor] = []

    def come(**options: object) -> Visitor:
        people.append(Visitor(browser, **options))
        return people[-1]

    yield come
    problems = [problem for one in people for problem in one.problems]
    origins = {url.split("/")[2] for one in people for url in one.requests}
    for one in people:
        one.context.close()
    assert not problems
    assert len(origins) == 1


def box(page: Page, text: str) -> Locator:
    """A box of the picture."""
    return page.locator("svg .node").filter(has_text=text)


def rows(page: Page) -> list[str]:
    """The rows as text, with the sign first."""
    return [" ".join(text.split()) for text in page.locator("#visits li").all_inner_texts()]


def test_boxes_arrows_and_rows_show_the_run(incident: str, person: People) -> None:
    page = person().look(incident, "stopped")
    for text, look, sign in (
        ("1 Measure", "passed", "✓"),
        ("2 Does", "passed", "✓"),
        ("3 Install", "failed", "✕ 3×"),
        ("Rolled back", "failed", "✕"),
    ):
        expect(box(page, text)).to_have_class(re.compile(rf"\b{look} seen\b"))
        expect(box(page, text).locator(".badge")).to_have_text(sign)
    for text in ("4 Check", "Version 1.5.0 is live", "Call the database team"):
        expect(box(page, text)).not_to_have_class(re.compile(r"\bseen\b"))
    expect(page.locator("svg")).to_have_class(re.compile(r"\bover\b"))
    assert box(page, "4 Check").evaluate("element => getComputedStyle(element).opacity") == "0.5"
    labels = [text.strip() for text in page.locator("svg .edge.taken").all_text_contents()]
    assert sorted(label for label in labels if label) == ["failed", "worked", "worked", "yes", "↻ again, up to 2 times"]
    expect(page.locator("#state")).to_have_text("✕ STOP")
    expect(page.locator("#visits li.last")).to_have_text("✕STOP Rolled back to 1.4.2")
    expect(page.locator("#answered code").first).to_have_text("rdc run payments.runbook.md retry --as stopped")
    assert [re.sub(r" \d+\.\d s", "", row) for row in rows(page)] == [
        "✓ 1 Measure the error rate",
        "✓ 2 Does the database accept connections? YES alice: 40 idle connections",
        "✕ 3 Install version 1.5.0 exit code 1 · RETRY 2",
        "✕ 3 Install version 1.5.0 attempt 2 exit code 1 · RETRY 2",
        "✕ 3 Install version 1.5.0 attempt 3 exit code 1 · GOTO Rollback",
        "✓ Rollback STOP",
        "✕ STOP Rolled back to 1.4.2",
    ]
    facts = r"Run\d+T\d+Z-\w+Started\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTCSteps6Time\d+\.\d sWaited for people\d+\.\d s"
    expect(page.locator("#facts")).to_have_text(re.compile(f"^{facts}$"))
    page.locator("#v4").click()
    details = page.locator("#details")
    expect(details).to_contain_text("3 Install version 1.5.0 · attempt 2")
    expect(details).to_contain_text("FAIL, exit code 1")
    expect(details).to_contain_text("payments.runbook.md:25")
    expect(details.get_by_label("Log")).to_have_text("installing 1.5.0\npod payments-7f9c: CrashLoopBackOff\n")
    expect(details.get_by_label("Command")).to_contain_text('echo "installing 1.5.0"')
    box(page, "2 Does").click()
    expect(details).to_contain_text("40 idle connections")
    box(page, "4 Check").click()
    expect(details).to_contain_text("not reached in this run")


def test_a_waiting_step_has_its_own_look_and_its_form_chooses_no_reply(incident: str, person: People) -> None:
    visitor = person()
    page = visitor.look(incident)
    expect(page.locator("#state")).to_have_text("? WAITING")
    expect(box(page, "2 Does")).to_have_class(re.compile(r"\bwaiting seen\b"))
    expect(box(page, "2 Does").locator(".badge")).to_have_text("?")
    look = "one => { const s = getComputedStyle(one); return [s.stroke, s.strokeDasharray, s.strokeWidth].join() }"
    shapes = [box(page, text).locator("polygon").first.evaluate(look) for text in ("1 Measure", "2 Does", "3 Install")]
    assert len(set(shapes)) == 3
    button = page.get_by_role("button", name="Record the answer")
    expect(page.locator("#question [type=radio]")).to_have_count(2)
    expect(page.locator("#question [type=radio]:checked")).to_have_count(0)
    button.click()
    page.get_by_label("YES").check()
    button.click()  # the name is missing
    assert not [url for url in visitor.requests if url.endswith("/answer")]


def test_two_runs_are_compared(incident: str, person: People) -> None:
    page = person().look(incident, "stopped")
    choose(page, "c", "healthy")
    expect(page.locator("#v1 .other")).to_have_text(re.compile(r"^= payments@healthy: PASS, \d+\.\d s$"))
    expect(page.locator("#v3 .other")).to_have_text(re.compile(r"^≠ payments@healthy: PASS, "))
    expect(page.locator("#v4 .other")).to_have_text("≠ payments@healthy: not reached")
    expect(page.locator(".row.differs")).to_have_count(4)
    expect(page.locator("#facts")).to_contain_text("4 rows differ from payments@healthy")
    choose(page, "c", "No other")
    expect(page.locator(".other")).to_have_count(0)


def test_every_part_has_a_key(incident: str, person: People) -> None:
    page = person().look(incident)
    expect(page.locator("#question button")).to_be_visible()
    press = page.keyboard.press
    press("j")
    expect(page.locator("#v1")).to_be_focused()
    expect(page.locator("#v1")).to_have_attribute("aria-current", "true")
    press("End")
    expect(page.locator("#v2")).to_be_focused()
    press("k")
    press("Home")
    expect(page.locator("#v1")).to_be_focused()
    press("Escape")
    expect(page.locator("#details")).to_be_hidden()
    press("a")
    expect(page.get_by_label("YES")).to_be_focused()
    page.locator("#v1").focus()
    press("/")
    page.keyboard.type("rollb")
    press("ArrowDown")
    press("Enter")
    expect(page.locator("#details")).to_contain_text("Rollback")
    width = page.locator("svg").get_attribute("width")
    press("+")
    expect(page.locator("svg")).not_to_have_attribute("width", width or "")
    press("-")
    press("f")
    for key, heading in (("r", "Choose a run"), ("c", "Compare with"), ("?", "Keyboard")):
        press(key)
        expect(page.locator("dialog[open] h2")).to_have_text(heading)
        press("Escape")
        expect(page.locator("dialog[open]")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_excludes_a_person(theme: str, incident: str, person: People) -> None:
    """In each theme and width, axe-core finds nothing in the page, its details and its lists."""
    page = person(color_scheme=theme).look(incident)
    expect(page.locator("#question button")).to_be_visible()
    for width, name, key in ((1440, "", "?"), (1024, "stopped", "c"), (390, "healthy", "/")):
        page.set_viewport_size({"width": width, "height": 800})
        if name:
            choose(page, "r", name)
            choose(page, "c", "payments ")
            page.locator("#v1 .other").wait_for()
        page.keyboard.press("j")
        expect(page.locator("#details")).to_be_visible()
        for part in ("page", "list"):
            found = Axe().run(page)
            assert not found.response["violations"], f"{part} of {width} px:\n{found.generate_report()}"
            if part == "page":
                page.keyboard.press(key)
        page.keyboard.press("Escape")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_answer_is_recorded_and_the_run_continues(tmp_path: Path, person: People) -> None:
    (tmp_path / FILE).write_text(INCIDENT, encoding="utf-8")
    run(tmp_path, FILE, "--logs")
    with view(tmp_path, FILE) as address:
        alice, bob = (person().look(address) for _ in range(2))
        bob.get_by_label("NO").check()
        bob.get_by_label("Your name").fill("bob")
        alice.get_by_label("YES").check()
        alice.get_by_label("Your name").fill("alice")
        alice.get_by_label("Reason").fill("<b>40</b> idle connections")
        alice.get_by_role("button", name="Record the answer").click()
        for page in (alice, bob):
            expect(page.locator("#answered")).to_contain_text(re.compile(r"alice answered YES, \d{4}-.* UTC"))
            expect(page.locator("#v2 .who")).to_have_text("alice: <b>40</b> idle connections")
            expect(page.locator("#question")).to_be_hidden()
        command = alice.locator("#answered code")
        expect(command).to_have_text(f"rdc run {FILE} resume")
        run(tmp_path, *command.inner_text().split()[2:], "--logs", RELEASE="good")
        for page in (alice, bob):
            expect(page.locator("#state")).to_have_text("✓ COMPLETE")
            expect(box(page, "Version 1.5.0 is live")).to_have_class(re.compile("passed seen"))


def test_a_second_answer_is_refused_with_the_first_one(tmp_path: Path, person: People) -> None:
    """The form would be gone, unless the stream is late."""
    (tmp_path / FILE).write_text(INCIDENT, encoding="utf-8")
    run(tmp_path, FILE)
    run(tmp_path, FILE, "answer", "2", "yes", "--by", "alice")
    question = Question("2", "1:2", "Does it?", "Look.", "ask", replies=("yes", "no"), form=True)
    state = State("payments", "payments", "1", "waiting", 1, step="2", question=question)
    with view(tmp_path, FILE) as address:
        page = person().look(address, forged=(state, ()))
        page.get_by_label("NO").check()
        page.get_by_label("Your name").fill("bob")
        page.get_by_role("button", name="Record the answer").click()
        expect(page.locator("#question .error")).to_have_text(re.compile(r"^alice answered YES first, \d{4}-.* UTC$"))
        expect(page.get_by_label("NO")).to_be_checked()


def test_the_log_grows_while_the_step_runs(tmp_path: Path, person: People) -> None:
    waits = "until [ -e {} ]; do sleep 0.05; done\n"
    script = f"echo first\n{waits.format('go')}echo second\n{waits.format('end')}"
    text = f"# Slow\n\n## 1. Wait\n\n```bash\n{script}```\n"
    (tmp_path / "a slow.runbook.md").write_text(text, encoding="utf-8")
    with view(tmp_path, "a slow.runbook.md") as address:
        page = person().look(address)
        expect(page.locator("#answered code")).to_have_text("rdc run 'a slow.runbook.md'")
        with started(tmp_path, "a slow.runbook.md", "--logs"):
            expect(page.locator("#state")).to_have_text("▸ RUNNING")
            page.keyboard.press("End")
            log = page.get_by_label("Log")
            expect(log).to_have_text("first\n")
            expect(page.locator("#v1 .time")).to_have_text(re.compile(r"\d+ s"))
            (tmp_path / "go").touch()
            expect(log).to_have_text("first\nsecond\n")
            (tmp_path / "end").touch()
            expect(page.locator("#state")).to_have_text("✓ COMPLETE")
            expect(page.locator("#v1")).to_be_focused()


def test_an_ended_process_is_shown_at_its_step(tmp_path: Path, person: People) -> None:
    name, file = "a-name-that-is-longer-than-a-narrow-page", "slow.runbook.md"
    step = "## 1. Wait\n\n```bash\necho first; until [ -e end ]; do sleep 0.05; done\n```\n"
    (tmp_path / file).write_text(f"# Slow\n\n{step}", encoding="utf-8")
    with view(tmp_path, file) as address, started(tmp_path, file, "--as", name, "--logs") as run:
        page = person(viewport={"width": 390, "height": 844}).look(address)
        expect(page.locator("#runs")).to_be_visible()
        choose(page, "r", name)
        page.locator("#v1").click()
        expect(page.get_by_label("Log")).to_have_text("first\n")
        expect(page.locator("#details dd").first).to_have_text("running")
        run.kill()
        (tmp_path / "end").touch()
        expect(page.locator("#details dd").first).to_have_text("interrupted")
        expect(page.locator("#answered code").first).to_contain_text("resume --rerun-interrupted --as a-name")
        assert page.locator("#find").evaluate("button => button.clientHeight") < 40, "its words are on one line"


def test_an_error_keeps_the_last_picture(tmp_path: Path, person: People) -> None:
    path = tmp_path / FILE
    path.write_text(INCIDENT, encoding="utf-8")
    run(tmp_path, FILE)
    with view(tmp_path, FILE) as address:
        page = person().look(address)
        page.get_by_label("Your name").fill("bob")
        expect(box(page, "Rollback")).to_have_count(1)
        count = page.locator("svg .node").count()
        path.write_text(INCIDENT.replace("GOTO Rollback", "GOTO Rolback", 1), encoding="utf-8")
        expect(page.locator("#problems")).to_contain_text("Rolback")
        expect(page.locator("#problems code")).to_have_text(re.compile(r" payments.runbook.md:\d+ RD\d{3}$"))
        expect(page.locator("svg .node")).to_have_count(count)
        expect(page.get_by_label("Your name")).to_have_value("bob")
        assert not Axe().run(page).response["violations"]
        path.write_text(INCIDENT + "\n## Last\n\n- YES: COMPLETE\n- NO: STOP\n", encoding="utf-8")
        expect(page.locator("svg .node").filter(has_text="Last")).to_have_count(1)
        expect(page.locator("#problems")).to_be_hidden()
        expect(page.locator("#notices")).to_have_text("The document has changed since this run started.")
        expect(page.locator("#question code").first).to_contain_text(f"rdc run {FILE} ")


def test_a_large_document_is_a_list(tmp_path: Path, person: People) -> None:
    steps = [f"## {n}. Step\n\n```sh\ntrue\n```\n\n- FAIL: CONTINUE\n\n" for n in range(1, 304)]
    steps[1] = "## 2. Continue?\n\n- YES: CONTINUE\n- NO: CONTINUE\n\n"
    (tmp_path / "large.runbook.md").write_text(f"# Large\n\n{''.join(steps)}", encoding="utf-8")
    run(tmp_path, "large.runbook.md")
    with view(tmp_path, "large.runbook.md") as address:
        page = person().look(address)
        expect(page.locator("#why")).to_have_text("This document has 304 boxes, so it is shown as a list.")
        expect(page.locator("#steps .row").first).to_have_text(re.compile(r"^✓1 Steplarge.runbook.md:3$"))
        expect(page.locator("#steps .row")).to_have_count(304)
        expect(page.locator("svg")).to_have_count(0)
        assert not Axe().run(page).response["violations"]
        page.get_by_role("button", name="Draw anyway").click()
        expect(page.locator("svg .node")).to_have_count(305, timeout=15_000)
        expect(page.locator("#outline")).to_be_hidden()


def test_without_graphviz_there_is_a_list(incident: str, person: People) -> None:
    visitor = person()
    visitor.context.route("**/api/picture*", lambda route: route.fulfill(status=503, json={"error": "no Graphviz"}))
    page = visitor.look(incident)
    expect(page.locator("#why")).to_contain_text("There is no picture without Graphviz")
    expect(page.get_by_role("button", name="Draw anyway")).to_be_hidden()
    page.locator("#steps .row").filter(has_text="Rollback").first.click()
    expect(page.locator("#details")).to_contain_text('echo "live: 1.4.2"')
    visitor.problems.clear()  # the request that failed


def test_the_list_shows_the_newest_rows_first(incident: str, person: People) -> None:
    """It has 300 rows, and older ones when you scroll up."""
    state = State("payments", "payments", "1", "running", 1, step="2", title="Ask", total=700, started="", since="")
    visits = [
        Visit(n, "3", f"Visit {n}", 1, n, "pass", "PASS", is_failed=False, how="", transition="GOTO 3", next="3")
        for n in range(1, 701)
    ]
    page = person().look(incident, forged=(state, visits))
    expect(page.locator("#v700")).to_be_in_viewport()
    expect(page.locator("#visits .row")).to_have_count(301)
    expect(page.locator("#v400")).to_have_count(0)
    expect(box(page, "3 Install").locator(".badge")).to_have_text("✓ 700×")
    page.locator("#visits").evaluate("list => { list.scrollTop = 0 }")
    expect(page.locator("#v101")).to_be_attached()
    expect(page.locator("#v401")).to_be_in_viewport()
    page.keyboard.press("Home")
    expect(page.locator("#v1")).to_be_focused()


def asked(**more: Any) -> State:
    """The state of a run that waits with a question."""
    question = Question("2", "1:2", "Which one?", "Look first.", more.pop("kind", "ask"), form=True)
    names = {name: more.pop(name) for name in (*more,) if name in question.__struct_fields__}
    return State("payments", "payments", "1", "waiting", 1, step="2", question=replace(question, **names), **more)


@pytest.mark.parametrize(
    ("state", "roles", "text"),
    [
        (asked(replies=tuple("abcdef")), {"radio": 6, "textbox": 2}, "Look first."),
        (asked(replies=("-",), asks=Asked("PORT", "text", pattern="[0-9]+")), {"radio": 0, "textbox": 3}, "[0-9]+"),
        (asked(replies=("yes", "no"), holder="pid 7 on ops-1"), {"radio": 2, "textbox": 2}, "takes your answer: pid 7"),
        (asked(kind="gate", form=False, commands=("rdc run a approve 2",)), {"radio": 0}, "rdc run a approve 2"),
        (
            asked(form=False, entries=(Item("a_0", "Say it.", answered=True),)),
            {"textbox": 0},
            "Answer it in a terminal:",
        ),
    ],
    ids=["options", "text", "terminal", "gate", "parallel"],
)
def test_a_question_is_asked(state: State, roles: Mapping[Any, int], text: str, incident: str, person: People) -> None:
    page = person(viewport={"width": 1024, "height": 700}).look(incident, forged=(state, ()))
    form = page.locator("#question")
    expect(form).to_be_visible()
    for role, count in roles.items():
        expect(form.get_by_role(role)).to_have_count(count)
    has_form = state.question is not None and state.question.form
    expect(form.get_by_role("button", name="Record")).to_have_count(int(has_form))
    expect(page.locator("#run")).to_contain_text(text)
    assert not Axe().run(page).response["violations"]


def test_the_picture_follows_the_run(incident: str, person: People) -> None:
    """It scrolls to the current step, unless the person has just scrolled. The page itself stays where it is."""
    visit = Visit(1, "3", "", 1, 1, "pass", "PASS", False, how="", transition="GOTO Rollback", next="Rollback")
    first = State("payments", "payments", "1", "running", 1, step="3", started="", since="")
    second = replace(first, step="Rollback", total=1)
    visitor = person(viewport={"width": 390, "height": 600})
    forged = [first, ()]
    page = visitor.look(incident, forged=forged)
    expect(box(page, "3 Install")).to_be_in_viewport()
    page.locator("#sheet").dispatch_event("wheel")
    page.locator("#sheet").evaluate("sheet => { sheet.scrollTop = 0 }")
    forged[:] = [second, (visit,)]
    expect(box(page, "Rollback").first).to_have_class(re.compile("running"))
    assert page.locator("#sheet").evaluate("sheet => sheet.scrollTop") == 0
    expect(page.locator("svg .edge.taken")).to_have_count(1)  # the arrow from 3 to Rollback is for failures
    assert page.evaluate("document.getAnimations().length") == 0
    page = visitor.look(incident, forged=(second, (visit,)))
    expect(box(page, "Rollback").first).to_be_in_viewport()
    assert page.locator("#sheet").evaluate("sheet => sheet.scrollTop") > 0
    assert page.evaluate("scrollY") == 0


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
SVG = """<?xml version="1.0"?><?xml-stylesheet href="http://evil.example/x.css"?>
<svg viewBox="0 0 100 100" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
 onload="alert(1)">
<style>@import "http://evil.example/y.css"; * { fill: url(http://evil.example/z) }</style><script>alert(1)</script>
<g id="title" class="node" onclick="alert(1)" style="background:url(http://evil.example/a)">
<a xlink:href="javascript:alert(1)"><text x="5" y="5" fill="url(http://evil.example/b)">Box</text></a>
<polygon points="0,0 9,0 9,9" onmouseover="alert(1)"/><use href="http://evil.example/c#d"/>
<image href="http://evil.example/d.png"/><animate attributeName="href" values="javascript:alert(1)"/>
<foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="http://evil.example/e"/></foreignObject></g></svg>"""


def test_hostile_content_stays_text(tmp_path: Path, person: People) -> None:
    """No title, prompt, log, name or note becomes markup, and no request leaves."""
    log = f"import sys; sys.stdout.write('{HOSTILE}\\x1b[31mred\\x1b[0m\\u202e</pre>\\n' + '{HOSTILE}' * 20000)"
    (tmp_path / "write.py").write_text(log, encoding="utf-8")
    text = (
        f"# T {HOSTILE}\n\n## 1. S \u2028</title></script>{HOSTILE}\n\n"
        f"```sh\n'{sys.executable}' write.py # {HOSTILE}\n```\n\n"
        f'## 2. Q {HOSTILE}\n\n{HOSTILE} [x](javascript:alert(1)) \u202e\n\n- YES: COMPLETE "{HOSTILE}"\n- NO: STOP\n'
    )
    file = "hostile.runbook.md"
    (tmp_path / file).write_text(text, encoding="utf-8")
    run(tmp_path, file, "--logs")
    visitor = person()
    with view(tmp_path, file) as address:
        page = visitor.look(address)
        expect(page.locator("#title")).to_contain_text(HOSTILE)
        expect(page.locator("#question")).to_contain_text(f"{HOSTILE} [x](javascript:alert(1))")
        page.locator("#v1").click()
        expect(page.get_by_label("Log")).to_contain_text(HOSTILE)
        expect(page.get_by_label("Command")).to_contain_text(HOSTILE)
        page.get_by_label("YES").check()
        page.get_by_label("Your name").fill(HOSTILE)
        page.get_by_label("Reason").fill(f"javascript:alert(1) {HOSTILE}")
        page.get_by_role("button", name="Record the answer").click()
        expect(page.locator("#v2 .who")).to_contain_text(f"{HOSTILE}: javascript:alert(1) {HOSTILE}")
        expect(page.locator("#visits li.last")).to_contain_text(HOSTILE)
        page.keyboard.press("/")
        expect(page.locator("#found")).to_contain_text(HOSTILE)
        expect(page.locator("img, iframe, svg script, svg style, svg foreignObject, body script")).to_have_count(0)


def test_a_hostile_picture_has_only_shapes(incident: str, person: People) -> None:
    visitor = person()
    visitor.context.route("**/api/picture*", lambda route: route.fulfill(content_type="image/svg+xml", body=SVG))
    page = visitor.look(incident)
    expect(page.locator("svg text")).to_have_text("Box")
    page.locator("svg text").click()
    found = page.locator("svg").evaluate(
        "svg => [svg, ...svg.querySelectorAll('*')].map(one => [one.localName, ...one.getAttributeNames()].join(' '))"
    )
    svg = "svg viewBox role aria-label width height class"
    assert sorted(found) == ["g", "g class", "polygon points", svg, "text x y"]
    # the policy blocks styles, too
    visitor.problems = [one for one in visitor.problems if "Content Security Policy" not in one]


def test_the_page_tries_to_connect_again(tmp_path: Path, person: People) -> None:
    (tmp_path / FILE).write_text(INCIDENT, encoding="utf-8")
    visitor = person()
    with view(tmp_path, FILE) as address:
        page = visitor.look(address)
        expect(page.locator("#live")).to_have_text("live")
    expect(page.locator("#live")).to_have_text("reconnecting")
    visitor.problems.clear()  # the requests that failed


def test_a_wrong_token_shows_the_reason(incident: str, person: People) -> None:
    visitor = person()
    page = visitor.look(incident.partition("#")[0], is_live=False)
    expect(page.locator("#live")).to_have_text("wrong token; open the address that `rdc view` printed")
    visitor.problems.clear()  # the refused request
    assert "#" not in page.url


def test_each_state_has_its_picture() -> None:
    assert {path.name for path in PICTURES.iterdir()} == {state.file for state in STATES}
    assert {(state.theme, state.width) for state in STATES} == {
        (theme, width) for theme in ("light", "dark") for width in (1440, 1024, 390)
    }
