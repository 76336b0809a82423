"""The command line before a crawl: how long help, settings and completion take.

Processor time of the process (a busy machine disturbs it little), best of several runs, beside a Python that does
nothing. The bar is for `--help`: 0.3 s. Completing itself runs in the shell and starts no process of ours.
"""

import resource
import subprocess
import sys

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]
BAR = 0.3
"""Seconds in which `--help` must be there."""
RUNS = 7

COMMANDS = {
    "gossamer --help": [*GOSSAMER, "--help"],
    "gossamer crawl --help": [*GOSSAMER, "crawl", "--help"],
    "gossamer settings": [*GOSSAMER, "settings"],
    "gossamer settings delay": [*GOSSAMER, "settings", "delay"],
    "gossamer completion bash": [*GOSSAMER, "completion", "bash"],
}


def _seconds(command: list[str]) -> float:
    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    best = float("inf")
    for _ in range(RUNS):
        before = used()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        best = min(best, used() - before)
    return best


def run() -> list[dict[str, object]]:
    nothing = _seconds([sys.executable, "-c", "pass"])
    rows: list[dict[str, object]] = []
    for name, command in COMMANDS.items():
        seconds = _seconds(command)
        rows.append(
            {
                "bench": "surface",
                "what": name,
                "value": round(seconds * 1e3),
                "unit": "ms",
                "beside": f"Python that does nothing: {nothing * 1e3:.0f} ms",
                "ratio": round(BAR / seconds, 1),
                "bar": 1.0 if name == "gossamer --help" else None,
            }
        )
    return rows


if __name__ == "__main__":
    for row in run():
        print(row)
