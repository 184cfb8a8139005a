"""The life of a run, as the parts of a runtime see it: what does a step, and what happens around the steps."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional

from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import RefusedError, Table
from runtime_shim.engine.state import State
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.walk import VERBS, Move, Registers, Verbs

if TYPE_CHECKING:
    from runtime_shim.engine.session import Session

Parse = Callable[[str, str], Any]  # of the text of a file, by its name


class Host(NamedTuple):
    """What runs a program: the words that call it, what reads its files, and the name and hash of its edition."""

    prog: str = ""
    parse: Optional[Parse] = None
    edition: str = ""


class Done(NamedTuple):
    """What came of a step."""

    outcome: str
    how: str
    note: Optional[Record] = None
    verbs: Verbs = VERBS  # what the effects of its edge mean, where they have to do with more than counters


Perform = Callable[[str, Table], Done]


class Waiting(BaseException):
    """No error: the run cannot go on before somebody decides; the arguments say how, a line each."""


class Part:
    """A part of a runtime, for one call of a program."""

    def __init__(self, session: "Session") -> None:
        self.session = session


class Performer(Part):
    """Does the steps of one kind of task."""

    keys: tuple[str, ...]  # the texts that say what a step does
    recovers = True  # whether a step can be interrupted half done, so that somebody must decide (R2)

    if TYPE_CHECKING:

        def perform(self, name: str, node: Table) -> Done:
            """Do a step."""

        def recover(self, name: str) -> Optional[Done]:
            """Decide about a step that was interrupted; None to run it again."""

    def preview(self, _name: str, _node: Table) -> Done:
        """Say what would come of a step, without doing it."""
        return Done("pass", "assumed")

    @staticmethod
    def replies(_node: Table) -> list[str]:
        """Return the replies with which a step that waits is answered."""
        return []

    @staticmethod
    def names(name: str, _node: Table) -> list[str]:
        """Return the names under which a step that waits is answered."""
        return [name]

    def is_named(self, said: str, name: str, node: Table) -> bool:
        """Tell whether an operator's word names a step that waits."""
        return said in self.names(name, node)

    def given(self, name: str, reply: str, _how: str) -> Optional[Done]:
        """Read the reply to a step; None if the step needs further ones."""
        raise RefusedError(f"{name} takes no answer such as {one_line(reply)}")


Subcommands = dict[str, tuple[str, Callable[[Any], int]]]
Option = tuple[str, str, str, str]
Options = tuple[Option, ...]
Performers = dict[str, type[Performer]]


class Extension(Part):
    """Takes part in runs: a session calls the methods of all extensions, in the order that its edition says."""

    commands: Subcommands = {}  # subcommands: what each is for, and what does it
    options: Options = ()  # the subcommands that have an option, its name, what it takes, what it is for
    performers: Performers = {}  # what does the steps, by the kind of their task
    builder: Any = None  # what makes the table of a document that has only its words
    reopens = False  # whether a run that has failed goes on at the step that did
    mode = ""  # a mode of runs that only this part can go on with

    @staticmethod
    def suits(_program: Table) -> bool:
        """Tell whether the part has anything to do with a program."""
        return True

    @staticmethod
    def complete(table: Table) -> None:
        """Add to the table of a program what its calls need not say."""

    if TYPE_CHECKING:  # the moments at which a part may take part; one that does nothing then has no such method

        @staticmethod
        def from_caller(_program: Table, _options: Options, _command: str, _display: Any) -> Iterable[tuple[str, Any]]:  # noqa: ANN401 (Display)
            """Return options and values that are given in another way than as words, before there is a session."""
            return ()

        @staticmethod
        def worded(text: str) -> str:
            """Return a text in the words of whoever calls the program."""
            return text

        def prepare(self) -> None:
            """Look at the options; refuse what cannot be."""

        def identify(self, nodes: Table) -> Table:
            """Return what tells the steps of a program from those of another version (R4)."""
            return nodes

        def read(self, state: State) -> None:
            """Look at a state that was read."""

        def beside(self) -> dict[str, str]:
            """Return what is archived with the journal: each path, and the ending of its new name."""
            return {}

        def registers(self) -> Registers:
            """Return registers that a run begins with."""
            return {}

        def before_run(self, state: Optional[State]) -> None:
            """Prepare a call that is about a run; None is a new one."""

        def open(self) -> None:
            """Read and open what the run needs."""

        def before_step(self, _name: str) -> Optional[Perform]:
            """Do something before a step, or return what is done in its place."""
            return None

        def variables(self, _node: Table, _registers: Registers) -> dict[str, str]:
            """Return environment variables for what a step calls."""
            return {}

        def told(self, _text: str, done: Done) -> Done:
            """Return an outcome to which a text belongs."""
            return done

        def stand(self, _move: Move, _before: Optional[State], stand: Record) -> Record:
            """Return what a run does where it has moved."""
            return stand

        def after_step(self, move: Move) -> None:
            """Show something of the transition to the next step."""

        def end(self) -> None:
            """Do what is due where a run has ended."""

        def record(self, record: Record) -> Record:
            """Return what is written down, in the journal or as an event."""
            return record

        def written(self, record: Record) -> None:
            """Do something once a record is on disk."""

        def resumed(self) -> None:
            """Record what a call decides that resumes a run."""

        def waits(self) -> None:
            """Record that a run begins to wait."""

        def event(self, event: str, fields: Record) -> None:
            """Tell others where something happens; nothing is recorded here."""

        def mask(self, text: str) -> str:
            """Return a text without what must not be kept or sent."""
            return text

        def call(self, _words: tuple[str, ...]) -> str:
            """Return how else an operator calls a subcommand, "" for nothing."""
            return ""

        def repeat(self, _command: str) -> tuple[str, ...]:
            """Return the words that a further call about this run repeats."""
            return ()

        def agrees(self, _before: Table) -> Table:
            """Return what the options of a call say for the whole run, by name; None for nothing new."""
            return {}

        def facts(self, _state: State) -> Table:
            """Return what the status tells of a run."""
            return {}

        def lines(self, _facts: Table, _record: Optional[Table]) -> list[str]:
            """Return what stands below a step in the status; above all of them for None."""
            return []

        def again(self, _state: State) -> list[tuple[str, str]]:
            """Return what does a step again which ended the run, and the command for it."""
            return []

        def answers_in(self, _text: str, _nodes: dict[str, Table]) -> Any:  # noqa: ANN401 (answers, and what is wrong with some)
            """Read a file of answers that has more than lines with a word."""

        def reply(self, reply: str) -> str:
            """Return the reply that a word stands for."""
            return reply

        def given(self, done: Optional[Done]) -> Optional[Done]:
            """Return what comes of a reply that was given."""
            return done

        def hint(self) -> str:
            """Return what is added to the command with which an answered run goes on."""
            return ""
