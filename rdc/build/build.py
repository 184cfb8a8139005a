"""Build a project: plan, compile and write."""

from collections.abc import Mapping

from compiler.diagnostics.model import has_error
from compiler.frontends import all_options
from compiler.project.configuration import read_configuration
from compiler.project.project import CONFIGURATIONS, Project
from rdc.build import records
from rdc.build.records import LOCK, BuildRecords, FileHashes, Record
from rdc.documents.plan import BuildOptions, BuildResult, LoadedRules, Plan, Task, files_below, plan


def build(root: str, options: BuildOptions) -> BuildResult:
    """Build a project. The current folder is its root.

    Raises:
        WorkerError: A process that compiled documents was killed.
        OSError: A folder of the project or the lock cannot be read.
    """
    hashes = FileHashes()
    last_build = BuildRecords() if options.ci else records.load(root)
    loaded = _load(root, last_build, hashes)
    if has_error(loaded.diagnostics) or not loaded.rules:
        return BuildResult(loaded.diagnostics, loaded.sources, has_rules=bool(loaded.rules or loaded.diagnostics))
    planned = plan(loaded.rules, files_below(root, [pattern for rule in loaded.rules for pattern in rule.patterns]))
    if planned.diagnostics:
        return BuildResult([*loaded.diagnostics, *planned.diagnostics], loaded.sources)
    valid = {
        task.output: last_build.records[task.output]
        for task in planned.tasks
        if _holds(task, last_build, hashes, options)
    }
    if _is_done(planned, valid, last_build, hashes, options):
        return BuildResult((), {}, total=len({path for record in valid.values() for path in record.outputs}))
    from rdc.build.apply import apply_changes  # noqa: PLC0415 (often not needed)

    due = [task for task in planned.tasks if task.output not in valid]
    return apply_changes(root, options, loaded, planned.tasks, due, last_build, hashes)


def _load(root: str, last_build: BuildRecords, hashes: FileHashes) -> LoadedRules:
    if CONFIGURATIONS[0] in last_build.inputs and hashes.is_as(
        {name: last_build.inputs[name] for name in CONFIGURATIONS}
    ):
        return LoadedRules(last_build.rules, (), {})
    from rdc.documents.rules import rules  # noqa: PLC0415 (the configuration seldom changes)

    configuration = read_configuration(Project(root), all_options())
    found, wrong = rules(configuration)
    return LoadedRules(found, [*configuration.diagnostics, *wrong], configuration.sources)


def _holds(task: Task, last_build: BuildRecords, hashes: FileHashes, options: BuildOptions) -> bool:
    """Return whether a record is still valid. A file that must be written again must be compiled again."""
    record = last_build.records.get(task.output)
    if record is None or record.rule != task.rule.key or not hashes.is_as(record.inputs):
        return False
    return options.check or hashes.is_as(record.outputs)


def _is_done(
    planned: Plan, valid: Mapping[str, Record], last_build: BuildRecords, hashes: FileHashes, options: BuildOptions
) -> bool:
    if options.strict or options.prune or options.approved or len(valid) < len(planned.tasks):
        return False
    if set(valid) != set(last_build.records) or any(record.diagnostics for record in valid.values()):
        return False
    return not options.check and hashes.hash(LOCK) == last_build.inputs.get(LOCK)
