"""The options of step specifications: secrets, and what targets know of units."""

from __future__ import annotations

from typing import Any

from compiler.frontends.call_units import UNITS
from compiler.frontends.name_lists import SECRETS
from compiler.options import Option

OPTIONS: tuple[Option[Any], ...] = (SECRETS, UNITS)
