"""What differed once, and what is risky: documents as they are, replayed by all drivers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equivalence.drivers import DRIVERS, try_driver
from tests.equivalence.regressions import FOLDER, read, write

FOUND = sorted(folder for folder in FOLDER.iterdir() if folder.is_dir())


def test_some_were_found() -> None:
    assert len(FOUND) >= 5


@pytest.mark.share(38)
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("folder", FOUND, ids=lambda folder: folder.name)
def test_it_walks_as_written(folder: Path, driver: str) -> None:
    try_driver(driver, read(folder))


@pytest.mark.parametrize("folder", FOUND, ids=lambda folder: folder.name)
def test_it_is_written_as_it_is_read(folder: Path, tmp_path: Path) -> None:
    write(tmp_path, read(folder))
    for path in filter(Path.is_file, folder.rglob("*")):
        assert (tmp_path / path.relative_to(folder)).read_bytes() == path.read_bytes()
