"""Find the steps that a rule is about, and make the rule's machine for one program (P-5 to P-10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compiler.diagnostics.issues import InvalidError
from compiler.diagnostics.model import Issue
from compiler.ir.rules import Event, Rule
from compiler.rules.model import DeclaredRule
from compiler.rules.sentences import Mention, Sentence
from compiler.rules.steps import RuleStep, RuleSteps
from compiler.text.suggestions import did_you_mean, nearest_names

ENDS = {"COMPLETE": ("complete",), "STOP": ("stop",), "END": ("complete", "stop")}
_MOST_NAMED = 10  # steps or outcomes in a message


def resolve(declared: DeclaredRule, sentence: Sentence, steps: RuleSteps) -> Rule | None:
    """Return the machine of a rule, or None if a shared rule doesn't apply to the program.

    Raises:
        InvalidError: The rule names an unknown step or outcome, or doesn't fit the step.
    """
    return _Resolver(declared, sentence, steps).rule()


class _Resolver:
    def __init__(self, declared: DeclaredRule, sentence: Sentence, steps: RuleSteps) -> None:
        self.declared = declared
        self.sentence = sentence
        self.steps = steps
        self.persons: dict[str, None] = {}
        self.issues: list[Issue] = []

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
            name=f"{declared.scope}/{declared.name}" if declared.scope else declared.name,
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
        return tuple(dict.fromkeys(event for one in different.values() for event in self._mentioned(one)))

    def _ends(self, name: str) -> tuple[Event, ...]:
        """Return the ends of the run, or those of the inclusion whose document has the rule (P-8)."""
        of_inclusion = {"complete": "pass", "stop": "fail"}
        scope = self.declared.scope
        return tuple(Event(scope, of_inclusion[word] if scope else word) for word in ENDS[name])

    def _mentioned(self, one: Mention) -> Iterable[Event]:
        if one.kind == "end":
            return self._ends(one.name)
        try:
            found = self._selected(one)
            return list(self._of_steps(one, found))
        except InvalidError as error:
            self.issues += error.issues
            return ()

    def _selected(self, one: Mention) -> list[RuleStep]:
        """Return the steps of a mention; none only for a shared rule (P-10)."""
        scope, steps = self.declared.scope, self.steps
        if one.kind == "step":
            found = self._named(one)
        elif one.kind == "any":
            found = steps.of_kind(one.name, scope)
        else:
            found = steps.having(one.name, steps.labels if one.kind == "label" else steps.secrets, scope)
        reached = [step for step in found if steps.is_reached(step)]
        if reached or self.declared.is_shared:
            return reached
        if found:
            raise self._wrong(one, f"no run reaches {self._shown(one)}", "fix the flow of the document, or the rule")
        raise self._nothing(one)

    def _named(self, one: Mention) -> list[RuleStep]:
        scope, steps = self.declared.scope, self.steps
        full = f"{scope}/{one.name}" if scope else one.name
        if full in steps.by_id:
            return [steps.by_id[full]]
        if parallel := steps.entry_of(full):
            problem = f"`{one.name}` is an entry of step {parallel}, which counts as one step"
            raise self._wrong(one, problem, f"write `{parallel}`")
        found = steps.titled(one.name, scope)
        if len(found) > 1 and not self.declared.is_shared:
            problem = f"{len(found)} steps have the title `{one.name}`"
            raise self._wrong(one, problem, f"use an id: {_listed(step.id for step in found)}")
        return found

    def _nothing(self, one: Mention) -> InvalidError:
        steps, scope = self.steps, self.declared.scope
        if one.kind == "step":
            inner = [name[len(scope) + 1 if scope else 0 :] for name in steps.by_id if name.startswith(scope)]
            titles = [str(node.title) for node in steps.nodes.values()]
            titles += [str(group.title) for group in steps.program.groups]
            known = [*inner, *filter(None, titles), *ENDS]
            remedy = f"the steps are {_listed(inner)}" if inner else "name a step of this document"
            return self._wrong(one, f"unknown step `{one.name}`{did_you_mean(one.name, known)}", remedy)
        if one.kind == "any":
            return self._wrong(one, f"this document has no {one.name}", "name a step, or remove the rule")
        names = steps.labels if one.kind == "label" else steps.secrets
        known = list(dict.fromkeys(name for having in names.values() for name in having))
        remedy = f"add `steps: {{ID: {{{one.kind}s: [{one.name}]}}}}` below `rdc`, with the id of a step"
        return self._wrong(one, f"no step has the {one.kind} `{one.name}`{did_you_mean(one.name, known)}", remedy)

    def _of_steps(self, one: Mention, found: Sequence[RuleStep]) -> Iterator[Event]:
        if self.sentence.form == "at_most" and (composed := [step for step in found if step.is_composed]):
            problem = f"step {composed[0].id} has steps inside, so `at most` can't count it"
            raise self._wrong(one, problem, f"count the first step inside it: `{composed[0].starts[0]}`")
        if not one.word:
            if self.sentence.form == "before" and found and one in self.sentence.opens:
                raise self._without_word(one, found[0])
            yield from (Event(name) for step in found for name in step.starts)
            return
        known = [step for step in found if one.word.casefold() in step.words]
        if found and not known:
            raise self._unknown_word(one, found)
        if one.by_a_person:
            if wrong := [step for step in known if not step.is_answered]:
                problem = f"step {wrong[0].id} is not a question or a gate, so no person answers it"
                raise self._wrong(one, problem, "remove `by a person`, or name a question or a gate")
            self.persons |= {step.id: None for step in known}
        yield from (event for step in known for event in step.gets(one.word))

    def _without_word(self, one: Mention, step: RuleStep) -> InvalidError:
        """Refuse `Backup before Migrate`, which people read as if the backup had to pass (P-3)."""
        target = self.sentence.text[one.start : one.middle]
        better = self.sentence.instead(one, f"{target} {_quoted(step.shown[0])}")
        problem = f"`{target}` means that the step started, not that it passed"
        return self._wrong(one, f"{problem}: left of `before`, a step needs an outcome", f"write `{better}`")

    def _unknown_word(self, one: Mention, found: Sequence[RuleStep]) -> InvalidError:
        words = list(dict.fromkeys(word for step in found for word in step.shown))
        near = nearest_names(one.word.casefold(), [word.casefold() for word in words], 1)
        meant = [word for word in words if [word.casefold()] == near]
        question = f"; did you mean `{meant[0]}`?" if meant else ""
        problem = f"{self._shown(one)} has no outcome `{one.word}`{question}"
        return self._wrong(one, problem, f"the outcomes are {_listed(words)}")

    def _shown(self, one: Mention) -> str:
        target = self.sentence.text[one.start : one.middle]
        return f"step `{target}`" if one.kind == "step" else f"`{target}`"

    def _wrong(self, one: Mention, problem: str, remedy: str) -> InvalidError:
        return InvalidError(Issue((), f"column {one.start + 1}: {problem}", remedy))


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word or "," in word else word


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _MOST_NAMED} more" if len(every) > _MOST_NAMED else ""
    return ", ".join(every[:_MOST_NAMED]) + more
