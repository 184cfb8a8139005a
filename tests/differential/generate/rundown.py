"""Random valid runbooks over the whole language, small ones first, and outcomes for their steps."""

import hashlib
from dataclasses import dataclass, field, fields, replace
from typing import cast

from hypothesis import strategies as st

from compiler.ir.program import Program
from tests.differential.case import compiled as compile_documents
from tests.differential.generate import Chance, flag, number, pick, picks, rarely
from tests.differential.generate import rundown_model as model
from tests.differential.generate.declarations import declared
from tests.differential.generate.hostile import (
    CODES,
    HOSTILE_CHARACTERS,
    MAINS,
    MESSAGES,
    NAMES,
    PATHS,
    PROMPTS,
    SNIPPETS,
    TITLES,
    snippet,
)
from tests.differential.generate.rundown_text import PLAIN, CodeOf, Style, own_code, render, render_files

LIMIT = 60
MAIN = "main.runbook.md"


@dataclass(frozen=True)
class Outcomes:
    """The outcome of each visit by its index: a given start, then bits without a period.

    A period could keep a loop going forever; without one nearly every path ends. The share of passes differs
    from seed to seed, so that long paths occur as well as failures.
    """

    start: tuple[bool, ...] = ()
    seed: int = 0

    def __call__(self, index: int) -> bool:
        if index < len(self.start):
            return self.start[index]
        share = (128, 176, 208, 96)[self.seed % 4]
        return hashlib.sha256(f"{self.seed}/{index}".encode()).digest()[0] < share


@dataclass(frozen=True)
class Drawn:
    """A runbook with those that it includes, a way to write them, and what comes of a run."""

    runbook: model.Runbook
    files: model.Files = field(default_factory=dict)
    style: Style = PLAIN
    outcomes: Outcomes = Outcomes()
    main: str = MAIN
    given: model.Given = model.NOTHING_GIVEN
    jumps: tuple[tuple[int, int], ...] = ()
    """The operator's jumps: as soon as one can after so many visits, to one of the steps."""

    def documents(self, code_of: CodeOf = own_code) -> dict[str, str]:
        main = render(self.runbook, self.style, code_of=code_of)
        return {self.main: main} | render_files(self.files, self.style, code_of)


COMMAND_TAGS = ("sh", "bash", "shell")
SHOWN_TAGS = ("", "json", "prompt", "bash prompt", "sh prompt", "BASH", "{.sh$x}", "%'\"\\ prompt")


# Ends are rare, since they cut a path short, and jumps frequent: there the rules are many.
MOST_STEPS = (*[4] * 7, 14)
LEAF_KINDS = ("quoted", *["as it stands"] * 3, "prompt", "shown")
ACTION_KINDS = (*["continue"] * 3, *["goto"] * 4, "complete", "stop")
RESULT_KINDS = (*["nothing"] * 2, *["action"] * 3, *["retry"] * 2)


def messages(draw: st.DrawFn) -> str:
    if flag(draw):
        return pick(draw, MESSAGES)
    return "".join(pick(draw, HOSTILE_CHARACTERS) for _ in range(number(draw, 1, 12)))


def actions(draw: st.DrawFn, gotos: list[model.Goto]) -> model.Action:
    """Every action; a jump only where there is somewhere to go."""
    kind = pick(draw, ACTION_KINDS)
    if kind == "complete":
        return model.Complete(messages(draw))
    if kind == "stop":
        return model.Stop(messages(draw))
    return pick(draw, tuple(gotos)) if kind == "goto" and gotos else model.Continue()


def results(draw: st.DrawFn, gotos: list[model.Goto]) -> model.Result | None:
    """What a step may say about an outcome, nothing included."""
    kind = pick(draw, RESULT_KINDS)
    if kind == "nothing":
        return None
    action = actions(draw, gotos)
    return model.Retry(number(draw, 1, 3), action) if kind == "retry" else action


def transitions(draw: st.DrawFn, gotos: list[model.Goto], *, may_be_optimistic: bool) -> model.Transitions:
    """Both outcomes. `PASS ANY` means something where there are children; on a leaf it only warns (V9)."""
    on_pass, on_fail = results(draw, gotos), results(draw, gotos)
    declared = on_pass is not None or on_fail is not None
    return model.Transitions(on_pass, on_fail, may_be_optimistic and declared and flag(draw))


def leaves(draw: st.DrawFn) -> model.Leaf:
    """Commands mostly, quoted or as they stand, prompts with and without an instructional block."""
    kind = pick(draw, LEAF_KINDS)
    prompt = pick(draw, PROMPTS)
    match kind:
        case "prompt":
            return model.Leaf(prompt)
        case "shown":
            return model.Leaf(prompt, pick(draw, CODES), pick(draw, SHOWN_TAGS))
        case "quoted":
            return model.Leaf(prompt, pick(draw, CODES), pick(draw, COMMAND_TAGS))
        case _:
            return snippet(pick(draw, tuple(SNIPPETS)), pick(draw, COMMAND_TAGS), prompt)


