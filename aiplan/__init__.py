"""Capacity planner for AI training clusters: closed-form models, every number explained."""

__version__ = "0.1.0"
