"""How much the machine does alone and how fast (K2). A rate of nothing is None, never 0."""


def automation_rate(*, n_auto: int, n_sampled: int, n_review: int) -> float | None:
    """Return the share of routed documents that are stored without waiting for a person, audited later or not."""
    return _share(n_auto + n_sampled, n_auto + n_sampled + n_review)


def straight_through_rate(*, n_documents: int, n_selected: int) -> float | None:
    """Return the share of routed documents that no person is asked to look at, neither in review nor as an audit."""
    return _share(n_documents - n_selected, n_documents)


def pages_per_hour(*, n_pages: int, seconds: float) -> float | None:
    """Return pages an hour over a span of `seconds`; None when no time passed."""
    if n_pages < 0 or seconds < 0:
        raise ValueError("pages and seconds cannot be negative")
    return n_pages * 3600 / seconds if seconds else None


def _share(part: int, whole: int) -> float | None:
    if not 0 <= part <= whole:
        raise ValueError("a part lies between nothing and the whole")
    return part / whole if whole else None
