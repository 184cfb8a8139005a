"""What targets that write shell scripts share: guards as tests, effects as assignments, and the choice of an edge."""
