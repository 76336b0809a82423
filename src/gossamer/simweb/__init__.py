"""The simulated web: a deterministic web from a seed, served natively, with known truth.

`serve` runs the server inside this process, off the interpreter lock; `truth` says for the same
options what a crawler must find. See docs/reference/simweb.md for the meaning of each fact.
"""

from gossamer.simweb.options import ALL_BEHAVIOURS, Options, OptionsError, parse_latency
from gossamer.simweb.server import SimWeb, serve
from gossamer.simweb.truth import Truth, truth

__all__ = [
    "ALL_BEHAVIOURS",
    "Options",
    "OptionsError",
    "SimWeb",
    "Truth",
    "parse_latency",
    "serve",
    "truth",
]
