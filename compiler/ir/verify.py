"""The verifier: the rules of programs, checked after lowering and passes (docs/reference/program-rules.md)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice, pairwise
from typing import NamedTuple

from compiler.diagnostics.model import DataPath, Issue
from compiler.ir import verify_tasks as wellformed
from compiler.ir.edges import Add, Effect, Keep, OutcomeTest, Test
from compiler.ir.graph import loop_regions
from compiler.ir.program import Node, Program, parts_at, scope_members, texts_of
from compiler.ir.tasks import IDLE, End, Shell, alphabet
from compiler.ir.texts import Text, is_identifier, is_reserved, is_unsettable, joined
from compiler.text.suggestions import did_you_mean

MOST_SHOWN = 100  # per rule; a broken program can break a rule at every node

_MOST_NAMED = 3  # broken rules in the message of an error

_DECLARE = "declare it, for example a counter under `registers` or a string under `slots`"


class Broken(NamedTuple):
    """A rule that a program breaks: its number, the id of the node, or "" for the program, and what is wrong."""

    rule: str
    node: str
    issue: Issue

    def __str__(self) -> str:
        """Return `rule I2, node 3: …`."""
        return f"rule {self.rule}{self.node and f', node {self.node}'}: {self.issue.message}"


class InvalidProgramError(Exception):
    """A document was compiled, up to a stage, to a program that breaks rules. This is always a bug in rdc."""

    def __str__(self) -> str:
        """Return the first broken rules, the document, and a request to report the bug."""
        document, stage, broken = self.args
        named = "; ".join(map(str, broken[:_MOST_NAMED]))
        more = f"; and {len(broken) - _MOST_NAMED} more" if len(broken) > _MOST_NAMED else ""
        return f"{named}{more}. {document} has a broken graph after {stage}. This is a bug in rdc; please report it"


def verify(program: Program, stage: str = "lowering") -> None:
    """Check a program that a stage of the compiler made.

    Raises:
        InvalidProgramError: The program breaks rules.
    """
    if found := issues(program):
        document = program.sources[0].path if program.sources else program.name
        raise InvalidProgramError(document, stage, found)
    program.analyses["verified"] = True


def issues(program: Program) -> list[Broken]:
    """Return the rules that a program breaks, with every place, up to a limit for each rule."""
    return [
        Broken(number, program.nodes[int(issue.path[1])].id if issue.path[:1] == ("nodes",) else "", issue)
        for number, rule in RULES.items()
        for issue in islice(rule(program), MOST_SHOWN)
    ]


Issues = Iterator[Issue]
Rule = Callable[[Program], Issues]


def _duplicates(program: Program, kind: str, key: str, *fields: str) -> Issues:
    first: dict[str, DataPath] = {}
    for field in fields:
        for place, item in enumerate(parts_at(program, field)):
            name, path = (getattr(item, key), (field, place, key)) if key else (item, (field, place))
            if not name:
                yield Issue(path, f"one of the {kind} has an empty name")
            if (before := first.setdefault(name, path)) is not path:
                yield Issue(path, f"two {kind} are named `{name}`", "rename one of them", first=before)


# --- The graph --------------------------------------------------------------------------------------------------------


def _graph(program: Program) -> Issues:
    """Check that ids are unique, and that the entry and all edges lead to nodes (I1)."""
    yield from _duplicates(program, "nodes", "id", "nodes")
    ids = {node.id: None for node in program.nodes}
    if not program.sources:
        yield Issue(("sources",), "the program has no source")
    if program.entry not in ids:
        remedy = f"set `entry` to the id of a node{did_you_mean(program.entry, ids)}"
        yield Issue(("entry",), f"the entry {program.entry} is not a node", remedy)
    for place, node in enumerate(program.nodes):
        for number, edge in enumerate(node.edges):
            if edge.target not in ids:
                path, remedy = ("nodes", place, "edges", number, "target"), did_you_mean(edge.target, ids)
                problem = f"an edge leads to the unknown node {edge.target}"
                yield Issue(path, problem, f"add a node with this id{remedy}")


def _totality(program: Program) -> Issues:
    """Check that every outcome has an edge that tests only this outcome, and that runs don't pass in circles (I2)."""
    for place, node in enumerate(program.nodes):
        if isinstance(node.task, End):
            if len(node.edges) > 1 or any(edge.guard for edge in node.edges):
                yield Issue(("nodes", place), "an end can have only one edge, without a guard")
            continue
        for word in _open_outcomes(node):
            problem = "there may be no edge to take" + (f" for the outcome {word}" if word else "")
            yield Issue(("nodes", place), problem, "add a last edge without a `guard`, or an edge for each outcome")
    idle = {node.id: place for place, node in enumerate(program.nodes) if type(node.task) in IDLE}
    following = {name: program.nodes[place].edges for name, place in idle.items()}
    inside = {name: {edge.target: None for edge in edges if edge.target in idle} for name, edges in following.items()}
    for region in loop_regions(inside):
        yield Issue(("nodes", min(map(idle.__getitem__, region))), "some nodes without a task form a cycle")


