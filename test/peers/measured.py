"""Runs a command and prints what it and its descendants took, as JSON. Linux only."""

import json
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path


def session_of(process: Path) -> int:
    # The name of the program is in brackets and may hold spaces; the session comes fourth after it.
    return int((process / "stat").read_text().rpartition(")")[2].split()[3])


def proportional_kb(process: Path) -> int:
    """A page that forked processes share counts once."""
    for line in (process / "smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def memory_kb(session: int) -> int:
    total = 0
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if session_of(process) == session:
                total += proportional_kb(process)
        except (OSError, ValueError, IndexError):
            pass  # It has ended.
    return total


child = subprocess.Popen(sys.argv[1:], start_new_session=True, stdout=subprocess.DEVNULL)
ended = threading.Event()
peak = 0


def watch() -> None:
    global peak
    while not ended.wait(0.25):
        peak = max(peak, memory_kb(child.pid))


watcher = threading.Thread(target=watch)
watcher.start()
code = child.wait()
ended.set()
watcher.join()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "megabytes": round(peak / 1024)}))
sys.exit(code if code >= 0 else 1)
