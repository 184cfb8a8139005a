"""Formatting playbooks: the normal form, new numbers, and what is left as it is."""

import time
from pathlib import Path

import pytest

from compiler.frontends.common.interface import Formatted, Job
from compiler.frontends.playbook import format as formatting
from compiler.frontends.playbook.format import format_document
from compiler.project.project import Project
from compiler.text.source import Source
from tests.support.documents import finding


def formatted(text: str, root: str = "/") -> Formatted:
    """What formatting a playbook gives."""
    return format_document(Job(Source.from_text("a.playbook.md", text), Project(root), {}, {}, link=True))


def normal(text: str) -> str:
    result = formatted(text)
    assert result.text is not None, result
    return result.text


MESSY = """---
rdc:   {secrets: [KEY]}
---
#   A  title\t
 About
it.\t
##  system
Be nice.
## Notes\t
- `not` an input
## INPUTS

Text.
-   `a`   (Enum:x,y , z):  Which
- `b` (string:  hi ):desc
* bad
## STEP 1:   One
@prompt( library:foo )
Hello {{a}}\t


  World
@output( res : enum , "a","b",extract: "f" )
more

@elicit(Confirm,"Really?")
## STEP 2: Two
Above
```if a   ==   "x"   ```
  ### STEP 2a:  Sub
bar
```elif res!="y "```
@tool( "My conn" , t , {"a":  1} )
```else```
```endif```
## output
Type:   JSON
"""

TIDY = """---
rdc:   {secrets: [KEY]}
---

# A  title

 About
it.

## SYSTEM

Be nice.

## Notes

- `not` an input

## INPUTS

Text.
- `a` (Enum: x, y, z): Which
- `b` (string: hi): desc
* bad

## STEP 1: One

@prompt(library:foo)

Hello {{a}}


  World
@output(res: enum, "a", "b", extract:"f")
more

@elicit(confirm, "Really?")

## STEP 2: Two

Above

```if a == "x"```

### STEP 2a: Sub

bar

```elif res != "y "```

@tool("My conn", t, {"a":  1})

```else```

```endif```

## OUTPUT

type: json
"""


DIRECTIVES = "@elicit(odd,  'x')\n@elicit(select, \"a\", b)\n\n@tool( , x)\n@x( y )\n"
ODD = f"# A\n\n## INPUTS\n\n- `a` ( )\n\n## STEP 1: B\n\n{DIRECTIVES}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MESSY, TIDY),
        (TIDY, TIDY),
        (MESSY.replace("\n", "\r\n"), TIDY.replace("\n", "\r\n")),
        (ODD, ODD),
        (
            '# A\n\n## STEP 1: B\n\na\n\n\n```if x == ""```\nb\n```endif```\nc\n',
            '# A\n\n## STEP 1: B\n\na\n\n\n```if x == ""```\n\nb\n\n```endif```\nc\n',
        ),
        ("\n\n---\na: b\n---\n# A\n## STEP 1: B\n", "\n---\na: b\n---\n\n# A\n\n## STEP 1: B\n"),  # no frontmatter
    ],
    ids=["messy", "tidy", "line ends", "odd", "below branches", "rule"],
)
def test_the_normal_form(text: str, expected: str) -> None:
    assert normal(text) == expected


BRANCHED = '```if x == ""```\n### STEP {0}{1}: S\n### STEP {0}{2}: S\n```else```\n### STEP {0}{3}: S\n```endif```\n'


def test_steps_and_sub_steps_are_numbered() -> None:
    text = "# A\n## STEP 2: B\n## STEP 2: C\n" + BRANCHED.format(7, "c", "c", "a") + "## STEP 09: D\n"
    result = formatted(text)
    headings = [line for line in (result.text or "").splitlines() if "STEP" in line]
    assert [line.split(":")[0].split()[-1] for line in headings] == ["1", "2", "2a", "2b", "2c", "3"]
    assert result.renumbered == (("2", "1"), ("7c", "2a"), ("7c", "2b"), ("7a", "2c"), ("9", "3"))


def test_numbers_stay_where_something_may_refer_to_them(tmp_path: Path) -> None:
    text = "# A\n\n## STEP 2: B\n\nx\n"
    for named in ("scenarios: {a: {result: COMPLETE}}", 'rdc: {steps: {"2": {timeout: 5s}}}'):
        written = f"---\n{named}\n---\n\n{text}"
        assert formatted(written) == Formatted(written)
    written = f"{text}{{{{__elicit_step_2}}}}\n"
    assert formatted(written) == Formatted(written)
    assert formatted(text, str(tmp_path)).renumbered == (("2", "1"),)
    (tmp_path / "a.scenarios.yaml").write_text("b: {result: COMPLETE}\n")
    assert formatted(text, str(tmp_path)) == Formatted(text)


def test_what_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    result = formatted('# A\n## STEP 2: B\n```if a == "b"```\n')
    assert (result.text, result.defect) == (None, "")
    assert [finding(item) for item in result.diagnostics] == ["RD707 3:1"]
    monkeypatch.setattr(formatting, "joined", lambda *_: ["# A", "", "## STEP 1: B", "", "Something else"])
    result = formatted("# A\n\n## STEP 1: B\n\nx\n")
    assert (result.text, result.defect) == (None, formatting.DEFECT), "the normal form means something else"


ONE = "# A\n## STEP 1: One\nDo it.\n"
LINES = {
    "text": "word " * 8,
    "inputs": "## INPUTS\n- `a` (",
    "spaces": "@output(a" + " " * 60 + "b",
    "braces": "{{" * 30,
    "names": "{{name}} {{other",
    "quotes": '@elicit(input, "' + '","' * 20,
    "markers": '```if a == "b"```',
    "headings": "## STEP 1: a",
    "colons": "{{name:",
    "fences": "`````",
    "empty": "",
}
LONG = {
    "@elicit(input, {})": "word",
    "@output(a{})": " ",
    '@output(a, "{}")': ", ",
    "@prompt({})": ")",
    "@tool({}": ",",
    "@tool(a, b, {})": '{"a":',
    '```if a == "b"{}': " ",
    "- `a` ({})": ": ",
    "{}": "{{a",
    "@{}(x)": "ab",
}


@pytest.mark.parametrize("form", LONG)
def test_time_grows_with_the_length_of_a_line_alone(form: str) -> None:
    filling = LONG[form]
    line, begun = form.replace("{}", filling * (95_000 // len(filling)), 1), time.perf_counter()
    formatted(f"# A\n## INPUTS\n{line}\n## STEP 1: One\n{line}\n")
    assert time.perf_counter() - begun < 5


@pytest.mark.share(2)
@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("end", ["\n", ""])
def test_time_grows_with_the_size_alone(name: str, end: str) -> None:
    """The largest playbook is read within seconds, whatever fills it, in many lines or in one."""
    line = LINES[name] + end
    text, begun = (ONE + line * (200_000 // max(len(line), 1)))[:199_999], time.perf_counter()
    formatted(text)
    assert time.perf_counter() - begun < 5
