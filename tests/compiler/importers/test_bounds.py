"""The importer reads long pages and long lines in a time that grows with their length."""

from __future__ import annotations

import time

import pytest

from compiler.importers import sections, words
from compiler.importers.markdown import Section
from tests.support.imported import block, draft


def test_many_headings_side_by_side_are_compared_in_one_pass() -> None:
    found = [Section(2, f"Add the cup {at}", at) for at in range(3000)]
    begun = time.process_time()
    assert sections.are_unordered("Shop", found)
    assert time.process_time() - begun < 1.5
