"""Common to targets that write shell scripts: guards as tests, effects as assignments, and the choice of an edge."""
