#!/bin/sh
# Installs PoCL and pyopencl, which the benchmarks compare kfp with, on Debian or Ubuntu: bench/install_pocl.sh [PYTHON]
set -eu
python=${1:-python3}
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
$as_root apt-get update
$as_root apt-get install -y --no-install-recommends pocl-opencl-icd ocl-icd-libopencl1
"$python" -m pip install "pyopencl>=2024.1"
"$python" -c 'import pyopencl; print(*(p.version for p in pyopencl.get_platforms()), sep="\n")'
