"""The steps of a workflow for the places of a plan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from backends.common.remarks import of_placeholders, remarks
from backends.common.templates import render
from backends.github.native import loop as loops
from backends.github.native.loop import Loop
from backends.github.native.shell import Registers
from backends.github.options.steps import StepSecrets, variables
from backends.github.workflow.filling import as_file, as_written, filled_step, pieces
from backends.github.workflow.transitions import transitions_from
from backends.github.yaml.model import PLAIN_SHELL, WORDS, Step, compare, fact, shell_of, when_reached, within
from backends.github.yaml.scalar import OPEN, Expression, comment, label
from backends.scheduling.condition import expression
from backends.scheduling.flow import Report, Values
from backends.scheduling.places import Place, Retry, retry_of
from backends.scheduling.plan import Plan
from compiler.ir.program import Group, Node, Settings, map_texts, scope_members
from compiler.ir.tasks import Ask, Branch, End, Shell
from runtime_shim.targets.naming import name_in_words

LONGEST_PAUSE = 10**8  # seconds; longer pauses make no difference

OUTPUTS = Step(
    "Prepare the outputs",
    comments=("Writes a script that turns command outputs into variables. It contains nothing from the document.",),
    shell=PLAIN_SHELL,
)
_LIMITS = Step(
    "Prepare the time limits",
    comments=("Writes a script that ends a command at its time limit. It contains nothing from the document.",),
    shell=PLAIN_SHELL,
)
_LOOPS = Step(
    "Prepare the loops",
    comments=("Writes functions for the loops below. They contain nothing from the document.",),
    shell=PLAIN_SHELL,
)


class Nodes(Struct, frozen=True, dict=True):
    """Writes the nodes of a plan as steps.

    With `noted`, steps add lines to the journal of the summary. `secrets` knows which secrets each node gets. `values`
    are the names of the outputs that commands may set.
    """

    plan: Plan
    noted: bool
    secrets: StepSecrets
    values: Sequence[str]

    def steps(self) -> Iterator[Step]:
        """Yield the steps in order. Branches and ends have none; separate jobs decide about questions."""
        found = headings(self.plan.program.groups, self.plan.places)
        if any(node.settings.timeout for place in self.plan.places for node in place.nodes):
            yield replace(_LIMITS, run=render("github/limited.sh"))
        if self.values:
            env = {"OUTPUTS": " ".join(self.values)}
            run = render("github/valued.sh", secrets=bool(self.plan.program.secrets))
            yield replace(OUTPUTS, env=env, run=run)
        if self._are_shared:
            yield replace(_LOOPS, run=loops.written(self._functions))
        for place in self.plan.places:
            if place.kind == "loop" or (place.kind == "step" and not isinstance(place.node.task, Ask)):
                step = self._loop(place) if place.kind == "loop" else self._node(place)
                heading = [found[node.id] for node in place.nodes if node.id in found]
                yield filled_step(replace(step, comments=(*heading, *step.comments)))

    def _masked(self, *nodes: Node) -> dict[str, str]:
        return self.secrets.masked(*nodes) if self.values else {}

    def _node(self, place: Place) -> Step:
        values = self.plan.numbers(place.node)
        node = map_texts(place.node, lambda text: text.known(values)) if values else place.node
        step = Step(
            name=marked_title(node),
            id=self.plan.ids.nodes[node.id],
            condition=when_reached(self.plan, place),
            tolerated=self.plan.flow.halt(node) is None,
            env={**self.secrets.of(node), **self._masked(node), **variables(node), **self._instances(place)},
        )
        if not isinstance(node.task, Shell):
            raise TypeError(f"no native step runs a task of the kind {node.task.kind}")
        done = self._done(step, node, node.task)
        if not (prompt := loops.prompt_of(node.task)):
            return done
        shown = pieces(prompt)
        return replace(done, env={**shown, **done.env}, run=as_file(f"{loops.printed(prompt, shown)}\n{done.run}"))

    def _done(self, step: Step, node: Node, task: Shell) -> Step:
        if retry := retry_of(node):
            command = str(task.command)
            env = step.env if loops.fits_script(command) else {**step.env, "RDC_COMMAND": command}
            return replace(step, shell=PLAIN_SHELL, env=env, run=self._repetition(step.id, task, retry, node.settings))
        return self._command(step, task, within(node.settings.timeout or 0, valued=bool(self.values)))

    def _command(self, step: Step, task: Shell, before: str) -> Step:
        """Add the command, unchanged unless GitHub, its runner or bash would modify it in a file."""
        command = str(task.command)
        if OPEN in command or "\r" in command or command.endswith("\\"):
            env = {**step.env, "RDC_COMMAND": command}
            run = f'{task.interpreter} -c "$RDC_COMMAND"'
            return replace(step, shell=shell_of("bash", before, noted=self.noted), env=env, run=run)
        return replace(step, shell=shell_of(task.interpreter, before, noted=self.noted), run=as_file(command))

    def _repetition(self, step: str, task: Shell, retry: Retry, settings: Settings) -> str:
        """Return a loop that runs a command until its outcome needs no retry."""
        most = max(retry.on_pass or 0, retry.on_fail or 0) + 1
        limit, command = within(settings.timeout or 0, valued=False), str(task.command)
        fits = loops.fits_script(command)
        lines = [
            *(loops.here_document("rdc_command", command) if fits else ["rdc_command=$RDC_COMMAND"]),
            "export RDC_ATTEMPT",
            *([f"rdc_pause={settings.delay}"] if settings.delay else ()),
            f"for ((RDC_ATTEMPT = 1; RDC_ATTEMPT <= {most}; RDC_ATTEMPT++)); do",
            *_paused(settings, most),
            f'  echo "::group::Attempt $RDC_ATTEMPT of {most}"',
            *(["  SECONDS=0"] if self.noted else ()),
            f"  {limit}{task.interpreter} -c \"${{rdc_command%$'\\n'}}\"",
            "  rdc_code=$?",
            """  printf '\\n::endgroup::\\nexit code %s\\n' "$rdc_code\"""",
        ]
        if self.noted:
            lines.append(f'  echo "{step} $RDC_ATTEMPT $rdc_code $SECONDS" >> "$RUNNER_TEMP/rdc-journal"')
        if retry.on_pass is None:
            lines.append('  [ "$rdc_code" -eq 0 ] && break')
        elif retry.on_fail is None:
            lines.append('  [ "$rdc_code" -ne 0 ] && break')
        elif retry.on_pass != retry.on_fail:
            sooner, test = (retry.on_pass, "-eq") if retry.on_pass < retry.on_fail else (retry.on_fail, "-ne")
            lines.append(f'  [ "$rdc_code" {test} 0 ] && [ "$RDC_ATTEMPT" -gt {sooner} ] && break')
        return "\n".join([*lines, "done", 'exit "$rdc_code"']) + "\n"

    def _instances(self, place: Place) -> dict[str, str]:
        numbers = self.plan.instances[place.name]
        return {v.name: str(numbers[v.register]) for v in place.node.variables if v.register in numbers}

    @cached_property
    def _loops(self) -> Mapping[str, Loop]:
        return {place.name: self._loop_of(place) for place in self.plan.places if place.kind == "loop"}

    @cached_property
    def _functions(self) -> str:
        return loops.functions([*self._loops.values()])

    @property
    def _are_shared(self) -> bool:
        """Return whether loops read their functions from a file. A single loop contains them."""
        return len(self._loops) > 1

    def _loop_of(self, place: Place) -> Loop:
        plan = self.plan
        counters = tuple(r for r in plan.program.counters if r.name in plan.counters[place.name])
        return Loop(
            place=place,
            ids=plan.ids,
            counters=counters,
            registers=Registers(scope_members(plan.program.counters), plan.ids.counters, plan.counters[place.name]),
            start=self._starts(place)[0],
            reports=tuple(plan.reports[place.name]),
            own=tuple(self.secrets.of(*place.nodes)),
            summary=self.noted,
            secrets={node.id: tuple(self.secrets.of(node)) for node in place.nodes},
            valued=bool(self.values),
        )

    def _loop(self, place: Place) -> Step:
        loop, (_, env) = self._loops[place.name], self._starts(place)
        nodes = [node for node in place.nodes if isinstance(node.task, (Shell, Ask))]
        return Step(
            name=loop_title(nodes, self.plan.program.groups),
            id=self.plan.ids.nodes[place.name],
            comments=(*in_loop(nodes, self.plan.program.index()), *map(comment, of_placeholders(nodes, loop.counters))),
            condition=when_reached(self.plan, place),
            shell=PLAIN_SHELL,
            env={**self.secrets.of(*place.nodes), **self._masked(*place.nodes), **env, **loops.environment(loop)},
            run=loops.script(loop, loops.TAKEN if self._are_shared else self._functions),
        )

    def _starts(self, place: Place) -> tuple[dict[str, str], dict[str, str]]:
        """Return a loop's first values, and the environment for values that depend on earlier steps."""
        nodes, counters = self.plan.ids.nodes, self.plan.ids.counters
        entries = self.plan.flow.entries(place)
        starts, env = {}, {}
        if len(entries) == 1:
            starts["rdc_node"] = f"'{nodes[next(iter(entries))]}'"
        else:
            starts["rdc_node"] = "$RDC_START"
            chosen = [(expression(condition, compare), f"'{nodes[name]}'") for name, condition in entries.items()]
            env["RDC_START"] = choice(chosen)
        for register, values in self.plan.counters[place.name].items():
            name = counters[register]
            if len(values) == 1 and isinstance(values[0][1], int):
                starts[name] = str(values[0][1])
            else:
                starts[name] = f"$RDC_START_{name}"
                env[f"RDC_START_{name}"] = self._value(values)
        return starts, env

    def _value(self, values: Values) -> str:
        def shown(value: int | Report) -> str:
            if isinstance(value, int):
                return f"'{value}'"
            ids = self.plan.ids
            return fact(ids.nodes[value.place], WORDS.output(ids, value.register))

        return choice([(expression(condition, compare), shown(value)) for condition, value in values])


