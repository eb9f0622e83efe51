"""The states a metric is made of: what they hold, how they are merged, and the int64 words that travel between cards.

Every state is exact and its merge is associative and commutative, so no batch size, order or number of cards can change
a value. Nothing here knows a metric, MindSpore or a communicator.
"""

from mindeval.state.base import State
from mindeval.state.counts import Count, Counts
from mindeval.state.exact_sum import ExactSum
from mindeval.state.grouped import Grouped
from mindeval.state.rows import Rows

__all__ = ["Count", "Counts", "ExactSum", "Grouped", "Rows", "State"]
