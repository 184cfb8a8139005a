"""Write scenarios for `rdc test --init`: their paths, names and position in a file."""
