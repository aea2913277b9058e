"""The errors that calls of this package raise."""


class InputError(ValueError):
    """A question, a value or a file that cannot be answered as it stands: one line that says what
    was found, where, and what would be right. `code` is the program's exit code: 2 for a setting,
    3 for a file, 5 for what this build or machine lacks."""

    def __init__(self, line: str, code: int = 2) -> None:
        super().__init__(line)
        self.code = code
