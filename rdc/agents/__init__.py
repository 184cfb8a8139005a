"""The MCP server that gives an agent one step of a run at a time."""
