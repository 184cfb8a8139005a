"""The rules that a project has for many documents: those that apply to none of them."""

from collections.abc import Collection, Iterable, Iterator

from compiler.diagnostics.model import Diagnostic
from compiler.rules.model import DeclaredRule, RuleResult


def applied(results: Iterable[RuleResult]) -> tuple[str, ...]:
    """Return the names of the project's rules that apply to a document."""
    return tuple(one.declared.name for one in results if one.declared.is_shared and one.rule)


def useless(declared: Iterable[DeclaredRule], used: Collection[str]) -> Iterator[Diagnostic]:
    """Report the project's rules that aren't used: no document has steps that they guard (P-10)."""
    for rule in declared:
        if rule.name not in used:
            problem = f"rule `{rule.name}` applies to no document of the project"
            yield rule.place.finding(problem, "check `for`, the steps and the labels in it; or remove the `[[rule]]`")
