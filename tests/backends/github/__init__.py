"""Workflows of GitHub Actions: what the linters say of them, and what they do when act runs them."""
