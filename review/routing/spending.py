"""How an allowance of error is spread over looks without end, so that what all of them may do wrong adds up to it."""

import math

_LN_2 = math.log(2)


def share_of_look(look: int) -> float:
    """Return the share of the allowance that look number `look` (from 1) may spend; all shares together make 1.

    ln 2 (1/ln(j + 1) - 1/ln(j + 2)): the sum telescopes to 1 exactly, the first look gets 37 %, and late looks shrink
    hardly faster than 1/j, the slowest that can still be added up: what is late is not lost. Raise ValueError for a
    look below 1.
    """
    if look < 1:
        raise ValueError("looks are counted from 1")
    # As one fraction: the difference of the two would lose its digits where they are nearly equal.
    near, far = math.log1p(look), math.log(look + 2)
    return _LN_2 * math.log1p(1 / (look + 1)) / (near * far)
