"""Scheduling: which pods go where, what waits and why, in closed form for a snapshot and by simulated events over time.

Read in this order: `machine` (nodes and pods), `state` (what is left of them), `strategies` (scores), `tables` (scores
kept up to date), `replay` (arrivals without departures), `ledger` (quotas), `jobs`, `simulation` (events over time).
"""
