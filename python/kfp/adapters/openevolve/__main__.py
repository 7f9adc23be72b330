"""``python -m kfp.adapters.openevolve TASK FOLDER``."""

import sys

from kfp.adapters.openevolve.starting import start
from kfp.adapters.shared.starting import command

ADVICE = """\
openevolve-run {folder}/program.metal {folder}/evaluation.py --config {folder}/config.yaml --primary-model MODEL"""

if __name__ == "__main__":
    sys.exit(command("kfp.adapters.openevolve", start, ADVICE))
