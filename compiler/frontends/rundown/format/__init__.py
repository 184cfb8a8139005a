"""Runbooks in their canonical form."""
