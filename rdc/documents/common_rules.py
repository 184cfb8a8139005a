"""The rules that a project has for many documents: those that apply to none of them."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping

from compiler.diagnostics.model import Diagnostic
from compiler.frontends import all_options
from compiler.project.configuration import read_configuration
from compiler.project.project import project_around
from compiler.rules.model import DeclaredRule, RuleResult
from compiler.text.source import Source


def applied(results: Iterable[RuleResult]) -> tuple[str, ...]:
    """Return the names of the project's rules that apply to a document."""
    return tuple(one.declared.name for one in results if one.declared.is_shared and one.rule)


def rules_here() -> tuple[tuple[DeclaredRule, ...], Mapping[str, Source]]:
    """Return the rules of the project around the current folder, and the sources of its configuration."""
    configuration = read_configuration(project_around(os.path.realpath(os.curdir)), all_options())
    return configuration.rules, configuration.sources


def useless(declared: Iterable[DeclaredRule], used: Collection[str]) -> Iterator[Diagnostic]:
    """Report the project's rules that aren't used: no document has steps that they guard (P-10)."""
    for rule in declared:
        if rule.name not in used:
            problem = f"rule `{rule.name}` applies to no document of the project"
            yield rule.place.finding(problem, "check `for`, the steps and the labels in it; or remove the `[[rule]]`")
