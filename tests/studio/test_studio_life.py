"""A studio's life: start, Ctrl-C, many clients that come and vanish, broken and forged messages, its threads."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import viser
import websockets
from studio_process import PICTURES, Command
from websockets.asyncio import client

import flexapod as fp
from flexapod.views.commands.studio import asked_to_end
from flexapod.views.studio import prepare
from flexapod.views.studio.app import Studio
from flexapod.views.studio.jobs import Jobs
from flexapod.views.studio.loop import ActionLoop
from flexapod.views.studio.viser_private import own_request
from support.patience import PATIENCE, until

PROTOCOL = f"viser-v{viser.__version__}"
CLIENTS = 1000
GROWTH = 10_000
"""Kilobytes that a server may have grown by after a thousand clients: an allocator keeps some pages, while clients that stay in
memory take some 100 kB each, a hundred thousand in all."""
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [1.0, 1.0, 1.0], "fov": 1.0, "near": 0.1,
    "far": 100.0, "image_height": 100, "image_width": 100, "look_at": [0.0, 0.0, 0.0], "up_direction": [0.0, 0.0, 1.0],
}  # fmt: skip
"""What a page says first; only then is it a client."""


def in_own_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine; in a thread, because a browser of this process may have its loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def pack(message: Any) -> bytes:
    return msgspec.msgpack.encode(message)


async def connect(port: int, **options: Any) -> Any:
    return await client.connect(
        f"ws://127.0.0.1:{port}", subprotocols=[PROTOCOL], max_size=None, compression=None, open_timeout=PATIENCE,
        ping_interval=None, **options,
    )  # fmt: skip


def slider_id(studio: Studio, k: int = 2) -> str:
    return str(studio.panels[0].sliders[k]._impl.uuid)


def send(studio: Studio, *messages: bytes | str) -> None:
    """As one client: say hello, send, wait until the server has read it, go."""

    async def run() -> None:
        page = await connect(studio.port)
        with contextlib.suppress(websockets.ConnectionClosed):
            await page.send(pack(CAMERA))
            for message in messages:
                await page.send(message)
            await (await page.ping())  # answered in order, after the messages before it
            await page.close()

    in_own_loop(run())


def moves(studio: Studio, value: float) -> bool:
    """A slider of the page still moves the robot."""
    send(studio, pack({"type": "GuiUpdateMessage", "uuid": slider_id(studio), "updates": {"value": value}}))
    return until(lambda: studio.loop.wait_until_idle(1.0, alone=True) and studio.session.values[2] == value)


def hostile(studio: Studio) -> dict[str, bytes | str]:
    """Messages that no page sends."""
    slider, button = slider_id(studio), str(studio.panels[1].choice._impl.uuid)
    update = {"type": "GuiUpdateMessage", "uuid": slider}
    drag = {"type": "TransformControlsUpdateMessage", "name": studio.scene.handles[0].name, "owner": ""}
    assert studio.scene.force is not None
    push = {**drag, "name": studio.scene.force.handle.name}
    return {
        "text": "hello",
        "nothing": b"",
        "noise": np.random.default_rng(5).bytes(4000),
        "number": pack(7),
        "unknown type": pack({"type": "NoSuchMessage"}),
        "no fields": pack({"type": "GuiUpdateMessage"}),
        "inner workings": pack({**update, "updates": {"update_cb": [], "removed": True}}),
        "text for a number": pack({**update, "updates": {"value": "abc"}}),
        "no number": pack({**update, "updates": {"value": float("nan")}}),
        "infinite": pack({**update, "updates": {"value": float("inf")}}),
        "list": pack({**update, "updates": {"value": [1, 2, "x"]}}),
        "none": pack({**update, "updates": {"value": None}}),
        "far away": pack({**update, "updates": {"value": 1e12}}),
        "no such robot": pack({"type": "GuiUpdateMessage", "uuid": button, "updates": {"value": "../../etc/passwd"}}),
        "no widget": pack({"type": "GuiUpdateMessage", "uuid": "x" * 10_000, "updates": {"value": 1}}),
        "share": pack({"type": "ShareUrlRequest"}),
        "drag nowhere": pack({**drag, "wxyz": [0.0, 0.0, 0.0, 0.0], "position": [float("nan")] * 3}),
        "force without end": pack({**push, "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [float("inf"), 0.0, 0.0]}),
        "drag short": pack({**drag, "wxyz": [1.0], "position": [1.0]}),
        "drag without turn": pack({**drag, "wxyz": [0.0, 0.0, 0.0, 0.0], "position": [0.0, 0.0, 4.0]}),
        "huge file": pack({"type": "FileTransferStartUpload", "source_component_uuid": slider, "transfer_uuid": "t",
                           "filename": "x", "mime_type": "", "part_count": 10**9, "size_bytes": 10**15}),
        "stray part": pack({"type": "FileTransferPart", "source_component_uuid": slider, "transfer_uuid": "u", "part_index": 3,
                            "content": b"x" * 1000}),
    }  # fmt: skip


def test_hostile_messages_do_not_end_the_server(studio: Studio) -> None:
    for k, (name, message) in enumerate(hostile(studio).items()):
        send(studio, message)
        assert moves(studio, round(4.3 + 0.001 * k, 3)), f"after {name}: a slider no longer moves the robot"
        assert studio.session.numbers.taken, name
        assert studio.server._share_tunnel is None, "a client opened a way in from the network"
    assert studio.session.robot.name == "stewart-3-3"


def test_hostile_values_to_every_widget_do_not_end_the_server(studio: Studio) -> None:
    """Values that no page sends, to all sliders, boxes, lists, checkboxes and buttons that there are."""
    values: tuple[Any, ...] = ("<b>x</b>", -1e299, float("nan"), [1, 2, 3], {"a": 1}, None)
    widgets = list(studio.server.gui._gui_input_handle_from_uuid)
    assert len(widgets) > 40
    for value in values:
        send(studio, *[pack({"type": "GuiUpdateMessage", "uuid": one, "updates": {"value": value}}) for one in widgets])
        studio.loop.post("cancel", studio.jobs.cancel)  # buttons may have started something
    studio.loop.post("home", lambda: (studio.motion.pause(), studio.modes.pause(), studio.moved(studio.session.home)))
    assert studio.loop.wait_until_idle(PATIENCE)
    assert moves(studio, 4.41), "a slider no longer moves the robot"
    assert studio.session.robot.name == "stewart-3-3"


def test_a_value_asked_for_meanwhile_is_not_lost(studio: Studio) -> None:
    """The end of an earlier request sets the slider back to where the robot is; the later one has its own value."""
    go = threading.Event()

    def earlier() -> None:
        go.wait(PATIENCE)
        studio.moved(studio.session.home)

    studio.loop.post("earlier", earlier)
    send(studio, pack({"type": "GuiUpdateMessage", "uuid": slider_id(studio), "updates": {"value": 4.37}}))
    assert until(lambda: studio.panels[0].sliders[2].value == 4.37)
    go.set()
    assert until(lambda: studio.loop.wait_until_idle(1.0, alone=True) and studio.session.values[2] == 4.37)


def test_the_page_is_the_studios_own(studio: Studio) -> None:
    """Title and script are in it before viser's own runs, whether a browser asks for it compressed or not."""
    for accepted in ({}, {"Accept-Encoding": "gzip"}):
        with urllib.request.urlopen(urllib.request.Request(f"{studio.url}/", headers=accepted), timeout=PATIENCE) as answer:
            page = answer.read().decode("utf-8")
            assert int(answer.headers["Content-Length"]) == len(page.encode("utf-8"))
        assert "<title>flexapod studio</title>" in page
        assert page.count("window.flexapodStudio = true") == 1
        assert page.index('<div id="root"></div>') < page.index("window.flexapodStudio = true") < page.index("</body>")


