"""Baton as the broker and the result backend (rpc://) of Celery: an application, and a worker of its own."""

import os
import subprocess
import sys
import time
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from celery import group  # noqa: E402
from celery.exceptions import TaskRevokedError  # noqa: E402
from tap import equal, main, raises, restart_broker, test  # noqa: E402
import tasks  # noqa: E402

LIMIT_S = 20
SHUTDOWN_S = 20


class Worker:
    """`celery worker` in a process of its own, with one task at a time."""

    def __init__(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "celery", "--app", "tasks", "worker", "--pool", "solo", "--loglevel", "warning",
             "--hostname", "interop@localhost", "--events"],
            cwd=HERE, stdout=sys.stderr, stderr=sys.stderr)
        try:
            self.answers()
        except AssertionError:
            self.close()
            raise

    def answers(self):
        """Returns once it answers a ping, which is broadcast through a fanout exchange."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert self._process.poll() is None, f"the worker ended with {self._process.returncode}"
            if tasks.app.control.ping(timeout=0.5):
                return
        raise AssertionError("the worker does not answer")

    def close(self):
        self._process.terminate()
        try:
            self._process.wait(SHUTDOWN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@test("a task is run by the worker, and its result comes back")
def _():
    equal(tasks.add.delay(2, 3).get(LIMIT_S), 5)


@test("100 tasks give 100 results")
def _():
    results = group(tasks.add.s(number, number) for number in range(100)).apply_async()
    equal(results.get(LIMIT_S), [2 * number for number in range(100)])


@test("a chain hands each result to the next task")
def _():
    equal((tasks.add.s(1, 2) | tasks.add.s(10) | tasks.add.s(100)).apply_async().get(LIMIT_S), 113)


@test("a task's exception is raised where its result is asked for")
def _():
    error = raises(ValueError, tasks.fail.delay().get, LIMIT_S)
    equal(str(error), "on purpose")


@test("a task that retries is delivered again until it succeeds")
def _():
    equal(tasks.succeed_at_third.delay().get(LIMIT_S), 2)


@test("a task with a countdown is not run before its time")
def _():
    started = time.monotonic()
    equal(tasks.add.apply_async((1, 1), countdown=1).get(LIMIT_S), 2)
    assert time.monotonic() - started >= 1, "too early"


@test("a task that has expired is not run")
def _():
    result = tasks.echo.apply_async(("late",), expires=datetime.now(timezone.utc) - timedelta(seconds=5))
    raises(TaskRevokedError, result.get, LIMIT_S)


@test("a queue with x-message-ttl, x-expires and x-max-length carries tasks")
def _():
    equal(tasks.add.apply_async((4, 5), queue="interop.celery.brief").get(LIMIT_S), 9)


@test("a task with an argument of 1 MiB comes back whole")
def _():
    value = "x" * (1 << 20)
    assert tasks.echo.delay(value).get(LIMIT_S) == value, "another value"


@test("a task's own headers and priority reach it")
def _():
    result = tasks.headers.apply_async(headers={"colour": "red", "number": 7}, priority=5)
    got = result.get(LIMIT_S)
    equal((got.get("colour"), got.get("number")), ("red", 7))


@test("the worker can be inspected while it runs")
def _():
    inspect = tasks.app.control.inspect(timeout=2)
    assert "tasks.add" in inspect.registered()["interop@localhost"]
    names = {queue["name"] for queue in inspect.active_queues()["interop@localhost"]}
    equal(names, {"interop.celery", "interop.celery.brief"})


@test("a task that was revoked is not run")
def _():
    result = tasks.echo.apply_async(("revoked",), countdown=2)
    tasks.app.control.revoke(result.id, reply=True, timeout=2)
    raises(TaskRevokedError, result.get, LIMIT_S)


@test("events of the worker are seen by whoever listens")
def _():
    seen = []
    with tasks.app.connection() as connection:
        receiver = tasks.app.events.Receiver(connection, handlers={"*": lambda event: seen.append(event["type"])})
        with receiver.consumer_context() as (_connection, _channel, _consumers):
            tasks.add.delay(1, 1)
            end = time.monotonic() + LIMIT_S
            while "task-succeeded" not in seen and time.monotonic() < end:
                try:
                    connection.drain_events(timeout=1)
                except TimeoutError:
                    pass
    assert "task-succeeded" in seen, seen


@test("kombu's SimpleQueue puts and gets")
def _():
    with tasks.app.connection() as connection:
        queue = connection.SimpleQueue("interop.celery.simple")
        queue.put({"hello": "world"}, headers={"a": 1})
        message = queue.get(timeout=10)
        equal((message.payload, message.headers["a"]), ({"hello": "world"}, 1))
        message.ack()
        equal(queue.qsize(), 0)
        queue.close()
        connection.default_channel.queue_delete("interop.celery.simple")


@test("the worker goes on after a restart of the broker", limit_s=150)
def _():
    restart_broker()
    # Its results queue went with this program's connection, so the next call comes from a new program.
    call = "import tasks; print(tasks.add.apply_async((20, 22), retry=True).get(20))"
    said = subprocess.run([sys.executable, "-c", call], cwd=HERE, capture_output=True, text=True, timeout=60,
                          check=False)
    equal(said.stdout.strip(), "42", said.stderr[-300:])


worker = Worker()
try:
    main()
finally:
    worker.close()
