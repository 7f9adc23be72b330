"""What a program says without being run: which conditions ask for which parameters, and what they answer where."""

from kfp.auditing.static.evidence import Analysis, analyse, static_evidence
from kfp.auditing.static.fallbacks import forced_fallbacks

__all__ = ["Analysis", "analyse", "forced_fallbacks", "static_evidence"]