def _open_outcomes(node: Node) -> list[str]:
    """Return the outcomes after which there may be no edge to take; "" for a node without a task."""
    sure = set()
    for edge in node.edges:
        if not edge.guard:
            return []
        words = {test.word if isinstance(test, OutcomeTest) else None for test in edge.guard}
        if len(words) == 1:
            sure |= words
    return [word for word in alphabet(node.task) or ("",) if word not in sure]


def _outcomes(program: Program) -> Issues:
    """Check that guards test only outcomes that the task can have (I17)."""
    for place, node in enumerate(program.nodes):
        tested = {test.word for edge in node.edges for test in edge.guard if isinstance(test, OutcomeTest)}
        known = alphabet(node.task)
        for word in sorted(tested.difference(known)):
            problem = f"the task has no outcome {word}" if known else "a node without a task has no outcome"
            listed = ", ".join(f"`{one}`" for one in known)
            yield Issue(("nodes", place), problem, listed and f"use one of {listed}")


# --- Registers and texts ----------------------------------------------------------------------------------------------


def _counters(program: Program) -> Issues:
    """Check that counters and their scopes are declared once, and that groups are inside earlier ones (I4)."""
    yield from _duplicates(program, "registers or slots", "name", "registers", "slots")
    yield from _duplicates(program, "groups", "id", "groups")
    yield from _groups(program)
    declared = _declared(program)
    for place, node in enumerate(program.nodes):
        if node.retries is not None and node.retries not in declared["counter"]:
            yield _undeclared(("nodes", place), "counter", node.retries)
    yield from _uses(program, "counter", "scope")


def _groups(program: Program) -> Issues:
    groups = {""}
    for place, group in enumerate(program.groups):
        if group.parent not in groups:
            problem = f"the group {group.id} is in {group.parent}, which is not declared before it"
            yield Issue(("groups", place), problem)
        groups.add(group.id)
    for place, node in enumerate(program.nodes):
        if node.group not in groups:
            yield _undeclared(("nodes", place), "group", node.group)


def _slots(program: Program) -> Issues:
    """Check that edges use declared slots (I5)."""
    return _uses(program, "slot")


_USES = {
    **dict.fromkeys(("counter", "set", "add", "at_least"), ("counter", "register")),
    **dict.fromkeys(("slot", "keep", "clear"), ("slot", "slot")),
    "reset": ("scope", "scope"),
    "outcome": ("", "word"),
}
"""By the kind of a test or effect, the kind of register that it uses, and the field with its name."""


def _uses(program: Program, *kinds: str) -> Issues:
    declared = {kind: names for kind, names in _declared(program).items() if kind in kinds}
    for place, node in enumerate(program.nodes):
        for number, edge in enumerate(node.edges):
            if edge.effects or any(test.kind != "outcome" for test in edge.guard):
                yield from _unknown((*edge.guard, *edge.effects), declared, ("nodes", place, "edges", number))


def _unknown(parts: Iterable[Test | Effect], declared: Declared, path: DataPath, about: str = "") -> Issues:
    for part in parts:
        kind, field = _USES[part.kind]
        names = [getattr(part, field)]
        if isinstance(part, Add) and isinstance(part.amount, str):
            names.append(part.amount)
        for name in names:
            if kind in declared and name not in declared[kind]:
                yield _undeclared(path, kind, name, about)


def _undeclared(path: DataPath, kind: str, name: str, about: str = "") -> Issue:
    return Issue(path, f"{about}the {kind} {name} is not declared", _DECLARE)


Declared = Mapping[str, Collection[str]]


def _declared(program: Program) -> Declared:
    counters = {counter.name for counter in program.counters}
    slots = {slot.name for slot in program.slots}
    scopes = scope_members(program.counters)
    return {"counter": counters, "scope": scopes, "slot": slots, "register": counters | slots}


