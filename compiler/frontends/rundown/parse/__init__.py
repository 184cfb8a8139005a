"""Runbooks as syntax trees."""
