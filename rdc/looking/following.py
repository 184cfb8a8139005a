"""A run that pages look at: its records as they come, its place, and the status that its program shows."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Lock, Thread

from msgspec import Struct
from msgspec.structs import replace

from rdc.looking.drawing import Drawing
from rdc.looking.model import Answered, Question, Refused, Reply, RunEntry, State, Visit, checked
from rdc.looking.visits import Reading, first_of, is_same, last_of, place_of, table_for
from runtime_shim.engine.journal import Record
from runtime_shim.engine.program import UsageError
from runtime_shim.engine.state import State as RunState

DAMAGES = (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError)
"""The errors of damaged records."""


def since_of(state: RunState) -> str:
    """Return when the current step started, or the run ended; "" without times."""
    return str(last_of(state).get("time", ""))


def words_of(error: Exception) -> str:
    """Return why something can't be read."""
    return str(error) if isinstance(error, OSError) else str(error.args[-1] if error.args else error)


class Seen(Struct, frozen=True):
    """A run as a page sees it. The first `state.total` visits never change, unless `epoch` does."""

    state: State
    visits: list[Visit]
    epoch: int = 0


class Place(Struct, frozen=True):
    """Where a run is, as far as this is known without its program.

    `state` is one of the words of `State`. `key` differs whenever the program could show something else. `is_quiet` is
    whether the program has nothing to add: the run works, or is archived.
    """

    state: str
    key: object
    is_quiet: bool
    holder: str = ""
    worker: str = ""
    notice: str = ""


class Status(Struct, frozen=True):
    """The status that the program of a run shows: its state, its next commands, and its question."""

    state: str
    next: tuple[str, ...] = ()
    question: Question | None = None
    holder: str = ""
    message: str = ""


class AnyRun(ABC):
    """A run that pages look at. They see `seen`."""

    seen: Seen

    @abstractmethod
    def look(self) -> bool:
        """Read new records, and return whether anything has changed."""

    @abstractmethod
    def answer(self, reply: Reply, *, continues: bool) -> Answered | Refused:
        """Record an answer, unless another person was first."""

    @abstractmethod
    def log(self, number: int) -> str | bytes:
        """Return the path of the log of a visit or of the current step, or its content; "" without one."""


class Followed(AnyRun):
    """A run with records."""

    def __init__(self, entry: RunEntry, drawing: Drawing, changed: Callable[[], None]) -> None:
        self.entry, self._drawing, self._changed = entry, drawing, changed
        self._lock, self._edition, self._problem, self._damage = Lock(), -1, "", ""
        self._reading, self._place = Reading(), Place("none", None, is_quiet=True)
        self._asked: object = None
        self._status: tuple[object, Status | None] = None, None
        self.seen = Seen(State(entry.key, entry.name, "", "none", 0), [])

    # --- The differences between runs here and at workers ---

    @abstractmethod
    def more(self) -> tuple[bool, list[Record]]:
        """Return whether this is another run now, and its new records.

        Raises:
            UsageError, OSError or one of `DAMAGES`: They can't be read.
        """

    @abstractmethod
    def place(self, state: RunState, *, is_changed: bool) -> Place:
        """Return where the run is. This is called often."""

    @abstractmethod
    def ask(self, state: RunState) -> Status:
        """Ask the program of the run for its status. This takes a while."""

    # --- Reading ---

    def look(self) -> bool:
        """Read new records, and return whether anything has changed."""
        with self._lock:
            is_changed, edition, before = self._read(), self._drawing.document.edition, self._place
            try:
                if self._reading.state is not None and not self._problem:
                    self._place = self.place(self._reading.state, is_changed=is_changed)
                if not is_changed and edition == self._edition and before == self._place:
                    return False
                self._edition = edition
                self._show()
            except DAMAGES as error:
                self._damaged(error)
                self._show()
            return True

    def _damaged(self, error: Exception) -> None:
        """Show no records until another run takes their place: later ones can't be read either."""
        self._problem = self._damage = f"the records of the run are damaged: {words_of(error)}"

    def _read(self) -> bool:
        before, records = self._problem, list[Record]()
        try:
            is_new, records = self.more()
            if is_new:
                self._reading, self._damage = Reading(self._reading.epoch + 1), ""
            self._problem = self._damage
        except (UsageError, OSError, *DAMAGES) as error:
            is_new, self._problem = False, words_of(error)
        try:
            self._reading.add(records, self._drawing.version)
        except DAMAGES as error:
            self._damaged(error)
        return is_new or bool(records) or before != self._problem

    def _show(self) -> None:
        reading, entry, edition = self._reading, self.entry, self._drawing.document.edition
        state, version = reading.state, self._drawing.version
        if self._problem or state is None:
            word = "unreadable" if self._problem else "none"
            self.seen = Seen(State(entry.key, entry.name, "", word, edition, message=self._problem), [])
            return
        title, attempt, instance = place_of(state, table_for(state, version))
        shown = State(
            key=entry.key,
            name=entry.name,
            run=first_of(state)["run"],
            state=self._place.state,
            edition=edition,
            is_same=version is not None and is_same(state, version),
            started=first_of(state).get("time", ""),
            since=since_of(state),
            step=state.node,
            title=title,
            attempt=attempt,
            instance=instance,
            total=len(reading.visits),
            message=state.message,
            holder=self._place.holder,
            has_logs=self.has_logs(),
            worker=self._place.worker,
            notice=self._place.notice,
        )
        self.seen = Seen(self._with_status(checked(shown), state), reading.visits, reading.epoch)

    @abstractmethod
    def has_logs(self) -> bool:
        """Return whether the run has logs."""

    def _with_status(self, shown: State, state: RunState) -> State:
        """Return the state with the status of the program. A thread asks for it, and then the state changes."""
        if self._place.is_quiet:
            return shown
        question = (shown.run, shown.total, shown.state)
        key = (question, shown.edition, self._place.key)
        if self._asked != key:
            self._asked = key
            Thread(target=self._ask, args=(key, state), daemon=True).start()
        status = self._status[1]
        if status is None or self._status[0] != question:  # otherwise the form stays, as someone may write in it
            return shown
        message, holder = status.message or shown.message, status.holder or shown.holder
        return replace(
            shown, state=status.state, next=status.next, question=status.question, message=message, holder=holder
        )

    def _ask(self, key: tuple[object, ...], state: RunState) -> None:
        status = self.ask(state)
        with self._lock:
            if self._asked == key:
                self._status = key[0], status
                self._show()
        self._changed()

    def refused(self, reply: Reply, error: str, help: str = "") -> Refused:  # noqa: A002 (the name of the field)
        """Return why an answer was refused, with the answer of the person who was first."""
        self.look()
        visits, (place, _, _) = self.seen.visits, reply.at.partition(":")
        number = int(place) if place.isascii() and place.isdecimal() and len(place) < 9 else len(visits)
        return Refused(error, help, next(iter(visits[number : number + 1]), None))

    def step_of(self, number: int) -> str:
        """Return the step of a visit, or the current one."""
        visits = self.seen.visits
        return visits[number - 1].step if 0 < number <= len(visits) else self.seen.state.step
