"""What a playbook means: its nodes, transitions, texts and slots (P9 to P17)."""

from pathlib import Path

import pytest

from compiler.driver import Compilation, compile_file
from compiler.ir.program import Node, Program, jumps_of
from compiler.ir.tasks import Agent, End, Tool
from compiler.ir.texts import Text
from compiler.ir.verify import verify

HEAD = "# Title\n\n"


def compiled(tmp_path: Path, body: str, **files: str) -> Compilation:
    (tmp_path / "rdc.toml").touch()
    for name, text in files.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    path = tmp_path / "a.playbook.md"
    path.write_text(HEAD + body, encoding="utf-8")
    return compile_file(str(path))


def lowered(tmp_path: Path, body: str, **files: str) -> Program:
    found = compiled(tmp_path, body, **files)
    assert found.program, found.diagnostics
    verify(found.program)
    return found.program


def transitions(program: Program) -> list[str]:
    """`1 > 2`, with what is tested in between."""
    return [
        f"{node.id} {' '.join(_test(test) for test in edge.guard)}> {edge.target}"
        for node in program.nodes
        for edge in node.edges
    ]


def _test(test: object) -> str:
    word, operator = getattr(test, "word", ""), getattr(test, "operator", "")
    return word or f"{getattr(test, 'slot', '')}{operator}{getattr(test, 'text', '')}"


def shown(text: Text) -> str:
    """A text with slots in angle brackets."""
    return "".join(part if isinstance(part, str) else f"<{part.register}>" for part in text.parts)


def node(program: Program, name: str) -> Node:
    return program.index()[name]


def prompt(program: Program, name: str) -> str:
    task = node(program, name).task
    assert isinstance(task, Agent)
    return "".join(map(shown, (*program.above(task.context), task.prompt)))


STEP = "## STEP 1: One\n\n"


def test_a_number_that_stands_twice_is_told_apart(tmp_path: Path) -> None:
    found = lowered(tmp_path, "## STEP 1: One\n\nA\n\n## STEP 1: Again\n\nB\n")
    assert [item.id for item in found.nodes] == ["1", "1~2", "COMPLETE", "STOP"]
    assert prompt(found, "1~2") == "<output 1>B"
    assert [part.before for part in found.contexts[0].text.references] == ["## Output of step 1: One\n\n"]


BRANCHES = (
    "## INPUTS\n- `kind` (enum: a, b, c): the kind\n## STEP 1: One\n"
    '```if kind == "a"```\n### STEP 1a: First\nDo a.\n### STEP 1b: Second\nDo more.\n'
    '```elif kind != "b"```\nDo c.\n```endif```\n\n## STEP 2: Two\n\nThe end.\n'
)


FIRST_OF_ALL = BRANCHES.replace("## STEP 1: One\n", "## STEP 1: One\n\nFirst of all.\n")
BY_VARIABLE = "## INPUTS\n\n- `v` (text): how\n\n" + STEP + "@prompt({{v}})\n\nOwn.\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "## STEP 1: One\n\nA\n\n## STEP 2: Two\n\nB\n",
            ["1 pass> 2", "1 fail> STOP", "2 pass> COMPLETE", "2 fail> STOP"],
        ),
        ("## STEP 1: One\n\n## STEP 2: Two\n\nB\n", ["1 > 2"]),
        (FIRST_OF_ALL, ["1 pass> 1/route", "1 fail> STOP", "1/route kind==a> 1a"]),
        (
            STEP + '@elicit(confirm, "Sure?")\n@prompt(library:x)\n\nDo it.\n',
            ["1/elicit > 1/prompt", "1/prompt pass> 1", "1/prompt fail> 1", "1 pass> COMPLETE"],
        ),
        (STEP + "@prompt(library:x)\n", ["1/prompt pass> 1", "1/prompt fail> COMPLETE"]),  # nothing is called
        (BY_VARIABLE, ["1/prompt v==> 1/prompt/missing", "1/prompt > 1"]),
    ],
)
def test_transitions(tmp_path: Path, body: str, expected: list[str]) -> None:
    found = lowered(tmp_path, body)
    assert transitions(found)[: len(expected)] == expected
    if body == BY_VARIABLE:
        task = node(found, "1/prompt/missing").task
        assert isinstance(task, End)
        assert "{{v}} has no value" in str(task.message)


