"""Resolve and prove the declared rules of one document, and report what is wrong with them (P-10, P-14)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat

from compiler.diagnostics.issues import InvalidError, OptionSource
from compiler.diagnostics.model import Diagnostic, Issue
from compiler.ir.program import Program
from compiler.ir.rules import Rule
from compiler.rules.model import Applied, DeclaredRule, Names, Proof, RuleResult, Status
from compiler.rules.prove import prove
from compiler.rules.report import diagnostics
from compiler.rules.resolve import resolve
from compiler.rules.sentences import read_sentence
from compiler.rules.steps import RuleSteps, Tables, secrets_of
from compiler.text.source import Source

SENTENCE, UNRESOLVED = "RD422", "RD423"
_DOES_NOT_APPLY = Proof(Status.NOT_APPLICABLE)
_NOT_TRIED = Proof(Status.NOT_PROVEN, reason="another rule of the document has an error")

_Resolved = tuple[DeclaredRule, Rule | None, Mapping[int, str]]


def apply_rules(
    program: Program | None,
    declared: Sequence[DeclaredRule],
    labels: Names,
    tables: Tables,
    sources: Mapping[str, Source],
) -> Applied:
    """Return a program with the rules that hold there; `sources` are those of the program by name.

    The rules that a program in JSON already has are proved again.
    """
    compiled = dict(_compiled(program, sources)) if program else {}
    found = [*_repeated(declared, compiled)]
    steps = RuleSteps(program, labels, secrets_of(program, tables)) if program else None
    titles = {name for kind, name in steps.selected if kind == "step"} if steps and declared else ()
    resolved: list[_Resolved] = []
    wrong: list[RuleResult] = []
    for one in declared:
        sentence = read_sentence(one.sentence, titles)
        if isinstance(sentence, Issue):
            found.append(_diagnostic(SENTENCE, one, sentence))
            wrong.append(RuleResult(one, None, _NOT_TRIED))
        elif steps:
            try:
                resolved.append((one, *resolve(one, sentence, steps)))
            except InvalidError as error:
                found += (_diagnostic(UNRESOLVED, one, issue) for issue in error.issues)
                wrong.append(RuleResult(one, None, _NOT_TRIED))
    if program is None or found:
        # The project asks about its rules even if others are wrong. A document may be included twice.
        results = (*_results(resolved, repeat(_NOT_TRIED)), *wrong) if program else ()
        return Applied(None, results, tuple(dict.fromkeys(found)))
    resolved = _with_compiled(resolved, compiled)
    results = tuple(_results(resolved, iter(prove(program, [rule for _, rule, _ in resolved if rule]))))
    kept = tuple(rule for one, rule, _ in resolved if rule and not one.is_tried)
    return Applied(program.with_(rules=kept), results, tuple(diagnostics(program, results, sources)))


def _results(resolved: Sequence[_Resolved], proofs: Iterator[Proof]) -> Iterator[RuleResult]:
    for one, rule, unmatched in resolved:
        yield RuleResult(one, rule, next(proofs) if rule else _DOES_NOT_APPLY, unmatched)


def _with_compiled(resolved: Sequence[_Resolved], compiled: Mapping[DeclaredRule, Rule]) -> list[_Resolved]:
    """Add the rules of a program in JSON, which has no labels; a shared rule that applies replaces its copy there."""
    own = {one.name for one, rule, _ in resolved if rule}
    left: list[_Resolved] = [(one, rule, {}) for one, rule in compiled.items() if one.name not in own]
    names = {one.name for one, *_ in left}
    return [*left, *(each for each in resolved if each[0].name not in names)]


def _compiled(program: Program, sources: Mapping[str, Source]) -> Iterator[tuple[DeclaredRule, Rule]]:
    """Yield the rules that a program already has, with their declarations; their names include their scopes."""
    for rule in program.rules:
        place = OptionSource("RD013", sources[program.sources[0].path].path, None)
        yield DeclaredRule(rule.name, rule.sentence, place, rule.why, override=rule.override), rule


def _repeated(declared: Sequence[DeclaredRule], compiled: Iterable[DeclaredRule]) -> Iterator[Diagnostic]:
    """Report a rule of the document that has the name of a `[[rule]]`: a document can't replace one (P-17)."""
    shared = {one.name: " ".join(one.sentence.split()) for one in declared if one.is_shared and not one.scope}
    own = [one for one in declared if not one.is_shared and not one.scope]
    for one in (*own, *(one for one in compiled if one.sentence != shared.get(one.name))):
        if one.name in shared:
            problem = f"the project already has a rule `{one.name}`, and a document can't change it"
            yield one.place.finding(problem, "rename this rule, or remove it")


def _diagnostic(code: str, one: DeclaredRule, issue: Issue) -> Diagnostic:
    return Diagnostic(code, one.place.path, one.place.span, f"rule `{one.name}`: {issue.message}", issue.help)
