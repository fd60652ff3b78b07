"""SHA-256 of the files that fixed requests give: what a change that only moves code must leave as it is.

`python tests/bytes/record.py [--engine sketch|pob] [--only NAME] [--processes N] [--write]` builds every case through
the command line, each in a data folder of its own, and compares with tests/bytes/<engine>.json; `--write` renews it.
On Path of Building the witch's build iterates once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILDS = ROOT.parent / "shared" / "builds"
CLASSES = {
    "sorceress": "cold sorceress for bossing, life-based",
    "witch": "chaos witch for mapping with energy shield",
    "warrior": "titan with maces for bossing",
    "ranger": "lightning bow deadeye, evasion, mapping",
    "monk": "monk invoker with quarterstaff, lightning, for bossing",
    "mercenary": "mercenary with crossbow, fire, for mapping",
    "huntress": "huntress with spear, for bossing",
    "druid": "druid for bossing",
}
SMALL = ["lightning sorceress for mapping", "--level", "24", "--gear", "starter"]
IMPORTED = BUILDS / "monk_13.xml"
"""A real player's file on an older tree, which only Path of Building can load."""


def cases(engine: str) -> dict[str, list[list[str]]]:
    """Return the command lines of each case; `PARENT` stands for the id that the one before it printed."""
    found = {name: [["build", prompt, "--level", "90"]] for name, prompt in CLASSES.items()}
    found["small"] = [["build", *SMALL]]
    tankier = ["build", "make this tankier, keep the weapon", "--mode", "refinement", "--parent", "PARENT"]
    found["refined"] = [["build", *SMALL], tankier]
    anew = ["build", "start over with cold instead", "--mode", "strategic", "--parent", "PARENT"]
    found["strategic"] = [["build", *SMALL], anew]
    if engine == "pob":
        found["imported"] = [["import", str(IMPORTED)]]
        found["refined_import"] = [*found["imported"], tankier]
        stronger = ["build", "more damage", "--mode", "refinement", "--parent", "PARENT"]
        found["stronger_import"] = [*found["imported"], stronger]
    return found


def measured(name: str, commands: list[list[str]], engine: str) -> dict[str, object]:
    """Run the case and return the digest of the last build's file, how it ended and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        own = {k: v for k, v in os.environ.items() if not k.startswith("BUILDWRIGHT_")}
        pob = os.environ.get("BUILDWRIGHT_POB_PATH", str(Path.home() / ".local/share/buildwright/pob"))
        env = {**own, "BUILDWRIGHT_DATA_DIR": folder, "BUILDWRIGHT_POB_PATH": pob, "BUILDWRIGHT_ENGINE": engine}
        env |= {"BUILDWRIGHT_LOG_LEVEL": "ERROR", "BUILDWRIGHT_ENGINE_WORKERS": "2"}
        started, build = time.monotonic(), ""
        view: dict[str, object] = {}
        for command in commands:
            line = [part if part != "PARENT" else build for part in command]
            done = subprocess.run(
                [sys.executable, "-m", "app", *line, "--engine", engine, "--out", folder, "--json"],
                cwd=ROOT,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode not in (0, 3):
                return {"failed": done.returncode, "error": done.stderr[-400:]}
            view = json.loads(done.stdout)
            build = str(view["id"])
        digest = hashlib.sha256((Path(folder) / f"{build}.xml").read_bytes()).hexdigest()
        return {
            "sha256": digest,
            "outcome": view["outcome"],
            "iteration": view["iteration"],
            "seconds": round(time.monotonic() - started, 1),
        }


def main() -> int:
    """Record or compare; 1 when a file differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=("sketch", "pob"), default="sketch")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    file = HERE / f"{chosen.engine}.json"
    kept = json.loads(file.read_text()) if file.exists() else {}
    todo = {name: lines for name, lines in cases(chosen.engine).items() if not chosen.only or name in chosen.only}
    different = 0
    with ThreadPoolExecutor(chosen.processes) as pool:
        running = {name: pool.submit(measured, name, lines, chosen.engine) for name, lines in todo.items()}
        for name, job in running.items():
            found = job.result()
            same = "sha256" in found and kept.get(name, {}).get("sha256") == found["sha256"]
            different += not same
            print(name, "same" if same else "DIFFERENT", json.dumps(found), flush=True)
            if chosen.write and "sha256" in found:
                kept[name] = {key: value for key, value in found.items() if key != "seconds"}
    if chosen.write:
        file.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    print(f"{len(todo) - different} passed, {different} failed")
    return int(different > 0 and not chosen.write)


if __name__ == "__main__":
    sys.exit(main())
