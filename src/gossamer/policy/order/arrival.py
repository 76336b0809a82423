"""Arrival: in the order of coming, after the seeds."""

from gossamer.policy.order.formula import Formula


class Arrival:
    name = "arrival"
    formula = Formula(base=0.5)
