"""Breadth: what is near the seeds first; a parameter of a query counts as two links more.

On sites of real software the page itself has the fewest parameters; the others are other views of it.
"""

from gossamer.policy.order.formula import BAND, Formula


class Breadth:
    name = "breadth"
    formula = Formula(base=1.0, depth=-BAND, deepest=63, parameter=-2 * BAND)
