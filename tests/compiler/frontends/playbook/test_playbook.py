"""Playbooks: what is read of each line and where it stands, what is told of it, how the format is recognized."""

from pathlib import Path

import pytest

from compiler.diagnostics.model import CODES
from compiler.driver import Settings, compile_file
from compiler.frontends.playbook import syntax
from compiler.frontends.playbook.check.rules import check_count, read
from compiler.frontends.playbook.frontend import report
from compiler.frontends.playbook.parse.document import parse
from compiler.frontends.playbook.parse.lines import Line, patterns, read_output, read_prompt
from compiler.text.source import Source, Span
from tests.support.documents import finding

HEAD = "# A\n"
STEP = "## STEP 1: One\nDo it.\n"
ONE = HEAD + STEP


def source(text: str) -> Source:
    return Source.from_text("main.playbook.md", text)


def tree(text: str) -> syntax.Playbook:
    return parse(source(text)).playbook


def found(text: str) -> list[str]:
    """The findings as `CODE line:column`."""
    made = read(source(text))
    counted = check_count(source(text), made.parsed.playbook) if made.parsed else ()
    return [finding(item) for item in (*made.found, *counted)]


def step(body: str) -> syntax.Step:
    return tree(f"{HEAD}## STEP 1: One\n{body}").steps[0]


IF, ENDIF = '```if a == "x"```\n', "```endif```\n"
INPUT = "## INPUTS\n- `a` (string): A\n"
BRANCHED = f"# A\n{INPUT}## STEP 1: One\n"

ALMOST = (
    *("## Step 2: Two", "## STEP 2 Two", "### STEP 2: Two", "# Step 2 - Two", "## STEP two: Two"),
    *("## Step Eleven: Two", "## STEP II: Two", "## Step B — Two", "## \U0001f680 STEP 2: Two"),
    *("## [Step 2]: Two", "## STEP \uff12\uff1a Two", "## **Step 2**", "## Step #2: Two"),
)


