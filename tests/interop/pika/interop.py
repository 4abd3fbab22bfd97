"""Baton as programs that use pika meet it: its blocking connection, and once the one with callbacks."""

import contextlib
import datetime
import decimal
import os
import sys
import time
import uuid

import pika
from pika import exceptions

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import URI, equal, in_background, main, raises, restart_broker, test, uri_of  # noqa: E402


def parameters(uri=URI, **overrides):
    result = pika.URLParameters(uri)
    for name, value in overrides.items():
        setattr(result, name, value)
    return result


@contextlib.contextmanager
def connected(**overrides):
    """With `uri` and other parameters, where they are not the usual ones."""
    connection = pika.BlockingConnection(parameters(**overrides))
    try:
        yield connection
    finally:
        if connection.is_open:
            connection.close()


@contextlib.contextmanager
def channels(count=1):
    """So many channels of one new connection."""
    with connected() as connection:
        opened = [connection.channel() for _ in range(count)]
        yield opened[0] if count == 1 else opened


def unique(name):
    return f"interop.pika.{name}.{uuid.uuid4().hex[:8]}"


def declare(channel, **arguments):
    """A server-named queue of this connection."""
    arguments = {key.replace("_", "-"): value for key, value in arguments.items()}
    return channel.queue_declare("", exclusive=True, arguments=arguments or None).method.queue


def publish(channel, queue, *bodies, exchange="", **properties):
    for body in bodies:
        channel.basic_publish(exchange, queue, body, pika.BasicProperties(**properties))


def get(channel, queue, auto_ack=True):
    """(method, properties, body) of the next message; it must be there."""
    method, properties, body = channel.basic_get(queue, auto_ack)
    assert method is not None, f"nothing in {queue}"
    return method, properties, body


def bodies(channel, queue):
    """Everything that is ready in the queue."""
    found = []
    while (got := channel.basic_get(queue, True))[0]:
        found.append(got[2])
    return found


def until(connection, condition):
    """Serves the connection until the condition holds; the test's time limit ends a vain wait."""
    while not condition():
        connection.process_data_events(time_limit=0.1)


def count(channel, queue):
    return channel.queue_declare(queue, passive=True).method.message_count


def channel_error(code, function, *arguments, **named):
    """The call closes its channel with this code, and the text is returned."""
    error = raises(exceptions.ChannelClosedByBroker, function, *arguments, **named)
    equal(error.reply_code, code, "reply code")
    return error.reply_text


# ---- publish, consume, settle


@test("a confirmed publish is consumed with its body unchanged")
def _():
    with channels() as channel:
        queue = declare(channel)
        channel.confirm_delivery()
        publish(channel, queue, b"hello \x00\xff")
        method, _, body = next(channel.consume(queue, inactivity_timeout=10))
        equal(body, b"hello \x00\xff")
        equal((method.exchange, method.routing_key, method.redelivered), ("", queue, False))
        channel.basic_ack(method.delivery_tag)
        channel.cancel()
        equal(count(channel, queue), 0, "left")


@test("1000 confirmed publishes are consumed in order")
def _():
    with channels() as channel:
        queue = declare(channel)
        channel.confirm_delivery()
        sent = [str(number).encode() for number in range(1000)]
        publish(channel, queue, *sent)
        got = []
        for method, _, body in channel.consume(queue, inactivity_timeout=10):
            got.append(body)
            channel.basic_ack(method.delivery_tag)
            if len(got) == len(sent):
                break
        equal(got, sent)


@test("a persistent message in a durable queue is confirmed")
def _():
    with channels() as channel:
        queue = unique("durable")
        channel.queue_declare(queue, durable=True)
        channel.confirm_delivery()
        publish(channel, queue, b"kept", delivery_mode=2)
        _, properties, body = get(channel, queue)
        equal((properties.delivery_mode, body), (2, b"kept"))
        channel.queue_delete(queue)


@test("prefetch 3 leaves the fourth message in the queue until one is acked")
def _():
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, *[b"m"] * 5)
        channel.basic_qos(prefetch_count=3)
        tags = []
        channel.basic_consume(queue, lambda _c, method, _p, _b: tags.append(method.delivery_tag))
        until(channel.connection, lambda: len(tags) == 3)
        equal(count(channel, queue), 2, "ready")
        equal(len(tags), 3, "delivered")
        channel.basic_ack(tags[0])
        until(channel.connection, lambda: len(tags) == 4)
        equal(count(channel, queue), 1, "ready")


