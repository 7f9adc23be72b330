"""Sweeps: many runs of the search as one thing that can be interrupted, shared and gone on with."""