CASES: dict[str, tuple[str, list[str]]] = {
    "fine": (ONE, []),
    # P1
    "empty": ("", ["RD701"]),
    "space": (" \n\t\r\n", ["RD701"]),
    "as-large-as-may-be": (ONE + "x" * (200_000 - len(ONE)), []),
    "too-large": (ONE + "x" * (200_001 - len(ONE)), ["RD702"]),
    "too-large-in-bytes": (ONE + "é" * 100_000, ["RD702"]),
    # P2
    "no-title": (STEP, ["RD703 1:1"]),
    "title-too-deep": (f"## A\n{STEP}", ["RD703 1:1"]),
    "title-without-space": (f"#A\n{STEP}", ["RD703 1:1"]),
    "title-without-text": (f"#  \n# A\n{STEP}", []),
    "late-title": (f"{STEP}# A\n", ["RD703 3:1"]),
    "second-title-is-text": (f"# A\n# B\n{STEP}# C\n", []),
    "frontmatter": (f"---\nauthor: me\ntags: 3\n---\n{ONE}", []),
    "frontmatter-broken": (f"---\na: [\n---\n{ONE}", ["RD010 2:1"]),
    "frontmatter-key-twice": (f"---\nrdc: {{secrets: [A]}}\nrdc: {{secrets: [B]}}\n---\n{ONE}", ["RD013 3:1"]),
    "frontmatter-scenario-twice": (
        f"---\nscenarios:\n  a: {{result: COMPLETE}}\n  a: {{result: STOP}}\n---\n{ONE}",
        ["RD013 4:3"],
    ),
    "frontmatter-of-others-twice": (f"---\ntags: 3\ntags: 4\n---\n{ONE}", []),
    "frontmatter-option": (f"---\nrdc: {{secret: [A]}}\n---\n{ONE}", ["RD013 2:7"]),
    # P3
    "other-sections": (f"{ONE}## Notes\n@output(a b)\n```if\n- x\n## STEP: x\n", ["RD734 4:1", "RD737 8:1"]),
    "keywords-in-any-case": ("# A\n## system prompt\nS\n## Inputs\n## Artifacts\ntype: json\n" + STEP, []),
    "almost-steps": (ONE + "".join(f"{line}\n" for line in ALMOST), [f"RD713 {line}:1" for line in range(4, 17)]),
    "small-step-without-number": (f"{ONE}## Step: Ship\n", ["RD737 4:1"]),
    "sections-about-steps": (
        ONE + "".join(f"## {title}\n" for title in ("Steps: All", "Next steps", "Step by step: how", "Step a side")),
        [f"RD734 {line}:1" for line in range(4, 8)],
    ),
    "step-in-a-heading-of-the-text": (f"{ONE}### Step A: Two\n### Step: Ship\n", []),
    "step-indented": (f"{ONE}  ## STEP 2: Two\n", ["RD713 4:3"]),
    "substep-in-small-letters": (f"{ONE}### Step 1a: Two\n", ["RD713 4:1"]),
    "step-in-a-skipped-section": (f"{ONE}## Notes\n\n### Step 2\n", ["RD734 4:1", "RD713 6:1"]),
    "steps-are-no-step": (f"{ONE}## Steps\n\n## Next steps\n\n## Stepping stones\n\n## Step by step\n\n## Step\n",
        [f"RD734 {line}:1" for line in (4, 6, 8, 10, 12)]),
    "artifact-without-type": (f"{ONE}## ARTIFACTS\nmarkdown\n", ["RD735 4:1"]),
    "input-without-dash": (f"# A\n## INPUTS\n`a` (string): A\n\n`b` is text.\n{STEP}", ["RD736 3:1"]),
    "steps-in-a-title": ("# Step 1 of onboarding\n\n## STEP 1: One\n\nDo.\n", []),
    # P4
    "no-steps": (HEAD, ["RD704 1:1"]),
    "gap": ("# A\n## STEP 2: B\nb\n## STEP 3: C\nc\n## STEP 5: D\nd\n", ["RD709 2:1", "RD709 6:1"]),
    "twice": (f"{ONE}## STEP 1: Two\n2\n## STEP 2: Three\n3\n", ["RD709 4:1"]),
    "long-number": (f"# A\n## STEP {'9' * 5000}: B\nb\n", ["RD709 2:1", "RD700 2:9"]),
    # P5
    "two-systems": (f"# A\n## SYSTEM\na\n## SYSTEM\nb\n{STEP}", ["RD719 2:1"]),
    # P6
    "step-in-a-fence": (f"{ONE}```\n## STEP 3: Two\n```\n", ["RD709 5:1"]),
    # P7
    "inputs": (f"# A\n## INPUTS\nText.\n\n  - `a` (text)\n- `B_2` (string: x): d\n{STEP}", []),
    "malformed-inputs": (
        "# A\n## INPUTS\n- a (text)\n* `b` (text)\n- `_c` (text)\n- `d`\n---\n- `e` ()\n" + STEP,
        [f"RD710 {line}:1" for line in range(3, 9)],
    ),
    "inputs-of-other-lists": (
        f"# A\n## INPUTS\n+ `a` (text): x\n1. `b` (text)\n 2) **c** (text)\n+ d: e\n{STEP}",
        ["RD710 3:1", "RD710 4:1", "RD710 5:2", "RD710 6:1"],
    ),
    "lists-beside-inputs": (f"# A\n## INPUTS\n- `a` (text)\n1. First ask\n+ one more\n2 (two): x\n+1\n{STEP}", []),
    "input-twice": (f"# A\n{INPUT}- `b` (text)\n## INPUTS\n- `a` (number)\n{STEP}", ["RD705 6:1"]),
    # P8
    "unfit-defaults": (
        f"# A\n## INPUTS\n- `a` (int: ten)\n- `b` (bool: True)\n- `c` (float: 1.5)\n{STEP}",
        ["RD725 3:1", "RD725 4:1"],
    ),
    "many-steps": (ONE + "".join(f"## STEP {n}: A\nx\n" for n in range(2, 2002)), []),
    "too-many-repetitions": (
        "# A\n" + "".join(f'## STEP {n}: A\nB\n@output(k{n % 400}, extract:"f")\n' for n in range(1, 801)),
        ["RD729 1954:1"],
    ),
    "enum-without-options": (f"# A\n## INPUTS\n- `a` (enum)\n- `b` (enum: , )\n{STEP}", ["RD728 3:1", "RD728 4:1"]),
    "enum-option-twice": (f"# A\n## INPUTS\n- `a` (choice: x, y, x)\n{STEP}", ["RD728 3:1"]),
    # P9
    "placeholders": (f"# A\n{INPUT}{STEP}{{{{a}}}} {{{{a:text}}}} {{{{b:text:c}}}} {{{{x.y}}}} {{{{}}}} {{a}}\n", []),
    "unresolved": (f"{ONE}an {{{{a}}}} and {{{{1}}}}\n", ["RD721 4:4", "RD721 4:14"]),
    "with-spaces": (f"# A\n{INPUT}{STEP}{{{{ a }}}} {{{{ b }}}}\n", ["RD721 6:1"]),
    "too-early": (f"{ONE}{{{{b}}}}\n@output(b)\n## STEP 2: Two\n{{{{b}}}}\n", ["RD721 4:1"]),
    "in-system": (f"# A\n{INPUT}## SYSTEM\n{{{{b}}}}\n\n{{{{c}}}}\n{STEP}@output(b)\n", ["RD721 7:1"]),
    "in-directives": (
        f'{ONE}@elicit(input, "{{{{b}}}}?")\n## STEP 2: Two\n@tool(c, t, {{"x": "{{{{d}}}}"}})\n',
        ["RD721 4:17", "RD721 6:20"],
    ),
    "reply": ('# A\n## STEP 1: B\n@elicit(input, "a?")\n{{__elicit_step_1}} {{__elicit_step_2}}\n', ["RD721 4:21"]),
    # P10 and P13
    "malformed-directives": (
        ONE + "@output()\n@output(a b)\n@output(a, b)\n@elicit()\n@prompt()\n@tool(a)\n@output(a) b\n",
        [f"RD714 {line}:1" for line in range(4, 11)],
    ),
    "unknown-directives": (f"{ONE}@input(a)\n@Output(a)\n@a.b(c)\n@mail me\nAsk @me(x)\n", ["RD715 4:1", "RD715 5:1"]),
    "output-of-nothing": (
        "# A\n## STEP 1: B\n@output(a)\n## STEP 2: Two\n{{a}}\n@output(b)\n## STEP 3: C\n@prompt(x://y)\n@output(c)\n",
        ["RD730 3:1", "RD724 8:1", "RD730 9:1"],
    ),
    "directives-twice": (f"{ONE}@output(a)\n@output(b)\n@prompt(a)\n@prompt(b)\n", ["RD719 4:1", "RD719 6:1"]),
    # P11
    "unknown-question": (f'{ONE}@elicit(ask, "a?")\n@elicit(Confirm, "b?")\n', ["RD711 4:9"]),
    "unclear-questions": (
        f'{ONE}@elicit(input)\n## STEP 2: Two\n@elicit(select, "a?")\n## STEP 3: C\n@elicit(input, "a?", "b")\n',
        ["RD726 4:1", "RD726 6:1", "RD726 8:1"],
    ),
    # P12
    "schemes": (f"{ONE}@prompt(file:a)\n## STEP 2: B\n@prompt(mcp:a/b)\n## STEP 3: C\n@prompt(c)\n", []),
    "unknown-scheme": (f"{ONE}@prompt(http://a.b)\n", ["RD724 4:1"]),
    # P13
    "tool-beside": (f'{ONE}@tool(a, b)\n@elicit(input, "a?")\n@prompt(b)\n', ["RD722 5:1", "RD722 6:1"]),
    "arguments": (f'{ONE}@tool(a, b, {{"c": [1, "d"], "e": {{}}}})\n', []),
    "no-object": (f"{ONE}@tool(a, b, [1])\n", ["RD723 4:13"]),
    "no-json": (f"# A\n{INPUT}{STEP}@tool(a, b, {{c: 1}})\n@tool(a, b, NaN)\n", ["RD719 6:1", "RD723 7:13"]),
    "bare-placeholder": (f'# A\n{INPUT}{STEP}@tool(a, b, {{"c": {{{{a}}}}}})\n', ["RD723 6:13"]),
    "deep-arguments": (f"{ONE}@tool(a, b, {'[' * 50_000})\n", ["RD723 4:13"]),
    "long-number-in-arguments": (f'{ONE}@tool(a, b, {{"c": {"9" * 5000}}})\n', ["RD723 4:13"]),
    # P14
    "branches": (f'{BRANCHED}{IF}x\n```elif a != ""```\ny\n```else```\nz\n{ENDIF}', []),
    "undeclared": (f'# A\n{STEP}```if b != "x"```\n{ENDIF}', ["RD720 4:7"]),
    "own-output": (f'# A\n{STEP}@output(b)\n```if b != "x"```\n{ENDIF}', []),
    "output-of-a-later-step": (f'# A\n{STEP}```if b != "x"```\n{ENDIF}## STEP 2: C\nD\n@output(b)\n', ["RD720 4:7"]),
    "nested": (f"{BRANCHED}{IF}{IF}x\n```else```\n{ENDIF}{ENDIF}", ["RD706 6:1"]),
    "unclosed": (f"{BRANCHED}{IF}x\n## STEP 2: Two\n{IF}", ["RD707 5:1", "RD707 8:1"]),
    "stray": (
        f"{BRANCHED}```else```\n{ENDIF}{IF}```else```\n```else```\n{ENDIF}",
        ["RD708 5:1", "RD708 6:1", "RD708 9:1"],
    ),
    "stray-after-substep": (  # the branches stay open, so there is no further diagnostic
        f'{BRANCHED}{IF}### STEP 1a: A\nx\n```else```\n### STEP 1b: B\n```elif a == "b"```\nx\n```else```\ny\n{ENDIF}',
        ["RD708 10:1", "RD708 12:1"],
    ),
    "stray-and-unclosed": (
        f'{BRANCHED}{IF}x\n```else```\n```elif a == "b"```\n## STEP 2: Two\nx\n```else```\n',
        ["RD707 5:1", "RD708 8:1", "RD708 11:1"],
    ),
    "almost-markers": (
        f"{BRANCHED}```if a == 'x'```\n```if a > \"x\"```\n``` else ```\n```endif\n```python\n```\n",
        [f"RD716 {line}:1" for line in range(5, 9)],
    ),
    "type-misspelled": ("# A\n## INPUTS\n- `a` (strng): A\n## STEP 1: One\n{{a}}\n", ["RD732 3:1"]),
    "type-unknown": ("# A\n## INPUTS\n- `a` (url): A\n## STEP 1: One\n{{a}}\n", ["RD733 3:1"]),
    "boolean-alone": (
        "# A\n## INPUTS\n- `a` (bool): A\n## STEP 1: One\n```if a```\nx\n```elif a```\ny\n```endif```\n",
        ["RD731 5:1", "RD731 7:1"],
    ),
    "substep-outside": (f"{ONE}### STEP 1a: B\n### Other\n", ["RD713 4:1"]),
    "substep-of-another": (f"{BRANCHED}{IF}### STEP 2a: B\nx\n{ENDIF}", ["RD717 6:1"]),
    "above-a-substep": (f"{BRANCHED}{IF}\n\nx\n@output(b)\n### STEP 1a: B\nx\n{ENDIF}", ["RD718 8:1"]),
    "below-branches": (f'{BRANCHED}x\n{IF}y\n{ENDIF}\nz\n@elicit(input, "?")\n', ["RD718 10:1"]),
    "output-below-branches": (f"{BRANCHED}x\n{IF}y\n{ENDIF}\n@output(b)\n", ["RD738 10:1"]),
    "output-below-text-below-branches": (f"{BRANCHED}x\n{IF}y\n{ENDIF}z\n@output(b)\n", ["RD718 9:1", "RD738 10:1"]),
    "output-above-branches": (f"{BRANCHED}x\n@output(b)\n{IF}y\n@output(b)\n{ENDIF}", []),
    # P17
    "empty-steps": (f"{ONE}## STEP 2: Two\n\n## STEP 3: Three\n", ["RD730 4:1", "RD730 6:1"]),
    "empty-substep": (f"{BRANCHED}{IF}### STEP 1a: B\n### STEP 1b: C\nx\n{ENDIF}", ["RD730 6:1"]),
    "empty-branch": (f"{BRANCHED}{IF}```else```\nx\n{ENDIF}", []),
    "steps-without-text": ('# A\n## STEP 1: B\n@tool(a, b)\n## STEP 2: C\n@elicit(input, "?")\n', []),
    "two-blocks": (f"{BRANCHED}{IF}y\n{ENDIF}{IF}z\n{ENDIF}", []),
    "after-else": (f"{BRANCHED}{IF}y\n```else```\n{ENDIF}{IF}z\n{ENDIF}", ["RD727 9:1"]),
    # P15
    "artifact": (f"# A\n{INPUT}{STEP}## OUTPUT\nText.\nType: {{{{a}}}}\n", []),
    "unknown-artifact": (f"{ONE}## ARTIFACTS\ntype: Jason\n", ["RD712 5:7"]),
    "undeclared-artifact": (f"{ONE}## ARTIFACTS\ntype: {{{{b}}}}\n", ["RD721 5:7"]),
    "two-artifacts": (f"{ONE}## ARTIFACTS\ntype: json\n## ARTIFACTS\ntype: markdown\n", ["RD719 5:1"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_rule(name: str) -> None:
    text, expected = CASES[name]
    assert found(text) == expected
    if len(text) < 100_000:
        assert found(text.replace("\n", "\r\n")) == expected, "line ends of Windows"


def test_every_code_has_a_case() -> None:
    own = {code for code in CODES if "RD700" <= code < "RD740"}
    assert own == {item.split()[0] for _, expected in CASES.values() for item in expected} & own


DECLARED = f"# A\n## INPUTS\n- `style` (string: x)\n{STEP}"
UNRESOLVED = "`{{%s}}` is not replaced: "


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{DECLARED}@elicit(comfirm, 'a')", "did you mean `confirm`?"),
        (f"{DECLARED}@ouput(a)", "did you mean `@output`?"),
        (f'{DECLARED}```if stlye == "x"```\n```endif```', "did you mean `style`?"),
        (f"{DECLARED}{{{{stlye}}}}", "did you mean `style`?"),
        (f"{DECLARED}## ARTIFACTS\ntype: mermaids", "did you mean `mermaid`?"),
        (f"{DECLARED}@prompt(libary:x)", "did you mean `library`?"),
        # the help for an unknown name has the name that was meant
        (f"{DECLARED}{{{{stlye}}}}", "; write {{style}}, or declare `stlye` under ## INPUTS"),
        (f"{DECLARED}{{{{stlye:a}}}}", "; write {{style:a}}, or declare `stlye` under ## INPUTS"),
        (f'{DECLARED}```if stlye == "x"```\n```endif```', "; write `style`, or declare `stlye` under ## INPUTS"),
        (f"{DECLARED}{{{{other}}}}", "; declare it under ## INPUTS, or write @output(other) in an earlier step"),
        # what becomes of a placeholder that has no value
        (f"{ONE}{{{{a}}}}", f"{UNRESOLVED % 'a'}there is no input or @output `a`; "),
        (f"{ONE}{{{{1}}}}", f"{UNRESOLVED % '1'}a number is not a name; "),
        (f"{ONE}@prompt({{{{a}}}})", "the run stops at this step: there is no input or @output `a`; "),
    ],
)
def test_the_words_of_a_finding(text: str, words: str) -> None:
    found = [f"{item.message}; {item.help}" for item in read(source(f"{text}\n")).found]
    assert any(words in one for one in found), found
    assert "@output(1)" not in str(found)


def test_the_whole_tree_has_its_places() -> None:
    text = (
        "\n# Title  \n\n Desc \nmore\n\n## SYSTEM\n\nBe nice.\n\n## INPUTS\n  - `kind` (Select: a, b,): Which\n"
        "## STEP 1: One\n\n  Above  \n@prompt(file:a/b.md)\n\nBelow\n"
        '  ```if kind == "a "```\n### STEP 1a: Sub\nx\n@output(y)\n```else```\n@elicit(input, "q")\n```endif```\n'
        '## STEP 2: Two\n@tool("My conn", t, {"a": 1, "b": 2})\n## OUTPUT\ntype: JSON\n'
    )
    made = tree(text)
    assert (made.title, made.description, made.span) == ("Title", "Desc\nmore", Span(2, 1, 2, 8))
    assert (made.system, made.system_span) == ("Be nice.", Span(9, 1, 9, 9))
    assert made.inputs == (syntax.Input("kind", "enum", "Select", "Which", None, ("a", "b"), Span(12, 3, 12, 34)),)
    first, second = made.steps
    assert (first.number, first.label, first.title, first.span) == (1, "1", "One", Span(13, 1, 13, 15))
    assert (first.content, first.lines) == ("Above\n\nBelow", (15, 17, 18))
    assert first.prompt == syntax.PromptRef("file", "a/b.md", Span(16, 1, 16, 21), "file:a/b.md")
    yes, other = first.branches
    assert yes.condition == syntax.Condition("kind", "==", "a ", Span(19, 9, 19, 21))
    assert (yes.span, yes.steps[0].span) == (Span(19, 3, 19, 24), Span(20, 1, 20, 17))
    assert (yes.steps[0].label, yes.steps[0].number, yes.steps[0].content) == ("1a", 1, "x")
    assert yes.steps[0].output == syntax.Output("y", "", (), "", Span(22, 1, 22, 11))
    assert (other.condition, other.steps[0].label, other.steps[0].span) == (None, "", Span(23, 1, 23, 11))
    assert other.steps[0].elicit == syntax.Elicit("input", "q", (), Span(24, 1, 24, 20))
    assert second.tool == syntax.ToolCall("My conn", "t", '{"a": 1, "b": 2}', Span(27, 1, 27, 38))
    assert made.artifact == syntax.Artifact("json", Span(29, 7, 29, 11))


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("@output(a)", ("a", "", (), "")),
        ("@output( a :number )", ("a", "number", (), "")),
        ('@output(a, extract:"b")', ("a", "", (), "b")),
        ('@output(a: enum, "x, y", "z")', ("a", "enum", ("x, y", "z"), "")),
        ('@output(a: string, "x",extract: "b")', ("a", "string", ("x",), "b")),
    ],
)
def test_forms_of_output(written: str, expected: tuple[str, str, tuple[str, ...], str]) -> None:
    made = read_output(Line("OUTPUT", 1, 1, 1, patterns()["OUTPUT"].fullmatch(written)))
    assert (made.name, made.type, made.options, made.extract) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("library:a-b", ("library", "a-b")),
        ("a-b", ("library", "a-b")),
        ("mcp:server/x:y", ("mcp", "server/x:y")),
        ("{{a}}", ("variable", "a")),
        ("library:{{a}}", ("library", "{{a}}")),
        ("{{a}}{{b}}", ("library", "{{a}}{{b}}")),
    ],
)
def test_forms_of_prompt(written: str, expected: tuple[str, str]) -> None:
    made = read_prompt(Line("PROMPT", 1, 1, 1, patterns()["PROMPT"].fullmatch(f"@prompt({written})")))
    assert (made.scheme, made.id) == expected


