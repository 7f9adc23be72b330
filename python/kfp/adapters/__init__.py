"""kfp as the evaluator inside other people's loops, one package per neighbour. None is imported unless it is used.

All code is in folders: a script run by its path has its own folder first on the path, where ``inspect`` would stand in
for Python's own.
"""
