"""Baton as shell scripts meet it: amqp-publish, amqp-consume, amqp-get and their siblings."""

import os
import subprocess
import sys
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import URI, equal, main, test  # noqa: E402


def run(program, *arguments, stdin=b"", code=0):
    """What the program prints; it must end with this code."""
    done = subprocess.run([program, f"--url={URI}", *arguments], input=stdin, capture_output=True,
                          timeout=20, check=False)
    told = f"{program} {' '.join(arguments)}: {done.stderr.decode()}"
    if code == 0:
        equal(done.returncode, 0, told)
        return done.stdout
    assert done.returncode != 0, f"{program} ended well"
    return done.stderr.decode()


def declared():
    name = f"interop.tools.{uuid.uuid4().hex[:8]}"
    equal(run("amqp-declare-queue", f"--queue={name}").decode().strip(), name)
    return name


def delete(queue):
    return int(run("amqp-delete-queue", f"--queue={queue}").decode().strip() or 0)


@test("amqp-publish puts a message into a queue and amqp-get takes it")
def _():
    queue = declared()
    run("amqp-publish", f"--routing-key={queue}", "--body=hello")
    equal(run("amqp-get", f"--queue={queue}"), b"hello")
    run("amqp-get", f"--queue={queue}", code=2)
    delete(queue)


@test("amqp-publish takes a body of 1 MiB from its standard input, with properties")
def _():
    queue, body = declared(), os.urandom(1 << 20)
    run("amqp-publish", f"--routing-key={queue}", "--persistent", "--content-type=application/x-noise",
        "--header=colour: red", stdin=body)
    equal(run("amqp-get", f"--queue={queue}"), body)
    delete(queue)


@test("amqp-publish --line-buffered sends each line as a message, in order")
def _():
    queue = declared()
    run("amqp-publish", f"--routing-key={queue}", "--line-buffered", stdin=b"one\ntwo\nthree\n")
    got = [run("amqp-get", f"--queue={queue}").rstrip(b"\n") for _ in range(3)]
    equal(got, [b"one", b"two", b"three"])
    delete(queue)


@test("amqp-consume hands each message to a command and acks it")
def _():
    queue = declared()
    for body in ("1", "2", "3"):
        run("amqp-publish", f"--routing-key={queue}", f"--body={body}")
    got = run("amqp-consume", f"--queue={queue}", "--count=2", "--prefetch-count=1", "cat")
    equal(got, b"12")
    equal(run("amqp-get", f"--queue={queue}"), b"3")
    delete(queue)


@test("amqp-consume binds a queue of its own to an exchange")
def _():
    consumer = subprocess.Popen(
        ["amqp-consume", f"--url={URI}", "--exchange=amq.topic", "--routing-key=tools.#", "--exclusive",
         "--no-ack", "--count=1", "cat"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        # It says the name of its queue once it is bound, and consumes right after.
        consumer.stderr.readline()
        for _ in range(200):
            run("amqp-publish", "--exchange=amq.topic", "--routing-key=tools.here", "--body=found")
            if consumer.poll() is not None:
                break
        equal(consumer.communicate(timeout=10)[0], b"found")
    finally:
        consumer.kill()


@test("amqp-delete-queue deletes the queue, and amqp-get of it fails with 404")
def _():
    queue = declared()
    run("amqp-publish", f"--routing-key={queue}", "--body=gone")
    equal(delete(queue), 1)
    said = run("amqp-get", f"--queue={queue}", code=1)
    assert "404" in said and f"NOT_FOUND - no queue '{queue}' in vhost '/'" in said, said


@test("a wrong password and an unknown virtual host are told")
def _():
    for uri, code in ((URI.replace("guest:guest", "guest:wrong"), "403"),
                      (URI.rsplit("/", 1)[0] + "/nope", "530")):
        done = subprocess.run(["amqp-get", f"--url={uri}", "--queue=x"], capture_output=True, text=True,
                              timeout=20, check=False)
        assert done.returncode != 0 and code in done.stderr, done.stderr


main()