def test_pages_from_elsewhere_are_refused(studio: Studio) -> None:
    """Only the studio's own origin may connect: no other site, and no other port of this machine."""

    async def reached(origin: str) -> bool:
        try:
            page = await connect(studio.port, origin=origin)
        except websockets.InvalidStatus as refused:
            return bool(refused.response.status_code != 403)
        await page.send(pack(CAMERA))
        await page.send(pack({"type": "GuiUpdateMessage", "uuid": slider_id(studio), "updates": {"value": 4.25}}))
        await page.recv()
        await page.close()
        return True

    studio.loop.post("home", lambda: studio.moved(studio.session.home))
    assert studio.loop.wait_until_idle(PATIENCE)
    for origin in (
        "http://evil.example",
        "http://localhost:3000",
        f"http://evil.example:{studio.port}",
        "null",
        "https://localhost",
    ):
        assert not in_own_loop(reached(origin)), origin
    assert studio.session.values[2] != 4.25
    assert in_own_loop(reached(f"http://localhost:{studio.port}"))
    assert until(lambda: studio.session.values[2] == 4.25)


def asked(port: int, host: str) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as page:
        page.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        return page.recv(200)


def test_only_the_own_host_is_served(studio: Studio) -> None:
    """A name that was made to point here (DNS rebinding) gets nothing."""
    for host in (
        "evil.example",
        f"evil.example:{studio.port}",
        "localhost:1",
        "localhost",
        f"localhost.evil.example:{studio.port}",
    ):
        assert b"403" in asked(studio.port, host), host
    for host in (f"localhost:{studio.port}", f"127.0.0.1:{studio.port}", f"[::1]:{studio.port}"):
        assert b"200 OK" in asked(studio.port, host), host