@test("a global prefetch is shared by the consumers of a channel")
def _():
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, *[b"m"] * 6)
        channel.basic_qos(prefetch_count=2, global_qos=True)
        tags = []
        for _ in range(2):
            channel.basic_consume(queue, lambda _c, method, _p, _b: tags.append(method.delivery_tag))
        until(channel.connection, lambda: len(tags) == 2)
        equal(count(channel, queue), 4, "ready")
        equal(len(tags), 2, "delivered")


@test("a nack with requeue brings the message back, marked redelivered")
def _():
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, b"again")
        method, _, _ = get(channel, queue, auto_ack=False)
        channel.basic_nack(method.delivery_tag, requeue=True)
        method, _, body = get(channel, queue)
        equal((method.redelivered, body), (True, b"again"))


@test("requeued messages come back in publish order whatever the order of the nacks")
def _():
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, b"1", b"2", b"3", b"4")
        tags = [get(channel, queue, auto_ack=False)[0].delivery_tag for _ in range(3)]
        for tag in (tags[1], tags[2], tags[0]):
            channel.basic_nack(tag, requeue=True)
        equal(bodies(channel, queue), [b"1", b"2", b"3", b"4"])


@test("a nack or reject without requeue drops the message")
def _():
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, b"1", b"2", b"3")
        channel.basic_nack(get(channel, queue, False)[0].delivery_tag, requeue=False)
        channel.basic_reject(get(channel, queue, False)[0].delivery_tag, requeue=False)
        equal(bodies(channel, queue), [b"3"])


@test("an ack with multiple settles everything up to its tag")
def _():
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, b"1", b"2", b"3")
        tags = [get(channel, queue, auto_ack=False)[0].delivery_tag for _ in range(3)]
        channel.basic_ack(tags[1], multiple=True)
        channel.basic_recover(requeue=True)
        method, _, body = get(channel, queue)
        equal((method.redelivered, body), (True, b"3"))
        equal(bodies(channel, queue), [])


@test("closing a channel returns what it had not acked")
def _():
    with channels(2) as (first, second):
        queue = declare(first)
        publish(first, queue, b"1", b"2")
        get(first, queue, auto_ack=False)
        first.close()
        equal(bodies(second, queue), [b"1", b"2"])


@test("after basic.cancel nothing more is delivered and unacked messages stay ackable")
def _():
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, b"1")
        tags = []
        consumer = channel.basic_consume(queue, lambda _c, m, _p, _b: tags.append(m.delivery_tag))
        until(channel.connection, lambda: tags)
        channel.basic_cancel(consumer)
        publish(channel, queue, b"2")
        channel.basic_ack(tags[0])
        equal(bodies(channel, queue), [b"2"])
        equal(len(tags), 1, "delivered")


@test("two consumers of one queue take turns")
def _():
    with channels() as channel:
        queue = declare(channel)
        got = {"a": [], "b": []}
        for tag in got:
            channel.basic_consume(queue, lambda _c, m, _p, body: got[m.consumer_tag].append(body),
                                  auto_ack=True, consumer_tag=tag)
        publish(channel, queue, *[str(n).encode() for n in range(10)])
        until(channel.connection, lambda: len(got["a"]) + len(got["b"]) == 10)
        equal((len(got["a"]), len(got["b"])), (5, 5))


@test("the consumer with the higher priority is served first")
def _():
    with channels() as channel:
        queue = declare(channel)
        got = {"low": 0, "high": 0}

        def count_it(_channel, method, _properties, _body):
            got[method.consumer_tag] += 1
        channel.basic_consume(queue, count_it, auto_ack=True, consumer_tag="low")
        channel.basic_consume(queue, count_it, auto_ack=True, consumer_tag="high",
                              arguments={"x-priority": 10})
        publish(channel, queue, *[b"m"] * 4)
        until(channel.connection, lambda: sum(got.values()) == 4)
        equal(got, {"low": 0, "high": 4})


@test("basic.get gives the message and how many are left, then nothing")
def _():
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, b"1", b"2")
        method, _, body = get(channel, queue)
        equal((method.message_count, body), (1, b"1"))
        get(channel, queue)
        equal(channel.basic_get(queue), (None, None, None))


@test("purge removes what is ready and counts it")
def _():
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, b"1", b"2", b"3")
        get(channel, queue, auto_ack=False)
        equal(channel.queue_purge(queue).method.message_count, 2, "purged")


