"""Loads libgradcast.so and calls its C interface (include/gradcast/gradcast.h)."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Callable, NamedTuple, NoReturn, Optional, Sequence, Tuple

from ._paths import HERE, library_path
from .errors import InputError

#: Told while a call works: points done, points in all, and what is under way.
Progress = Callable[[int, int, str], None]

_ANSWER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_LINE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
_PROGRESS = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_char_p
)
_STOPPED = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


class _Listener(ctypes.Structure):
    _fields_ = [
        ("user", ctypes.c_void_p),
        ("answer", _ANSWER),
        ("note", _LINE),
        ("error", _LINE),
        ("progress", _PROGRESS),
        ("stopped", _STOPPED),
    ]


def _loaded() -> Any:
    library = ctypes.CDLL(str(library_path("libgradcast.so")))
    listener = ctypes.POINTER(_Listener)
    texts = ctypes.POINTER(ctypes.c_char_p)
    library.gradcast_version.restype = ctypes.c_char_p
    library.gradcast_open.restype = ctypes.c_void_p
    library.gradcast_open.argtypes = [ctypes.c_char_p, listener]
    library.gradcast_close.argtypes = [ctypes.c_void_p]
    library.gradcast_changed.argtypes = [ctypes.c_void_p]
    library.gradcast_add.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, listener,
    ]  # fmt: skip
    library.gradcast_run.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, texts, ctypes.c_size_t, texts, ctypes.c_size_t, listener,
    ]  # fmt: skip
    library.gradcast_main.argtypes = [ctypes.c_int, texts, ctypes.c_char_p]
    return library


LIBRARY = _loaded()


def version() -> str:
    """The version of the library, like "0.1.0"."""
    return str(LIBRARY.gradcast_version().decode())


def data_folder() -> str:
    """The data of the package; "" in a source tree, whose library knows its own."""
    return str(HERE / "data") if (HERE / "data" / "models").is_dir() else ""


class Told(NamedTuple):
    """The output of a command."""

    text: str
    warnings: Tuple[str, ...]


class _Call:
    """One call: collects what it says, and can be told to stop."""

    def __init__(self, progress: Optional[Progress] = None) -> None:
        self.pieces: list[bytes] = []
        self.notes: list[str] = []
        self.line = ""
        self.stop = False
        self.failure: Optional[BaseException] = None
        # An exception cannot pass through the library: it stops the call, and is raised after it.
        self._functions = (
            _ANSWER(lambda _, text, size: self.pieces.append(ctypes.string_at(text, size))),
            _LINE(lambda _, line: self.notes.append(line.decode(errors="replace"))),
            _LINE(self._error),
            _PROGRESS(lambda _, done, all_, what: self._progress(progress, done, all_, what)),
            _STOPPED(lambda _: int(self.stop)),
        )
        self.listener = _Listener(None, *self._functions)

    def _error(self, _: Any, line: bytes) -> None:
        self.line = line.decode(errors="replace")

    def _progress(self, tell: Optional[Progress], done: int, all_: int, what: bytes) -> None:
        if tell is None or self.failure is not None:
            return
        try:
            tell(done, all_, what.decode(errors="replace"))
        except BaseException as failure:
            self.failure, self.stop = failure, True

    def finish(self, code: int) -> Told:
        """The answer. Raises what the code and the line say."""
        if self.failure is not None:
            raise self.failure
        if code in (2, 3, 5):
            raise InputError(self.line, code)
        if code == 130:
            raise KeyboardInterrupt(self.line)
        if code not in (0, 4):
            raise RuntimeError(self.line or f"gradcast ended with code {code}")
        if code == 4:  # the answer is there, and an error is larger than was asked for
            self.notes.append(self.line)
        return Told(b"".join(self.pieces).decode(), tuple(self.notes))


def _interruptible(call: _Call, work: Callable[[], int]) -> int:
    """Does the work in another thread while this is the main one, so that ctrl-C is heard. A call
    that does not end within a second of it is left behind."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    codes: list[int] = []
    done = threading.Event()

    def run() -> None:
        try:
            codes.append(work())
        finally:
            done.set()

    threading.Thread(target=run, daemon=True).start()
    try:
        while not done.wait(3600):
            pass
    except KeyboardInterrupt:
        call.stop = True
        done.wait(1)
        raise
    return codes[0] if codes else 1


def _bytes(text: str) -> bytes:
    if "\0" in text:
        raise InputError(f"{text!r:.200} has a zero byte")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{text!r:.200} has a character that UTF-8 cannot express") from None


def _array(texts: Sequence[str]) -> Any:
    return (ctypes.c_char_p * max(1, len(texts)))(*[_bytes(text) for text in texts])


class Handle:
    """A forecaster of the library. Threads may share it; the interpreter's lock is free meanwhile."""

    def __init__(self, folder: str) -> None:
        call = _Call()
        self._pointer = LIBRARY.gradcast_open(_bytes(folder), ctypes.byref(call.listener))
        if not self._pointer:
            raise InputError(call.line)

    def __reduce__(self) -> NoReturn:
        """Refuses copies and pickles: two handles of one forecaster would close it twice."""
        raise TypeError("a handle of the library cannot be copied or pickled; a Forecaster can")

    def __del__(self) -> None:
        if getattr(self, "_pointer", None):
            LIBRARY.gradcast_close(self._pointer)

    def changed(self) -> bool:
        """True where a file or folder that it read is no longer as it was."""
        return bool(LIBRARY.gradcast_changed(self._pointer))

    def add(self, name: str, text: str) -> None:
        """Makes `text` what the path `name` stands for."""
        call = _Call()
        content = text.encode()
        code = LIBRARY.gradcast_add(
            self._pointer, name.encode(), content, len(content), ctypes.byref(call.listener)
        )
        call.finish(code)

    def run(
        self,
        command: str,
        settings: Sequence[Tuple[str, str]],
        words: Sequence[str],
        progress: Optional[Progress],
    ) -> Told:
        """Runs a command. Raises InputError, KeyboardInterrupt, and RuntimeError for a defect."""
        call = _Call(progress)
        pairs = _array([text for pair in settings for text in pair])
        texts = _array(words)
        name = _bytes(command)

        def work() -> int:
            return int(
                LIBRARY.gradcast_run(
                    self._pointer, name, pairs, len(settings), texts, len(words),
                    ctypes.byref(call.listener),
                )  # fmt: skip
            )

        return call.finish(_interruptible(call, work))


def main(arguments: Sequence[str]) -> int:
    """The program, at a terminal."""
    words = _array(arguments)
    return int(LIBRARY.gradcast_main(len(arguments), words, data_folder().encode()))
