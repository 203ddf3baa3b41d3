"""How an allowance of error is spread over looks without end, so that what all of them may do wrong adds up to it."""

import math

_LN_2 = math.log(2)
FIRST_ATTEMPT = 0.8
"""What the first attempt at a certificate may spend of the allowance; the others share the rest."""


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


def share_of_attempt(attempt: int) -> float:
    """Return the share that attempt number `attempt` (from 1) at a certificate may spend; all together make 1.

    A monitor does not know when trouble begins, so its beginners share evenly. Who certifies can choose the moment: the
    first attempt gets most, so that a manager who asks once needs hardly more labels than the bound itself does (with
    nothing wrong 321 instead of 299 at 1 %; the even way takes 398), and the later ones need a tenth to a fifth more.
    Raise ValueError for an attempt below 1.
    """
    if attempt == 1:
        return FIRST_ATTEMPT
    if attempt < 1:
        raise ValueError("attempts are counted from 1")
    return (1 - FIRST_ATTEMPT) * share_of_look(attempt - 1)
