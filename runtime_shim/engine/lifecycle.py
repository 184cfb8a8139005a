"""The interfaces of a runtime's parts: performers run steps, extensions act around them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, ClassVar, NamedTuple

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import VERBS, Verbs

if TYPE_CHECKING:
    from runtime_shim.engine.session import Session


class Host(NamedTuple):
    """The caller of a program: its command, the name and hash of its edition, where state is."""

    prog: str = ""
    edition: str = ""
    home: str = ""  # the folder of the state directories' parent
    # Finds the run of a document that was moved.
    moved: Callable[[str, Callable[[], Table]], None] = lambda _directory, _identity: None


ANY_HOST = Host()


class Done(NamedTuple):
    """The outcome of a step."""

    outcome: str
    how: str
    note: "Record | None" = None
    verbs: Verbs = VERBS  # for the effects of its edge
    remarks: Sequence[str] = ()  # what is unexpected about its text, once its edge is taken


Perform = Callable[[str, Table], Done]


class Waiting(BaseException):
    """Not an error: the run needs a decision. The arguments are lines that say how to give it."""


class Part:
    """A part of the runtime during one call of a program."""

    def __init__(self, session: "Session") -> None:
        self.session = session


class Performer(Part):
    """Runs the steps of one kind of task."""

    keys: tuple[str, ...]  # the texts that describe a step
    recovers = True  # whether an interrupted step needs a decision

    def perform(self, name: str, node: Table) -> Done:
        """Run a step and return its outcome."""
        raise NotImplementedError

    def recover(self, _name: str) -> "Done | None":
        """Return the outcome of an interrupted step, or None to run it again."""
        return None

    def preview(self, _name: str, _node: Table) -> Done:
        """Return the likely outcome of a step without running it."""
        return Done("pass", "assumed")

    @staticmethod
    def replies(_node: Table) -> list[str]:
        """Return the replies that a waiting step takes."""
        return []

    @staticmethod
    def names(name: str, _node: Table) -> list[str]:
        """Return the names that answer a waiting step."""
        return [name]

    def is_named(self, said: str, name: str, node: Table) -> bool:
        """Return whether a word from the operator names a waiting step."""
        return said in self.names(name, node)

    def given(self, name: str, reply: str, _how: str) -> "Done | None":
        """Return the outcome that a reply gives a step; None if the step needs more replies."""
        raise RefusedError(f"{name} does not take the reply {one_line(reply)}")


Subcommands = dict[str, tuple[str, Callable[[Any], int]]]
Options = tuple[tuple[str, str, str, str], ...]
Performers = dict[str, type[Performer]]


class Extension(Part):
    """Takes part in runs: a session calls the methods below of all extensions, in the order of its edition.

    An extension has only those methods that it needs. `identify`, `brought`, `reply`, `given`, `with_text`,
    `condition_after`, `record`, `mask` and `worded` return their last argument, possibly changed, and the next
    extension gets the result. In the order of a call:

    - `from_caller(program, options, command, display)`, a static method: return options and values that the caller
      gives other than as words. `worded(text)`, also static: return a text in the caller's terms.
    - `prepare()`: check the options.
    - `identify(nodes)`: return the identity of the steps of this version of a program.
    - `read(state)`: check or change a state after it is read.
    - `before_run(state)`: prepare a call about a run; the state is None for a new run.
    - `registers()`: return initial registers of a run.
    - `open()`: read and open the files that the run needs.
    - `answers_in(text, nodes)`: read a file of answers in a richer format, instead of the usual one.
    - `brought(files)`: return the files of answers of this call, with their digests.
    - `scope()`: return the part of a run that a file of answers belongs to, "" for the whole run.
    - `resumed()`: record the changes that a resume makes.
    - `before_step(name)`: prepare a step; return a function to run instead of it, or None.
    - `variables(node, registers)`: return environment variables for the process of a step.
    - `reply(reply)`: return the reply that a word means.
    - `given(done)`: return the outcome of a reply.
    - `with_text(text, done)`: return an outcome with the text that belongs to it.
    - `condition_after(move, before, stand)`: return the condition of a run after a move.
    - `record(record)`: return the record or event to write. `written(record)`: act after a record is on disk.
    - `event(event, fields)`: report an event to others; record nothing.
    - `after_step(move)`: act after a step is recorded.
    - `waits()`: record that a run starts waiting. `end()`: act when a run has ended.
    - `mask(text)`: return a text without secrets.
    - `call(words)`: return another command for a subcommand, or "". `repeat(command)`: return the words that later
      calls about this run repeat. `hint()`: return a suffix for the command that continues an answered run.
    - `again(state)`: return commands that repeat the step that ended the run, each with its purpose.
    - `facts(state)`: return facts for the status of a run. `lines(facts, record)`: return status lines below a step,
      or above all steps for None.
    - `beside()`: return other files to archive with the journal: path to extension of the new name.
    """

    commands: ClassVar[Subcommands] = {}  # the help and function of each subcommand
    options: Options = ()  # subcommands, name, value and help
    performers: ClassVar[Performers] = {}  # by kind of task
    needs: tuple[str, ...] = ()  # kinds of tasks and keys of programs: others do not use this part
    folders: tuple[str, ...] = ()  # directories to archive with the journal
    builder: Any = None  # makes the table of documents that use only its words
    reopens = False  # whether a failed run continues at the failed step
    mode = ""  # a mode of runs that only this part can continue

    @classmethod
    def suits(cls, program: Table) -> bool:
        """Return whether a program uses this part."""
        tasks = {node["task"] for node in program["nodes"].values()}
        return not cls.needs or any(need in tasks or program.get(need) for need in cls.needs)

    @staticmethod
    def complete(table: Table) -> None:
        """Add defaults to the table of a program."""


Kinds = Sequence[type[Extension]]
"""The extensions that suit a program, in the order of its edition."""
