"""Imports of pages, skills and justfiles: which files to read, and which drafts to write."""
