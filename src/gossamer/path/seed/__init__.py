"""Stage 1, seed: where URLs enter the ring.

Takes: arguments and seed files. Gives: raw URLs to `canonical`. Guarantees: every seed is taken, or
refused with a reason that names it.
"""

from gossamer.path.seed.read import Refused, read_seeds

__all__ = ["Refused", "read_seeds"]
