"""The rules that a project has for many documents, and those of them that apply to none (P-10)."""

import os
from collections.abc import Collection, Iterable, Iterator

from compiler.diagnostics.model import Diagnostic
from compiler.frontends import all_options
from compiler.project.configuration import Configuration, read_configuration
from compiler.project.project import Project, project_around
from compiler.rules.model import DeclaredRule, RuleResult
from compiler.text.patterns import is_matched
from rdc.documents.find import project_documents


def applied(results: Iterable[RuleResult]) -> tuple[str, ...]:
    """Return the names of the project's rules that apply to a document."""
    return tuple(one.declared.name for one in results if one.declared.is_shared and one.rule)


def configuration_here() -> Configuration:
    """Return the configuration of the project around the current folder."""
    return read_configuration(project_around(os.path.realpath(os.curdir)), all_options())


def useless(declared: Iterable[DeclaredRule], used: Collection[str]) -> Iterator[Diagnostic]:
    """Report the project's rules that aren't used."""
    for rule in declared:
        if rule.name not in used:
            problem = f"rule `{rule.name}` applies to no document of the project"
            yield rule.place.finding(problem, "check `for`, and the steps and labels in it; or remove the `[[rule]]`")


def useless_in_build(root: str, used: Collection[str], built: Collection[str]) -> Iterator[Diagnostic]:
    """Report the project's rules that aren't used in any of the built documents, and are for no other document.

    The current folder is the root.
    """
    unused = [rule for rule in configuration_here().rules if rule.name not in used]
    others = [found.path for found in project_documents(Project(root)) if found.path not in built] if unused else []
    of_others = {
        rule.name for rule in unused for path in others if not rule.patterns or is_matched(path, rule.patterns)
    }
    yield from useless(unused, of_others)
