"""Documents and patterns that took long: each ends soon, with a result or a diagnostic that says what to change."""

import json
import time
from pathlib import Path

import pytest

from compiler.text.patterns import matcher
from tests.robustness.large import COMMANDS, LIMIT, MAIN, files, limited, measure, timed, write
from tests.support import warm
from tests.support.cli import call, document, environment

pytestmark = pytest.mark.process

TEXT = "x y " * 125_000
HEAD = f'---\nname: &t "{TEXT}"\n'
ONE = "# A\n\n## 1. B\n\n```bash\ntrue\n```\n"
RUNS = "".join(f"  s{number}: {{result: COMPLETE, commands: [*t], description: *t}}\n" for number in range(300))
KEYS = "".join(f"? {{a{number}: *t}}\n: *t\n" for number in range(300))
SPECIFIED = f"""workflow: {{module: a, workflow: b}}
config: &t "{TEXT}"
step_specs:
  - id: a
    tools: [{", ".join(f"{{tool: t{number}, arguments: {{a: *t}}}}" for number in range(50))}]
"""
ALIASED = {
    "a.runbook.md": f"{HEAD}scenarios:\n{RUNS}---\n{ONE}",
    "b.runbook.md": f"{HEAD}{KEYS}---\n{ONE}",
    "a.playbook.md": f"{HEAD.replace(TEXT, TEXT[:150_000])}scenarios:\n{RUNS}---\n# A\n\n## STEP 1: B\n\nDo it.\n",
    "a.stepspec.yaml": SPECIFIED,
    "a.workflow.yaml": f'name: a\ndescription: &t "{TEXT}"\nsteps: [{{name: b, prompt: c, end: true}}]\n'
    f"scenarios:\n{RUNS}",
}


