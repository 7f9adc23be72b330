"""What a program says without being run: which conditions ask for which parameters, and what they answer where."""

from kfp.auditing.static.evidence import Analysis, analyse, static_evidence

__all__ = ["Analysis", "analyse", "static_evidence"]
