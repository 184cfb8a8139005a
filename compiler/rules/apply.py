"""Resolve and prove the declared rules of one document, and report what is wrong with them (P-10, P-14)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from compiler.diagnostics.issues import InvalidError, OptionSource
from compiler.diagnostics.model import Diagnostic, Issue
from compiler.ir.program import Program
from compiler.ir.rules import Rule
from compiler.rules.model import DeclaredRule, Names, Proof, RuleResult, Status
from compiler.rules.prove import prove
from compiler.rules.report import diagnostics
from compiler.rules.resolve import resolve
from compiler.rules.sentences import Sentence, read_sentence
from compiler.rules.steps import RuleSteps, Tables, secrets_of
from compiler.text.source import Source

SENTENCE, UNRESOLVED = "RD422", "RD423"
_DOES_NOT_APPLY = Proof(Status.NOT_APPLICABLE)
_ALREADY_COMPILED = "RD013"


class Applied(Struct, frozen=True):
    """A program with its rules, their results, and the diagnostics; without a program, only sentences are read."""

    program: Program | None
    results: tuple[RuleResult, ...]
    diagnostics: tuple[Diagnostic, ...]


def apply_rules(
    program: Program | None,
    declared: Sequence[DeclaredRule],
    labels: Names,
    tables: Tables,
    sources: Mapping[str, Source],
) -> Applied:
    """Return a program with the rules that hold there; the rules that a program in JSON has are proved again."""
    found = [*_repeated(declared)]
    sentences: list[tuple[DeclaredRule, Sentence]] = []
    for one in declared:
        read = read_sentence(one.sentence)
        if isinstance(read, Issue):
            found.append(_diagnostic(SENTENCE, one, read))
        else:
            sentences.append((one, read))
    if program is None:
        return Applied(None, (), tuple(found))
    resolved: list[tuple[DeclaredRule, Rule | None]] = [(_of_program(program, rule), rule) for rule in program.rules]
    resolved += _resolved(sentences, RuleSteps(program, labels, secrets_of(program, tables)), found)
    if found:
        return Applied(program, (), tuple(found))
    proofs = iter(prove(program, [rule for _, rule in resolved if rule]))
    results = tuple(RuleResult(one, rule, next(proofs) if rule else _DOES_NOT_APPLY) for one, rule in resolved)
    kept = tuple(rule for one, rule in resolved if rule and not one.is_tried)
    return Applied(program.with_(rules=kept), results, tuple(diagnostics(program, results, sources)))


def _resolved(
    sentences: Sequence[tuple[DeclaredRule, Sentence]], steps: RuleSteps, found: list[Diagnostic]
) -> Iterator[tuple[DeclaredRule, Rule | None]]:
    for one, sentence in sentences:
        try:
            yield one, resolve(one, sentence, steps)
        except InvalidError as error:
            found += (_diagnostic(UNRESOLVED, one, issue) for issue in error.issues)


def _of_program(program: Program, rule: Rule) -> DeclaredRule:
    place = OptionSource(_ALREADY_COMPILED, program.sources[0].path, None)
    return DeclaredRule(rule.name, rule.sentence, place, rule.why, rule.scope, rule.override)


def _repeated(declared: Sequence[DeclaredRule]) -> Iterator[Diagnostic]:
    """Report a rule of the document that has the name of a `[[rule]]`: a document can't replace one (P-17)."""
    shared = {one.name for one in declared if one.is_shared}
    for one in declared:
        if one.name in shared and not one.is_shared and not one.scope:
            problem = f"the project already has a rule `{one.name}`, and a document can't change it"
            yield one.place.finding(problem, "rename this rule, or remove it")


def _diagnostic(code: str, one: DeclaredRule, issue: Issue) -> Diagnostic:
    return Diagnostic(code, one.place.path, one.place.span, f"rule `{one.name}`: {issue.message}", issue.help)
