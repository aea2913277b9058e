"""Accidents in great number. `scripts/soak --help` has the usage."""

import shutil
import sys
import tempfile

import disks
import kills
import pairs
import pool
from program import Found

PARTS = {"kills": (kills.soak, 500), "disks": (disks.soak, 200), "pairs": (pairs.soak, 5), "pool": (pool.soak, 200_000)}


def main(words):
    chosen = words[0] if words else "all"
    if chosen != "all" and chosen not in PARTS:
        print(f"gradcast: there is no soak '{chosen}' (there are {', '.join(PARTS)}, all)", file=sys.stderr)
        return 2
    failed = 0
    for name, (soak, times) in PARTS.items():
        if chosen not in ("all", name):
            continue
        folder = tempfile.mkdtemp(prefix="gradcast-soak-")
        print(f"== {name}", flush=True)
        try:
            soak(int(words[1]) if len(words) > 1 else times, folder)
            shutil.rmtree(folder)
        except Found as found:
            failed += 1
            print(f"FOUND: {found}\n(its files are in {folder})", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
