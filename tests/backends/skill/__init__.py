"""Tests of the skill target."""