def test_branches_are_chosen_in_order_and_none_may_be(tmp_path: Path) -> None:
    found = lowered(tmp_path, BRANCHES)
    assert transitions(found)[:4] == ["1 kind==a> 1a", "1 kind!=b> 1/elif1", "1 > 2", "1a pass> 1b"]
    assert {"1b pass> 2", "1/elif1 pass> 2"} < set(transitions(found))
    assert [(group.id, str(group.title)) for group in found.groups] == [("1", "One")]
    assert [item.id for item in found.nodes if item.group == "1"] == ["1", "1a", "1b", "1/elif1"]
    assert [edge.label for edge in node(found, "1").edges] == ['if kind == "a"', 'elif kind != "b"', ""]
    assert [edge.origins[0].span.line for edge in node(found, "1").edges[:2]] == [6, 11]


@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        (
            (
                "## INPUTS\n\n- `q` (text): what\n\n## STEP 1: One\n\n"
                '@tool(conn, find, {"{{q}}": "{{q}}\\n", "n": 1.50})\n@elicit(confirm, "?")\n'
            ),
            "1",
            ("conn", "find", False, '{"{{q}}": "<q>\\n", "n": 1.50}'),
        ),
        (STEP + "@tool(conn, find)\n", "1", ("conn", "find", False, "{}")),
        (STEP + "@prompt(mcp:s/x)\n\nOwn.\n", "1/prompt", ("mcp", "prompt", True, '{"id": "s/x"}')),
    ],
    ids=["it wins", "no arguments", "library"],
)
def test_tools_and_their_arguments(tmp_path: Path, body: str, name: str, expected: tuple[object, ...]) -> None:
    task = node(lowered(tmp_path, body), name).task
    assert isinstance(task, Tool)
    assert (task.connection, task.tool, task.optional, shown(task.arguments)) == expected


def test_a_prompt_has_the_system_text_what_came_before_and_the_own_text(tmp_path: Path) -> None:
    body = (
        "## SYSTEM\n\nBe {{tone}}.\n\n## INPUTS\n\n- `tone` (string: kind): how\n\n"
        '## STEP 1: One\n\nA\n\n@output(x, extract:"f")\n\n## STEP 2: Two\n\nB\n\n@output(y: number)\n'
    )
    found = lowered(tmp_path, body)
    assert prompt(found, "2") == "Be <tone>.\n\n<output 1><x>B\n\nAnswer with a number and nothing else."
    task = node(found, "2").task
    assert isinstance(task, Agent)
    before = [item.before for text in found.above(task.context) for item in text.references]
    assert before == ["", "## Output of step 1: One (x)\n\n", "## x\n\n"]


def test_each_output_is_said_once_however_many_steps_follow(tmp_path: Path) -> None:
    steps = "".join(f"## STEP {n}: S\n\nDo.\n\n" for n in range(1, 101))
    found = lowered(tmp_path, f"## SYSTEM\n\nBe kind.\n\n{steps}")
    assert sum(len([*context.text.references]) for context in found.contexts) == 99
    assert prompt(found, "100") == "Be kind.\n\n" + "".join(f"<output {n}>" for n in range(1, 100)) + "Do."
    assert [context.name for context in found.contexts][:3] == ["system", "up to 1", "up to 2"]
    shared = "".join(f'## STEP {n}: S\n\nDo.\n\n@output(x, extract:"f")\n\n' for n in (1, 1, 1, 2))
    names = [context.name for context in lowered(tmp_path, shared).contexts]
    assert len(names) == len({*names}) == 6, "names of their own"


@pytest.mark.parametrize("names", [["x"] * 100, [f"x{n % 3}" for n in range(100)]])
def test_what_is_extracted_under_a_name_again_moves_down(tmp_path: Path, names: list[str]) -> None:
    steps = (f'## STEP {n}: S\n\nDo.\n\n@output({name}, extract:"f")\n\n' for n, name in enumerate(names, 1))
    found = lowered(tmp_path, "".join(steps))
    last = {name: n for n, name in enumerate(names[:99], 1)}
    shown_before = (f"<output {n}>" + (f"<{name}>" if last[name] == n else "") for n, name in enumerate(names[:99], 1))
    assert prompt(found, "100") == "".join(shown_before) + "Do."
    assert sum(len([*context.text.references]) for context in found.contexts) < 1000


