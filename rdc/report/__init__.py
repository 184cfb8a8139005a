"""Diagnostics in formats for people and tools."""
