"""Closed forms: pure functions on SI floats and numpy arrays."""
