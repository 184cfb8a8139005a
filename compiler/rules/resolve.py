"""Find the steps that a rule is about, and make the rule's machine for one program (P-9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compiler.diagnostics.issues import InvalidError
from compiler.diagnostics.model import Issue
from compiler.ir.rules import Event, Rule
from compiler.rules.model import DeclaredRule
from compiler.rules.sentences import Mention, Sentence
from compiler.rules.steps import RuleStep, RuleSteps, within
from compiler.text.suggestions import did_you_mean, nearest_name

ENDS = {"COMPLETE": ("complete",), "STOP": ("stop",), "END": ("complete", "stop")}
_MOST_NAMED = 10  # steps or outcomes in a message


def resolve(declared: DeclaredRule, sentence: Sentence, steps: RuleSteps) -> tuple[Rule | None, dict[int, str]]:
    """Return the machine of a rule, or None if a shared rule doesn't apply to the program.

    A part of a shared rule may match nothing: the dictionary has the problems with these parts, by column.

    Raises:
        InvalidError: The rule names an unknown step or outcome, or doesn't fit the step.
    """
    resolver = _Resolver(declared, sentence, steps)
    return resolver.rule(), resolver.unmatched


class _Resolver:
    def __init__(self, declared: DeclaredRule, sentence: Sentence, steps: RuleSteps) -> None:
        self.declared = declared
        self.sentence = sentence
        self.steps = steps
        self.persons: dict[str, None] = {}
        self.issues: list[Issue] = []
        self.unmatched: dict[int, str] = {}

    def rule(self) -> Rule | None:
        declared, sentence = self.declared, self.sentence
        is_always = sentence.form == "always"
        guards = self._ends("END") if is_always else self._events(sentence.guarded)
        opens, closes = self._events(sentence.opens), self._events(sentence.closes)
        if self.issues:
            raise InvalidError(*self.issues)
        if not guards or (sentence.closes and not closes and sentence.form != "before"):
            return None
        return Rule(
            name=declared.full_name,
            sentence=sentence.text,
            guards=guards,
            opens=opens,
            closes=closes,
            is_open=sentence.form == "no" or (is_always and bool(sentence.closes)),
            most=sentence.most,
            needs=sentence.written(*sentence.opens),
            why=declared.why,
            scope=declared.scope,
            persons=tuple(self.persons),
            override=declared.override,
        )

    def _events(self, mentions: Iterable[Mention]) -> tuple[Event, ...]:
        different = {(one.kind, one.name, one.word.casefold(), one.by_a_person): one for one in mentions}
        found: dict[Event, None] = {}
        for one in different.values():
            try:
                found |= dict.fromkeys(self._ends(one.name) if one.kind == "end" else self._of_steps(one))
            except InvalidError as error:
                self.issues += error.issues
        return tuple(found)

    def _ends(self, name: str) -> tuple[Event, ...]:
        """Return the ends of the run, or those of the inclusion whose document has the rule (P-8)."""
        of_inclusion = {"complete": "pass", "stop": "fail"}
        scope = self.declared.scope
        return tuple(Event(scope, of_inclusion[word] if scope else word) for word in ENDS[name])

    def _of_steps(self, one: Mention) -> Iterator[Event]:
        found = self._selected(one)
        if self.sentence.form == "at_most" and (composed := [step for step in found if step.is_composed]):
            problem = f"step {composed[0].id} has steps inside, so `at most` can't count it"
            raise _wrong(one, problem, f"count the first step inside it: `{composed[0].starts[0]}`")
        if not one.word:
            if self.sentence.form == "before" and found and one in self.sentence.opens:
                raise self._without_word(one, found[0])
            yield from (Event(name) for step in found for name in step.starts)
            return
        word = one.word.casefold()
        known = [step for step in found if word in step.outcomes]
        if found and not known:
            words = {shown.casefold(): shown for step in found for shown in step.shown}
            near = nearest_name(word, words)
            question = f"; did you mean `{words[near]}`?" if near else ""
            problem = f"{_shown(one)} has no outcome `{one.word}`{question}"
            self._refuse(one, _wrong(one, problem, f"the outcomes are {_listed(words.values())}"))
        if one.by_a_person:
            if wrong := [step for step in known if not step.is_answered]:
                problem = f"step {wrong[0].id} is not a question or a gate, so no person answers it"
                raise _wrong(one, problem, "remove `by a person`, or name a question or a gate")
            self.persons |= {step.id: None for step in known}
        yield from (event for step in known for event in step.events(word))

    def _without_word(self, one: Mention, step: RuleStep) -> InvalidError:
        """Refuse `Backup before Migrate`, which people read as if the backup had to pass (P-3)."""
        word = step.shown[0]
        quoted = f'"{word}"' if " " in word or "," in word else word
        better = self.sentence.instead(one, f"{one.target} {quoted}")
        problem = f"`{one.target}` means that the step started, not that it passed"
        return _wrong(one, f"{problem}: left of `before`, a step needs an outcome", f"write `{better}`")

    def _selected(self, one: Mention) -> Sequence[RuleStep]:
        """Return the steps of a mention that runs reach; none only for a shared rule (P-10)."""
        found = self._named(one) if one.kind == "step" else self._having(one)
        reached = [step for step in found if not self.steps.reached.keys().isdisjoint(step.starts)]
        if found and not reached:
            remedy = "fix the flow of the document, or the rule"
            self._refuse(one, _wrong(one, f"no run reaches {_shown(one)}", remedy))
        elif not found:
            self._refuse(one, self._nothing(one))
        return reached

    def _refuse(self, one: Mention, error: InvalidError) -> None:
        """Refuse a part that matches nothing. That of a shared rule may match in another document."""
        if not self.declared.is_shared:
            raise error
        self.unmatched[one.start + 1] = str(error)

    def _having(self, one: Mention) -> list[RuleStep]:
        found = self.steps.selected.get((one.kind, one.name), {})
        return [step for name, step in found.items() if within(name, self.declared.scope)]

    def _named(self, one: Mention) -> list[RuleStep]:
        scope, by_id = self.declared.scope, self.steps.by_id
        full = f"{scope}/{one.name}" if scope else one.name
        if full in by_id:
            return [by_id[full]]
        if parallel := self.steps.entry_of(full):
            problem = f"`{one.name}` is an entry of step {parallel}, which counts as one step"
            raise _wrong(one, problem, f"write `{parallel}`")
        found = self._having(one)
        if len(found) > 1 and not self.declared.is_shared:
            problem = f"{len(found)} steps have the title `{one.name}`"
            raise _wrong(one, problem, f"use an id: {_listed(step.id for step in found)}")
        return found

    def _nothing(self, one: Mention) -> InvalidError:
        known = [name for kind, name in self.steps.selected if kind == one.kind and name]
        if one.kind == "step":
            scope = self.declared.scope
            inner = [name.removeprefix(f"{scope}/") for name in self.steps.by_id if within(name, scope)]
            remedy = f"the steps are {_listed(inner)}" if inner else "name a step of this document"
            return _wrong(one, f"unknown step `{one.name}`{did_you_mean(one.name, [*inner, *known, *ENDS])}", remedy)
        if one.kind == "any":
            return _wrong(one, f"no step is of the kind `{one.target}`", "name a step, or remove the rule")
        remedy = f"add `steps: {{ID: {{{one.kind}s: [{one.name}]}}}}` below `rdc`, with the id of a step"
        return _wrong(one, f"no step has the {one.kind} `{one.name}`{did_you_mean(one.name, known)}", remedy)


def _shown(one: Mention) -> str:
    return f"step `{one.target}`" if one.kind == "step" else f"`{one.target}`"


def _wrong(one: Mention, problem: str, remedy: str) -> InvalidError:
    return InvalidError(one.issue(problem, remedy))


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _MOST_NAMED} more" if len(every) > _MOST_NAMED else ""
    return ", ".join(every[:_MOST_NAMED]) + more