def test_own_requests_of_a_studio_for_others() -> None:
    """One that listens on every network is asked for by a numeric address or the machine's name, not by other names."""
    from websockets.datastructures import Headers

    def own(host: str, origin: str | None = None, listens: str = "0.0.0.0") -> bool:
        given = {"Host": host} if origin is None else {"Host": host, "Origin": origin}
        return own_request(Headers(given), listens, 8765)

    assert own("192.168.1.7:8765", "http://192.168.1.7:8765")
    assert own(f"{socket.gethostname()}:8765".lower())
    assert not own("evil.example:8765")
    assert not own("192.168.1.7:8765", "http://evil.example:8765")
    assert not own("192.168.1.7:8765", listens="127.0.0.1")
    assert not own("[:8765")


def test_an_address_of_another_machine_is_refused_at_once() -> None:
    """It used to hang without a word."""
    found = subprocess.run(
        [sys.executable, "-m", "flexapod.views.cli", "studio", "--host", "192.0.2.1", "--port", "0"],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert found.returncode == 1
    assert "--host 192.0.2.1: this machine cannot listen there" in found.stderr
    assert "Traceback" not in found.stderr


def resident(pid: int) -> tuple[int, int]:
    """Kilobytes in memory and threads of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    numbers = {line.split(":")[0]: line.split() for line in text.splitlines()}
    return int(numbers["VmRSS"][1]), int(numbers["Threads"][1])


LOOKS = 50
"""Looks at a process, twenty milliseconds apart; a thread that computes is on a core or waits for one at nearly all of them."""


def idle(pid: int) -> bool:
    """No thread of a process or of those that it started computes.

    On a busy machine a thread that wakes up now and then waits for a core at some looks, too.
    """
    awake: Counter[Path] = Counter()
    for _ in range(LOOKS):
        below = [child for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()]
        for path in (path for one in (pid, *below) for path in Path(f"/proc/{one}/task").glob("*/stat")):
            with contextlib.suppress(OSError):  # a thread that has just ended
                awake[path] += path.read_text().rsplit(")", 1)[1].split()[0] != "S"
        time.sleep(0.02)
    return max(awake.values()) < LOOKS // 2


async def visits(port: int, count: int, at_once: int = 20) -> None:
    """Clients that come, get the page's state, and go: half of them without a word."""

    async def visit(k: int) -> None:
        page = await connect(port)
        await page.send(pack(CAMERA))
        await page.recv()
        if k % 2:
            await page.close()
        else:
            sock = page.transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            page.transport.abort()

    for start in range(0, count, at_once):
        await asyncio.gather(*[visit(k) for k in range(start, min(start + at_once, count))])


@pytest.mark.skipif(sys.platform != "linux", reason="reads memory and threads from /proc")
@pytest.mark.parametrize("clients", [100, pytest.param(CLIENTS, marks=pytest.mark.full)])
def test_a_thousand_clients_leave_nothing_behind(command: Callable[..., Command], clients: int) -> None:
    """No thread, and with a thousand clients no memory."""
    server = command("stewart-3-3")
    assert until(lambda: idle(server.process.pid)), "the robot is never ready"
    in_own_loop(visits(server.port, clients // 5))  # caches fill, the allocator takes its pages
    assert until(lambda: idle(server.process.pid))
    before = resident(server.process.pid)
    in_own_loop(visits(server.port, clients))
    pid = server.process.pid
    until(lambda: resident(pid)[1] <= before[1] and resident(pid)[0] <= before[0] + GROWTH)
    after = resident(pid)
    label = f"{clients} clients: memory {before[0]} -> {after[0]} kB, threads {before[1]} -> {after[1]}"
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES / "thousand-clients.txt").write_text(label + "\n")
    assert after[1] <= before[1], label
    assert after[0] <= before[0] + GROWTH, label
    code, _, errors = server.end()
    assert code == 0
    assert "Traceback" not in errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_starts_listens_here_and_closes(
    command: Callable[..., Command], number: int, record_property: Callable[[str, object], None]
) -> None:
    server = command("hexapod")
    record_property("studio start", f"{server.started:.2f} s to the page's address")
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES / "start.txt").write_text(f"{server.started:.2f} s from the command to the page's address\n")
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as page:
        page.sendall(f"GET / HTTP/1.1\r\nHost: localhost:{server.port}\r\nConnection: close\r\n\r\n".encode())
        assert b"200 OK" in page.recv(200)
    if sys.platform == "linux":
        rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        places = {row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == server.port}
        assert places == {"0100007F"}, "listens elsewhere than on 127.0.0.1"
    code, out, errors = server.end(number)
    assert code == 0
    assert "viser" not in out + errors
    assert errors == ""


def test_a_port_in_use_is_left_to_its_owner(command: Callable[..., Command]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        server = command("stewart-3-3", "--port", str(taken))
        assert server.port != taken
        assert server.end()[0] == 0


def test_a_signal_at_any_moment_of_the_wait_ends_it() -> None:
    """With an event, a signal now and then met the lock that its own thread held, and the studio never ended."""
    for k in range(40):
        with asked_to_end() as wait:
            before = signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGINT))
            signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + k))
            begin = time.monotonic()
            wait(PATIENCE)
            signal.signal(signal.SIGALRM, before)
        assert time.monotonic() - begin < PATIENCE


