"""Analyses: facts about a program without running it."""
