"""The one module that uses private names of viser, each with its reason. All others use its public interface.

viser trusts its clients. The studio does not: a message that is broken or forged must neither stop the server nor change anything
but the value of a widget, and only the studio's own page, asked for by the studio's own address, is served.

| private name | reason |
|---|---|
| `websockets.asyncio.server.serve` as viser calls it | viser has no hook before a request is answered: origin and host |
| `server._websock_server._incoming_handlers` | viser passes messages on unchecked: values, drags, sizes of files |
| `_messages.GuiUpdateMessage`, `TransformControlsUpdateMessage`, `FileTransferStartUpload` | these are the messages |
| `_messages.HotkeyKey` | the type of a key in the public `add_command` |
| `_messages.ShareUrlRequest`, `ShareUrlDisconnect` | a client may open a way in from the network; there is no switch |
| the page as viser serves it | our script has to be there first: keys on a slider also move the camera; boxes cut digits; rail, |
| | strip, timeline, legend, keys; the page prepares a photographed environment before it hears that there is none |
| camera and root node of the page (page.js) | viser reports clicks, not of the mouse above a leg: values on hover |
| `gui._websock_interface`, `_messages.RunJavascriptMessage` | start of a video on the page of the one person who asked for it |
"""

from __future__ import annotations

import contextlib
import functools
import http
import io
import ipaddress
import logging
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import flexapod as fp

if TYPE_CHECKING:
    import viser
    from viser import _messages
    from viser.infra import ClientId, Message
    from websockets.asyncio.server import ServerConnection
    from websockets.datastructures import Headers
    from websockets.http11 import Request, Response

    HotkeyKey = _messages.HotkeyKey
    Answer = Callable[[ServerConnection, Request], Response | None]
    Inner = Callable[[ClientId, Message], Coroutine[Any, Any, None] | None]
    Handlers = dict[type[Message], list[Inner]]

M = TypeVar("M", bound="Message")
UPLOAD = 60_000_000
"""Largest file that a page may send [bytes]."""
HERE = ("localhost", "127.0.0.1", "::1")
"""Names of this machine by which a studio that listens on this machine alone is asked for."""
_starting = threading.Lock()


def guarded_server(host: str, port: int, label: str, script: str, asked: Callable[[str], None] | None = None) -> Any:
    """A viser server that serves its own address alone and checks every message.

    Args:
        label: title of the page.
        script: runs on the page before viser's own.
        asked: called with the query of the address of a page that a person opened, or the studio's own page.

    Raises:
        InputError: `host` is no address of this machine.

    Checked by: tests/studio/test_studio_life.py.
    """
    import viser

    refuse_foreign_address(host)
    with _starting, _checked_requests(host, own_page(label, script), asked), contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    _guard_messages(server)
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)
    logging.getLogger("asyncio").addFilter(lambda record: "never retrieved" not in record.getMessage())
    return server


def refuse_foreign_address(host: str) -> None:
    """Say before the server starts that it cannot listen there; viser would try forever."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.bind(place)
    except OSError as error:
        raise fp.InputError(
            f"--host {host}: this machine cannot listen there ({error.strerror or error}); "
            "give 127.0.0.1, 0.0.0.0 for every network, or an address of this machine"
        ) from None


@contextlib.contextmanager
def _checked_requests(
    host: str, page: Callable[[bytes], bytes], asked: Callable[[str], None] | None
) -> Iterator[None]:  # fmt: skip
    """While viser starts to serve, its handler of requests is replaced by one that looks at host and origin first.

    Args:
        page: the page as it is served, from viser's.
    """
    from websockets.asyncio import server as module

    usual: Any = module.serve

    def serve(*args: Any, process_request: Answer | None = None, **options: Any) -> Any:
        def checked(connection: ServerConnection, request: Request) -> Response | None:
            if not own_request(request.headers, host, int(connection.local_address[1])):
                return connection.respond(http.HTTPStatus.FORBIDDEN, "this address or origin is not the studio's own\n")
            query = urlsplit(request.path).query
            if query and asked is not None and _by_hand(request.headers):
                asked(query)
            if process_request is None:
                return None
            if "Accept-Encoding" in request.headers:
                del request.headers["Accept-Encoding"]  # the page is compressed within itself already
            answer = process_request(connection, request)
            if answer is not None and answer.headers.get("Content-Type", "").startswith("text/html"):
                answer.body = page(bytes(answer.body))
                del answer.headers["Content-Length"]
                answer.headers["Content-Length"] = str(len(answer.body))
            return answer

        return usual(*args, process_request=checked, **options)

    module.serve = serve  # type: ignore[assignment,misc]
    try:
        yield
    finally:
        module.serve = usual  # type: ignore[misc]


def own_page(label: str, script: str) -> Callable[[bytes], bytes]:
    """Function that changes viser's page to the studio's: its title, and a script behind the element that viser fills later.

    Checked by: tests/studio/test_studio_life.py.
    """
    title, added = f"<title>{label}</title>".encode(), f"<script>{script}</script>\n".encode()

    @functools.cache
    def page(body: bytes) -> bytes:
        before, mark, after = body.replace(b"<title>Viser</title>", title).rpartition(b"</body>")
        return before + added + mark + after if mark else after + added

    return page


def _by_hand(headers: Headers) -> bool:
    """A page that a person opened, or the studio's own; not what a page of another address asked its browser to load."""
    return all(site in ("none", "same-origin") for site in headers.get_all("Sec-Fetch-Site")) and not headers.get_all("Upgrade")