def test_two_studios_do_not_meet(studio: Studio) -> None:
    threads = threading.active_count()
    other = Studio("hexapod")
    assert other.loop.wait_until_idle(PATIENCE)
    assert other.port != studio.port
    assert other.session.robot.name == "hexapod"
    assert studio.session.robot.name == "stewart-3-3"
    other.stop()
    assert until(lambda: threading.active_count() <= threads)


def test_a_robot_that_is_not_there_is_said_before_a_page_opens() -> None:
    with pytest.raises(fp.FlexapodError, match="did you mean 'hexapod'"):
        Studio("hexapot")


def test_loop_keeps_order_and_the_latest_wins() -> None:
    said: list[Any] = []
    errors: list[Exception] = []
    loop = ActionLoop(errors.append)
    loop.quiet("q", lambda: said.append("quiet"))
    for k in range(100):
        loop.post("slider", lambda k=k: said.append(k))  # type: ignore[misc]
    loop.post("other", lambda: said.append("other"))
    loop.post("wrong", lambda: 1 / 0)
    loop.start()
    assert loop.wait_until_idle(PATIENCE)
    assert said == [99, "other", "quiet"]
    assert isinstance(errors[0], ZeroDivisionError)
    loop.beat(0.001, lambda: said.append("beat"))
    assert until(lambda: said.count("beat") > 3)
    loop.beat(None)
    loop.stop(PATIENCE)
    count = len(said)
    loop.post("late", lambda: said.append("late"))
    assert not loop._thread.is_alive()
    assert len(said) == count