def test_contexts_are_shared_by_branches_that_know_the_same(tmp_path: Path) -> None:
    found = lowered(tmp_path, FIRST_OF_ALL)
    assert {name: prompt(found, name) for name in ("1a", "1b", "1/elif1", "2")} == {
        "1a": "<output 1>Do a.",
        "1b": "<output 1><output 1a>Do more.",
        "1/elif1": "<output 1>Do c.",
        "2": "<output 1><output 1a><output 1b><output 1/elif1>The end.",
    }
    above = [node(found, name).task for name in ("1a", "1/elif1")]
    assert {getattr(task, "context", "") for task in above} == {"up to 1"}


@pytest.mark.parametrize(
    ("written", "missing"),
    [
        ("{{x}}", "{{x}}"),
        ("{{x:string}}", "{{x:string}}"),
        ("{{x:string:red}}", "red"),
        ("{{x:string:}}", ""),
        ("{{x::a:b}}", "a:b"),
    ],
)
def test_what_stands_for_a_name_without_a_value(written: str, missing: str, tmp_path: Path) -> None:
    body = f"{STEP}See {written}\n\n## STEP 2: Two\n\nB\n\n@output(x)\n"
    task = node(lowered(tmp_path, body), "1").task
    assert isinstance(task, Agent)
    assert [(item.register, item.written, item.missing) for item in task.prompt.references] == [("x", written, missing)]


ASKS = STEP + '@elicit(input, "Who?")\n@output(who)\n\n## STEP 2: Two\n\nHello {{who}} ({{__elicit_step_1}}).\n'
SEE = f"{STEP}See %s\n\n## STEP 2: Two\n\nB\n\n@output(x)\n"
THIRD = BRANCHES.replace("Do c.", "### STEP 1c: Third\nDo c.")
TYPES = [
    ("x", ""),
    ('x, extract:"f"', ""),
    ("x: string", "\n\nAnswer with one line of text and nothing else."),
    ('x: enum, "a", "b"', '\n\nAnswer with one of "a", "b" and nothing else.'),
    ('x: number, extract:"f"', '\n\nAnswer with a JSON object whose field "f" is a number.'),
    ("x: haiku", "\n\nAnswer with a value of type haiku and nothing else."),
]


@pytest.mark.parametrize(
    ("body", "name", "expected"),
    [
        *((SEE % written, "1", f"See {written}") for written in ("{{1}}", "{{ x }}", "{{nobody}}", "{x}", "{{x:{y}}}")),
        *((f"{STEP}A\n\n@output({output})\n", "1", f"A{line}") for output, line in TYPES),
        (STEP + "@prompt(http:x)\n\nOwn.\n", "1", "Own."),
        (STEP + "@prompt(mcp:s/x)\n\nOwn.\n", "1", "<prompt 1>Own."),
        (BY_VARIABLE, "1", "<v>\n\nOwn."),
        (ASKS, "2", "<output 1>Hello <who> (<__elicit_step_1>)."),
        (THIRD, "1c", "Do c."),  # outputs of another branch are not waited for
        (THIRD, "2", "<output 1a><output 1b><output 1c>The end."),
    ],
)
def test_prompts(tmp_path: Path, body: str, name: str, expected: str) -> None:
    assert prompt(lowered(tmp_path, body), name) == expected