@test("several channels of a connection work side by side")
def _():
    with channels(8) as opened:
        queue = declare(opened[0])
        got = []
        opened[0].basic_consume(queue, lambda _c, _m, _p, body: got.append(body), auto_ack=True)
        for number in range(50):
            for index, channel in enumerate(opened):
                publish(channel, queue, f"{index} {number}".encode())
        until(opened[0].connection, lambda: len(got) == 400)
        for index in range(8):
            mine = [body for body in got if body.startswith(b"%d " % index)]
            equal(mine, [f"{index} {number}".encode() for number in range(50)], f"of channel {index}")


# ---- bodies, properties, headers


def _comes_back(size):
    body = os.urandom(size)
    with channels() as channel:
        queue = declare(channel)
        channel.confirm_delivery()
        publish(channel, queue, body)
        method, _, got = next(channel.consume(queue, inactivity_timeout=30))
        assert got == body, f"{len(got)} other bytes"
        channel.basic_ack(method.delivery_tag)


@test("an empty body comes back empty")
def _():
    _comes_back(0)


@test("a body of 1 MiB comes back unchanged")
def _():
    _comes_back(1 << 20)


@test("a body of 20 MiB comes back unchanged")
def _():
    _comes_back(20 << 20)


@test("every message property comes back unchanged")
def _():
    sent = dict(content_type="text/plain", content_encoding="utf-8", delivery_mode=1, priority=7,
                correlation_id="c-1", reply_to="replies", expiration="60000", message_id="m-1",
                timestamp=1_700_000_000, type="greeting", user_id="guest", app_id="interop",
                cluster_id="somewhere", headers={"a": 1})
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, b"", **sent)
        _, properties, _ = get(channel, queue)
        for name, value in sent.items():
            equal(getattr(properties, name), value, name)


@test("headers of every type that pika writes come back unchanged")
def _():
    headers = {
        "string": "text", "unicode": "Stafette \u2192", "bytes": b"\x00\x01\xff", "true": True, "false": False,
        "int": 42, "negative": -42, "large": 1 << 40, "largest": (1 << 63) - 1,
        "decimal": decimal.Decimal("3.14"),
        "time": datetime.datetime(2024, 2, 29, 12, 30, 45), "void": None,
        "list": [1, "two", None, [True], {"deep": [1]}],
        "table": {"nested": {"deeper": {"deepest": "here"}}, "empty": {}, "none": []},
    }
    with channels() as channel:
        queue = declare(channel)
        publish(channel, queue, b"", headers=headers)
        _, properties, _ = get(channel, queue)
        # Whether the time says that it is UTC depends on pika's version.
        properties.headers["time"] = properties.headers["time"].replace(tzinfo=None)
        equal(properties.headers, headers)
        equal(list(properties.headers), list(headers), "order")


# ---- routing


@test("a direct exchange routes by the key that was bound")
def _():
    with channels() as channel:
        exchange, queue = unique("direct"), declare(channel)
        channel.exchange_declare(exchange, "direct", auto_delete=True)
        channel.queue_bind(queue, exchange, "red")
        publish(channel, "red", b"1", exchange=exchange)
        publish(channel, "blue", b"2", exchange=exchange)
        equal(bodies(channel, queue), [b"1"])
        channel.queue_unbind(queue, exchange, "red")


@test("a fanout exchange gives each bound queue a copy")
def _():
    with channels() as channel:
        queues = [declare(channel) for _ in range(3)]
        for queue in queues:
            channel.queue_bind(queue, "amq.fanout")
        publish(channel, "whatever", b"all", exchange="amq.fanout")
        equal([bodies(channel, queue) for queue in queues], [[b"all"]] * 3)


@test("a topic exchange understands * and #, and one queue gets one copy")
def _():
    with channels() as channel:
        queue = declare(channel)
        for pattern in ("order.*.paid", "order.#", "#.urgent"):
            channel.queue_bind(queue, "amq.topic", pattern)
        for key in ("order.7.paid", "order", "order.7", "invoice.7.paid", "a.b.urgent", "orders"):
            publish(channel, key, key.encode(), exchange="amq.topic")
        equal(bodies(channel, queue), [b"order.7.paid", b"order", b"order.7", b"a.b.urgent"])


