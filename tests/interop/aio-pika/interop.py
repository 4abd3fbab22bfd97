"""Baton as asyncio programs that use aio-pika meet it."""

import asyncio
import datetime
import decimal
import os
import sys
import uuid

import aio_pika
from aio_pika import DeliveryMode, ExchangeType, IncomingMessage, Message
from aiormq import exceptions

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from tap import URI, equal, main, restart_broker, test  # noqa: E402


def unique(name):
    return f"interop.aio-pika.{name}.{uuid.uuid4().hex[:8]}"


async def declare(channel, **arguments):
    arguments = {key.replace("_", "-"): value for key, value in arguments.items()}
    return await channel.declare_queue(exclusive=True, arguments=arguments or None)


async def publish(channel, queue, *bodies, **properties):
    for body in bodies:
        await channel.default_exchange.publish(Message(body, **properties), queue.name)


async def bodies(queue):
    """Everything that is ready in the queue."""
    found = []
    while (message := await queue.get(no_ack=True, fail=False)) is not None:
        found.append(message.body)
    return found


async def count(channel, queue):
    return (await channel.declare_queue(queue.name, passive=True)).declaration_result.message_count


async def refused(kind, awaitable):
    """The error of this kind that the awaitable ends with."""
    try:
        result = await awaitable
    except kind as error:
        return error
    raise AssertionError(f"no error, got {result!r}")


@test("a confirmed publish is consumed with its body unchanged")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        queue = await declare(channel)
        await publish(channel, queue, b"hello \x00\xff")
        async with queue.iterator() as messages:
            async for message in messages:
                async with message.process():
                    equal(message.body, b"hello \x00\xff")
                    equal((message.exchange, message.routing_key, message.redelivered), ("", queue.name, False))
                break
        equal(await count(channel, queue), 0, "left")


@test("1000 publishes at a time are each confirmed, and consumed in order")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        await channel.set_qos(prefetch_count=100)
        queue = await declare(channel)
        sent = [str(number).encode() for number in range(1000)]
        await asyncio.gather(*(publish(channel, queue, body, delivery_mode=DeliveryMode.PERSISTENT)
                               for body in sent))
        got = []
        async with queue.iterator() as messages:
            async for message in messages:
                got.append(message.body)
                await message.ack()
                if len(got) == len(sent):
                    break
        equal(got, sent)


@test("prefetch 3 leaves the fourth message in the queue until one is acked")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        await channel.set_qos(prefetch_count=3)
        queue, got = await declare(channel), asyncio.Queue()
        await publish(channel, queue, *[b"m"] * 5)
        await queue.consume(got.put)
        messages = [await got.get() for _ in range(3)]
        equal(await count(channel, queue), 2, "ready")
        equal(got.qsize(), 0, "more deliveries")
        await messages[0].ack()
        await got.get()
        equal(await count(channel, queue), 1, "ready")


@test("process() acks at the end, and rejects or requeues after an exception")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        queue = await declare(channel)
        await publish(channel, queue, b"1", b"2", b"3")
        async with (await queue.get()).process():
            pass
        for requeue in (False, True):
            try:
                async with (await queue.get()).process(requeue=requeue):
                    raise ValueError("on purpose")
            except ValueError:
                pass
        message = await queue.get(no_ack=True)
        equal((message.body, message.redelivered), (b"3", True))
        equal(await bodies(queue), [])


@test("nacks requeue or drop as they say, and requeued messages keep their order")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        queue = await declare(channel)
        await publish(channel, queue, b"1", b"2", b"3", b"4")
        messages = [await queue.get() for _ in range(4)]
        await messages[3].nack(requeue=True)
        await messages[1].nack(requeue=False)
        await messages[2].reject(requeue=True)
        await messages[0].reject(requeue=False)
        equal(await bodies(queue), [b"3", b"4"])


@test("bodies from nothing to 20 MiB come back unchanged")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        queue = await declare(channel)
        for size in (0, 131072 - 8, 131072 - 7, 1 << 20, 20 << 20):
            body = os.urandom(size)
            await publish(channel, queue, body)
            assert (await queue.get(no_ack=True)).body == body, f"another body than the {size} bytes sent"


@test("every message property comes back unchanged")
async def _():
    sent = dict(content_type="text/plain", content_encoding="utf-8", headers={"a": 1}, priority=7,
                delivery_mode=DeliveryMode.PERSISTENT, correlation_id="c-1", reply_to="replies",
                expiration=60, message_id="m-1", type="greeting", user_id="guest", app_id="interop",
                timestamp=datetime.datetime(2024, 2, 29, 12, 30, 45, tzinfo=datetime.timezone.utc))
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        queue = await declare(channel)
        await publish(channel, queue, b"", **sent)
        message = await queue.get(no_ack=True)
        for name, value in sent.items():
            equal(getattr(message, name), value, name)