def test_what_counts_of_several() -> None:
    made = step('@output(a)\n@elicit(input, "x")\n@output(b)\n@elicit(wrong, "y")\n')
    assert (made.output and made.output.name, made.elicit and made.elicit.question, made.content) == ("b", "x", "")
    asks = step('@elicit(select, \'no\', "q", yes, "a, b", default:"c")\n').elicit
    assert asks
    assert (asks.question, asks.options) == ("q", ("a, b",)), "only texts in double quotes"
    tool = step('@tool(a, b, {"c": "d, e"}, "f")\n').tool
    assert tool
    assert (tool.connection, tool.tool, tool.arguments) == ("a", "b", '{"c": "d, e"}, "f"'), "two commas"
    several = tree(f"# A\n## SYSTEM\na\n## INPUTS\n- `a` (text)\n{STEP}## INPUTS\n- `b` (text)\n## SYSTEM PROMPT\nb\n")
    assert (several.system, [declared.name for declared in several.inputs]) == ("b", ["a", "b"])
    assert step(f"\na\n\n{IF}x\n{ENDIF}\nb\n").content == "a\n\nb", "text below branches, too"


def test_defaults_that_are_empty_are_none() -> None:
    made = tree(f"# A\n## INPUTS\n- `a` (string:)\n- `b` (odd: x)\n- `c` (enum: x)\n{STEP}").inputs
    assert [(one.type, one.default, one.required) for one in made] == [
        ("string", None, True),
        ("string", "x", False),
        ("enum", None, True),
    ]


