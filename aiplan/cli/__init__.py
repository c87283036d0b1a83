"""One file per command: parse, call, exit code."""
