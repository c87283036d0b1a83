"""Ours to other people's files: one module per kind of file, all of them listed in `registry`."""
