"""Runs of the search on disk: a folder of plain files each, and one index over all of them."""
