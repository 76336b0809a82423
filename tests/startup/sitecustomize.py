"""Run by Python at its start in every process that a test starts: see `tests/blocking.py`."""

import os
import sys

if sys.argv and os.environ.get("GOSSAMER_TESTS"):
    sys.path.append(os.environ["GOSSAMER_TESTS"])
    from tests.blocking import watch

    watch()