@test("a headers exchange matches all or any of the bound headers")
def _():
    with channels() as channel:
        all_of, any_of = declare(channel), declare(channel)
        channel.queue_bind(all_of, "amq.headers", "", {"x-match": "all", "size": 1, "hue": "red"})
        channel.queue_bind(any_of, "amq.headers", "", {"x-match": "any", "size": 1, "hue": "red"})
        publish(channel, "", b"both", exchange="amq.headers", headers={"size": 1, "hue": "red"})
        publish(channel, "", b"one", exchange="amq.headers", headers={"size": 1, "hue": "blue"})
        publish(channel, "", b"none", exchange="amq.headers", headers={"size": 2})
        equal(bodies(channel, all_of), [b"both"])
        equal(bodies(channel, any_of), [b"both", b"one"])


@test("a message passes from exchange to exchange")
def _():
    with channels() as channel:
        source, target, queue = unique("source"), unique("target"), declare(channel)
        channel.exchange_declare(source, "topic")
        channel.exchange_declare(target, "fanout")
        channel.exchange_bind(target, source, "in.#")
        channel.queue_bind(queue, target)
        publish(channel, "in.here", b"through", exchange=source)
        channel.exchange_unbind(target, source, "in.#")
        publish(channel, "in.here", b"not", exchange=source)
        equal(bodies(channel, queue), [b"through"])
        channel.exchange_delete(source)
        channel.exchange_delete(target)


@test("what an exchange cannot route goes to its alternate exchange")
def _():
    with channels() as channel:
        exchange, queue = unique("main"), declare(channel)
        channel.exchange_declare(exchange, "direct", arguments={"alternate-exchange": "amq.fanout"})
        channel.queue_bind(queue, "amq.fanout")
        publish(channel, "nowhere", b"saved", exchange=exchange)
        equal(bodies(channel, queue), [b"saved"])
        channel.exchange_delete(exchange)


@test("CC and BCC name further queues, and BCC is not shown")
def _():
    with channels() as channel:
        to, copy, blind = (declare(channel) for _ in range(3))
        publish(channel, to, b"m", headers={"CC": [copy], "BCC": [blind]})
        for queue in (to, copy, blind):
            method, properties, _ = get(channel, queue)
            equal((method.routing_key, properties.headers), (to, {"CC": [copy]}))


@test("a mandatory message without a route is returned, then confirmed")
def _():
    with channels() as channel:
        channel.confirm_delivery()
        error = raises(exceptions.UnroutableError, channel.basic_publish, "", unique("nowhere"), b"back",
                       pika.BasicProperties(headers={"a": 1}), mandatory=True)
        returned = error.messages[0]
        equal((returned.method.reply_code, returned.method.reply_text), (312, "NO_ROUTE"))
        equal((returned.body, returned.properties.headers), (b"back", {"a": 1}))
        channel.basic_publish("", unique("nowhere"), b"dropped")  # acked, though nobody got it


@test("a message that comes back to a quorum queue says how often, up to the delivery limit")
def _():
    with channels() as channel:
        queue = unique("quorum")
        arguments = {"x-queue-type": "quorum", "x-delivery-limit": 2}
        channel.queue_declare(queue, durable=True, arguments=arguments)
        channel.confirm_delivery()
        publish(channel, queue, b"poison", headers={"mine": 7}, delivery_mode=1)
        said = []
        for method, properties, _ in channel.consume(queue, inactivity_timeout=10):
            said.append((properties.headers, method.redelivered, properties.delivery_mode))
            channel.basic_nack(method.delivery_tag, requeue=True)
            if len(said) == 3:
                break
        channel.cancel()
        equal(said, [({"mine": 7}, False, 1), ({"mine": 7, "x-delivery-count": 1}, True, 1),
                     ({"mine": 7, "x-delivery-count": 2}, True, 1)])
        equal(count(channel, queue), 0)
        channel.queue_delete(queue)


@test("a queue that is declared as classic, lazy and in a version is one")
def _():
    with channels() as channel:
        queue = unique("classic")
        arguments = {"x-queue-type": "classic", "x-queue-version": 2}
        channel.queue_declare(queue, exclusive=True, arguments={**arguments, "x-queue-mode": "lazy"})
        channel.queue_declare(queue, exclusive=True, arguments=arguments)
        publish(channel, queue, b"m")
        method, properties, _ = get(channel, queue, auto_ack=False)
        channel.basic_nack(method.delivery_tag, requeue=True)
        method, properties, _ = get(channel, queue)
        equal((method.redelivered, properties.headers), (True, None))


# ---- refusals