def own_request(headers: Headers, host: str, port: int) -> bool:
    """A request is the studio's own where its `Host` and, where there is one, its `Origin` are the studio's address.

    A name of the machine's own may be asked for, or, where the studio listens for others, any numeric address: a page from
    elsewhere whose name was made to point here (DNS rebinding) has a name of its own.
    """
    asked, origins = headers.get_all("Host"), headers.get_all("Origin")
    if len(asked) != 1 or len(origins) > 1 or not _own_place(f"//{asked[0]}", host, port):
        return False
    return not origins or (origins[0].startswith("http://") and _own_place(origins[0], host, port))


def _own_place(address: str, host: str, port: int) -> bool:
    try:
        found = urlsplit(address)
        name, number = found.hostname or "", found.port or 80
    except ValueError:
        return False
    if number != port:
        return False
    if name in (*HERE, host):
        return True
    if host in HERE:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name == socket.gethostname().lower()
    return True


def _guard_messages(server: viser.ViserServer) -> None:
    from viser import _messages

    handlers = server._websock_server._incoming_handlers
    for kind in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        handlers.pop(kind, None)
    _wrap(handlers, _messages.GuiUpdateMessage, _is_value)
    _wrap(handlers, _messages.TransformControlsUpdateMessage, lambda m: _numbers(m.position, 3) and _numbers(m.wxyz, 4))
    _wrap(handlers, _messages.FileTransferStartUpload, lambda m: 0 <= int(m.size_bytes) <= UPLOAD and m.part_count <= 10_000)
    own: set[type[Message]] = {
        _messages.GuiUpdateMessage, _messages.TransformControlsUpdateMessage, _messages.FileTransferStartUpload
    }  # fmt: skip
    for other in [kind for kind in handlers if kind not in own]:
        _wrap(handlers, other, lambda _: True)


def _wrap(handlers: Handlers, kind: type[M], wanted: Callable[[M], bool]) -> None:
    """Let only messages through that pass a check; what cannot be checked does not pass."""

    def guarded(inner: Inner) -> Inner:
        async def handle(client: ClientId, message: Message) -> None:
            try:
                passes = isinstance(message, kind) and bool(wanted(message))
            except (TypeError, ValueError, AttributeError, OverflowError):
                passes = False
            if not passes:
                return
            try:
                found = inner(client, message)
                if found is not None:
                    await found
            except (TypeError, ValueError, AssertionError, KeyError, AttributeError, IndexError):
                return

        return handle

    handlers[kind] = [guarded(inner) for inner in handlers.get(kind, [])]


def _numbers(values: Sequence[object], count: int) -> bool:
    """Whether the values are `count` finite numbers."""
    return len(values) == count and all(isinstance(x, int | float) and abs(x) < 1e300 for x in values)


def _is_value(message: _messages.GuiUpdateMessage) -> bool:
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


def run_script(server: viser.ViserServer, source: str) -> None:
    """Run a script on every page of a server, or on that of one client."""
    from viser import _messages

    server.gui._websock_interface.queue_message(_messages.RunJavascriptMessage(source=source))
