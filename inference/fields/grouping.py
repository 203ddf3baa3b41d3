"""Which documents must stay on one side of a split: near duplicates, and one vendor's layout.

What a model has seen of a till or a form in training it answers better in the test: figures from a split that tears
such documents apart promise too much. Three things bind two documents: the name of their vendor, the layout of their
first pages (one cluster a leader, so that a chain of small likenesses joins nothing), and a page of the same look
whose words are much the same too (the look alone takes one receipt in six hundred for another).
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from inference.fields.layout_similarity import SAME_LAYOUT, Layout, layout_of, layout_similarity, likeness
from inference.types import MAX_DISTANCE, Word

_NOT_WORDS = re.compile(r"[\W_]+")
_BAND_BITS = 7
_N_BANDS = MAX_DISTANCE + 1
"""Hashes that differ in at most 8 of 64 bits agree in at least one of 9 bands of 7 bits."""
_LEADERS_COMPARED = 8
_TELLING = 200
"""A word on the pages of more leaders than that proposes none of them."""
_BLOCK = 2048


@dataclass(frozen=True, slots=True)
class Looked:
    """What decides on a document's group: an id, the vendor as read, hashes of the pages, words of the first page."""

    key: str
    vendor: str = ""
    looks: tuple[str, ...] = ()
    words: tuple[Word, ...] = ()


@dataclass(slots=True)
class Grouping:
    """Groups are built up document by document; kept of each are its key and its hashes, and of a leader its layout.

    Pages of the same look are joined by `join_looks`, which is given their words again.
    """

    _parents: dict[str, str] = field(default_factory=dict)
    _vendors: dict[str, str] = field(default_factory=dict)
    _leaders: list[tuple[str, Layout]] = field(default_factory=list)
    _leaders_by_word: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _looks: list[tuple[str, str]] = field(default_factory=list)

    def add(self, one: Looked) -> None:
        """Take a document in and join it with those of its vendor and its layout."""
        self._parents.setdefault(one.key, one.key)
        if vendor := folded(one.vendor):
            self._join(one.key, self._vendors.setdefault(vendor, one.key))
        self._looks += [(look, one.key) for look in one.looks if look]
        if one.words:
            self._lead_or_follow(one)

    def near_looks(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs of documents with pages that a hash takes for near duplicates, each pair once."""
        hashes = np.array([int(look, 16) for look, _ in self._looks], dtype=np.uint64)
        keys = [key for _, key in self._looks]
        seen: set[tuple[str, str]] = set()
        for first, second in _near(hashes):
            one, other = sorted((keys[first], keys[second]))
            if one != other and self._root(one) != self._root(other) and (one, other) not in seen:
                seen.add((one, other))
                yield one, other

    def join_looks(self, pairs: Iterable[tuple[str, str]], words: Mapping[str, tuple[Word, ...]]) -> None:
        """Join those of the pairs whose first pages share their words; two without any words share them."""
        for one, other in pairs:
            if not (words[one] or words[other]) or layout_similarity(words[one], words[other]) >= SAME_LAYOUT:
                self._join(one, other)

    def groups(self) -> dict[str, str]:
        """Return each document's group, named after what it holds: 16 hexadecimal digits."""
        members: dict[str, list[str]] = defaultdict(list)
        for key in self._parents:
            members[self._root(key)].append(key)
        names = {root: hashlib.sha256(min(keys).encode()).hexdigest()[:16] for root, keys in members.items()}
        return {key: names[self._root(key)] for key in self._parents}

    def _lead_or_follow(self, one: Looked) -> None:
        """Follow the leader whose page is most alike, or lead where none is alike enough."""
        layout = layout_of(one.words)
        # In the order of the page: what is done with a set would differ from run to run.
        texts = dict.fromkeys(text for text, _ in layout)
        postings = [self._leaders_by_word[text] for text in texts if text in self._leaders_by_word]
        # What stands on every page tells nothing, and would be looked at for every page.
        votes = Counter(leader for leaders in postings if len(leaders) <= _TELLING for leader in leaders)
        near = sorted(votes, key=lambda leader: (-votes[leader], leader))[:_LEADERS_COMPARED]
        ranked = [(likeness(layout, self._leaders[leader][1]), leader) for leader in near]
        share, best = max(ranked, key=lambda ranking: (ranking[0], -ranking[1]), default=(0.0, 0))
        if share >= SAME_LAYOUT:
            self._join(one.key, self._leaders[best][0])
            return
        for text in texts:
            if len(leaders := self._leaders_by_word[text]) <= _TELLING:
                leaders.append(len(self._leaders))
        self._leaders.append((one.key, layout))

    def _root(self, key: str) -> str:
        while (parent := self._parents[key]) != key:
            self._parents[key] = self._parents[parent]
            key = parent
        return key

    def _join(self, one: str, other: str) -> None:
        first, second = sorted((self._root(one), self._root(other)))
        self._parents[second] = first


def folded(text: str) -> str:
    """Return a name as two readings of it have in common: letters and digits in one case."""
    return _NOT_WORDS.sub("", text).casefold()


def _near(hashes: npt.NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Yield the positions of hashes within MAX_DISTANCE bits of each other; a pair may come more than once."""
    for band in range(_N_BANDS):
        digits = (hashes >> np.uint64(band * _BAND_BITS)) & np.uint64((1 << _BAND_BITS) - 1)
        order = np.argsort(digits, kind="stable")
        bounds = np.flatnonzero(np.diff(digits[order])) + 1
        for bucket in np.split(order, bounds):
            yield from _near_in(hashes, bucket)


def _near_in(hashes: npt.NDArray[np.uint64], bucket: npt.NDArray[np.intp]) -> Iterator[tuple[int, int]]:
    for start in range(0, len(bucket), _BLOCK):
        rows = bucket[start : start + _BLOCK]
        for row, position in enumerate(rows, start):
            later = bucket[row + 1 :]
            apart = np.bitwise_count(hashes[later] ^ hashes[position])
            for other in later[apart <= MAX_DISTANCE]:
                yield int(position), int(other)


def split_groups(groups: Mapping[str, str], shares: Sequence[tuple[str, float]], seed: str) -> dict[str, str]:
    """Return the side of each document: whole groups, in an order that the seed decides, to whichever side lacks most.

    `shares` are the sides with their shares of the documents, which add up to 1. The same documents and the same seed
    always give the same sides.
    """
    sizes = Counter(groups.values())
    order = sorted(sizes, key=lambda group: hashlib.sha256(f"{seed}\0{group}".encode()).digest())
    lacking = {side: share * len(groups) for side, share in shares}
    sides: dict[str, str] = {}
    for group in order:
        side = max((side for side, share in shares if share > 0), key=lambda side: lacking[side])
        sides[group] = side
        lacking[side] -= sizes[group]
    return {key: sides[group] for key, group in groups.items()}
