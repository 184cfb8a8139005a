"""The values of registers and outcomes that tests distinguish, as bits of one number.

A counter has two bits: the lower one is set if it can be zero, the higher one if it can be more. A slot has one bit for
each string that a test names, and one for all others.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from math import prod

from msgspec import Struct

from compiler.ir.answers import of_text, usual
from compiler.ir.edges import (
    Add,
    AtLeast,
    Clear,
    CounterTest,
    Effect,
    Keep,
    Reset,
    Set,
    SlotTest,
    Test,
    counter_effects,
)
from compiler.ir.program import Counter, Input, Node, Program, scope_members
from compiler.ir.semantics import Outcome
from compiler.ir.tasks import Ask, Verdict, alphabet
from runtime_shim.values.fitting import unfit

OTHER = "other text"
"""A string that no test distinguishes from others, unless a test uses exactly this one."""

Distinguished = Mapping[str, Sequence[str]]
"""The strings that tests distinguish for each tested slot, including one other string."""


def distinguished(program: Program) -> Distinguished:
    """Return the strings that a program's tests distinguish, by slot."""
    found: dict[str, dict[str, None]] = {}
    for node in program.nodes:
        for test in (test for edge in node.edges for test in edge.guard if isinstance(test, SlotTest)):
            found.setdefault(test.slot, {})[test.text] = None
    return {slot: (*strings, _other(strings)) for slot, strings in found.items()}


def _other(strings: Mapping[str, None]) -> str:
    other = OTHER
    while other in strings:
        other += "'"
    return other


class Split(Struct, frozen=True):
    """The values with which a test can hold, and those with which it can fail."""

    holds: int
    fails: int


class Domains:
    """The bits of a program's registers. `every` has all of them, and `initial` those at the start.

    `strings` are the possible strings of slots. They are the same everywhere, because a task can store any string.
    """

    def __init__(self, program: Program, counters: Iterable[Counter]) -> None:
        counters = tuple(counters)
        self.counters = {register.name: 1 << 2 * place for place, register in enumerate(counters)}
        self.size = 2 * len(counters)
        self.initial = self._start(counters)
        self._scopes = {
            scope: (sum(3 * self.counters[one.name] for one in found), self._start(found))
            for scope, found in scope_members(counters).items()
        }
        self.every = (1 << self.size) - 1
        self.strings = 0
        self._texts: dict[str, dict[str, int]] = {}
        for slot, strings in distinguished(program).items():
            self._texts[slot] = {text: 1 << self.size + place for place, text in enumerate(strings)}
            self.size += len(strings)
            self.strings |= sum(self._texts[slot].values())
        for declared in _unchanging(program) if self._texts else ():
            self._limit(declared)
        self._splits: dict[Test, Split | None] = {}

    def more(self, counter: str) -> int:
        """Return the bit of a counter that is more than zero."""
        return 2 * self.counters[counter]

    def split(self, test: Test) -> Split | None:
        """Return the values with which a test can hold or fail, or None if its register is not followed."""
        if test not in self._splits:
            self._splits[test] = self._split(test)
        return self._splits[test]

    def after(self, values: int, effects: Iterable[Effect]) -> int:
        """Return the values after effects, applied in order."""
        for effect in counter_effects(effects):
            if isinstance(effect, Reset):
                members, start = self._scopes.get(effect.scope, (0, 0))
                values = values & ~members | start
            elif zero := self.counters.get(effect.register):
                values = values & ~(3 * zero) | self._after(values, effect, zero)
        return values

    def _after(self, values: int, effect: Set | Add | AtLeast, zero: int) -> int:
        if isinstance(effect, Set):
            return zero << (effect.value > 0)
        number = effect.amount if isinstance(effect, Add) else effect.value
        same, more = values & 3 * zero, 2 * zero
        if isinstance(number, int):
            return more if number > 0 else same
        added = self.counters.get(number)
        if added is None:  # its value is unknown
            return same | more
        return (same if values & added else 0) | (more if values & 2 * added else 0)

    def _split(self, test: Test) -> Split | None:
        if isinstance(test, SlotTest):
            strings = self._texts[test.slot]
            equal, unequal = strings[test.text], sum(bit for text, bit in strings.items() if text != test.text)
            return Split(equal, unequal) if test.operator == "==" else Split(unequal, equal)
        if not isinstance(test, CounterTest) or test.register not in self.counters:
            return None
        zero = self.counters[test.register]
        is_zero = {"<": test.value > 0, ">=": test.value <= 0, "=": test.value == 0}[test.operator]
        can_hold = test.operator == ">=" or test.value > (test.operator == "<")
        can_fail = test.operator != ">=" or test.value > 1
        return Split(zero * is_zero + 2 * zero * can_hold, zero * (not is_zero) + 2 * zero * can_fail)

    def _start(self, counters: Iterable[Counter]) -> int:
        return sum(self.counters[counter.name] << (counter.initial > 0) for counter in counters)

    def _limit(self, declared: Input) -> None:
        """Leave out the strings that an input with few values never has (I8)."""
        values = {"choice": declared.options, "boolean": ("true", "false")}.get(declared.type, ())
        strings = self._texts.get(declared.name)
        if not values or not strings:
            return
        if not declared.required and declared.default is None:
            values = (*values, "")
        *_, others = strings.values()
        self.strings &= ~sum(strings.values())
        for text in values:
            self.strings |= strings.get(text, others)


