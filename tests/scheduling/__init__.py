"""Scheduling: tests and their helpers."""