@test("passive declares of missing things close the channel with 404, not the connection")
def _():
    with connected() as connection:
        channel, other = connection.channel(), connection.channel()
        name = unique("missing")
        text = channel_error(404, channel.queue_declare, name, passive=True)
        equal(text, f"NOT_FOUND - no queue '{name}' in vhost '/'")
        text = channel_error(404, connection.channel().exchange_declare, name, passive=True)
        equal(text, f"NOT_FOUND - no exchange '{name}' in vhost '/'")
        queue = declare(other)
        publish(other, queue, b"still here")
        equal(bodies(other, queue), [b"still here"])


@test("a publish to a missing exchange closes the channel with 404")
def _():
    with connected() as connection:
        channel, name = connection.channel(), unique("missing")
        channel.confirm_delivery()
        text = channel_error(404, channel.basic_publish, name, "", b"")
        equal(text, f"NOT_FOUND - no exchange '{name}' in vhost '/'")
        declare(connection.channel())


@test("an inequivalent redeclare closes the channel with 406 and names the argument")
def _():
    with connected() as connection:
        name = unique("queue")
        connection.channel().queue_declare(name, exclusive=True, arguments={"x-message-ttl": 1000})
        text = channel_error(406, connection.channel().queue_declare, name, exclusive=True,
                             arguments={"x-message-ttl": 999})
        equal(text, f"PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue '{name}' in "
                    "vhost '/': received '999' but current is '1000'")
        text = channel_error(406, connection.channel().exchange_declare, "amq.direct", "topic",
                             durable=True)
        assert "inequivalent arg 'type' for exchange 'amq.direct'" in text, text


@test("an equal redeclare is welcome")
def _():
    with channels() as channel:
        name = unique("queue")
        for _ in range(2):
            channel.queue_declare(name, exclusive=True, arguments={"x-max-length": 7, "x-own": "yes"})
        channel.exchange_declare("amq.direct", "direct", durable=True)


@test("an ack of an unknown delivery tag closes the channel with 406")
def _():
    with connected() as connection:
        channel = connection.channel()
        channel.basic_ack(99)
        text = channel_error(406, channel.queue_declare, "", exclusive=True)
        equal(text, "PRECONDITION_FAILED - unknown delivery tag 99")
        declare(connection.channel())


@test("an exclusive queue is refused to other connections with 405 and ends with its own")
def _():
    name = unique("exclusive")
    with connected() as other:
        with connected() as owner:
            owner.channel().queue_declare(name, exclusive=True)
            for call in (lambda c: c.queue_declare(name, passive=True), lambda c: c.basic_get(name),
                         lambda c: c.queue_purge(name), lambda c: c.queue_delete(name)):
                text = channel_error(405, call, other.channel())
                assert text.startswith("RESOURCE_LOCKED - cannot obtain exclusive access"), text
            publish(other.channel(), name, b"anybody may")
        channel_error(404, other.channel().queue_declare, name, passive=True)


@test("reserved names and the default exchange are refused with 403")
def _():
    with connected() as connection:
        text = channel_error(403, connection.channel().queue_declare, "amq.mine")
        assert text.startswith("ACCESS_REFUSED - queue name 'amq.mine' contains reserved prefix"), text
        channel_error(403, connection.channel().exchange_declare, "amq.mine", "direct")
        channel_error(403, connection.channel().exchange_delete, "amq.direct")
        channel = connection.channel()
        channel_error(403, channel.queue_bind, declare(channel), "", "key")


@test("an exclusive consumer keeps others out with 403")
def _():
    with connected() as connection:
        channel = connection.channel()
        queue = declare(channel)
        channel.basic_consume(queue, print, exclusive=True)
        text = channel_error(403, connection.channel().basic_consume, queue, print)
        assert "in exclusive use" in text, text


@test("delete with if-unused or if-empty is refused with 406 while it does not hold")
def _():
    with connected() as connection:
        channel = connection.channel()
        queue = declare(channel)
        publish(channel, queue, b"m")
        text = channel_error(406, connection.channel().queue_delete, queue, if_empty=True)
        assert text.endswith("not empty"), text
        channel.basic_consume(queue, print)
        text = channel_error(406, connection.channel().queue_delete, queue, if_unused=True)
        assert text.endswith("in use"), text


@test("deleting what is not there is no error")
def _():
    with channels() as channel:
        equal(channel.queue_delete(unique("missing")).method.message_count, 0)
        channel.exchange_delete(unique("missing"))