def _texts(program: Program) -> Issues:
    """Check that texts are well-formed, so that equal texts compare equal, and use declared registers (I6)."""
    registers = _declared(program)["register"]
    for place, node in enumerate(program.nodes):
        yield from _text_issues(texts_of(node), registers, ("nodes", place))
    for place, group in enumerate(program.groups):
        yield from _text_issues((group.title, group.prompt), registers, ("groups", place), f"the group {group.id}: ")


def _text_issues(texts: Iterable[Text], registers: Collection[str], path: DataPath, about: str = "") -> Issues:
    for text in texts:
        parts = text.parts
        if not parts or (len(parts) == 1 and type(parts[0]) is str and parts[0] and "\0" not in parts[0]):
            continue  # the usual case
        if text != joined(parts):
            yield Issue(path, f"{about}a text has an empty string, or two adjacent strings")
        if any("\0" in part for part in parts if isinstance(part, str)):
            yield Issue(path, f"{about}a text contains a NUL character, which no target supports")
        for reference in text.references:
            if reference.register not in registers:
                yield _undeclared(path, "register", reference.register, about)


def _variables(program: Program) -> Issues:
    """Check the names of variables, and that commands and variables refer to registers (I7)."""
    for place, given in enumerate(program.inputs):
        yield from _name_issues(("inputs", place, "name"), given.name, is_taken=False)
    for place, secret in enumerate(program.secrets):
        yield from _name_issues(("secrets", place), secret, is_taken=is_reserved(secret))
    if not program.notify.isprintable():
        yield Issue(("notify",), "the command `notify` has a character that cannot be printed")
    declared = _declared(program)
    for place, node in enumerate(program.nodes):
        if isinstance(node.task, Shell):
            yield from _command_issues(node.task.command, declared["counter"], ("nodes", place))
        for path, name in variables_at(place, node):
            is_taken = is_unsettable(name) if path[2] == "constants" else is_reserved(name)
            yield from _name_issues(path, name, is_taken=is_taken)
        for variable in node.variables:
            if variable.register not in declared["register"]:
                yield _undeclared(("nodes", place), "register", variable.register)


def variables_at(place: int, node: Node) -> Iterator[tuple[DataPath, str]]:
    """Yield the names of a node's variables, constants and outputs, with their paths."""
    for number, item in enumerate(node.variables):
        yield ("nodes", place, "variables", number, "name"), item.name
    for number, constant in enumerate(node.constants):
        yield ("nodes", place, "constants", number, "name"), constant.name
    for number, edge in enumerate(node.edges):
        for at, effect in enumerate(edge.effects):
            if isinstance(effect, Keep) and effect.name:
                yield ("nodes", place, "edges", number, "effects", at, "name"), effect.name


def _name_issues(path: DataPath, name: str, *, is_taken: bool) -> Issues:
    if not is_identifier(name):
        remedy = "use letters, digits and `_`, and start with a letter or `_`"
        yield Issue(path, f"`{name}` is not a valid variable name", remedy)
    elif is_taken:
        yield Issue(path, f"the name `{name}` is reserved by the shell, another tool or rdc", "use another name")


def _command_issues(command: Text, counters: Collection[str], path: DataPath) -> Issues:
    for item in command.references:
        if item.register not in counters:
            yield _undeclared(path, "counter", item.register)
        if item.before or item.after:
            yield Issue(path, "a reference in a command has `before` or `after`")


def _constants(program: Program) -> Issues:
    """Check that a node's variables and constants have different names (I25)."""
    for place, node in enumerate(program.nodes):
        names = [*(item.name for item in node.variables), *(item.name for item in node.constants)]
        if len(names) != len(set(names)):
            yield Issue(("nodes", place), "two variables have the same name")


def _secrets(program: Program) -> Issues:
    """Check that secrets are unique, and that no variable or output has the name of one (I26)."""
    yield from _duplicates(program, "secrets", "", "secrets")
    secrets = set(program.secrets)
    for place, node in enumerate(program.nodes if secrets else ()):
        for path, name in variables_at(place, node):
            if name in secrets:
                yield Issue(path, f"{name} is a secret, so a variable or output cannot have this name")


def _outputs(program: Program) -> Issues:
    """Check that edges keep only what their task has (I19)."""
    for place, node in enumerate(program.nodes):
        for number, edge in enumerate(node.edges):
            for effect in edge.effects:
                if isinstance(effect, Keep):
                    path = ("nodes", place, "edges", number)
                    yield from (Issue(path, problem) for problem in _keep_issues(node, effect))


