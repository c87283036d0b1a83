"""Other people's files to ours, and ours to theirs."""
