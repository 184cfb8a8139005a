"""Read the `[[build]]` tables of a project's configuration."""

from collections.abc import Mapping

from backends.registry import load
from compiler.diagnostics.issues import InvalidError, OptionSource, diagnostics
from compiler.diagnostics.model import Diagnostic, Issue
from compiler.frontends import all_options, endings
from compiler.project.configuration import BUILD, MCP, Configuration, read_configuration
from compiler.project.project import Project
from compiler.text.source import nearest
from rdc.documents.plan import SERVED, Rule, files_below, plan

_REMEDY = 'write `[[build]]` with `source = "docs/**/*.md"`, `to = "github"` and `out = "…/{name}.yml"`'


def named_documents(project: Project) -> list[str]:
    """Return the documents that the `[[build]]` tables of a project match, by path from its root."""
    declared, _ = rules(read_configuration(project, all_options()))
    files = files_below(project.root, [pattern for rule in declared for pattern in rule.patterns]) if declared else []
    return list(dict.fromkeys(task.source for task in plan(declared, files).tasks))


def rules(configuration: Configuration) -> tuple[list[Rule], list[Diagnostic]]:
    """Return the rules of a project in order, the last one for served documents, and the errors in `[[build]]`."""
    content, places = configuration.own.values.get(BUILD, []), configuration.own.places
    places = {(): OptionSource("RD501", next(iter(configuration.sources), ""), None), **places}
    if not isinstance(content, list):
        return [], diagnostics([Issue((BUILD,), "`build` is not a list of tables")], places, remedy=_REMEDY)
    good: list[Rule] = []
    found: list[Diagnostic] = []
    for number, item in enumerate(content):
        at = (BUILD, str(number))
        try:
            good.append(_rule(item, nearest(places, at) or places[()]))
        except InvalidError as error:
            issues = (Issue((*at, *one.path), one.message) for one in error.issues)
            found += diagnostics(issues, places, "`[[build]]`: ", _REMEDY)
    if patterns := configuration.served.documents:
        place = places.get((MCP,), places[()])
        good.append(Rule(patterns, SERVED, "", endings(), "", {}, place.path, place.span))
    return good, found


def _rule(item: object, place: OptionSource) -> Rule:
    if not isinstance(item, Mapping):
        raise InvalidError(Issue((), "it is not a table"))

    from rdc.documents.table import Build  # noqa: PLC0415 (it imports pydantic)

    table = Build.validated(item)
    backend = load(table.to)
    try:
        backend.options.validated(table.options)
    except InvalidError as error:  # a document may have the missing options
        wrong = [one for one in error.issues if one.path[:1] in [(name,) for name in table.options]]
        if wrong:
            issues = (Issue(("options", *one.path), f"target {table.to}: {one.message}") for one in wrong)
            raise InvalidError(*issues) from None
    patterns = (table.source,) if isinstance(table.source, str) else tuple(table.source)
    return Rule(patterns, table.to, backend.suffix, endings(), table.out, table.options, place.path, place.span)
