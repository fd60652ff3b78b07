"""The command line in processes of its own, forked from one that has its modules loaded already.

Loading them takes longer than what most commands do; `python -m app` itself is what tests/e2e starts.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end, with this process's environment and what is given besides."""
    own = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **environment}
    with tempfile.TemporaryDirectory() as name:
        out, err = Path(name, "out"), Path(name, "err")
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["app.cli"])
        process = context.Process(target=_be_the_shell, args=(arguments, own, Path.cwd(), (out, err)))
        process.start()
        process.join(300)
        code = process.exitcode
        if code is None:
            process.kill()
            process.join()
        process.close()
        assert code is not None, f"{arguments} hangs"
        return subprocess.CompletedProcess(arguments, code, out.read_text("utf-8"), err.read_text("utf-8"))


def _be_the_shell(
    arguments: Sequence[str], environment: Mapping[str, str], cwd: Path, outputs: tuple[Path, Path]
) -> None:
    """Be the child: what a fresh process would have been given is put in place, then the command runs."""
    from app.cli import main

    for number, path in enumerate(outputs, start=1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = ["buildwright", *arguments]
    main()
