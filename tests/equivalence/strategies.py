"""Random valid runbooks over the whole language, small ones first, and outcomes for their steps."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import strategies as st

from tests.equivalence.cases import Case, Outcomes
from tests.equivalence.declaring import declared
from tests.equivalence.model import (
    Action,
    Complete,
    Continue,
    Files,
    Goto,
    Leaf,
    Result,
    Retry,
    Runbook,
    Runbooks,
    Step,
    Stop,
    Substep,
    Substeps,
    Transitions,
)
from tests.equivalence.outline import Outline, integer, one_of, outlines, some_of, targets
from tests.equivalence.render import Style
from tests.equivalence.snippets import SNIPPETS, snippet
from tests.equivalence.texts import CODES, HOSTILE_CHARACTERS, MAINS, MESSAGES, NAMES, PATHS, PROMPTS, TITLES

COMMAND_TAGS = ("sh", "bash", "shell")
SHOWN_TAGS = ("", "json", "prompt", "bash prompt", "sh prompt", "BASH", "{.sh$x}", "%'\"\\ prompt")


_flags = st.booleans()
_titles = st.sampled_from(TITLES)
_names = st.sampled_from(NAMES)
_snippets = st.sampled_from(tuple(SNIPPETS))
_prompts = st.sampled_from(PROMPTS)
_codes = st.sampled_from(CODES)
_messages = st.sampled_from(MESSAGES) | st.text(HOSTILE_CHARACTERS, min_size=1, max_size=12)

# Ends are rare, since they cut a path short, and jumps frequent: there the rules are many.
_most = st.sampled_from([4] * 7 + [14])
_leaf_kinds = st.sampled_from(["quoted", *["as it stands"] * 3, "prompt", "shown"])
_action_kinds = st.sampled_from(["continue"] * 3 + ["goto"] * 4 + ["complete", "stop"])
_result_kinds = st.sampled_from(["nothing"] * 2 + ["action"] * 3 + ["retry"] * 2)


def actions(draw: st.DrawFn, gotos: list[Goto]) -> Action:
    """Every action; a jump only where there is somewhere to go."""
    kind = draw(_action_kinds)
    if kind == "complete":
        return Complete(draw(_messages))
    if kind == "stop":
        return Stop(draw(_messages))
    return draw(one_of(tuple(gotos))) if kind == "goto" and gotos else Continue()


def results(draw: st.DrawFn, gotos: list[Goto]) -> Result | None:
    """What a step may say about an outcome, nothing included."""
    kind = draw(_result_kinds)
    if kind == "nothing":
        return None
    action = actions(draw, gotos)
    return Retry(draw(integer(1, 3)), action) if kind == "retry" else action


def transitions(draw: st.DrawFn, gotos: list[Goto], *, may_be_optimistic: bool) -> Transitions:
    """Both outcomes. `PASS ANY` means something where there are children; on a leaf it only warns (V9)."""
    on_pass, on_fail = results(draw, gotos), results(draw, gotos)
    declared = on_pass is not None or on_fail is not None
    return Transitions(on_pass, on_fail, may_be_optimistic and declared and draw(_flags))


def leaves(draw: st.DrawFn) -> Leaf:
    """Commands mostly, quoted or as they stand, prompts with and without an instructional block."""
    kind = draw(_leaf_kinds)
    prompt = draw(_prompts)
    match kind:
        case "prompt":
            return Leaf(prompt)
        case "shown":
            return Leaf(prompt, draw(_codes), draw(one_of(SHOWN_TAGS)))
        case "quoted":
            return Leaf(prompt, draw(_codes), draw(one_of(COMMAND_TAGS)))
        case _:
            return snippet(draw(_snippets), draw(one_of(COMMAND_TAGS)), prompt)


def bodies(draw: st.DrawFn, paths: tuple[str, ...], in_step: bool) -> Leaf | Runbooks:
    """A leaf or, where there are runbooks to name, a list of them; the same path may appear twice."""
    if not paths or draw(integer(0, 2)) < 2:
        return leaves(draw)
    listed = draw(some_of(paths, 3, 1, unique=False))
    return Runbooks(tuple(listed), draw(_prompts) if in_step else "")


def substeps(draw: st.DrawFn, outline: Outline, step: str, ident: str, paths: tuple[str, ...]) -> Substep:
    """A substep at its place in the outline."""
    body = bodies(draw, paths, in_step=False)
    is_list = isinstance(body, Runbooks)
    allowed = transitions(draw, targets(outline, step, ident), may_be_optimistic=is_list)
    return Substep(ident, body, allowed, draw(_titles))


def steps(draw: st.DrawFn, outline: Outline, ident: str, children: tuple[str, ...], paths: tuple[str, ...]) -> Step:
    """A step at its place in the outline."""
    body: Leaf | Runbooks | Substeps
    if children:
        drawn = tuple(substeps(draw, outline, ident, child, paths) for child in children)
        body = Substeps(drawn, draw(_prompts))
    else:
        body = bodies(draw, paths, in_step=True)
    allowed = transitions(draw, targets(outline, ident, None), may_be_optimistic=True)
    return Step(ident, body, allowed, draw(_titles))


def runbooks(draw: st.DrawFn, paths: tuple[str, ...] = (), most: int = 4) -> Runbook:
    """A runbook that may include the runbooks at `paths`."""
    outline = outlines(draw, most)
    drawn = tuple(steps(draw, outline, ident, children, paths) for ident, children in outline.steps)
    return Runbook(drawn, draw(_titles), draw(_prompts), draw(_names), draw(_titles))


def files(draw: st.DrawFn, most: int = 2) -> dict[str, Runbook]:
    """Up to three runbooks, each including only later ones: no cycle, and a depth of three at most."""
    first = draw(integer(0, len(PATHS) - 1))
    paths = [PATHS[(first + index) % len(PATHS)] for index in range(draw(integer(0, 3)))]
    return {path: runbooks(draw, tuple(paths[index + 1 :]), most) for index, path in enumerate(paths)}


def included(runbook: Runbook, files: Files) -> dict[str, Runbook]:
    """Those files that a runbook leads to."""
    bodies = [body for step in runbook.steps for body in (step.body, *(child.body for child in step.children))]
    paths = [path for body in bodies if isinstance(body, Runbooks) for path in body.paths]
    return {path: found for top in paths for path, found in {top: files[top], **included(files[top], files)}.items()}


SEPARATORS = (". ", " ", ": ", " - ", ") ", " — ", " → ", ".: ")
_styles = st.builds(
    Style,
    st.sampled_from(SEPARATORS),
    **{field.name: _flags for field in fields(Style) if field.name != "separator"},
)
_outcomes = st.builds(Outcomes, st.lists(_flags, max_size=8).map(tuple), st.integers(0, 2**16))


def styles() -> st.SearchStrategy[Style]:
    """Spellings."""
    return _styles


def outcomes() -> st.SearchStrategy[Outcomes]:
    """Outcome functions; the simplest says nothing of its own."""
    return _outcomes


@st.composite
def cases(draw: st.DrawFn, most: int | None = None) -> Case:
    """Whole cases: documents, a style, outcomes and the name of the main document. Few have many steps.

    Every other one has no declarations. In some an operator jumps, where a driver can.
    """
    declares, is_moved = draw(_flags), draw(integer(0, 2)) == 2
    found = files(draw)
    runbook = runbooks(draw, tuple(found), most or draw(_most))
    leads_to = included(runbook, found)
    inside = {path: found[path] for path in found if path in leads_to}
    case = Case(runbook, inside, draw(styles()), draw(outcomes()), draw(one_of(MAINS)))
    if is_moved:
        case = replace(case, jumps=jumps(draw))
    if declares:
        main, others, given = declared(draw, runbook, inside)
        case = replace(case, runbook=main, files=others, given=given)
    return case


_jumps = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 40)), min_size=1, max_size=4).map(tuple)
_line_actions = st.sampled_from([None, None, Continue(), Stop()]) | st.builds(Stop, _messages)
_line_leaves = st.builds(Leaf, _prompts, _codes, st.sampled_from(COMMAND_TAGS)) | st.builds(
    snippet,
    st.sampled_from([name for name in SNIPPETS if name != "no variables of others"]),
    st.sampled_from(COMMAND_TAGS),
    _prompts,
)


def line_transitions(draw: st.DrawFn, *, is_last: bool) -> Transitions:
    """What a step on a line may say: FAIL stops or continues, at once or after retries."""
    action = draw(_line_actions)
    retries = draw(integer(0, 3))
    on_fail = Retry(retries, action or Stop()) if retries else action
    return Transitions(Complete(draw(_messages)) if is_last and draw(_flags) else None, on_fail)


@st.composite
def lines(draw: st.DrawFn) -> Case:
    """Cases whose flow is a line of commands, most of them: the compiler decides."""
    found: list[Step] = []
    count = draw(integer(1, 4))
    for number in range(1, count + 1):
        children = tuple(
            Substep(str(child), draw(_line_leaves), line_transitions(draw, is_last=False), draw(_titles))
            for child in range(1, draw(one_of((1, 1, 1, 3))))
        )
        body = Substeps(children) if children else draw(_line_leaves)
        says = Transitions() if children else line_transitions(draw, is_last=number == count)
        found.append(Step(str(number), body, says, draw(_titles)))
    return Case(Runbook(tuple(found), draw(_titles)), {}, draw(styles()), draw(outcomes()), draw(one_of(MAINS)))


_forward_kinds = st.sampled_from(["nothing"] * 4 + ["goto", "complete", "stop"])
_is_question = st.sampled_from([True, True, False, False, False])


def forward(draw: st.DrawFn, later: tuple[str, ...]) -> Action | None:
    """An action that leads on or to an end, never back; None for what is usual."""
    kind = draw(_forward_kinds)
    if kind == "goto" and later:
        return Goto(draw(one_of(later)))
    if kind not in {"complete", "stop"}:
        return None
    return Complete(draw(_messages)) if kind == "complete" else Stop(draw(_messages))


def forward_transitions(draw: st.DrawFn, later: tuple[str, ...], *, is_question: bool) -> Transitions:
    """What a step may say; NO only stops."""
    on_pass = forward(draw, later)
    if is_question:
        return Transitions(on_pass, Stop(draw(_messages)) if draw(_flags) else None)
    action, retries = forward(draw, later), draw(integer(0, 2))
    on_fail = Retry(retries, action or Stop()) if retries else action or draw(one_of((None, Continue())))
    return Transitions(on_pass, on_fail)


@st.composite
def questions(draw: st.DrawFn) -> Case:
    """Cases whose questions a reviewer can answer, most of them: NO stops, and no flow leads back to a question."""
    count = draw(integer(1, 5))
    names = (*map(str, range(1, count + 1)), *draw(some_of(("Recover", "PASSED"), 1)))
    asked = draw(integer(1, count))
    found: list[Step] = []
    for index, name in enumerate(names):
        later, is_question = names[index + 1 :], name == str(asked) or (name.isdecimal() and draw(_is_question))
        body = Leaf(draw(_prompts) or "Go on?") if is_question else draw(_line_leaves)
        says = forward_transitions(draw, later, is_question=is_question)
        found.append(Step(name, body, says, draw(_titles)))
    return Case(Runbook(tuple(found), draw(_titles)), {}, draw(styles()), draw(outcomes()), draw(one_of(MAINS)))


def jumps(draw: st.DrawFn) -> tuple[tuple[int, int], ...]:
    """Jumps of an operator: as soon as one can after so many visits, to the step of this number."""
    return draw(_jumps)
