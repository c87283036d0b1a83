"""Other people's files to ours: one module per kind of file, all of them listed in `registry`."""
