"""Where a reading of nearly-JSON stands: its marks, its white space, and whether a value ends here."""

from inference.answers.marks import (
    CLOSE,
    COMMAS,
    COMMENT,
    END_OF_ANSWER,
    OPEN_OBJECT,
    SPACE,
)
from inference.answers.names import Names
from inference.answers.strict import NotStrictError

ELLIPSES = ".…"


class Cursor:
    """A place in a text (`at`), how many objects are open there (`depth`), and what was mended on the way.

    `value_end` is where the last value ended, before any white space.
    """

    def __init__(self, text: str, at: int, names: Names) -> None:
        self.text = text
        self.at = at
        self.names = names
        self.depth = 0
        self.value_end = at
        self.repairs: dict[str, None] = {}

    def ends_value(self, at: int, *, is_bare: bool = False) -> bool:
        """Whether the structure goes on at `at`: a member, a row or a bracket follows, or the answer ends."""
        if self.is_over(at):
            return True
        here = self.over_space(at)
        mark = self.text[here : here + 1]
        if mark in CLOSE:
            return self.depth == 1 or self.goes_on(here + 1, COMMAS)
        if mark in COMMAS:
            return self.goes_on(here + 1, ELLIPSES)
        if is_bare and "\n" not in self.text[at:here]:
            return self.names.quoted.match(self.text, here) is not None
        return self.is_member(here)

    def goes_on(self, at: int, marks: str) -> bool:
        """Whether a bracket, a member, the end or one of `marks` follows."""
        here = self.over_space(at)
        return self.is_over(at) or self.text[here : here + 1] in CLOSE + OPEN_OBJECT + marks or self.is_member(here)

    def is_over(self, at: int) -> bool:
        """Whether nothing of the answer can follow."""
        return END_OF_ANSWER.match(self.text, at) is not None and not self.is_member(self.over_space(at))

    def is_member(self, at: int) -> bool:
        """Whether a name and its colon stand at `at`."""
        return self.names.key.match(self.text, at) is not None

    def comma(self) -> bool:
        """Take a comma behind a value; say whether there was one."""
        self.value_end = self.at
        self.skip()
        return self.take(COMMAS, ",")

    def take(self, marks: str, usual: str) -> bool:
        """Take one mark of a kind, however it is written."""
        if self.at < len(self.text) and self.text[self.at] in marks:
            if self.text[self.at] != usual:
                self.mended("marks_narrowed")
            self.at += 1
            return True
        return False

    def peek(self) -> str:
        """Return the next character, or "" at the end."""
        return self.text[self.at : self.at + 1]

    def skip(self) -> int:
        """Pass over white space and comments; return how many comments there were."""
        n_comments = 0
        while True:
            self.at = self.over_blanks(self.at)
            found = COMMENT.match(self.text, self.at)
            if found is None:
                return n_comments
            self.mended("comments_removed")
            n_comments += 1
            self.at = found.end()

    def over_blanks(self, at: int) -> int:
        """Return the next place that is no white space."""
        space = SPACE.match(self.text, at)
        return space.end() if space else at

    def over_space(self, at: int) -> int:
        """Return the next place that is neither white space nor comment."""
        while True:
            at = self.over_blanks(at)
            found = COMMENT.match(self.text, at)
            if found is None:
                return at
            at = found.end()

    def mended(self, name: str) -> None:
        """Note a repair, once."""
        self.repairs.setdefault(name)

    def refusal(self, message: str) -> NotStrictError:
        """Return the error to raise: what is wrong here, without the text."""
        return NotStrictError(f"{message}, at character {self.at}")
