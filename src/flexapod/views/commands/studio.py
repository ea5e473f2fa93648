"""Command `studio`: a local web page on which one plays with a robot."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.guard import command, note
from flexapod.views.commands.options import RobotName
from flexapod.views.output import print_text

SWITCH = 0.001
"""Seconds after which a thread that computes lets another one in: the page is answered while a robot is computed."""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "studio", "flexapod studio hexapod --seconds 1")(studio)


def studio(
    robot: RobotName = "stewart-3-3",
    port: Annotated[int, typer.Option(help="of the page; the next free one is taken where it is in use")] = 8765,
    host: Annotated[
        str, typer.Option(help="address to listen on; anything but this machine lets others in your network change the robot")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--open", help="open the page in the browser")] = False,
    seconds: Annotated[float | None, typer.Option(help="close after this time; left out: until Ctrl-C")] = None,
) -> None:
    """A page in the browser to play with a robot: move it, change it, watch motions and modes."""
    from flexapod.views.studio.app import LOCAL, Studio

    if not 0 <= port <= 65535:
        raise fp.InputError(f"--port {port}: a port is a number from 0 to 65535")
    sys.setswitchinterval(SWITCH)
    with until_asked_to_end() as ended:  # before the address is told: who reads it may end the studio at once
        running = Studio(robot, host=host, port=port)
        try:
            if host not in (LOCAL, "localhost", "::1"):
                note(f"listening on {host}: everyone who can reach this address can use the studio", "warning: ")
            print_text(f"studio: {running.url}  (Ctrl-C closes it)")
            if browser:
                import webbrowser

                webbrowser.open(running.url)
            ended.wait(seconds)
        finally:
            running.stop()


@contextmanager
def until_asked_to_end() -> Iterator[threading.Event]:
    """An event that is set when Ctrl-C or a signal asks to end."""
    ended = threading.Event()

    def end(number: int, frame: Any) -> None:
        ended.set()

    main = threading.current_thread() is threading.main_thread()
    before = {n: signal.signal(n, end) for n in (signal.SIGINT, signal.SIGTERM)} if main else {}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