def find_domains(program: Program, also: Collection[str] = ()) -> Domains:
    """Return the domains of tested registers; `also` are counters to follow without a test.

    If a counter may fall below zero, none is followed; no front end generates such programs.
    """
    if not program.counters or may_fall(program):
        return Domains(program, ())
    wanted = _worth_following(program).union(also)
    return Domains(program, (counter for counter in program.counters if counter.name in wanted))


def _worth_following(program: Program) -> set[str]:
    """Return the tested counters, except those that count the visits of one node, whose tests may or may not hold."""
    initial = {counter.name: counter.initial for counter in program.counters}
    testers: dict[str, set[str]] = {}
    others: set[str] = set()
    for node in program.nodes:
        for test in (test for edge in node.edges for test in edge.guard if test.kind == "counter"):
            testers.setdefault(test.register, set()).add(node.id)
            if test.operator != "<" or test.value <= initial[test.register]:
                others.add(test.register)
    for effect in _changes(program):
        name = effect.register
        counts = effect.value == initial[name] if isinstance(effect, Set) else effect == Add(name, 1)
        others |= set() if counts else {name}
    return {name for name, nodes in testers.items() if len(nodes) > 1 or name in others}


def may_fall(program: Program) -> bool:
    """Return whether a counter may fall below zero: one starts there, or a negative number is set or added."""
    numbers = [effect.amount if isinstance(effect, Add) else effect.value for effect in _changes(program)]
    numbers += [counter.initial for counter in program.counters]
    return any(isinstance(number, int) and number < 0 for number in numbers)


def _changes(program: Program) -> Iterator[Set | Add | AtLeast]:
    effects = [edge.effects for node in program.nodes for edge in node.edges if edge.effects]
    for found in (*effects, *(jump.all_effects for jump in program.jumps)):
        yield from (effect for effect in counter_effects(found) if not isinstance(effect, Reset))


def _unchanging(program: Program) -> Iterator[Input]:
    effects = (effect for node in program.nodes for edge in node.edges for effect in edge.effects)
    jumped = (effect for jump in program.jumps for effect in jump.all_effects)
    changed = {effect.slot for effect in (*effects, *jumped) if isinstance(effect, Keep | Clear)}
    return (declared for declared in program.inputs if declared.name not in changed)


MOST = 256  # the most outcomes per node, and the most starts per program, to try

SIMPLE = ("0", "1", "true", "false", "x")
"""Values that match most input types."""