@pytest.mark.share(5)
@pytest.mark.parametrize("name", ALIASED)
def test_a_long_text_that_aliases_repeat_is_refused_soon(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(ALIASED[name], encoding="utf-8")
    done = limited(tmp_path, "check", name).exits(1)
    assert "its aliases repeat more than 2,000,000 characters" in done.err
    assert "use fewer aliases" in done.err
    document(tmp_path, "fine.runbook.md", f"---\nname: &t short\nx: [{', '.join(['*t'] * 1000)}]\n---\n{ONE}")
    assert limited(tmp_path, "check", "fine.runbook.md").code == 0, "some repetition is fine"


def substeps(head: str, ending: str, body: str = "```bash\ntrue\n```", tail: str = "") -> str:
    """A step with nearly as many substeps as a job can have."""
    inner = "".join(f"### 1.{number} S\n\n{body}\n\n{ending}\n\n" for number in range(1, 991))
    return f"# A\n\n## 1. B\n\n{head}\n\n{inner}{tail}"


ANY = "- PASS ANY: CONTINUE\n- FAIL ALL: STOP"
WIDE = {
    "both": (substeps(ANY, "- PASS: CONTINUE\n- FAIL: CONTINUE"), 1),
    "pass": (substeps(ANY, "- PASS: CONTINUE"), 1),
    "yielded": (substeps(ANY, ""), 0),
    "goto": (substeps(ANY.replace("STOP", "GOTO 2"), "- PASS: CONTINUE", tail="## 2. C\n\n```bash\ntrue\n```\n"), 0),
    "asked": (substeps(ANY, "- PASS: CONTINUE", body="Sure?"), 0),
    "all": (substeps("- PASS ALL: CONTINUE\n- FAIL ANY: STOP", "- FAIL: CONTINUE"), 1),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", WIDE)
def test_a_decision_over_many_substeps_is_compiled_or_refused_soon(name: str, tmp_path: Path) -> None:
    text, code = WIDE[name]
    (tmp_path / "a.runbook.md").write_text(text, encoding="utf-8")
    done = limited(tmp_path, "compile", "a.runbook.md", "--to", "github", "-o", "a.yml")
    assert (done.code, "RD521" in done.err) == (code, bool(code))


LIST = "[" + "1," * 400_000 + "1]"
NESTED = {
    "closed": ('{"a":' * 900 + LIST + "}" * 900, None),
    "outermost": ('{"found":"yes","a":' + '{"a":' * 899 + LIST + "}" * 900, "yes"),
    "open": ('{"a":' * 900 + LIST, None),
    "broken": ('{"a":' * 900 + LIST[:-1] + "}" * 900, None),
    "beside": ('{"found":"yes"}' + '{"a":' * 900 + LIST, "yes"),
    "siblings": ('[{"found":"yes"}' + ',{"a":[1,1]}' * 60_000, "yes"),
    "deeper": ('{"found":"yes","a":' + '{"a":' * 5_000 + "1" + "}" * 5_001, None),
    "in a text": ('{"a":"{' + "{" * 100_000 + '"}' + '{"found":"yes"} {"{"', "yes"),
}
BOOK = """# A
## STEP 1: B
Answer.
@output(it, extract:"found")
## STEP 2: C
It is <{{it}}>.
"""


@pytest.mark.share(8)
@pytest.mark.parametrize("name", NESTED)
def test_a_field_is_taken_soon_from_many_nested_objects(name: str, tmp_path: Path) -> None:
    answer, field = NESTED[name]
    (tmp_path / "a.playbook.md").write_text(BOOK, encoding="utf-8")
    (tmp_path / "answer").write_text(answer, encoding="utf-8")
    assert limited(tmp_path, "compile", "a.playbook.md", "--to", "python", "-o", "a.py").code == 0
    assert timed(tmp_path, "a.py", "run", "--agent", "cat > prompt; cat answer").code == 0
    assert f"It is <{field or answer}>." in (tmp_path / "prompt").read_text(encoding="utf-8")


PATTERNS = {
    "stars": ("*a" * 12 + "*b.md", "a" * 200 + ".md"),
    "folders": ("**/a/" * 20 + "b.md", "a/" * 60 + "c.md"),
    "any characters": ("*?" * 40 + "b.md", "a" * 200 + ".md"),
    "sets": ("*[!b]" * 40 + "b.md", "a" * 200 + ".md"),
    "stars in folders": ("**/*a*a*a/" * 10 + "b.md", "aaaaaaaa/" * 30 + "c.md"),
}


@pytest.mark.share(5)
@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_of_a_project_are_matched_soon(name: str, tmp_path: Path) -> None:
    pattern, file = PATTERNS[name]
    (tmp_path / "rdc.toml").write_text(f'[[build]]\nsource = ["x.md", "{pattern}"]\nto = "python"\n')
    document(tmp_path, file, ONE)
    (tmp_path / "x.md").write_text(ONE)
    assert "x.py is missing" in limited(tmp_path, "build", "--check").err
    assert limited(tmp_path, "build").code == 0
    assert sorted(path.name for path in tmp_path.glob("*.py")) == ["x.py"]


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        *(("a*b*c", "abbc", True), ("a*b*c", "abbcd", False), ("*a*ab", "aab", True), ("*a?*a", "aba", True)),
        *(("**/a/b/**/c", "a/x/a/b/y/c", True), ("**/a/**/a/c", "a/a/b/c", False), ("**/a/**/a/c", "a/b/a/a/c", True)),
        *(("a/**", "a/b/c", True), ("a/*", "a/b/c", False), ("**/**/x", "x", True), ("[!a]*[ab]", "ba", True)),
    ],
)
def test_patterns_mean_what_they_meant(pattern: str, path: str, fits: bool) -> None:
    assert bool(matcher(pattern).fullmatch(path)) is fits


IGNORE = "<!-- rdc: ignore {} -->\n\n"
COMMENTED = {
    "many": IGNORE.format("RD101") * 16_000,
    "unknown": "".join(IGNORE.format(f"RDX{number}") for number in range(16_000)),
    "many codes": IGNORE.format(", ".join(f"RDX{number}" for number in range(60_000))),
    "spaces": f"<!-- rdc: ignore RD101{' ' * 300_000}x -->\n",
}
SPACED = f"name: a\n# rdc: ignore RD101{' ' * 300_000}x\nsteps:\n  - {{name: b, agent: c, prompt: d, end: true}}\n"