def _paused(settings: Settings, most: int) -> Iterator[str]:
    """Yield the lines that wait before each retry (I22)."""
    if not settings.delay:
        return
    yield '  if [ "$RDC_ATTEMPT" -gt 1 ]; then'
    yield '    echo "Waiting $rdc_pause s before this attempt"'
    yield '    sleep "$rdc_pause"'
    if settings.backoff > 1 and most > 2:
        longest = f"rdc_pause < {LONGEST_PAUSE // settings.backoff}"
        is_bounded = settings.delay * settings.backoff ** min(most - 2, 64) <= LONGEST_PAUSE
        times = f"rdc_pause * {settings.backoff}"
        yield f"    rdc_pause=$(({times if is_bounded else f'{longest} ? {times} : {LONGEST_PAUSE}'}))"
    yield "  fi"


def headings(groups: Iterable[Group], places: Iterable[Place]) -> Mapping[str, str]:
    """Return the comment above the first node of each group."""
    titles = {group.id: str(group.title) for group in groups}
    found: dict[str, str] = {}
    seen = {""}
    for node in (node for place in places for node in place.nodes):
        if node.group not in seen and not isinstance(node.task, (Branch, End)):
            seen.add(node.group)
            found[node.id] = comment(f"--- {name_in_words(node.group, titles[node.group])}")
    return found