def test_a_newer_job_takes_over() -> None:
    label: list[Any] = []
    results: list[str] = []
    loop = ActionLoop(lambda error: label.append(error))
    loop.start()
    jobs = Jobs(loop.post, lambda name, part: label.append((name, round(part, 1))), lambda error: label.append(str(error)))
    release = threading.Event()

    def slow(report: Callable[[float], None]) -> str:
        report(0.5)
        release.wait(PATIENCE)
        report(0.9)  # here it learns that nobody waits for it
        return "slow"

    jobs.start("slow", slow, results.append)
    assert until(lambda: ("slow", 0.5) in label)
    jobs.start("quick", lambda report: "quick", results.append)
    assert until(lambda: results == ["quick"])
    release.set()
    assert until(lambda: not jobs.running)
    assert results == ["quick"]
    assert ("slow", 0.9) not in label
    jobs.start("wrong", lambda report: 1 / 0, results.append)
    assert until(lambda: "division by zero" in label)
    release.clear()
    jobs.start("dropped", slow, results.append)
    jobs.cancel()
    release.set()
    assert until(lambda: not jobs.running)
    assert loop.wait_until_idle(PATIENCE)
    assert results == ["quick"]
    loop.stop()


def test_long_work_does_not_hold_up_the_page(studio: Studio) -> None:
    """A slice is computed while a slider moves: numbers come before the slice is there."""
    studio.loop.post("home", lambda: studio.moved(studio.session.home))
    assert studio.loop.wait_until_idle(PATIENCE)
    order: list[str] = []
    hold = threading.Event()

    def work(report: Callable[[float], None]) -> None:
        report(0.1)
        hold.wait(PATIENCE)

    studio.loop.post("long", lambda: studio.jobs.start("long work", work, lambda _: order.append("long")))
    assert until(lambda: studio.jobs.running)
    assert moves(studio, 4.5)
    order.append("moved")
    assert "long work" in json.dumps(studio.status.content)
    hold.set()
    assert until(lambda: order == ["moved", "long"])


def test_the_robot_is_drawn_ahead_of_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What its file says is enough for a picture; it stays when the numbers come, and no photographed light slows the page."""
    usual, held = prepare.ready_session, threading.Event()

    def late(robot: fp.Robot, report: Any) -> Any:
        assert held.wait(PATIENCE)
        return usual(robot, report)

    monkeypatch.setattr(prepare, "ready_session", late)
    studio = Studio("delta")
    try:
        assert until(lambda: studio.scene.view is not None and studio.scene.view.last is not None)
        ahead = studio.scene.view
        assert not studio.entered
        held.set()
        assert studio.loop.wait_until_idle(PATIENCE)
        assert studio.entered
        assert studio.scene.view is ahead, "the robot is not sent twice"
        assert len(studio.scene.handles) > 0
        assert gc.get_freeze_count() > 10_000, "a slider does not wait for a search through all that is long-lived"
    finally:
        held.set()
        studio.stop()


def test_quiet_work_that_waits_for_the_end_of_a_beat_is_nothing_to_wait_for() -> None:
    """An animation may go on for hours; what shall be done after it keeps nobody waiting, and is done then."""
    loop, done = ActionLoop(lambda error: None), threading.Event()
    loop.start()
    loop.beat(0.01, lambda: None)
    loop.quiet("later", done.set)
    assert until(lambda: loop.wait_until_idle(0.1))
    assert not done.is_set()
    loop.beat(None)
    assert done.wait(PATIENCE)
    loop.stop()
