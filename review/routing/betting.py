"""A bet against "the share of wrong values exceeds the target": its wealth is evidence that holds for every threshold.

n independent trials, each wrong with a chance of its own, are gone through in an order that their outcomes do not
influence. A gambler who thinks that only `alternative` < target of them are wrong multiplies his wealth by
(1 - alternative)/(1 - target) for a right one and by alternative/target for a wrong one, which is

    1 - stake (e - target),      e = 1 for wrong, stake = (target - alternative)/(target (1 - target)).

Let r_i be the chance of trial i. Divided by prod(1 - stake (r_i - target)) the wealth is a martingale, whatever the r_i
are. By the inequality of the means that product is at most 1 wherever the mean of r_1 … r_k exceeds the target. So by
Ville's inequality (1939)

    P(at any k where the mean chance of the first k trials exceeds the target: wealth_k >= 1/level) <= level:

one bound for all k at once, exact for every n, and the r_i may rise and fall as they like. (A test supermartingale as
in Waudby-Smith & Ramdas 2024, JRSS B 86, 1-27; that normalising it by its own mean makes it hold at all k without any
order among the r_i is derived here.) With nothing wrong it takes as many trials as Clopper and Pearson's limit.

The alternative is the one for which the fewest trials are needed if the decision falls near trial n: the line of most
errors allowed then touches the curve of the best that any alternative allows at n. It may depend on anything but
outcomes.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy.special import xlog1py, xlogy

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64] | float

_MOST_TRIALS = 10**8
_STEPS = 60


def alternative_for(target: Floats | float, n: Floats | float, level: float) -> Floats:
    """Return the share of wrong ones to bet on where the decision falls near trial n: 0 up to target; n above 0.

    0 while n is too small to bear any error.
    """
    return np.asarray(target * np.maximum(0.0, 1 - np.sqrt(2 * math.log(1 / level) / (n * target))))


def log_wealth(n: Numbers, n_wrong: Numbers, target: Floats | float, alternative: Floats | float) -> Floats:
    """Return the logarithm of the wealth after n trials of which n_wrong are wrong; -inf where all was lost."""
    right = n - n_wrong
    gained = xlog1py(right, -np.asarray(alternative)) - xlog1py(right, -np.asarray(target))
    return np.asarray(gained + xlogy(n_wrong, alternative) - xlogy(n_wrong, target))


def upper_limit(n: int, n_wrong: int, n_planned: float, level: float) -> float:
    """Return the least target that the same trials would have carried; 1 where none.

    `n_planned` is the number for which the alternative is chosen. Raise ValueError unless 0 <= n_wrong <= n.
    """
    if not (0 <= n_wrong <= n and 0 < level < 1):
        raise ValueError("n_wrong lies between 0 and n, the level strictly between 0 and 1")
    low, high = n_wrong / n if n else 1.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        alternative = alternative_for(middle, n_planned, level)
        is_carried = log_wealth(float(n), float(n_wrong), middle, alternative) >= -math.log(level)
        low, high = (low, middle) if is_carried else (middle, high)
    return high


def trials_needed(wrong_share: Floats, part: Floats, target: float, level: float) -> Floats:
    """Return how many trials in all are needed to carry a threshold, by shape (m,); infinite where no number will do.

    `part` in (0, 1] of the trials lie at or above it, and `wrong_share` of those turn out wrong.
    """
    low, high = np.zeros(len(part)), np.full(len(part), float(_MOST_TRIALS))

    def is_carried(n: Floats) -> npt.NDArray[np.bool_]:
        above = n * part
        wealth = log_wealth(above, above * wrong_share, target, alternative_for(target, above, level))
        return np.asarray(wealth >= -math.log(level))

    is_possible = (wrong_share < target) & is_carried(high)
    for _ in range(_STEPS):
        middle = np.maximum((low + high) / 2, 1e-9)
        carried = is_carried(middle)
        low, high = np.where(carried, low, middle), np.where(carried, middle, high)
    return np.where(is_possible, np.ceil(high - 1e-6), np.inf)
