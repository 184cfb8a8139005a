"""Read the configuration of a specification: inside it, in the file that it names, and in `config/runtime.yaml`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace
from pydantic_core import ErrorDetails

from compiler.diagnostic import DataPath, Diagnostic
from compiler.files import Refusal
from compiler.frontends.base import Job
from compiler.frontends.data_text import BrokenDataError, Data, read_data
from compiler.frontends.modeled import validated
from compiler.frontends.stepspec.parse import CONFIGURATION_FORM, is_misplaced
from compiler.frontends.stepspec.runtime import NO_RUNTIME, Configuration, Runtime, has_safeguards, layered
from compiler.issues import SourceMap, duplicate_keys
from compiler.project import Located
from compiler.source import Source, below
from compiler.suggestions import did_you_mean

NAMES = ("config/runtime.yaml", "config/runtime.yml")
NOUN = "configuration"


class Configured(Struct, frozen=True):
    """The settings of a specification, and the errors in them.

    `files` has none if they are in the document itself. `own` are the settings at `places`, and `site` those of
    `config/runtime.yaml` beside them.
    """

    runtime: Runtime
    files: tuple[Source, ...]
    places: SourceMap
    own: Runtime
    diagnostics: list[Diagnostic]
    site: Configured | None = None


def configuration_of(job: Job, data: Data, places: SourceMap) -> Configured:
    """Return the configuration of a document."""
    content = data.values.get("config")
    nothing = Configured(NO_RUNTIME, (), places, NO_RUNTIME, [])
    site = _site(job, nothing) if job.link else None
    if content is None:
        return site or nothing
    own = _own(job, data, nothing)
    names = {file.name for file in own.files}
    return own if site is None or names.intersection(file.name for file in site.files) else _beside(own, site)


def _beside(own: Configured, site: Configured) -> Configured:
    """Return the document's settings with those of the project; of a named file, only safeguards are added (B8)."""
    if own.files and not (site.diagnostics or has_safeguards(site.own)):
        return own
    runtime = layered(own.own, site.own, is_whole=not own.files)
    found = [*own.diagnostics, *site.diagnostics]
    return replace(own, runtime=runtime, files=(*own.files, *site.files), diagnostics=found, site=site)


def _own(job: Job, data: Data, nothing: Configured) -> Configured:
    """Return the settings in the document, or in the file that it names."""
    content, places = data.values.get("config"), nothing.places
    if isinstance(content, dict):
        inner = Data(content, below(data.spans, "config"))
        return _read(inner, SourceMap(job.source, inner.spans), None)
    if not isinstance(content, str):
        problem = "`config` is neither a mapping nor the path of a file"
        found = places.diagnostic(
            "RD855", ("config",), problem, "write a mapping, or a path such as config/runtime.yaml"
        )
        return replace(nothing, diagnostics=[found])
    return _in_file(job.project.find(job.source, content, NOUN), nothing, is_named=True) if job.link else nothing


def _site(job: Job, nothing: Configured) -> Configured | None:
    """Return the settings of the nearest `config/runtime.yaml`, or None."""
    found = job.project.find_above(job.source, NAMES)
    if len(found) > 1:
        problem = f"{' and '.join(NAMES)} are in the same folder"
        wrong = nothing.places.diagnostic("RD868", (), problem, "move the settings into one of them")
        return replace(nothing, diagnostics=[wrong])
    return _in_file(found[0], nothing, is_named=False) if found else None


def _in_file(located: Located | Refusal, nothing: Configured, *, is_named: bool) -> Configured:
    file = located if isinstance(located, Refusal) else located.read()
    if isinstance(file, Refusal):
        at: DataPath = ("config",) if is_named else ()
        problem = f"the configuration cannot be used: {file.problem}"
        return replace(nothing, diagnostics=[nothing.places.diagnostic("RD868", at, problem, file.remedy)])
    try:
        data = read_data(file)
    except BrokenDataError as error:
        return replace(nothing, files=(file,), diagnostics=[error.finding("RD850", file, NOUN)])
    found = _read(data, SourceMap(file, data.spans), file)
    return replace(found, diagnostics=[*duplicate_keys("RD852", file, data.repeated), *found.diagnostics])


def _read(data: Data, places: SourceMap, file: Source | None) -> Configured:
    configuration, errors = validated(Configuration, data.values, {})
    files = () if file is None else (file,)
    told = [error for error in errors if file is None or not _is_of_others(error)]
    found = list(CONFIGURATION_FORM.findings(places, data.values, told))
    if configuration is None:
        return Configured(NO_RUNTIME, files, places, NO_RUNTIME, found)
    runtime = configuration.runtime or NO_RUNTIME
    found += _conflicts(configuration, runtime, places)
    own = configuration.model_dump(exclude={"runtime"}, exclude_none=True)
    both = {**own, **runtime.model_dump(exclude_none=True)}
    settings = Runtime.model_validate(both)
    return Configured(settings, files, places, settings, found)


def _is_of_others(error: ErrorDetails) -> bool:
    """Return whether an unknown key in a configuration file is probably meant for another program."""
    *above, key = error["loc"]
    is_outer = above in ([], ["runtime"]) and not is_misplaced(str(key))
    return error["type"] == "extra_forbidden" and is_outer and not did_you_mean(str(key), Configuration.model_fields)


def _conflicts(configuration: Configuration, runtime: Runtime, places: SourceMap) -> Iterator[Diagnostic]:
    """Yield the settings that are given twice with different values."""
    for name in Runtime.model_fields:
        outer, inner = getattr(configuration, name), getattr(runtime, name)
        if outer is not None and inner is not None and outer != inner:
            problem = f"`{name}` is set both at the top level and under `runtime`, with different values"
            other: tuple[DataPath, str] = (("runtime", name), "the other one")
            yield places.diagnostic("RD869", (name,), problem, "remove one of the two", other)
