"""Tests of step specifications."""
