"""The plots of a report, each a function from figures to a ``Drawing``."""
