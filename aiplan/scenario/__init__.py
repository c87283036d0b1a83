"""Scenario text to validated, unit-resolved, frozen records."""
