"""Where the first JSON object of a text is closed: what comes after it need not be generated (R3)."""

from dataclasses import dataclass


@dataclass(slots=True)
class BraceScanner:
    """Looks at a text piece by piece; `is_closed` once the first object that opened is closed again."""

    depth: int = 0
    is_closed: bool = False
    _is_in_string: bool = False
    _is_escaped: bool = False

    def feed(self, text: str) -> bool:
        """Look at the next piece of text; return whether the object is closed by now."""
        for character in text:
            if self.is_closed:
                break
            if self._is_in_string:
                self._inside_string(character)
            elif character == "{":
                self.depth += 1
            elif character == "}" and self.depth:
                self.depth -= 1
                self.is_closed = self.depth == 0
            elif character == '"' and self.depth:
                # Quotation marks in prose before the object open no string.
                self._is_in_string = True
        return self.is_closed

    def _inside_string(self, character: str) -> None:
        if self._is_escaped:
            self._is_escaped = False
        elif character == "\\":
            self._is_escaped = True
        elif character == '"':
            self._is_in_string = False