@test("a user may do what its permissions allow, and is refused the rest with 403")
def _():
    with channels() as channel, connected(uri=uri_of("limited")) as limited:
        others, own = unique("others"), "own." + unique("queue")
        channel.queue_declare(others, exclusive=False)

        def refused(right, kind, name, call):
            equal(channel_error(403, call, limited.channel()),
                  f"ACCESS_REFUSED - {right} access to {kind} '{name}' in vhost '/' refused for user 'limited'")

        allowed = limited.channel()
        allowed.queue_declare(own)
        allowed.queue_bind(own, "amq.direct", "key")
        publish(channel, "key", b"m", exchange="amq.direct")
        until(limited, lambda: count(allowed, own) == 1)
        equal(bodies(allowed, own), [b"m"])
        publish(allowed, "", b"to nobody", exchange="amq.fanout")

        refused("configure", "queue", others, lambda c: c.queue_delete(others))
        refused("configure", "queue", "new", lambda c: c.queue_declare("new"))
        refused("configure", "exchange", "new", lambda c: c.exchange_declare("new", "fanout"))
        refused("write", "queue", others, lambda c: c.queue_bind(others, "amq.direct", "key"))
        refused("read", "exchange", "amq.topic", lambda c: c.queue_bind(own, "amq.topic", "key"))
        refused("read", "queue", others, lambda c: c.basic_get(others))
        refused("read", "queue", others, lambda c: c.basic_consume(others, print))
        refused("read", "queue", others, lambda c: c.queue_purge(others))
        for exchange, name in (("amq.direct", "amq.direct"), ("", "amq.default")):
            def confirmed(c, exchange=exchange):
                c.confirm_delivery()
                publish(c, "key", b"m", exchange=exchange)
            refused("write", "exchange", name, confirmed)
        allowed.queue_delete(own)
        channel.queue_delete(others)


@test("a wrong password is refused with 403")
def _():
    error = raises(exceptions.AMQPConnectionError, pika.BlockingConnection,
                   parameters(credentials=pika.PlainCredentials("guest", "wrong")))
    assert "403" in repr(error) and "ACCESS_REFUSED" in repr(error), repr(error)


@test("an unknown virtual host is refused with 530")
def _():
    error = raises(exceptions.AMQPConnectionError, pika.BlockingConnection,
                   parameters(virtual_host="nope"))
    assert "530" in repr(error) and "vhost nope not found" in repr(error), repr(error)


@test("immediate publishes close the connection with 540")
def _():
    connection = pika.BlockingConnection(parameters())
    channel = connection.channel()
    # pika has no such argument; programs that need it send the method themselves.
    channel._impl._send_method(pika.spec.Basic.Publish(routing_key="x", immediate=True),
                               (pika.BasicProperties(), b""))
    error = raises(exceptions.ConnectionClosedByBroker, channel.queue_declare, "", exclusive=True)
    equal(error.reply_code, 540, "reply code")


# ---- the server speaks first


@test("a consumer hears of its queue's deletion by basic.cancel")
def _():
    with channels(2) as (channel, other):
        queue = unique("deleted")
        channel.queue_declare(queue)
        cancelled = []
        channel.add_on_cancel_callback(lambda frame: cancelled.append(frame.method.consumer_tag))
        channel.basic_consume(queue, print, consumer_tag="mine")
        other.queue_delete(queue)
        until(channel.connection, lambda: cancelled)
        equal(cancelled, ["mine"])
        declare(channel)  # the channel is still there


@test("a program can ask to hear of connection.blocked")
def _():
    with connected() as connection:
        connection.add_on_connection_blocked_callback(print)
        connection.add_on_connection_unblocked_callback(print)
        capabilities = connection._impl.server_capabilities
        for name in ("publisher_confirms", "exchange_exchange_bindings", "basic.nack",
                     "consumer_cancel_notify", "connection.blocked", "consumer_priorities",
                     "authentication_failure_close", "per_consumer_qos", "direct_reply_to"):
            equal(capabilities.get(name), True, name)