def choice(options: list[tuple[str, str]]) -> str:
    """Return the value of the first condition that holds, or the last value, as an expression; one value needs none."""
    tests = [f"{f'({when})' if '||' in when else when} && {value}" for when, value in options[:-1]]
    chosen = " || ".join([*tests, options[-1][1]])
    return chosen.strip("'") if len(options) == 1 and chosen.startswith("'") else Expression(f"${{{{ {chosen} }}}}")


def title(node: Node) -> str:
    """Return a node's name for people: its id and title."""
    return label(as_written(name_in_words(node.id, str(node.title))))


def marked_title(node: Node, before: str = "", longest: int = 120) -> str:
    """Return a node's name with marks for values, after another word; without marks if it is too long."""
    name = before + name_in_words(node.id, str(node.title))
    written = as_written(name)
    return label(name, len(name)) if len(written) <= longest else label(written, longest)


def loop_title(nodes: Sequence[Node], groups: Iterable[Group]) -> str:
    """Return a loop's name: its only node, the step that has all its nodes, or the ids of its nodes."""
    if len(nodes) == 1:
        return marked_title(nodes[0], "Loop: ")
    shared = {node.group for node in nodes}
    known = (name_in_words(group.id, str(group.title)) for group in groups if {group.id} == shared)
    called = next(known, "")
    return label(f"Loop: {called or ', '.join(node.id for node in nodes)}")


def in_loop(steps: Iterable[Node], nodes: Mapping[str, Node]) -> Iterator[str]:
    """Yield comments for each node of a loop: its source line and its transitions."""
    for node in steps:
        yield comment(title(node))
        yield from (f"  {comment(as_written(line))}" for line in remarks(node))
        yield from (f"  {transition}" for transition in transitions_from(node, nodes))