def bodies(draw: st.DrawFn, paths: tuple[str, ...], in_step: bool) -> model.Leaf | model.Runbooks:
    """A leaf or, where there are runbooks to name, a list of them; the same path may appear twice."""
    if not paths or number(draw, 0, 2) < 2:
        return leaves(draw)
    listed = [pick(draw, paths) for _ in range(number(draw, 1, 3))]
    return model.Runbooks(tuple(listed), pick(draw, PROMPTS) if in_step else "")


def substeps(draw: st.DrawFn, outline: model.Outline, step: str, ident: str, paths: tuple[str, ...]) -> model.Substep:
    body = bodies(draw, paths, in_step=False)
    is_list = isinstance(body, model.Runbooks)
    allowed = transitions(draw, model.targets(outline, step, ident), may_be_optimistic=is_list)
    return model.Substep(ident, body, allowed, pick(draw, TITLES))


def steps(
    draw: st.DrawFn, outline: model.Outline, ident: str, children: tuple[str, ...], paths: tuple[str, ...]
) -> model.Step:
    body: model.Leaf | model.Runbooks | model.Substeps
    if children:
        drawn = tuple(substeps(draw, outline, ident, child, paths) for child in children)
        body = model.Substeps(drawn, pick(draw, PROMPTS))
    else:
        body = bodies(draw, paths, in_step=True)
    allowed = transitions(draw, model.targets(outline, ident, None), may_be_optimistic=True)
    return model.Step(ident, body, allowed, pick(draw, TITLES))


def runbooks(draw: st.DrawFn, paths: tuple[str, ...] = (), most: int = 4) -> model.Runbook:
    outline = model.outlines(draw, most)
    drawn = tuple(steps(draw, outline, ident, children, paths) for ident, children in outline.steps)
    return model.Runbook(drawn, pick(draw, TITLES), pick(draw, PROMPTS), pick(draw, NAMES), pick(draw, TITLES))


def files(draw: st.DrawFn, most: int = 2) -> dict[str, model.Runbook]:
    """Up to three runbooks, each including only later ones: no cycle, and a depth of three at most."""
    first = number(draw, 0, len(PATHS) - 1)
    paths = [PATHS[(first + index) % len(PATHS)] for index in range(number(draw, 0, 3))]
    return {path: runbooks(draw, tuple(paths[index + 1 :]), most) for index, path in enumerate(paths)}


def included(runbook: model.Runbook, files: model.Files) -> dict[str, model.Runbook]:
    bodies = [body for step in runbook.steps for body in (step.body, *(child.body for child in step.children))]
    paths = [path for body in bodies if isinstance(body, model.Runbooks) for path in body.paths]
    return {path: found for top in paths for path, found in {top: files[top], **included(files[top], files)}.items()}


SEPARATORS = (". ", " ", ": ", " - ", ") ", " — ", " → ", ".: ")


def styles(draw: st.DrawFn) -> Style:
    names = [field.name for field in fields(Style) if field.name != "separator"]
    return Style(pick(draw, SEPARATORS), **{name: flag(draw) for name in names})


def outcomes(draw: st.DrawFn) -> Outcomes:
    """An outcome function; the simplest has nothing of its own."""
    return Outcomes(tuple(flag(draw) for _ in range(number(draw, 0, 8))), number(draw, 0, 2**16))


def drawn(draw: st.DrawFn, most: int | None = None) -> Drawn:
    """Documents, a style, outcomes and the name of the main document. Few have many steps.

    Every other one has no declarations. In some an operator jumps, where a driver can.
    """
    declares, is_moved = flag(draw), rarely(draw, 3)
    found = files(draw)
    runbook = runbooks(draw, tuple(found), most or pick(draw, MOST_STEPS))
    leads_to = included(runbook, found)
    inside = {path: found[path] for path in found if path in leads_to}
    whole = Drawn(runbook, inside, styles(draw), outcomes(draw), pick(draw, MAINS))
    if is_moved:
        whole = replace(whole, jumps=jumps(draw))
    return declaring(draw, whole) if declares else whole


def declaring(draw: st.DrawFn, whole: Drawn) -> Drawn:
    """The same documents with declarations."""
    main, others, given = declared(draw, whole.runbook, dict(whole.files))
    return replace(whole, runbook=main, files=others, given=given)


# --- Kinds that few targets take --------------------------------------------------------------------------------------


def line_actions(draw: st.DrawFn) -> model.Action | None:
    """What FAIL on a line may do."""
    return pick(draw, (None, None, model.Continue(), model.Stop())) if flag(draw) else model.Stop(messages(draw))


