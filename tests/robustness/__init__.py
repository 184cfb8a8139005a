"""What happens to programs, and around them, that nobody intended."""
