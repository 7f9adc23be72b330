"""Where the workers of a sweep run: this machine, a dask cluster, Slurm."""
