"""Diagnostics: their codes, what each means, and issues in data as diagnostics."""
