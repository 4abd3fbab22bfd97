"""What the Python clients here share: tests with a sentence as their name, and lines for run.py.

    @test("an empty body comes back empty")
    def _(connect): ...

    tap.main()

Every test gets 30 s unless it says otherwise. A coroutine is run in an event loop of its own.
"""

import asyncio
import concurrent.futures
import inspect
import os
import signal
import socket
import sys
import traceback

URI = os.environ.get("BATON_URI", "amqp://guest:guest@127.0.0.1:5672/%2f")

_tests = []


class Skip(Exception):
    """This test cannot be made here, and why."""


def test(name, limit_s=30):
    """Registers a test; it fails with any exception."""
    def register(function):
        _tests.append((name, function, limit_s))
        return function
    return register


def equal(got, expected, what="got"):
    """Fails unless they are equal, and of one type where that shows in a header table."""
    assert got == expected, f"{what} {got!r}, expected {expected!r}"


def raises(kind, function, *arguments, **named):
    """The exception of this kind (or one of these) that the call ends with."""
    try:
        result = function(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError(f"no error, got {result!r}")


def uri_of(kind):
    """The URI of a broker, or user, of that kind: `small` (has little memory), `limited` (may do little)."""
    given = os.environ.get(f"BATON_{kind.upper()}_URI")
    if not given:
        raise Skip(f"nobody here has a {kind} one")
    return given


def restart_broker():
    """Has run.py end the broker with SIGTERM and start it again; returns when it is ready."""
    control = os.environ.get("BATON_CONTROL")
    if not control:
        raise Skip("nobody here can restart the broker")
    host, port = control.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=90) as runner:
        runner.sendall(b"restart\n")
        answer = runner.makefile().readline().strip()
    assert answer == "ok", f"the runner said {answer!r}"


def in_background(function):
    """Starts it on a thread; what comes back waits for its end and raises what it raised."""
    with_thread = concurrent.futures.ThreadPoolExecutor(1)
    return with_thread.submit(function).result


def _overdue(*_):
    raise TimeoutError("it took too long")


def _run(function, limit_s):
    if inspect.iscoroutinefunction(function):
        async def limited():
            await asyncio.wait_for(function(), limit_s)
        asyncio.run(limited())
        return
    signal.signal(signal.SIGALRM, _overdue)
    signal.alarm(limit_s)
    try:
        function()
    finally:
        signal.alarm(0)


def _told(error):
    """The error and where in the client's program it came up, on one line."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == sys.argv[0]]
    where = f" (line {frames[-1].lineno})" if frames else ""
    return " ".join(f"{type(error).__name__}: {error}".split())[:500] + where


def main():
    """Runs all tests, or those whose name contains the first argument; 0 if none failed."""
    wanted = [t for t in _tests if len(sys.argv) < 2 or sys.argv[1] in t[0]]
    failed = 0
    for name, function, limit_s in wanted:
        try:
            _run(function, limit_s)
            print(f"ok {name}", flush=True)
        except Skip as why:
            print(f"skip {name}: {why}", flush=True)
        except (Exception, asyncio.CancelledError) as error:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {name}: {_told(error)}", flush=True)
    print(f"1..{len(wanted)}", flush=True)
    sys.exit(1 if failed else 0)