def _keep_issues(node: Node, effect: Keep) -> Iterator[str]:
    if type(node.task) in IDLE:
        yield "a node without a task cannot store anything"
    if (effect.of == "output") != bool(effect.name):
        yield "`keep` needs a `name` for an output, and none for an answer"
    if effect.of == "output" and not isinstance(node.task, Shell):
        yield "only commands have outputs"
    if effect.of == "output" and (effect.extract is not None or effect.options):
        yield "an output cannot have `extract` or `options`"


# --- Parts of the program ---------------------------------------------------------------------------------------------


def _inputs(program: Program) -> Issues:
    """Check that each input has a slot with its name, and a valid default (I8)."""
    yield from _duplicates(program, "inputs", "name", "inputs")
    slots = {slot.name for slot in program.slots}
    for place, declared in enumerate(program.inputs):
        about = f"the input {declared.name}"
        if declared.name not in slots:
            yield Issue(("inputs", place), f"{about} has no slot with the same name")
        for field, problem in wellformed.input_issues(declared):
            yield Issue(("inputs", place, field), f"{about}: {problem}")


def _limit(program: Program) -> Issues:
    """Check the limit of tasks (I24)."""
    if program.limit is not None and program.limit < 1:
        yield Issue(("limit",), "the limit is below 1")


def _jumps(program: Program) -> Issues:
    """Check that operator's jumps name declared parts, enter the outermost group first, and store no text (I27)."""
    yield from _duplicates(program, "jumps", "id", "jumps")
    nodes = {node.id for node in program.nodes}
    places = nodes | {group.id for group in program.groups}
    declared, depth = _declared(program), {"": 0}
    for group in program.groups:
        depth[group.id] = depth.get(group.parent, 0) + 1
    for place, jump in enumerate(program.jumps):
        about, path = f"the jump to {jump.id}", ("jumps", place)
        if jump.target not in nodes or not places.issuperset((jump.id, *(item.group for item in jump.entering))):
            yield Issue(path, f"{about} names an unknown node or group")
        entered = [depth.get(item.group, 0) for item in jump.entering]
        if any(inner <= outer for outer, inner in pairwise(entered)):
            yield Issue(path, f"{about} doesn't enter the outermost group first")
        if any(isinstance(effect, Keep) for effect in jump.all_effects):
            yield Issue(path, f"{about} stores a text, but a jump has none")
        yield from _unknown(jump.all_effects, declared, path, f"{about}: ")


def _artifact(program: Program) -> Issues:
    """Check the slot and the type of the artifact (I28)."""
    if program.artifact is None:
        return
    declared = _declared(program)
    if program.artifact.slot not in declared["slot"]:
        yield _undeclared(("artifact",), "slot", program.artifact.slot, "the artifact: ")
    yield from _text_issues([program.artifact.type], declared["register"], ("artifact",), "the artifact: ")


def _contexts(program: Program) -> Issues:
    """Check that contexts come after the context above them, and that prompts name declared contexts (I31)."""
    yield from _duplicates(program, "contexts", "name", "contexts")
    registers, known = _declared(program)["register"], {""}
    for place, context in enumerate(program.contexts):
        about, path = f"the context {context.name}", ("contexts", place)
        if context.after not in known:
            problem = f"{about} comes after {context.after}, which is not declared before it"
            yield Issue(path, problem, "move the context above all contexts that name it under `after`")
        known.add(context.name)
        yield from _text_issues([context.text], registers, path, f"{about}: ")
    for at, agent in wellformed.agents_at(program):
        if agent.context not in known:
            yield _undeclared(at, "context", agent.context)


RULES: Mapping[str, Rule] = {
    "I1": _graph,
    "I2": _totality,
    "I4": _counters,
    "I5": _slots,
    "I6": _texts,
    "I7": _variables,
    "I8": _inputs,
    "I10": wellformed.ask_issues,
    "I12": wellformed.reading_issues,
    "I13": wellformed.argument_issues,
    "I14": wellformed.parallel_issues,
    "I17": _outcomes,
    "I19": _outputs,
    "I21": wellformed.setting_issues,
    "I24": _limit,
    "I25": _constants,
    "I26": _secrets,
    "I27": _jumps,
    "I28": _artifact,
    "I29": wellformed.report_issues,
    "I30": wellformed.folder_issues,
    "I31": _contexts,
    "I32": wellformed.stepspec_issues,
    "I33": wellformed.rule_issues,
}
"""The rules by number. Each takes time in proportion to the size of the program."""
