"""Breadth: what is near the seeds first."""

from gossamer.policy.order.formula import BAND, Formula


class Breadth:
    name = "breadth"
    formula = Formula(base=1.0, depth=-BAND, deepest=63)
