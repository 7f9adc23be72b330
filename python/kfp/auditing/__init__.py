"""The audit: by which mechanism did a gain fail to transfer? Not called ``kfp.audit`` because that is the function.

What decides a grade is what was run. Static evidence locates and explains, and never grades alone.
"""
