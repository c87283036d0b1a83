"""Guarding configurations: expectations, policies, checks, differences, pages of codes."""