@test("headers of every type that aio-pika writes come back unchanged")
async def _():
    headers = {
        "string": "Stafette \u2192", "true": True, "false": False, "int": 42,
        "negative": -42, "large": 1 << 40, "largest": (1 << 63) - 1, "float": 2.5,
        "decimal": decimal.Decimal("3.14"), "none": None, "list": [1, "two", None, [True], {"deep": [1]}],
        "time": datetime.datetime(2024, 2, 29, 12, 30, 45, tzinfo=datetime.timezone.utc),
        "table": {"nested": {"deeper": {"deepest": "here"}}, "empty": {}, "nothing": []},
    }
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        queue = await declare(channel)
        await publish(channel, queue, b"", headers=headers)
        message = await queue.get(no_ack=True)
        equal(message.headers, headers)


@test("exchanges of each type route as bound")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        for kind, key, arguments, expected in (
                (ExchangeType.DIRECT, "orange", None, [b"orange"]),
                (ExchangeType.FANOUT, "", None, [b"orange", b"quick.orange.fox", b"lazy"]),
                (ExchangeType.TOPIC, "*.orange.#", None, [b"quick.orange.fox"]),
                (ExchangeType.HEADERS, "", {"x-match": "any", "length": 4, "none": 1}, [b"lazy"])):
            exchange = await channel.declare_exchange(unique(kind.value), kind, auto_delete=True)
            queue = await declare(channel)
            await queue.bind(exchange, key, arguments=arguments)
            for word in ("orange", "quick.orange.fox", "lazy"):
                # A headers exchange may drop it; that is no error for this program.
                await exchange.publish(Message(word.encode(), headers={"length": len(word)}), word,
                                       mandatory=False)
            equal(await bodies(queue), expected, kind.value)
            await queue.unbind(exchange, key, arguments=arguments)


@test("a message passes from exchange to exchange, once for each queue")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        source = await channel.declare_exchange(unique("source"), ExchangeType.TOPIC, auto_delete=True)
        target = await channel.declare_exchange(unique("target"), ExchangeType.FANOUT, auto_delete=True)
        queue = await declare(channel)
        await target.bind(source, "in.#")
        await queue.bind(target)
        await queue.bind(source, "#")
        await source.publish(Message(b"through"), "in.here")
        equal(await bodies(queue), [b"through"])
        await target.unbind(source, "in.#")


@test("a mandatory message without a route is returned before it is confirmed")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel(on_return_raises=True)
        error = await refused(exceptions.PublishError,
                              channel.default_exchange.publish(Message(b"back"), unique("nowhere")))
        equal(error.message.delivery.reply_code, 312)
        equal(error.message.body, b"back")
        await channel.default_exchange.publish(Message(b"dropped"), unique("nowhere"), mandatory=False)


@test("channel errors carry the right codes and leave the connection and its channels alone")
async def _():
    async with await aio_pika.connect(URI) as connection, await aio_pika.connect(URI) as other:
        channel, own, missing = await connection.channel(), unique("own"), unique("missing")
        queue = await channel.declare_queue(own, exclusive=True, arguments={"x-message-ttl": 1000})

        error = await refused(exceptions.ChannelNotFoundEntity,
                              (await connection.channel()).declare_queue(missing, passive=True))
        assert f"NOT_FOUND - no queue '{missing}' in vhost '/'" in str(error), error
        gone = aio_pika.Exchange(await connection.channel(), missing)
        error = await refused(exceptions.ChannelNotFoundEntity, gone.publish(Message(b""), ""))
        assert f"NOT_FOUND - no exchange '{missing}' in vhost '/'" in str(error), error
        error = await refused(exceptions.ChannelPreconditionFailed,
                              (await connection.channel()).declare_queue(
                                  own, exclusive=True, arguments={"x-message-ttl": 999}))
        assert "received '999' but current is '1000'" in str(error), error
        await refused(exceptions.ChannelAccessRefused, (await connection.channel()).declare_queue("amq.mine"))
        await refused(exceptions.ChannelLockedResource,
                      (await other.channel()).declare_queue(own, passive=True))

        await publish(channel, queue, b"still here")
        equal(await bodies(queue), [b"still here"])


@test("a wrong password is refused with 403, and an unknown virtual host")
async def _():
    error = await refused(exceptions.AMQPError, aio_pika.connect(URI.replace("guest:guest", "guest:wrong")))
    assert isinstance(error, exceptions.ProbableAuthenticationError) or "403" in repr(error), repr(error)
    error = await refused(exceptions.AMQPError, aio_pika.connect(URI.rsplit("/", 1)[0] + "/nope"))
    # All that aio-pika tells is that connection.close came instead of open-ok.
    assert "Connection.Close" in repr(error), repr(error)


@test("a consumer hears of its queue's deletion by basic.cancel")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel, other = await connection.channel(), await connection.channel()
        queue = await channel.declare_queue(unique("deleted"))
        cancelled = asyncio.get_running_loop().create_future()
        underlay = await channel.get_underlay_channel()
        underlay.on_consumer_cancel_callbacks.add(cancelled.set_result)
        tag = await queue.consume(print)
        await (await other.get_queue(queue.name)).delete(if_empty=False, if_unused=False)
        equal((await asyncio.wait_for(cancelled, 10)).consumer_tag, tag)
        await declare(channel)


