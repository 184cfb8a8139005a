"""The interfaces of a runtime's parts: performers run steps, extensions act around them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Callable, ClassVar, NamedTuple

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import VERBS, Move, Registers, Verbs

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

    if TYPE_CHECKING:

        def perform(self, name: str, node: Table) -> Done:
            """Run a step and return its outcome."""

        def recover(self, name: str) -> "Done | None":
            """Return the outcome of an interrupted step, or None to run it again."""

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
Option = tuple[str, str, str, str]
Options = tuple[Option, ...]
Performers = dict[str, type[Performer]]


class Extension(Part):
    """Takes part in runs: a session calls the methods of all extensions in the order of its edition."""

    commands: ClassVar[Subcommands] = {}  # the help and function of each subcommand
    options: Options = ()  # subcommands, name, value and help
    performers: ClassVar[Performers] = {}  # by kind of task
    builder: Any = None  # makes the table of documents that use only its words
    reopens = False  # whether a failed run continues at the failed step
    mode = ""  # a mode of runs that only this part can continue

    @staticmethod
    def suits(_program: Table) -> bool:
        """Return whether a program needs this part."""
        return True

    @staticmethod
    def complete(table: Table) -> None:
        """Add defaults to the table of a program."""

    if TYPE_CHECKING:  # optional methods

        @staticmethod
        def from_caller(_program: Table, _options: Options, _command: str, _display: Any) -> Iterable[tuple[str, Any]]:
            """Return options and values that the caller gives other than as words, before there is a session."""
            return ()

        @staticmethod
        def worded(text: str) -> str:
            """Return a text in the terms of the program's caller."""
            return text

        def prepare(self) -> None:
            """Check the options."""

        def identify(self, nodes: Table) -> Table:
            """Return the identity of the steps of this version of a program."""
            return nodes

        def read(self, state: State) -> None:
            """Check or change a state after it is read."""

        def beside(self) -> dict[str, str]:
            """Return the files to archive with the journal: path to extension of the new name."""
            return {}

        def registers(self) -> Registers:
            """Return initial registers of a run."""
            return {}

        def before_run(self, state: "State | None") -> None:
            """Prepare a call about a run; None for a new run."""

        def open(self) -> None:
            """Read and open the files that the run needs."""

        def before_step(self, _name: str) -> "Perform | None":
            """Prepare a step; return a function to run instead of it, if any."""
            return None

        def variables(self, _node: Table, _registers: Registers) -> dict[str, str]:
            """Return environment variables for the process of a step."""
            return {}

        def told(self, _text: str, done: Done) -> Done:
            """Return an outcome with the text that belongs to it."""
            return done

        def stand(self, _move: Move, _before: "State | None", stand: Record) -> Record:
            """Return the condition of a run after a move."""
            return stand

        def after_step(self, move: Move) -> None:
            """Act after a step is recorded."""

        def end(self) -> None:
            """Act when a run has ended."""

        def record(self, record: Record) -> Record:
            """Return the record or event to write."""
            return record

        def written(self, record: Record) -> None:
            """Act after a record is on disk."""

        def resumed(self) -> None:
            """Record the changes that a resume makes."""

        def waits(self) -> None:
            """Record that a run starts waiting."""

        def event(self, event: str, fields: Record) -> None:
            """Report an event to others; record nothing."""

        def mask(self, text: str) -> str:
            """Return a text without secrets."""
            return text

        def call(self, _words: tuple[str, ...]) -> str:
            """Return another command for a subcommand, or ""."""
            return ""

        def repeat(self, _command: str) -> tuple[str, ...]:
            """Return the words that later calls about this run repeat."""
            return ()

        def facts(self, _state: State) -> Table:
            """Return facts for the status of a run."""
            return {}

        def lines(self, _facts: Table, _record: "Table | None") -> list[str]:
            """Return status lines below a step, or above all steps for None."""
            return []

        def again(self, _state: State) -> list[tuple[str, str]]:
            """Return commands that repeat the step that ended the run, each with its purpose."""
            return []

        def answers_in(self, _text: str, _nodes: dict[str, Table]) -> Any:  # answers, and what is wrong with some
            """Read a file of answers in a richer format."""

        def brought(self, files: dict[str, str]) -> dict[str, str]:
            """Return the files of answers of this call, with their digests."""
            return files

        def scope(self) -> str:
            """Return the part of a run that a file of answers belongs to, "" for the whole run."""
            return ""

        def reply(self, reply: str) -> str:
            """Return the reply that a word means."""
            return reply

        def given(self, done: "Done | None") -> "Done | None":
            """Return the outcome of a reply, possibly changed."""
            return done

        def hint(self) -> str:
            """Return a suffix for the command that continues an answered run."""
            return ""