@test("a program whose publishes find no memory hears that it is blocked, and when it may go on")
def _():
    with connected(uri=uri_of("small")) as publisher, connected(uri=uri_of("small")) as other:
        told = []
        publisher.add_on_connection_blocked_callback(lambda _, frame: told.append(frame.method.reason))
        publisher.add_on_connection_unblocked_callback(lambda *_: told.append("unblocked"))
        channel, queue = publisher.channel(), unique("blocked")
        channel.queue_declare(queue)
        while not told:
            publish(channel, queue, b"x" * 100_000)
            publisher.process_data_events(0)
        equal(told, ["low on memory"])
        other.channel().queue_delete(queue)
        until(publisher, lambda: len(told) > 1)
        equal(told, ["low on memory", "unblocked"])
        queue = declare(channel)
        publish(channel, queue, b"goes on")
        equal(bodies(channel, queue), [b"goes on"])


@test("an idle connection lives on heartbeats")
def _():
    with connected(heartbeat=1) as connection:
        channel = connection.channel()
        end = time.monotonic() + 4
        until(connection, lambda: time.monotonic() > end)
        declare(channel)


# ---- lifetimes and limits


@test("an expired message is not delivered")
def _():
    with channels() as channel:
        brief, plain = declare(channel, x_message_ttl=20), declare(channel)
        publish(channel, brief, b"queue's")
        publish(channel, plain, b"its own", expiration="20")
        publish(channel, plain, b"stays")
        until(channel.connection, lambda: count(channel, brief) == 0 and count(channel, plain) == 1)
        equal(bodies(channel, brief), [])
        equal(bodies(channel, plain), [b"stays"])


@test("an unused queue with x-expires goes away")
def _():
    with connected() as connection:
        queue = unique("expires")
        connection.channel().queue_declare(queue, arguments={"x-expires": 100})
        # Looking would keep it alive, so it is left alone first.
        end = time.monotonic() + 1
        until(connection, lambda: time.monotonic() > end)
        channel_error(404, connection.channel().queue_declare, queue, passive=True)


@test("a full queue drops its oldest message, or refuses the newest with a nack")
def _():
    with channels() as channel:
        drop = declare(channel, x_max_length=2)
        refuse = declare(channel, x_max_length=2, x_overflow="reject-publish")
        channel.confirm_delivery()
        publish(channel, drop, b"1", b"2", b"3")
        equal(bodies(channel, drop), [b"2", b"3"])
        publish(channel, refuse, b"1", b"2")
        raises(exceptions.NackError, publish, channel, refuse, b"3")
        equal(bodies(channel, refuse), [b"1", b"2"])


@test("x-max-length-bytes counts the bodies")
def _():
    with channels() as channel:
        queue = declare(channel, x_max_length_bytes=10)
        channel.confirm_delivery()
        publish(channel, queue, b"12345", b"67890", b"!")
        equal(bodies(channel, queue), [b"67890", b"!"])


@test("an auto-delete queue goes with its last consumer")
def _():
    with connected() as connection:
        channel, queue = connection.channel(), unique("auto-delete")
        channel.queue_declare(queue, auto_delete=True)
        equal(channel.basic_get(queue)[0], None)
        consumer = channel.basic_consume(queue, print)
        channel.basic_cancel(consumer)
        channel_error(404, connection.channel().queue_declare, queue, passive=True)


# ---- transactions and RPC


@test("a transaction shows its publishes at commit and forgets them at rollback")
def _():
    with channels(2) as (channel, other):
        queue = declare(channel)
        channel.tx_select()
        publish(channel, queue, b"lost")
        channel.tx_rollback()
        publish(channel, queue, b"kept")
        equal(count(other, queue), 0, "before commit")
        channel.tx_commit()
        equal(bodies(other, queue), [b"kept"])


@test("acks of a transaction take effect at commit")
def _():
    with channels(2) as (channel, other):
        queue = declare(other)
        other.confirm_delivery()
        publish(other, queue, b"1", b"2")
        channel.tx_select()
        channel.basic_ack(get(channel, queue, auto_ack=False)[0].delivery_tag)
        channel.tx_commit()
        channel.basic_ack(get(channel, queue, auto_ack=False)[0].delivery_tag)
        channel.close()  # not committed: it comes back
        method, _, body = get(other, queue)
        equal((method.redelivered, body), (True, b"2"))


@test("a call by direct reply-to gets its answer")
def _():
    with connected() as client, connected() as server:
        serving = server.channel()
        queue = declare(serving)
        calling, answers = client.channel(), []
        calling.basic_consume("amq.rabbitmq.reply-to", lambda _c, m, p, body: answers.append((p, body)),
                              auto_ack=True)
        publish(calling, queue, b"6*7", reply_to="amq.rabbitmq.reply-to", correlation_id="call 1")
        _, properties, body = next(serving.consume(queue, auto_ack=True, inactivity_timeout=10))
        equal(body, b"6*7")
        assert properties.reply_to.startswith("amq.rabbitmq.reply-to."), properties.reply_to
        publish(serving, properties.reply_to, b"42", correlation_id=properties.correlation_id)
        until(client, lambda: answers)
        equal((answers[0][0].correlation_id, answers[0][1]), ("call 1", b"42"))


