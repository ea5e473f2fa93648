"""Command `studio`: a local web page for exploring a robot."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

import flexapod as fp
from flexapod.views.commands.guard import command, note
from flexapod.views.commands.options import RobotName
from flexapod.views.output import print_text

LOOK = 0.1
"""Seconds between two looks whether somebody asked to end."""
SWITCH = 0.001
"""Seconds after which a thread that computes lets another one in: the page is answered while a robot is computed."""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "studio", "flexapod studio hexapod --seconds 1")(studio)


def studio(
    robot: RobotName = "stewart-3-3",
    port: Annotated[int, typer.Option(help="port of the page; if it is in use, the next free one")] = 8765,
    host: Annotated[
        str, typer.Option(help="address to listen on; any other than this machine lets others in your network change the robot")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--open", help="open the page in the browser")] = False,
    seconds: Annotated[float | None, typer.Option(help="close after this time [s]; default: on Ctrl-C")] = None,
) -> None:
    """A page in the browser to explore a robot: move it, change it, watch motions and modes."""
    from flexapod.views.studio.app import LOCAL, Studio

    if not 0 <= port <= 65535:
        raise fp.InputError(f"--port {port}: a port is a number from 0 to 65535")
    if seconds is not None and not seconds > 0:
        raise fp.InputError(f"--seconds {seconds:g}: expected a time above 0 s")
    sys.setswitchinterval(SWITCH)
    with asked_to_end() as wait:  # before the address is printed: who reads it may end the studio at once
        running = Studio(robot, host=host, port=port)
        try:
            if host not in (LOCAL, "localhost", "::1"):
                note(f"listening on {host}: everyone who can reach this address can use the studio", "warning: ")
            print_text(f"studio: {running.url}  (Ctrl-C closes it)")
            if browser:
                import webbrowser

                webbrowser.open(running.url)
            wait(seconds)
        finally:
            running.stop()


@contextmanager
def asked_to_end() -> Iterator[Callable[[float | None], None]]:
    """Function that waits until Ctrl-C or a signal asks to end, or for so many seconds.

    Handler and wait share no lock: a handler that sets an event may interrupt the very thread that holds the event's lock, and
    neither goes on.
    """
    asked: list[int] = []

    def end(number: int, frame: object) -> None:
        asked.append(number)

    def wait(seconds: float | None) -> None:
        until = math.inf if seconds is None else time.monotonic() + seconds
        while not asked and (left := until - time.monotonic()) > 0.0:
            time.sleep(min(LOOK, left))

    main = threading.current_thread() is threading.main_thread()
    before = {n: signal.signal(n, end) for n in (signal.SIGINT, signal.SIGTERM)} if main else {}
    try:
        yield wait
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