def line_leaves(draw: st.DrawFn) -> model.Leaf:
    """A command that looks at no variable of a run."""
    tag, prompt = pick(draw, COMMAND_TAGS), pick(draw, PROMPTS)
    if flag(draw):
        return model.Leaf(prompt, pick(draw, CODES), tag)
    return snippet(pick(draw, [name for name in SNIPPETS if name != "no variables of others"]), tag, prompt)


def line_transitions(draw: st.DrawFn, *, is_last: bool) -> model.Transitions:
    """What a step on a line may say: FAIL stops or continues, at once or after retries."""
    action = line_actions(draw)
    retries = number(draw, 0, 3)
    on_fail = model.Retry(retries, action or model.Stop()) if retries else action
    return model.Transitions(model.Complete(messages(draw)) if is_last and flag(draw) else None, on_fail)


def lines(draw: st.DrawFn) -> Drawn:
    """Cases whose flow is a line of commands, most of them: the compiler decides."""
    found: list[model.Step] = []
    count = number(draw, 1, 4)
    for place in range(1, count + 1):
        children = tuple(
            model.Substep(str(child), line_leaves(draw), line_transitions(draw, is_last=False), pick(draw, TITLES))
            for child in range(1, pick(draw, (1, 1, 1, 3)))
        )
        body = model.Substeps(children) if children else line_leaves(draw)
        allowed = model.Transitions() if children else line_transitions(draw, is_last=place == count)
        found.append(model.Step(str(place), body, allowed, pick(draw, TITLES)))
    return Drawn(model.Runbook(tuple(found), pick(draw, TITLES)), {}, styles(draw), outcomes(draw), pick(draw, MAINS))


FORWARD_KINDS = (*["nothing"] * 4, "goto", "complete", "stop")


def forward(draw: st.DrawFn, later: tuple[str, ...]) -> model.Action | None:
    """An action that leads on or to an end, never back; None for what is usual."""
    kind = pick(draw, FORWARD_KINDS)
    if kind == "goto" and later:
        return model.Goto(pick(draw, later))
    if kind not in {"complete", "stop"}:
        return None
    return model.Complete(messages(draw)) if kind == "complete" else model.Stop(messages(draw))


def forward_transitions(draw: st.DrawFn, later: tuple[str, ...], *, is_question: bool) -> model.Transitions:
    """What a step may say; NO only stops."""
    on_pass = forward(draw, later)
    if is_question:
        return model.Transitions(on_pass, model.Stop(messages(draw)) if flag(draw) else None)
    action, retries = forward(draw, later), number(draw, 0, 2)
    on_fail = (
        model.Retry(retries, action or model.Stop()) if retries else action or pick(draw, (None, model.Continue()))
    )
    return model.Transitions(on_pass, on_fail)


def questions(draw: st.DrawFn) -> Drawn:
    """Cases whose questions a reviewer can answer, most of them: NO stops, and no flow leads back to a question."""
    count = number(draw, 1, 5)
    names = (*map(str, range(1, count + 1)), *picks(draw, ("Recover", "PASSED"), 0, 1))
    asked = number(draw, 1, count)
    found: list[model.Step] = []
    for index, name in enumerate(names):
        later, is_question = (
            names[index + 1 :],
            name == str(asked) or (name.isdecimal() and pick(draw, (True, True, False, False, False))),
        )
        body = model.Leaf(pick(draw, PROMPTS) or "Go on?") if is_question else line_leaves(draw)
        allowed = forward_transitions(draw, later, is_question=is_question)
        found.append(model.Step(name, body, allowed, pick(draw, TITLES)))
    book = model.Runbook(tuple(found), pick(draw, TITLES))
    whole = Drawn(book, {}, styles(draw), outcomes(draw), pick(draw, MAINS))
    return declaring(draw, whole) if flag(draw) else whole


def jumps(draw: st.DrawFn) -> tuple[tuple[int, int], ...]:
    """Jumps of an operator: as soon as one can after so many visits, to the step of this number."""
    return tuple((number(draw, 0, 8), number(draw, 0, 40)) for _ in range(number(draw, 1, 4)))


KINDS = {"lines": lines, "questions": questions}


def random_runbook(seed: int, kind: str = "") -> Drawn:
    """The runbook of a seed: of some kind, or else of any, mostly of the whole language."""
    draw = cast("st.DrawFn", Chance(seed))
    if not kind and rarely(draw, 4):
        kind = pick(draw, tuple(KINDS))
    return KINDS.get(kind, drawn)(draw)


@st.composite
def cases(draw: st.DrawFn, most: int | None = None) -> Drawn:
    """Runbooks by hypothesis, small ones first."""
    return drawn(draw, most)


def compiled(found: Drawn) -> Program:
    """The program of a runbook, which must have no errors."""
    return compile_documents(found.documents())
