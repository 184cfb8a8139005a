"""Tests on targets: a scenario against each generated file."""
