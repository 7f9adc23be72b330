"""The search: models propose kernels, the harness disposes. ``kfp.search.loop`` is where to begin reading."""
