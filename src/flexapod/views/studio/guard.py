"""What a page may ask of the server: values of widgets, drags and files of bounded size, from pages of this machine.

viser trusts its clients. The studio does not: a message that is broken or forged must neither stop the server nor change anything
but the value of a widget, and a page from elsewhere that is open in the same browser must not reach the studio.
"""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import urlsplit

UPLOAD = 60_000_000
"""Largest file that a page may send [bytes]."""
HERE = ("localhost", "127.0.0.1", "::1")


def guard_server(server: Any, *, local: bool) -> None:
    """Harden a viser server.

    Args:
        local: it listens on this machine only; then pages from elsewhere are refused.

    Checked by: tests/studio/test_studio_life.py.
    """
    from viser import _messages

    socket = server._websock_server
    handlers = socket._incoming_handlers
    for kind in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):  # would open a way in from the network
        handlers.pop(kind, None)
    _wrap(handlers, _messages.GuiUpdateMessage, _is_value)
    _wrap(handlers, _messages.TransformControlsUpdateMessage, lambda m: _numbers(m.position, 3) and _numbers(m.wxyz, 4))
    _wrap(handlers, _messages.FileTransferStartUpload, lambda m: 0 <= int(m.size_bytes) <= UPLOAD and m.part_count <= 10_000)
    if local:
        socket.on_client_connect(lambda connection: _refuse_strangers(socket, connection))
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    logging.getLogger("asyncio").addFilter(lambda record: "never retrieved" not in record.getMessage())


def _wrap(handlers: Any, kind: type, wanted: Any) -> None:
    """Let only messages through that pass a check; what cannot be checked does not pass."""

    def guarded(inner: Any) -> Any:
        async def handle(client: Any, message: Any) -> None:
            try:
                passes = bool(wanted(message))
            except (TypeError, ValueError, AttributeError):
                passes = False
            if not passes:
                return
            try:
                found = inner(client, message)
                if found is not None:
                    await found
            except (TypeError, ValueError, AssertionError, KeyError):
                return

        return handle

    handlers[kind] = [guarded(inner) for inner in handlers.get(kind, [])]


def _numbers(values: Any, count: int) -> bool:
    """So many finite numbers."""
    return len(values) == count and all(isinstance(x, int | float) and abs(x) < 1e300 for x in values)


def _is_value(message: Any) -> bool:
    """A widget's value and nothing else; numbers are finite."""
    updates = message.updates
    if not isinstance(updates, dict) or set(updates) != {"value"}:
        return False
    value = updates["value"]
    if isinstance(value, bool | str):
        return len(str(value)) <= 100_000
    if isinstance(value, int | float):
        return abs(value) < 1e300
    return isinstance(value, list | tuple) and _numbers(value, len(value))


def _refuse_strangers(socket: Any, connection: Any) -> None:
    """Close a connection whose page does not come from this machine."""
    found = socket._live_connections.get(connection.client_id)
    origin = found.request.headers.get("Origin") if found is not None and found.request is not None else None
    if origin is not None and urlsplit(origin).hostname not in HERE:
        found.transport.close()
