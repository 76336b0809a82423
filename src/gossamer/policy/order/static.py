"""Static: URLs without a query first; with and without, what is near the seeds first."""

from gossamer.policy.order.formula import BAND, Formula


class Static:
    name = "static"
    formula = Formula(base=1.0, depth=-BAND, deepest=31, dynamic=-0.5)