@pytest.mark.parametrize(
    ("name", "text", "given", "expected"),
    [
        ("a.playbook.md", "nothing", None, "playbook"),
        ("a.md", ONE, None, "playbook"),
        ("a.md", ONE + "## 1. Notes\n", None, "playbook"),
        ("a.md", f"---\na: 1\n---\n{ONE}", None, "playbook"),
        ("a.runbook.md", ONE, None, "rundown"),
        ("a.md", STEP, None, ""),
        ("a.md", "# A\n## 1. One\n", None, "rundown"),
        ("a.txt", ONE, "rundown", "rundown"),
        ("a.runbook.md", ONE, "playbook", "playbook"),
    ],
)
def test_it_is_recognized_by_name_by_content_and_by_option(
    tmp_path: Path, name: str, text: str, given: str | None, expected: str
) -> None:
    (tmp_path / "rdc.toml").touch()
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert compile_file(str(tmp_path / name), Settings(given)).format == expected


def test_a_playbook_that_is_wrong_has_no_definition() -> None:
    made = read(source(f"{STEP}## STEP 3: Two\n"))
    reported = report(made.parsed and made.parsed.playbook, made.found)
    assert (reported["valid"], reported["definition"]) == (False, None)
    assert reported["errors"] == [{"line": 1, "message": "the playbook has no title"}]
    assert [item["line"] for item in reported["warnings"]] == [3]  # type: ignore[attr-defined]
