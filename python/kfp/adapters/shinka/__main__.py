"""``python -m kfp.adapters.shinka TASK FOLDER``."""

import sys

from kfp.adapters.shared.starting import command
from kfp.adapters.shinka.starting import start

ADVICE = """\
shinka_run --task-dir {folder} --config-fname shinka.yaml --results_dir RESULTS --num_generations 20 \\
    --set evo.llm_models='["MODEL"]'"""

if __name__ == "__main__":
    sys.exit(command("kfp.adapters.shinka", start, ADVICE))
