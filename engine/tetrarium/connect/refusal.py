"""What an edit of a configuration refuses."""

from __future__ import annotations

from tetrarium.errors import UserError


class Broken(UserError):
    """A text that cannot be read as what it should be; `line` and `column` count from 1."""

    def __init__(self, line: int, column: int, why: str) -> None:
        super().__init__(f"Line {line}, column {column}: {why}.", advice="Nothing was changed; mend the file first.")
        self.line, self.column, self.why = line, column, why


class Refused(UserError):
    """A configuration that is left as it is; the message says why and what to do."""
