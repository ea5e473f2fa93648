"""Common parts of all commands: registration with an example, errors as one paragraph, exit codes, progress.

Exit codes: 0 done, 1 a problem with the request or a file, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import functools
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import ParamSpec, get_type_hints

import typer

import flexapod as fp
from flexapod.files import NEXT, OTHERWISE

P = ParamSpec("P")

PROBLEM, INTERRUPTED = 1, 130
EXAMPLES: dict[str, tuple[str, ...]] = {}
"""Command -> examples that its help shows; every one is run by a test."""

EXITS = "Exit codes: 0 done, 1 problem with the request, 2 wrong usage, 130 interrupted."


def command(app: typer.Typer, name: str, *examples: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command with examples; errors become one paragraph and an exit code."""
    EXAMPLES[name] = examples

    def register(function: Callable[..., None]) -> Callable[..., None]:
        shown = "\n\n".join(["Example:" if len(examples) == 1 else "Examples:", *examples, EXITS])
        _keep_brackets(function)
        app.command(name, epilog=shown)(guarded(function))
        return function

    return register


def _keep_brackets(function: Callable[..., None]) -> None:
    """Units in the help of options, such as [m], are text and no markup."""
    function.__annotations__ = get_type_hints(function, include_extras=True)
    for hint in function.__annotations__.values():
        for option in getattr(hint, "__metadata__", ()):
            if option.help:
                option.help = re.sub(r"(?<!\\)\[", r"\\[", option.help)


def guarded(function: Callable[P, None]) -> Callable[P, None]:
    """The function with errors as one paragraph."""

    @functools.wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> None:
        with warnings.catch_warnings(), interruptible() as seen:
            warnings.showwarning = _reported  # type: ignore[assignment]
            SAID.clear()
            try:
                function(*args, **options)
            except KeyboardInterrupt:
                fail("nothing was written", INTERRUPTED)
            except fp.FlexapodError as error:
                if seen:
                    fail(f"nothing was written ({error})", INTERRUPTED)
                fail(in_words(str(error)))
            except BrokenPipeError:
                sys.stderr.close()
                raise typer.Exit(PROBLEM) from None
            except OSError as error:
                where = f"{error.filename}: " if error.filename else ""
                fail(f"{where}{(error.strerror or str(error)).lower()}; {NEXT.get(error.errno or 0, OTHERWISE)}")
            except (typer.Exit, typer.Abort, typer.BadParameter):
                raise
            except Exception as error:
                if os.environ.get("FLEXAPOD_DEBUG"):
                    raise
                kind = type(error).__name__
                fail(f"internal error ({kind}: {error}). This is a fault of flexapod; FLEXAPOD_DEBUG=1 shows the traceback.")

    return run


@contextmanager
def interruptible() -> Iterator[list[int]]:
    """Ctrl-C that is never lost; yields the signals seen so far.

    CasADi drops exceptions that are raised inside its own frames, where a robot's equations are derived: there, the interrupt is
    raised a moment later.
    """
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield seen
        return

    def handle(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        if frame is not None and "casadi" in frame.f_code.co_filename:
            signal.setitimer(signal.ITIMER_REAL, AGAIN)
        else:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGALRM)}
    try:
        yield seen
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in before.items():
            signal.signal(number, handler)


AGAIN = 0.005
"""Seconds until an interrupt is tried again."""


def in_words(text: str) -> str:
    """A message of the package with the options of the command line."""
    for python, option in SAME.items():
        text = text.replace(python, option)
    return OF_MOTIONS.sub("--option ", text)


SAME = {
    "Lower rtol and atol or method='implicit'": "Try --method implicit",
    "shorten output_step, loosen rtol, or use method='implicit'": "use --method implicit",
    "loosen rtol and atol, or use method='dopri'": "use --method dopri",
    "on_error='mask' returns the others": "--mask keeps the others",
    "method='dopri'": "--method dopri",
    "method='implicit'": "--method implicit",
    "solve=False": "--no-solve",
}
"""Options in Python -> on the command line, which has no tolerances."""


OF_MOTIONS = re.compile(r"(?<!--option )\b(?=(?:derivatives|cutoff|window|euler)=)")
"""Places where a message names an option of a motion file."""


def fail(text: str, code: int = PROBLEM) -> None:
    """Print the error, then exit."""
    from rich.console import Console
    from rich.text import Text

    word = "interrupted: " if code == INTERRUPTED else "error: "
    Console(stderr=True, soft_wrap=True).print(Text.assemble((word, "bold red"), text))
    raise typer.Exit(code)


def _reported(message: Warning | str, category: type[Warning], *_: object) -> None:
    """Warnings of flexapod as text, those of libraries not at all."""
    if issubclass(category, fp.FlexapodWarning):
        for line in in_words(str(message)).splitlines():
            warn(line)


SAID: list[str] = []
"""Warnings of this command: several verbs may give one, and it is said once."""


def warn(line: str) -> None:
    """Say a warning that was not said yet, alone or with more words behind it."""
    if not any(line.startswith(said) or said.startswith(line) for said in SAID):
        SAID.append(line)
        note(line, "warning: ")


def note(text: str, word: str = "") -> None:
    """A line on the error stream: it never mixes with results."""
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, soft_wrap=True).print(Text.assemble((word, "bold yellow"), text))


@contextmanager
def working(text: str) -> Iterator[None]:
    """A progress message at a terminal: deriving and compiling a robot's equations takes seconds the first time."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def bar() -> bool:
    """Whether progress bars are shown."""
    return sys.stderr.isatty()