@test("a program can ask to hear of connection.blocked")
async def _():
    async with await aio_pika.connect(URI) as connection:
        capabilities = connection.transport.connection.server_properties["capabilities"]
        for name in ("publisher_confirms", "exchange_exchange_bindings", "basic.nack",
                     "consumer_cancel_notify", "connection.blocked", "authentication_failure_close"):
            equal(capabilities.get(name), True, name)


@test("an idle connection lives on heartbeats")
async def _():
    async with await aio_pika.connect(URI + "?heartbeat=1") as connection:
        channel = await connection.channel()
        await asyncio.sleep(4)
        await declare(channel)


@test("an expired message is not delivered")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        brief, plain = await declare(channel, x_message_ttl=20), await declare(channel)
        await publish(channel, brief, b"queue's")
        await publish(channel, plain, b"its own", expiration=0.02)
        await publish(channel, plain, b"stays")
        while await count(channel, brief) > 0 or await count(channel, plain) > 1:
            pass
        equal([await bodies(brief), await bodies(plain)], [[], [b"stays"]])


@test("a full queue drops its oldest message, or refuses the newest with a nack")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel = await connection.channel()
        drop = await declare(channel, x_max_length=2)
        refuse = await declare(channel, x_max_length=2, x_overflow="reject-publish")
        await publish(channel, drop, b"1", b"2", b"3")
        equal(await bodies(drop), [b"2", b"3"])
        await publish(channel, refuse, b"1", b"2")
        await refused(exceptions.DeliveryError, publish(channel, refuse, b"3"))
        equal(await bodies(refuse), [b"1", b"2"])


@test("a transaction shows its publishes at commit and forgets them at rollback")
async def _():
    async with await aio_pika.connect(URI) as connection:
        channel, other = await connection.channel(publisher_confirms=False), await connection.channel()
        queue = await declare(channel)
        try:
            async with channel.transaction():
                await publish(channel, queue, b"lost")
                raise ValueError("rolls back")
        except ValueError:
            pass
        async with channel.transaction():
            await publish(channel, queue, b"kept")
            equal(await count(other, queue), 0, "before commit")
        equal(await bodies(queue), [b"kept"])


@test("aio-pika's RPC pattern gets its answers, and its errors")
async def _():
    async with await aio_pika.connect(URI) as server, await aio_pika.connect(URI) as client:
        name = unique("multiply")
        serving = await aio_pika.patterns.RPC.create(await server.channel())
        calling = await aio_pika.patterns.RPC.create(await client.channel())

        async def multiply(*, x, y):
            return x * y

        await serving.register(name, multiply, auto_delete=True)
        answers = await asyncio.gather(*(calling.call(name, {"x": x, "y": 7}) for x in range(20)))
        equal(answers, [x * 7 for x in range(20)])
        await refused(TypeError, calling.call(name, {"z": 1}))


@test("a call by direct reply-to gets its answer")
async def _():
    async with await aio_pika.connect(URI) as server, await aio_pika.connect(URI) as client:
        serving, calling = await server.channel(), await client.channel()
        queue, answer = await declare(serving), asyncio.Queue()

        async def serve(message: IncomingMessage):
            await serving.default_exchange.publish(Message(message.body.upper()), message.reply_to)

        await queue.consume(serve, no_ack=True)
        # aio-pika has no name for it: what RabbitMQ's guide calls a pseudo-queue is got like a queue.
        replies = await calling.get_queue("amq.rabbitmq.reply-to", ensure=False)
        await replies.consume(answer.put, no_ack=True)
        await publish(calling, queue, b"shout", reply_to="amq.rabbitmq.reply-to")
        equal((await asyncio.wait_for(answer.get(), 10)).body, b"SHOUT")


@test("a restart ends the connection with 320", limit_s=120)
async def _():
    connection = await aio_pika.connect(URI)
    closed = asyncio.get_running_loop().create_future()
    connection.close_callbacks.add(lambda _, error: closed.done() or closed.set_result(error))
    await connection.channel()
    await asyncio.to_thread(restart_broker)
    error = await asyncio.wait_for(closed, 10)
    assert "CONNECTION_FORCED" in repr(error), repr(error)


@test("connect_robust sets queues, bindings and consumers up again after a restart", limit_s=120)
async def _():
    async with await aio_pika.connect_robust(URI, reconnect_interval=0.2) as connection:
        channel = await connection.channel()
        exchange = await channel.declare_exchange(unique("robust"), ExchangeType.FANOUT, auto_delete=True)
        queue = await channel.declare_queue(unique("robust"), auto_delete=True)
        await queue.bind(exchange)
        got, back = asyncio.Queue(), asyncio.Event()
        connection.reconnect_callbacks.add(lambda *_: back.set())
        await queue.consume(got.put, no_ack=True)
        await asyncio.to_thread(restart_broker)
        await asyncio.wait_for(back.wait(), 30)
        while got.empty():
            try:
                await exchange.publish(Message(b"after"), "", timeout=5)
                await asyncio.wait_for(got.get(), 0.2)
                break
            except (exceptions.AMQPError, asyncio.TimeoutError, ConnectionError):
                await asyncio.sleep(0.05)


main()
