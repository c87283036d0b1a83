"""The questions people ask, one file each."""
