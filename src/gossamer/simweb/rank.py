"""What follows from a graph alone: depth from the first node, and PageRank.

A graph is a pair of arrays: the targets of node n are targets[starts[n]:starts[n+1]].
"""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_DAMPING = 0.85
_ITERATIONS = 200
_TOLERANCE = 1e-12


def depths(starts: Ints, targets: Ints, reads: npt.NDArray[np.bool_]) -> Ints:
    """Links from node 0 to each node, -1 where there is no way. Only nodes in `reads` lead on."""
    depth = np.full(len(starts) - 1, -1, np.int64)
    depth[0] = 0
    front = np.zeros(1, np.int64)
    level = 0
    while front.size:
        level += 1
        front = front[reads[front]]
        counts = starts[front + 1] - starts[front]
        # Positions of all links of the front, without a loop: a running number per node.
        offsets = np.repeat(starts[front] - (np.cumsum(counts) - counts), counts)
        found = targets[offsets + np.arange(offsets.size)]
        front = np.unique(found[depth[found] < 0])
        depth[front] = level
    return depth


def pagerank(starts: Ints, targets: Ints) -> npt.NDArray[np.float64]:
    """PageRank with damping 0.85; a node without links gives its rank to all alike."""
    count = len(starts) - 1
    degree = np.diff(starts)
    weights = np.repeat(1.0 / np.maximum(degree, 1), degree)
    # Slow to import, and no other command needs it.
    from scipy import sparse  # noqa: PLC0415

    matrix = sparse.csr_matrix((weights, targets, starts), shape=(count, count)).T.tocsr()
    dangling = degree == 0
    rank = np.full(count, 1.0 / count)
    for _ in range(_ITERATIONS):
        spread = _DAMPING * (matrix @ rank + rank[dangling].sum() / count) + (1 - _DAMPING) / count
        change = np.abs(spread - rank).sum()
        rank = spread
        if change < _TOLERANCE:
            break
    result: npt.NDArray[np.float64] = rank
    return result
