"""Read declared rules: the option `rules` of documents, and `[[rule]]` of a project (P-17)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from compiler.diagnostics.issues import InvalidError, OptionSource, OptionSources
from compiler.diagnostics.model import Issue
from compiler.project.options import is_label
from compiler.rules.model import DeclaredRule
from compiler.text.patterns import is_pattern
from compiler.text.source import KeyPath, nearest
from compiler.text.suggestions import did_you_mean

MOST_RULES = 100  # of a document, and of a project
LONGEST_WHY = 500  # in characters
MOST_PATTERNS = 100

OWN_KEYS = ("rule", "why", "override")
SHARED_KEYS = ("name", "rule", "for", "why", "override", "try")
EXAMPLE = "any gate approved before any step labeled production"


def read_rules(content: object, places: OptionSources) -> tuple[DeclaredRule, ...]:
    """Return the rules in the option `rules` of a document; raise `InvalidError`."""
    if not isinstance(content, Mapping) or len(content) > MOST_RULES:
        problem = f"`rules` must be a mapping of at most {MOST_RULES} names to sentences"
        raise InvalidError(Issue((), problem, f'write `rules: {{approved: "{EXAMPLE}"}}`'))
    rules = {str(name): {"rule": value} if isinstance(value, str) else value for name, value in content.items()}
    if found := [issue for name, value in rules.items() for issue in _issues(name, value)]:
        raise InvalidError(*found)
    return tuple(_declared(name, given, places, (name,)) for name, given in rules.items())


def read_shared(content: object, places: OptionSources) -> tuple[DeclaredRule, ...]:
    """Return the rules of `[[rule]]` tables; `places` has the places of their keys. Raise `InvalidError`."""
    tables = content if isinstance(content, list) and len(content) <= MOST_RULES else [None]
    if not all(isinstance(one, Mapping) for one in tables):
        problem = f"`rule` must be a list of at most {MOST_RULES} tables"
        raise InvalidError(Issue((), problem, f'write `[[rule]]`, and below it `name` and `rule = "{EXAMPLE}"`'))
    found: list[Issue] = []
    names: list[object] = []
    for number, one in enumerate(tables):
        path, name = (str(number),), one.get("name")
        found += _key_issues(one, path, SHARED_KEYS)
        if not is_label(name):
            found.append(_wrong_name((*path, "name")))
        elif name in names:
            found.append(Issue((*path, "name"), f"two rules have the name `{name}`", "rename one of them"))
        names.append(name)
    if found:
        raise InvalidError(*found)
    shared = (_declared(one["name"], one, places, (str(number),)) for number, one in enumerate(tables))
    return tuple(replace(one, is_shared=True) for one in shared)


def _declared(name: str, given: Mapping[str, Any], places: OptionSources, path: KeyPath) -> DeclaredRule:
    patterns = given.get("for", ())
    return DeclaredRule(
        name,
        given["rule"],
        nearest(places, (*path, "rule")) or OptionSource("RD013", "", None),
        given.get("why", ""),
        override=given.get("override", True),
        is_tried=given.get("try", False),
        patterns=(patterns,) if isinstance(patterns, str) else tuple(patterns),
    )


def _issues(name: str, value: object) -> Iterator[Issue]:
    if value is None:
        problem = f"rule `{name[:64]}` has no sentence"
        yield Issue((name,), problem, f'quote a rule with commas: `name: "after 4 FAIL, {name[:64]}"`')
    elif not is_label(name):
        yield _wrong_name((name,))
    elif not isinstance(value, Mapping):
        yield Issue((name,), f"rule `{name}` is not a sentence", f'write `{name}: "{EXAMPLE}"`')
    elif None in value.values():
        remedy = f'in YAML, quote a rule with commas or braces: `{name}: "{{N}}.2 PASS before 4"`'
        yield Issue((name,), f"rule `{name}` is not a sentence", remedy)
    else:
        yield from _key_issues(value, (name,), OWN_KEYS)


def _wrong_name(path: KeyPath) -> Issue:
    problem = "the name of a rule must have at most 64 letters, digits, `_`, `-` or `.`, and start with a letter"
    return Issue(path, problem, "choose another name, for example `approved`")


def _key_issues(given: Mapping[Any, object], path: KeyPath, keys: tuple[str, ...]) -> Iterator[Issue]:
    for key, value in given.items():
        at = (*path, str(key))
        if key not in keys:
            problem = f"unknown key `{key}` in a rule{did_you_mean(str(key), keys)}"
            yield Issue(at, problem, f"the keys are {', '.join(keys)}")
        elif key in {"override", "try"} and not isinstance(value, bool):
            yield Issue(at, f"`{key}` of a rule must be true or false", "write true or false, without quotes")
        elif key == "for" and not _are_patterns(value):
            most = f"a list of up to {MOST_PATTERNS}"
            problem = f"`for` must be a path from the project root with `/`, `*` and `**`, or {most}"
            yield Issue(at, problem, 'write `for = "deploy/**"`, or remove the key to include all documents')
        elif key == "why" and not (isinstance(value, str) and value.isprintable() and 0 < len(value) <= LONGEST_WHY):
            problem = f"`why` of a rule must be a text of 1 to {LONGEST_WHY} characters on one line"
            yield Issue(at, problem, "write one sentence, or remove the key")
    if not isinstance(given.get("rule"), str):
        example = f'`{{rule: "{EXAMPLE}"}}`' if keys == OWN_KEYS else f'`rule = "{EXAMPLE}"`'
        yield Issue((*path, "rule"), "a rule needs the key `rule` with a sentence", f"write {example}")


def _are_patterns(value: object) -> bool:
    patterns = [value] if isinstance(value, str) else value
    return isinstance(patterns, list) and 0 < len(patterns) <= MOST_PATTERNS and all(map(is_pattern, patterns))
