"""Read the configuration of a specification: inside it, in the file that it names, or in `config/runtime.yaml`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.files import Refusal
from compiler.frontends.base import Job
from compiler.frontends.data_text import BrokenDataError, Data, read_data
from compiler.frontends.modeled import Flaw, validated
from compiler.frontends.places import Path, Places
from compiler.frontends.stepspec.messages import broken, flaw_findings, is_misplaced, repeated, unset_safeguards
from compiler.frontends.stepspec.runtime import NO_RUNTIME, Configuration, Runtime
from compiler.project import Located
from compiler.source import Source, below
from compiler.suggestions import did_you_mean

NAME = "config/runtime.yaml"
NOUN = "configuration"


class Configured(Struct, frozen=True):
    """The settings of a specification, and the errors in them.

    `file` is None if they are in the document itself. `above` is the path from `places` to the settings.
    """

    runtime: Runtime
    file: Source | None
    places: Places
    above: Path
    diagnostics: list[Diagnostic]


def configuration_of(job: Job, data: Data, places: Places) -> Configured:
    """Return the configuration of a document."""
    content = data.values.get("config")
    nothing = Configured(NO_RUNTIME, None, places, ("config",), [])
    if isinstance(content, dict):
        inner = Data(content, below(data.spans, "config"))
        return _read(inner, Places(job.source, inner.spans), None)
    if content is not None and not isinstance(content, str):
        problem = "`config` is neither a mapping nor the path of a file"
        found = places.diagnostic(
            "RD855", ("config",), problem, "write a mapping, or a path such as config/runtime.yaml"
        )
        return replace(nothing, diagnostics=[found])
    if not job.link:
        return nothing
    located = (
        job.project.find_above(job.source, NAME) if content is None else job.project.find(job.source, content, NOUN)
    )
    if located is None:
        return nothing
    return _in_file(located, nothing, is_named=content is not None)


def _in_file(located: Located | Refusal, nothing: Configured, *, is_named: bool) -> Configured:
    file = located if isinstance(located, Refusal) else located.read()
    if isinstance(file, Refusal):
        at: Path = ("config",) if is_named else ()
        problem = f"the configuration cannot be used: {file.problem}"
        return replace(nothing, diagnostics=[nothing.places.diagnostic("RD868", at, problem, file.remedy)])
    try:
        data = read_data(file)
    except BrokenDataError as error:
        return replace(nothing, file=file, diagnostics=[broken(file, error, NOUN)])
    found = _read(data, Places(file, data.spans), file)
    return replace(found, diagnostics=[*repeated(file, data), *found.diagnostics])


def _read(data: Data, places: Places, file: Source | None) -> Configured:
    configuration, flaws = validated(Configuration, data.values, {})
    flaws += unset_safeguards(data.values)
    told = [flaw for flaw in flaws if file is None or not _is_of_others(flaw)]
    found = list(flaw_findings(places, data.values, told, Configuration))
    if configuration is None:
        return Configured(NO_RUNTIME, file, places, (), found)
    runtime = configuration.runtime or NO_RUNTIME
    found += _conflicts(configuration, runtime, places)
    own = configuration.model_dump(exclude={"runtime"}, exclude_none=True)
    both = {**own, **runtime.model_dump(exclude_none=True)}
    return Configured(Runtime.model_validate(both), file, places, (), found)


def _is_of_others(flaw: Flaw) -> bool:
    """Return whether an unknown key in a configuration file is probably meant for another program."""
    *above, key = flaw.path
    is_outer = above in ([], ["runtime"]) and not is_misplaced(str(key))
    return flaw.kind == "extra_forbidden" and is_outer and not did_you_mean(str(key), Configuration.model_fields)


def _conflicts(configuration: Configuration, runtime: Runtime, places: Places) -> Iterator[Diagnostic]:
    """Yield the settings that are given twice with different values."""
    for name in Runtime.model_fields:
        outer, inner = getattr(configuration, name), getattr(runtime, name)
        if outer is not None and inner is not None and outer != inner:
            problem = f"`{name}` is set both at the top level and under `runtime`, with different values"
            other: tuple[Path, str] = (("runtime", name), "the other one")
            yield places.diagnostic("RD869", (name,), problem, "remove one of the two", other)
