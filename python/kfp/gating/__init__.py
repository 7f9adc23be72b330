"""The gate: does a gain hold for configurations that nobody could have tuned for?

The only owner of held-out information. It is not called ``kfp.gate`` because that is the function.
"""