def outcomes_by_node(program: Program) -> tuple[dict[str, list[Outcome]], bool]:
    """Return the distinguishable outcomes of each node with a task, in the order of its words; and if these are all."""
    known = distinguished(program)
    found: dict[str, list[Outcome]] = {}
    is_complete = True
    for node in (node for node in program.nodes if alphabet(node.task)):
        most = max(1, MOST // len(alphabet(node.task)))
        of_words = [list(islice(outcomes, most + 1)) for outcomes in _outcomes(node, known)]
        found[node.id] = [outcome for outcomes in of_words for outcome in outcomes[:most]]
        is_complete = is_complete and all(len(outcomes) <= most for outcomes in of_words)
    return found, is_complete


def _outcomes(node: Node, known: Distinguished) -> Iterator[Iterator[Outcome]]:
    keeps = [e for edge in node.edges for e in edge.effects if isinstance(e, Keep) and e.slot in known] if known else []
    names = dict.fromkeys(keep.name for keep in keeps if keep.of == "output")
    choices = [_values(name, keeps, known) for name in names]
    for word in alphabet(node.task):
        yield _of_word(word, _texts(node, word, keeps, known), choices)


def _of_word(word: str, texts: list[str], choices: list[list[tuple[str, str] | None]]) -> Iterator[Outcome]:
    for text in texts:
        for values in product(*choices):
            yield Outcome(word, text, tuple(value for value in values if value))


def _values(name: str, keeps: list[Keep], known: Distinguished) -> list[tuple[str, str] | None]:
    texts = dict.fromkeys(text for keep in keeps if keep.name == name for text in known[keep.slot])
    return [None, *((name, text) for text in texts)]


def _texts(node: Node, word: str, keeps: list[Keep], known: Distinguished) -> list[str]:
    if isinstance(node.task, Ask) and node.task.question in {"confirm", "select"}:
        return [word]
    answers = [keep for keep in keeps if keep.of == "answer"]
    found = dict.fromkeys(_answer(keep, text) for keep in answers for text in known[keep.slot])
    if isinstance(node.task, Ask) and node.task.value:
        tested = {text for keep in answers for text in known[keep.slot][:-1]}
        numbers = map(str, range(len(tested) + 1))  # not all of them are tested
        others = [usual(node.task).text, *node.task.value.options, *numbers] if word == Verdict.PASS else [word]
        fitting = [text for text in (*found, *others) if of_text(node.task, text) == Outcome(word, text)]
        other = [text for text in fitting if text not in tested][:1]  # it represents all that no test names
        return [text for text in found if text in tested and text in fitting] + other or others[:1]
    return list(found) or [""]


def _answer(keep: Keep, text: str) -> str:
    return text if keep.extract is None else json.dumps({keep.extract: text}, ensure_ascii=False)


def _fitting(declared: Input, texts: Sequence[str]) -> list[str]:
    """Return the strings that an input can have; another one may replace the last, which represents all others."""
    known = [text for text in texts[:-1] if not _unfit(declared, text)]
    numbers = map(str, range(len(texts)))  # not all of them are tested
    others = (text for text in (texts[-1], *declared.options, *SIMPLE, *numbers) if text not in texts[:-1])
    return known + [text for text in others if not _unfit(declared, text)][:1]


def _unfit(declared: Input, text: str) -> str:
    return unfit(text, declared.type, declared.options, declared.pattern)


def beginnings(program: Program) -> Iterator[dict[str, str]]:
    """Yield distinguishable input values for the start of a run, starting with the defaults."""
    yield {}
    if choices := _choices_of_inputs(program):
        yield from (dict(values) for values in islice(product(*choices), MOST))


def valid_beginnings(program: Program) -> Iterator[dict[str, str]]:
    """Yield the beginnings of valid runs: without the one that leaves out a required input that a test reads."""
    known = distinguished(program)
    wanted = {one.name for one in program.inputs if one.name in known and one.required and one.default is None}
    return (given for given in beginnings(program) if wanted <= given.keys())


def has_few_beginnings(program: Program) -> bool:
    """Return whether `beginnings` leaves none out."""
    known = distinguished(program)
    tested = (declared for declared in program.inputs if declared.name in known)
    has_others = all(_has_other(declared, known[declared.name]) for declared in tested)
    return has_others and prod(map(len, _choices_of_inputs(program))) <= MOST


def _has_other(declared: Input, strings: Sequence[str]) -> bool:
    """Return whether a fitting string represents all others, which no test names. A choice or boolean may have none."""
    is_listed = declared.type in {"choice", "boolean"}
    return is_listed or any(text not in strings[:-1] for text in _fitting(declared, strings))


def _choices_of_inputs(program: Program) -> list[list[tuple[str, str]]]:
    known = distinguished(program)
    tested = [declared for declared in program.inputs if declared.name in known]
    return [[(declared.name, text) for text in _fitting(declared, known[declared.name])] for declared in tested]
