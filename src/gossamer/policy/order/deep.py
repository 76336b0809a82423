"""Deep: what is far from the seeds first; the seeds themselves come before it."""

from gossamer.policy.order.formula import BAND, Formula


class Deep:
    name = "deep"
    formula = Formula(base=0.0, depth=BAND, deepest=62)
