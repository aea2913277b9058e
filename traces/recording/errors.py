"""Errors: one line for the user, and an exit code."""

FAILURE, USAGE, BAD_INPUT, MISSING, INTERRUPTED = 1, 2, 3, 5, 130


class TraceError(Exception):
    """One line for the user, and the exit code."""

    def __init__(self, what, code):
        super().__init__(what)
        self.code = code


def one_line(error):
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."
