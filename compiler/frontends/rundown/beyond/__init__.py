"""What runbooks declare beyond the specification, under `rdc` in their frontmatter (rules E1 to E3, E9, E10)."""
