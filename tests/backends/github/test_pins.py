"""The pinned actions, and how newer releases of them are found."""

from __future__ import annotations

import re

from backends.github.yaml.pins import Pin, pins
from tests.backends.github.pins import newest

LISTING = """\
1111111111111111111111111111111111111111\trefs/tags/v2
2222222222222222222222222222222222222222\trefs/tags/v2.9.0
3333333333333333333333333333333333333333\trefs/tags/v2.10.0
4444444444444444444444444444444444444444\trefs/tags/v2.10.0^{}
5555555555555555555555555555555555555555\trefs/tags/v3.0.0-beta
"""


def test_every_action_is_pinned_to_a_commit() -> None:
    assert set(pins()) == {"checkout", "upload-artifact", "download-artifact"}
    for pin in pins().values():
        assert re.fullmatch(r"[\w-]+/[\w-]+", pin.uses)
        assert re.fullmatch(r"v\d+\.\d+\.\d+", pin.version)
        assert re.fullmatch(r"[0-9a-f]{40}", pin.commit)


def test_the_newest_release_is_the_highest_version_and_its_peeled_commit() -> None:
    assert newest("actions/checkout", LISTING) == Pin("actions/checkout", "v2.10.0", "4" * 40)
    assert newest("actions/checkout", "") is None