# ---- the connection with callbacks, and restarts


@test("a connection with callbacks publishes 500 messages and sees every confirm")
def _():
    seen = {"confirmed": 0, "got": 0}

    def opened(connection):
        connection.channel(on_open_callback=ready)

    def ready(channel):
        channel.confirm_delivery(confirmed)
        channel.queue_declare("", exclusive=True,
                              callback=lambda frame: declared(channel, frame.method.queue))

    def declared(channel, queue):
        channel.basic_consume(queue, lambda *_: got(channel), auto_ack=True)
        for _ in range(500):
            channel.basic_publish("", queue, b"m")

    def confirmed(frame):
        assert isinstance(frame.method, pika.spec.Basic.Ack), frame
        seen["confirmed"] = max(seen["confirmed"], frame.method.delivery_tag)
        seen["last"] = frame.channel_number

    def got(channel):
        seen["got"] += 1
        finish(channel)

    def finish(channel):
        if seen["got"] == 500:
            # The confirm of the last one may still be on its way: close-ok comes after it.
            channel.connection.close()

    connection = pika.SelectConnection(parameters(), on_open_callback=opened,
                                       on_close_callback=lambda c, _: c.ioloop.stop())
    connection.ioloop.start()
    equal(seen["got"], 500, "consumed")
    assert seen["confirmed"] > 0, "no confirm came"


def read_stream(channel, stream, count, **arguments):
    """(offset, body) of the next messages of a stream; fewer when no more come."""
    arguments = {"x-stream-" + key.replace("_", "-"): value for key, value in arguments.items()}
    channel.basic_qos(prefetch_count=10)
    got = []
    for method, properties, body in channel.consume(stream, arguments=arguments, inactivity_timeout=2):
        if method is None:
            break
        got.append((properties.headers["x-stream-offset"], body))
        channel.basic_ack(method.delivery_tag)
        if len(got) == count:
            break
    channel.cancel()
    return got


@test("a stream is read by several readers, each from where it says")
def _():
    with channels(2) as (writer, reader):
        stream = unique("stream")
        writer.queue_declare(stream, durable=True, arguments={"x-queue-type": "stream"})
        writer.confirm_delivery()
        begun = datetime.datetime.now()
        for n in range(30):
            publish(writer, stream, b"%d" % n, headers={"x-stream-filter-value": "odd" if n % 2 else "even"})
        everything = [(n, b"%d" % n) for n in range(30)]
        equal(read_stream(reader, stream, 30, offset="first"), everything, "from the first")
        equal(read_stream(reader, stream, 30, offset="first"), everything, "again: reading takes nothing")
        equal(read_stream(reader, stream, 5, offset=17), everything[17:22], "from an offset")
        equal(read_stream(reader, stream, 1, offset="last"), everything[29:], "from the last chunk")
        equal(read_stream(reader, stream, 30, offset="1h"), everything, "from an hour ago")
        equal(read_stream(reader, stream, 30, offset=begun - datetime.timedelta(hours=1)), everything,
              "from a time")
        equal(read_stream(reader, stream, 15, offset="first", filter="odd"), everything[1::2], "filtered")
        equal(read_stream(reader, stream, 30, offset="first", filter=["odd", "even"]), everything,
              "two filters")
        writer.queue_delete(stream)


@test("a restart ends the connection with 320, and the program can connect again", limit_s=120)
def _():
    connection = pika.BlockingConnection(parameters())
    channel = connection.channel()
    queue = unique("restart")
    channel.queue_declare(queue, durable=True)
    restarted = in_background(restart_broker)
    error = raises(exceptions.AMQPConnectionError, until, connection, lambda: False)
    assert isinstance(error, exceptions.ConnectionClosedByBroker), repr(error)
    equal(error.reply_code, 320, "reply code")
    restarted()
    with channels() as channel:
        channel.queue_declare(queue, durable=True)
        channel.confirm_delivery()
        publish(channel, queue, b"after", delivery_mode=2)
        equal(bodies(channel, queue), [b"after"])
        channel.queue_delete(queue)


main()
