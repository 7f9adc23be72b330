"""The command line, ``kfp COMMAND``: its entry point, and its exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

RIGHT, NEGATIVE, USAGE, UNAVAILABLE, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``kfp`` script. Bad input of any kind ends in a line on stderr and an exit code."""
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("kfp: interrupted", file=sys.stderr)
        code = INTERRUPTED
    except BrokenPipeError:
        # Whoever read stdout has gone; the interpreter's own flush at exit must not find that out again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 128 + 13
    sys.exit(code)


def _run(arguments: Sequence[str]) -> int:
    # Inside main's guard: importing takes long enough to be interrupted.
    import kfp.cli.audit
    import kfp.cli.gate
    import kfp.cli.report
    import kfp.cli.search
    import kfp.cli.sweep  # noqa: F401  (they add their commands)
    from kfp.cli.app import run
    from kfp.errors import DeviceUnavailable, Error, ToolchainError

    try:
        return run(arguments)
    except (DeviceUnavailable, ToolchainError) as error:
        print(f"kfp: {error}", file=sys.stderr)
        return UNAVAILABLE
    except Error as error:
        print(f"kfp: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:
        raise
    except (OSError, MemoryError) as error:
        # A limit on files, memory or processes, a full disk: nothing is wrong with what was asked.
        print(f"kfp: this machine refuses: {_refusal(error)}", file=sys.stderr)
        return UNAVAILABLE


def _refusal(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    where = f"{error.filename}: " if error.filename is not None else ""
    return where + (error.strerror or str(error))