@pytest.mark.soak
@pytest.mark.parametrize("name", COMMENTED)
def test_many_ignore_comments_are_read_soon(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(COMMENTED[name] + ONE)
    assert limited(tmp_path, "check", "--quiet", "a.runbook.md").exits(0).err.count("RD007") > 0
    (tmp_path / "a.workflow.yaml").write_text(SPACED)
    assert "RD101 is an error" in limited(tmp_path, "check", "a.workflow.yaml").exits(0).err


NINES = "9" * 5000
CONFIGURED = {
    "version": (f'required-version = "==1.{NINES}"', "is not a valid version"),
    "epoch": (f'required-version = "{NINES}!1"', "is not a valid version"),
    "two versions": (f'required-version = ">=1,<{NINES}"', ""),
    "number": (f"x = {NINES}", "digits"),
    "hexadecimal": (f"x = 0x{NINES}", "more than 64 bits"),
    "dotted key": ("a." * 100_000 + "a = 1", "a key has more than 32 parts"),
    "dotted header": ("[" + "a . " * 100_000 + "a]", "a key has more than 32 parts"),
    "quoted keys": ("'a'." * 100_000 + "a = 1", "a key has more than 32 parts"),
    "dotted key in a table": ("x = {" + "a." * 100_000 + "a = 1}", "a key has more than 32 parts"),
    "dots in a string": (f'x = "{"a." * 100_000}"', "there is no option `x`"),
}


@pytest.mark.share(5)
@pytest.mark.parametrize("name", CONFIGURED)
def test_large_numbers_and_long_keys_of_a_configuration_are_refused_soon(name: str, tmp_path: Path) -> None:
    text, message = CONFIGURED[name]
    (tmp_path / "rdc.toml").write_text(f"{text}\n")
    (tmp_path / "a.runbook.md").write_text(ONE)
    assert message in limited(tmp_path, "check", "a.runbook.md").exits(1).err


@pytest.mark.share(3)
@pytest.mark.parametrize(
    "words",
    [
        ("graph", "a.workflow.yaml", "--format", "dot", "-o", "-"),
        ("trace", "a.workflow.yaml", "--all"),
        ("compile", "a.workflow.yaml", "--to", "python", "-o", "-"),
    ],
    ids=lambda words: words[0],
)
def test_many_conditions_take_no_square_of_the_time(words: tuple[str, ...], tmp_path: Path) -> None:
    conditions = "".join(f"      - {{keyword: W{number}, goto: a}}\n" for number in range(6000))
    text = f"name: x\nsteps:\n  - name: a\n    prompt: b\n    end: true\n    conditions:\n{conditions}"
    (tmp_path / "a.workflow.yaml").write_text(text, encoding="utf-8")
    assert limited(tmp_path, *words).code == 0


@pytest.mark.parametrize("count", [10_000, pytest.param(60_000, marks=pytest.mark.soak)])
def test_many_undeclared_names_in_a_command_are_found_soon(count: int, tmp_path: Path) -> None:
    command = "echo 'x' {{A}} 'y'\n" * count
    (tmp_path / "a.runbook.md").write_text(f"## 1. A\n\n```bash\n{command}```\n")
    assert limited(tmp_path, "check", "--quiet", "a.runbook.md").exits(1).err.count("warning[RD140]") == 1


DONE, REFUSED = 0, 1

CHOSEN = [
    ("steps", "python", DONE),
    ("steps", "github", REFUSED),
    ("other-steps", "diff", DONE),
    ("substeps", "make", REFUSED),
    ("loop", "mermaid", DONE),
    ("retries", "json", DONE),
    ("dynamic", "dot", DONE),
    ("chain", "graph", DONE),
    ("long-message", "github", REFUSED),
    ("long-command", "make", REFUSED),
    ("long-title", "dot", DONE),
    ("nested-quotes", "python", DONE),
    ("bomb-as-events", "github", REFUSED),
    *((case, "check", REFUSED) for case in ("doubled", "long-escapes", "long-path-of-folders", "nested-items")),
    *((case, "check", REFUSED) for case in ("nested-yaml-lists", "nested-toml-lists", "wrong-targets", "many-options")),
    *((case, "check", REFUSED) for case in ("merge-bomb", "bomb-as-scenarios", "nested-toml-keys", "long-comment")),
    *((case, "check", REFUSED) for case in ("long-sexagesimal", "named-steps", "same-headers", "missing-runbooks")),
    *((case, "check", REFUSED) for case in ("many-scenarios", "long-digits-in-configuration", "too-large")),
    *(
        (case, "check", DONE)
        for case in ("steps", "fan", "substeps-that-jump", "nested-both", "long-almost-transition")
    ),
]


@pytest.mark.share(40)
@pytest.mark.parametrize(("case", "command", "code"), CHOSEN, ids=str)
def test_it_ends_soon_and_in_bounded_memory(case: str, command: str, code: int, tmp_path: Path) -> None:
    write(case, tmp_path)
    found = measure(command, tmp_path)
    assert found.is_well, found
    assert found.code == code, found.output[-1000:]
    assert found.output
    assert len(files(case)[MAIN].encode()) == LIMIT + 1 or case != "too-large"
    is_output = COMMANDS[command][0] in ("compile", "graph")
    assert bool(list(tmp_path.glob("out*"))) == (is_output and code == DONE)


SLOW = r"\d*" * 12
DIGITS = "1" * 60 + "x"
"""What takes years to be refused."""


def test_a_default_that_takes_long_to_match_is_refused_soon_and_no_other_is_tried(tmp_path: Path) -> None:
    declared = {f"n{number}": {"pattern": SLOW, "default": DIGITS} for number in range(40)}
    document(tmp_path, "a.runbook.md", f"---\nrdc: {json.dumps({'inputs': declared})}\n---\n\n{ONE}")
    begun = time.monotonic()
    assert limited(tmp_path, "check", "a.runbook.md").exits(1).err.count("matching it takes too long") == 1
    assert time.monotonic() - begun < 20


def test_a_value_that_takes_long_to_match_is_refused_soon(tmp_path: Path) -> None:
    declared = {"inputs": {"N": {"pattern": SLOW}}}
    document(tmp_path, "a.runbook.md", f"---\nrdc: {json.dumps(declared)}\n---\n\n{ONE}")
    assert call("compile", "a.runbook.md", "--to", "make", "-o", "Makefile", cwd=tmp_path).code == 0
    made = warm.run(["make", f"N={DIGITS}"], cwd=tmp_path, env=environment(), timeout=30)
    assert (made.returncode, b"matching it takes too long" in made.stdout) == (2, True), made


OVERLAPPING = {
    r"\d+\d+": "0",
    r"\d+,?\d+": "0",
    r"[a-z]+.*": "a",
    r"(a+)(a+)": "a",
    r"x(?:y*|[a-c]{2,}[b-d]*)z": "b",
    r".{1,200}.{1,200}": " ",
}
"""Patterns with repetitions in a row, and a character that both match."""

OTHERS = (r"v\d+\.\d+\.\d+", r"[^/]+/[^/]+", r"a+|a+", r"a*ba*", r"\d{4}-\d{2}", r"a?a?", r"[a-z][a-z0-9-]*")


def test_repetitions_in_a_row_that_overlap_are_warned_of(tmp_path: Path) -> None:
    declared = {f"N{number}": {"pattern": pattern} for number, pattern in enumerate((*OVERLAPPING, *OTHERS))}
    document(tmp_path, "a.runbook.md", f"---\nrdc: {json.dumps({'inputs': declared})}\n---\n\n{ONE}")
    found = call("check", "--format", "json", "a.runbook.md", cwd=tmp_path)
    warned = [one["message"] for one in json.loads(found.out)["diagnostics"] if one["code"] == "RD136"]
    assert (found.code, len(warned)) == (0, len(OVERLAPPING)), warned
    for message, character in zip(warned, OVERLAPPING.values(), strict=True):
        assert f"both match {character!r}" in message


def test_overlapping_repetitions_of_validations_and_guardrails_are_warned_of(tmp_path: Path) -> None:
    reads = "{keywords: [DONE], validation: 'a+a+'}"
    document(tmp_path, "a.workflow.yaml", f"name: a\nsteps: [{{name: b, prompt: c, report: {reads}, end: true}}]\n")
    guards = "{guardrails: {input: {patterns: ['a+a+']}}}"
    text = f"workflow: {{module: a, workflow: b}}\nconfig: {guards}\nstep_specs: [{{id: a}}]\n"
    document(tmp_path, "a.stepspec.yaml", text)
    for name in ("a.workflow.yaml", "a.stepspec.yaml"):
        assert "RD136" in call("check", name, cwd=tmp_path).err


@pytest.mark.share(3)
@pytest.mark.parametrize("pattern", ["a{1,99}" * 6 + "b", "(?i:a*)" * 5 + "b", "(a|a)" * 40 + "b"])
def test_a_scenario_with_a_validation_that_takes_long_ends_soon(pattern: str, tmp_path: Path) -> None:
    report = {"name": "r", "format": "text", "validation": pattern}
    steps = [{"name": "b", "prompt": "c", "report": report, "conditions": [{"keyword": "DONE", "goto": "b"}]}]
    document(tmp_path, "a.workflow.yaml", json.dumps({"name": "a", "steps": steps}))
    scenario = {"one": {"agents": {"b": "a" * 3000 + "\nDONE"}, "result": "STOP"}}
    document(tmp_path, "a.scenarios.yaml", json.dumps(scenario))
    assert limited(tmp_path, "test", "a.workflow.yaml").code == 0