def test_inputs_slots_and_the_artifact(tmp_path: Path) -> None:
    body = (
        "## INPUTS\n\n- `a` (enum: x, y, x): e\n- `b` (number: 3): n\n- `c` (number: five): odd\n- `d` (enum): none\n\n"
    )
    found = lowered(tmp_path, body + STEP + "A\n").inputs
    assert [(item.name, item.type, item.options, item.default, item.required) for item in found] == [
        ("a", "choice", ("x", "y"), None, True),
        ("b", "number", (), "3", False),
        ("c", "text", (), "five", False),
        ("d", "string", (), None, True),
    ]
    unread = lowered(tmp_path, STEP + "A\n\n@output(x)\n")
    assert ([slot.name for slot in unread.slots], unread.artifact) == (["x"], None)
    slots = [getattr(effect, "slot", "") for effect in node(lowered(tmp_path, ASKS), "1").edges[0].effects]
    assert slots == ["__elicit_step_1", "output 1", "who"], "a step that only asks has the reply as its output"
    last = lowered(tmp_path, STEP + "A\n\n## ARTIFACTS\n\ntype: json\n").artifact
    assert last
    assert (last.slot, str(last.type)) == ("last output", "json")
    overwritten = lowered(tmp_path, "## INPUTS\n\n- `x` (text): a\n\n" + STEP + "A {{x}}\n\n@output(x)\n")
    assert [slot.name for slot in overwritten.slots] == ["x"]


@pytest.mark.parametrize(
    ("first", "second"),
    [('kind == "a"', 'kind == "a"'), ('kind != "a"', 'kind != "b"'), ('kind == "a"', 'kind == "A"')],
)
def test_a_branch_that_never_runs_is_told_at_its_marker(first: str, second: str, tmp_path: Path) -> None:
    body = BRANCHES.replace('kind == "a"', first).replace('kind != "b"', second)
    found = [(item.code, item.span and item.span.line) for item in compiled(tmp_path, body).diagnostics]
    assert found == ([("RD404", 11)] if second != 'kind != "b"' else [])
    body = STEP + 'A\n\n@output(x: enum, "a")\n\n## STEP 2: Two\n\n```if x == "b"```\nB\n```endif```\n'
    assert compiled(tmp_path, body).diagnostics == (), "an answer can be anything"


def limited(tmp_path: Path, steps: str) -> Compilation:
    (tmp_path / "rdc.toml").touch()
    path = tmp_path / "a.playbook.md"
    path.write_text(
        f"---\nrdc:\n  steps: {steps}\n---\n{HEAD}{STEP}A\n\n## STEP 2: Two\n\n@tool(c, t)\n", encoding="utf-8"
    )
    return compile_file(str(path))


def test_steps_have_time_limits(tmp_path: Path) -> None:
    found = limited(tmp_path, '{"1": {timeout: 90s}, "2": {timeout: 2h, secrets: [KEY]}}')
    assert found.program, found.diagnostics
    assert [item.settings.timeout for item in found.program.nodes] == [90, 7200, None, None]
    assert found.tables["steps"].values == {"2": {"secrets": ["KEY"]}}


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ("[1]", "`steps` must be a mapping of steps to settings"),
        ('{"1": 90s}', "the settings of step 1 must be a mapping"),
        ('{"1": {timeout: 90}}', "the settings of step 1: `timeout` must be a duration from a second to a year"),
        ('{"1": {timeout: 0s}}', "the settings of step 1: `timeout` must be a duration from a second to a year"),
        ('{"1": {tmeout: 9s}}', "there is no key `tmeout` in the settings of step 1; did you mean `timeout`?"),
        ('{"3": {timeout: 9s}}', "no step `3` calls an agent or a tool"),
    ],
)
def test_errors_in_time_limits(steps: str, problem: str, tmp_path: Path) -> None:
    found = limited(tmp_path, steps)
    assert found.program is None
    assert [(item.code, item.message) for item in found.diagnostics] == [("RD013", problem)]
    assert found.diagnostics[0].span


def test_a_jump_to_a_step_goes_to_what_it_begins_with(tmp_path: Path) -> None:
    asked = '## STEP 1: A\n\n@elicit(input, "Who?")\nGreet.\n\n'
    fetched = "## STEP 2: B\n\n@prompt(library:b)\n\n"
    only = '## STEP 3: C\n\n@elicit(input, "What?")\n\n## STEP 4: D\n\nDo it.\n\n'
    branching = '## STEP 5: E\n\n@elicit(input, "Why?")\nSay.\n\n```if __elicit_step_5 == "x"```\nX.\n```endif```\n'
    program = lowered(tmp_path, asked + fetched + only + branching)
    leads = {name: jump.target for name, jump in jumps_of(program).items()}
    assert [leads[name] for name in "12345"] == ["1/elicit", "2/prompt", "3", "4", "5/elicit"]
