"""Rundown."""
