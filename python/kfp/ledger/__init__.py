"""The books on every look at held-out information, and the policies that say how many there may be."""
