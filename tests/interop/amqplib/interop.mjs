// Baton as programs that use amqplib meet it.

import assert from "node:assert/strict"
import crypto from "node:crypto"
import amqp from "amqplib"
import { collector, later, main, pause, rejected, restartBroker, test, uri, uriOf } from "./tap.mjs"

const unique = (name) => `interop.amqplib.${name}.${crypto.randomBytes(4).toString("hex")}`

/** Runs `use` with a new connection and channel; both are gone afterwards. */
async function withChannel(use, { confirm = false, options } = {}) {
  await withConnection(async (connection) => {
    const channel = await (confirm ? connection.createConfirmChannel() : connection.createChannel())
    channel.on("error", () => {})
    await use(channel, connection)
  }, options)
}

async function withConnection(use, options, to = uri) {
  const connection = await amqp.connect(to, options)
  connection.on("error", () => {})
  try {
    await use(connection)
  } finally {
    await connection.close().catch(() => {})
  }
}

const declare = async (channel, options) =>
  (await channel.assertQueue("", { exclusive: true, ...options })).queue

function publish(channel, queue, ...bodies) {
  for (const body of bodies) channel.sendToQueue(queue, Buffer.from(body))
}

async function get(channel, queue, options = { noAck: true }) {
  const message = await channel.get(queue, options)
  assert(message, `nothing in ${queue}`)
  return message
}

/** Everything that is ready in the queue. */
async function bodies(channel, queue) {
  const found = []
  for (let message; (message = await channel.get(queue, { noAck: true })); )
    found.push(message.content.toString())
  return found
}

/** A channel error of this code is what `act` ends with, on a channel of its own; gives its text. */
async function channelError(connection, code, act) {
  const channel = await connection.createChannel()
  const seen = later()
  channel.on("error", seen.resolve)
  act(channel)?.catch?.(() => {})
  const error = await seen.promise
  assert.equal(error.code, code, error.message)
  return error.message
}

// ---- publish, consume, settle

test("a confirmed publish is consumed with its body unchanged", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    channel.sendToQueue(queue, Buffer.from([0, 255, 65]))
    await channel.waitForConfirms()
    const got = later()
    await channel.consume(queue, got.resolve)
    const message = await got.promise
    assert.deepEqual(message.content, Buffer.from([0, 255, 65]))
    assert.equal(message.fields.redelivered, false)
    assert.equal(message.fields.routingKey, queue)
    channel.ack(message)
  }, { confirm: true }))

test("1000 publishes are each confirmed, and consumed in order", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    const sent = Array.from({ length: 1000 }, (_, number) => String(number))
    const confirmed = sent.map(
      (body) => new Promise((resolve, reject) =>
        channel.sendToQueue(queue, Buffer.from(body), { persistent: true },
          (error) => (error ? reject(error) : resolve()))))
    await Promise.all(confirmed)
    const { add, count } = collector()
    await channel.prefetch(100)
    await channel.consume(queue, (message) => {
      channel.ack(message)
      add(message.content.toString())
    })
    assert.deepEqual(await count(1000), sent)
  }, { confirm: true }))

test("prefetch 3 leaves the fourth message in the queue until one is acked", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    publish(channel, queue, "1", "2", "3", "4", "5")
    await channel.prefetch(3)
    const { add, count, seen } = collector()
    await channel.consume(queue, add)
    await count(3)
    assert.equal((await channel.checkQueue(queue)).messageCount, 2)
    assert.equal(seen.length, 3)
    channel.ack(seen[0])
    await count(4)
    assert.equal((await channel.checkQueue(queue)).messageCount, 1)
  }))

test("a nack with requeue brings the message back, marked redelivered", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    publish(channel, queue, "again")
    channel.nack(await get(channel, queue, {}))
    const message = await get(channel, queue)
    assert.equal(message.fields.redelivered, true)
    assert.equal(message.content.toString(), "again")
  }))

test("nackAll brings everything back in publish order", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    publish(channel, queue, "1", "2", "3", "4")
    for (let i = 0; i < 3; ++i) await get(channel, queue, {})
    channel.nackAll()
    assert.deepEqual(await bodies(channel, queue), ["1", "2", "3", "4"])
  }))

test("a nack or reject without requeue drops the message", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    publish(channel, queue, "1", "2", "3")
    channel.nack(await get(channel, queue, {}), false, false)
    channel.reject(await get(channel, queue, {}), false)
    assert.deepEqual(await bodies(channel, queue), ["3"])
  }))

test("an ack up to a message settles all before it", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    publish(channel, queue, "1", "2", "3")
    await get(channel, queue, {})
    const second = await get(channel, queue, {})
    await get(channel, queue, {})
    channel.ack(second, true)
    await channel.recover()
    assert.deepEqual(await bodies(channel, queue), ["3"])
  }))

test("after cancel nothing more is delivered", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    const { add, seen } = collector()
    const { consumerTag } = await channel.consume(queue, add, { noAck: true })
    assert.equal((await channel.cancel(consumerTag)).consumerTag, consumerTag)
    publish(channel, queue, "1")
    assert.deepEqual(await bodies(channel, queue), ["1"])
    assert.equal(seen.length, 0)
  }))

test("basic.get gives the message and how many are left, then nothing", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    publish(channel, queue, "1", "2")
    assert.equal((await get(channel, queue)).fields.messageCount, 1)
    await get(channel, queue)
    assert.equal(await channel.get(queue), false)
  }))

test("purge counts what it removes, delete what went with the queue", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    publish(channel, queue, "1", "2")
    assert.equal((await channel.purgeQueue(queue)).messageCount, 2)
    publish(channel, queue, "3")
    assert.equal((await channel.deleteQueue(queue)).messageCount, 1)
  }))

test("20 channels of a connection work side by side", () =>
  withConnection(async (connection) => {
    await Promise.all(Array.from({ length: 20 }, async (_, index) => {
      const channel = await connection.createConfirmChannel()
      const queue = await declare(channel)
      const { add, count } = collector()
      await channel.consume(queue, (m) => add(m.content.toString()), { noAck: true })
      const sent = Array.from({ length: 50 }, (_, number) => `${index} ${number}`)
      publish(channel, queue, ...sent)
      await channel.waitForConfirms()
      assert.deepEqual(await count(50), sent)
    }))
  }))

// ---- bodies, properties, headers

for (const [what, size] of [["an empty body", 0], ["a body of 1 MiB", 1 << 20],
  ["a body of 20 MiB", 20 << 20], ["a body of exactly one frame", 131072 - 8],
  ["a body one byte larger than a frame", 131072 - 7]]) {
  test(`${what} comes back unchanged`, () =>
    withChannel(async (channel) => {
      const body = crypto.randomBytes(size)
      const queue = await declare(channel)
      channel.sendToQueue(queue, body)
      await channel.waitForConfirms()
      assert(body.equals((await get(channel, queue)).content), "another body")
    }, { confirm: true }))
}

test("every message property comes back unchanged", () =>
  withChannel(async (channel) => {
    const sent = {
      contentType: "text/plain", contentEncoding: "utf-8", deliveryMode: 2, priority: 7,
      correlationId: "c-1", replyTo: "replies", expiration: "60000", messageId: "m-1",
      timestamp: 1_700_000_000, type: "greeting", userId: "guest", appId: "interop",
    }
    const queue = await declare(channel)
    channel.sendToQueue(queue, Buffer.from(""), { ...sent, headers: { a: 1 } })
    const { properties } = await get(channel, queue)
    for (const [name, value] of Object.entries(sent)) assert.deepEqual(properties[name], value, name)
    assert.deepEqual({ ...properties.headers }, { a: 1 })
  }))

test("headers of every type that amqplib writes come back unchanged", () =>
  withChannel(async (channel) => {
    const typed = (type, value) => ({ "!": type, value })
    const plain = {
      text: "Stafette →", yes: true, no: false, byte: -7, short: 1234, int: 123456, long: 2 ** 40,
      negative: -(2 ** 40), double: 2.5, void: null, buffer: Buffer.from([0, 1, 255]),
      list: [1, "two", null, [3.5, true], { deep: [1] }],
      table: { nested: { deeper: { deepest: "here" } }, empty: {}, none: [] },
      time: typed("timestamp", 1_700_000_000), money: typed("decimal", { places: 2, digits: 314 }),
    }
    const sent = {
      ...plain, ubyte: typed("uint8", 200), ushort: typed("uint16", 60000),
      uint: typed("uint32", 4_000_000_000), float: typed("float", 0.5), forced: typed("int64", 5),
    }
    const queue = await declare(channel)
    channel.sendToQueue(queue, Buffer.from(""), { headers: sent })
    const { headers } = (await get(channel, queue)).properties
    assert.deepEqual(JSON.parse(JSON.stringify(headers)), JSON.parse(JSON.stringify({
      ...plain, ubyte: 200, ushort: 60000, uint: 4_000_000_000, float: 0.5, forced: 5,
    })))
    assert.deepEqual(Object.keys(headers), Object.keys(sent), "order")
  }))

// ---- routing

test("direct, fanout and topic exchanges route as bound, and go with their last binding", () =>
  withChannel(async (channel, connection) => {
    const exchanges = { direct: "orange", fanout: "", topic: "*.orange.#" }
    for (const [type, pattern] of Object.entries(exchanges)) {
      const exchange = unique(type)
      await channel.assertExchange(exchange, type, { autoDelete: true, durable: false })
      const queue = await declare(channel)
      await channel.bindQueue(queue, exchange, pattern)
      for (const key of ["orange", "quick.orange.fox", "lazy", "a.b.orange"])
        channel.publish(exchange, key, Buffer.from(key))
      assert.deepEqual(await bodies(channel, queue), {
        direct: ["orange"], fanout: ["orange", "quick.orange.fox", "lazy", "a.b.orange"],
        topic: ["quick.orange.fox"],
      }[type], type)
      await channel.unbindQueue(queue, exchange, pattern)
      await channelError(connection, 404, (other) => other.checkExchange(exchange))
    }
  }))

test("a headers exchange matches all or any of the bound headers", () =>
  withChannel(async (channel) => {
    const [all, any] = [await declare(channel), await declare(channel)]
    await channel.bindQueue(all, "amq.headers", "", { "x-match": "all", size: 1, hue: "red" })
    await channel.bindQueue(any, "amq.headers", "", { "x-match": "any", size: 1, hue: "red" })
    const send = (body, headers) => channel.publish("amq.headers", "", Buffer.from(body), { headers })
    send("both", { size: 1, hue: "red" })
    send("one", { size: 1, hue: "blue" })
    send("none", { size: 2 })
    assert.deepEqual(await bodies(channel, all), ["both"])
    assert.deepEqual(await bodies(channel, any), ["both", "one"])
  }))

test("a message passes from exchange to exchange, once for each queue", () =>
  withChannel(async (channel) => {
    const [source, target] = [unique("source"), unique("target")]
    await channel.assertExchange(source, "topic", { autoDelete: true })
    await channel.assertExchange(target, "fanout", { autoDelete: true })
    await channel.bindExchange(target, source, "in.#")
    const queue = await declare(channel)
    await channel.bindQueue(queue, target, "")
    await channel.bindQueue(queue, source, "#")
    channel.publish(source, "in.here", Buffer.from("through"))
    assert.deepEqual(await bodies(channel, queue), ["through"])
    await channel.unbindExchange(target, source, "in.#")
  }))

test("what an exchange cannot route goes to its alternate exchange", () =>
  withChannel(async (channel) => {
    const exchange = unique("main")
    await channel.assertExchange(exchange, "direct", { alternateExchange: "amq.fanout", durable: false })
    const queue = await declare(channel)
    await channel.bindQueue(queue, "amq.fanout", "")
    channel.publish(exchange, "nowhere", Buffer.from("saved"))
    assert.deepEqual(await bodies(channel, queue), ["saved"])
    await channel.deleteExchange(exchange)
  }))

test("CC and BCC name further queues", () =>
  withChannel(async (channel) => {
    const queues = [await declare(channel), await declare(channel), await declare(channel)]
    channel.publish("", queues[0], Buffer.from("m"), { CC: queues[1], BCC: [queues[2]] })
    for (const queue of queues)
      assert.deepEqual({ ...(await get(channel, queue)).properties.headers }, { CC: [queues[1]] })
  }))

test("a mandatory message without a route is returned before it is confirmed", () =>
  withChannel(async (channel) => {
    const order = []
    const returned = later()
    channel.on("return", (message) => {
      order.push("returned")
      returned.resolve(message)
    })
    const queue = unique("nowhere")
    await new Promise((resolve) => channel.sendToQueue(queue, Buffer.from("back"),
      { mandatory: true, headers: { a: 1 } }, () => resolve(order.push("confirmed"))))
    const { fields, content, properties } = await returned.promise
    assert.deepEqual([fields.replyCode, fields.replyText, fields.routingKey], [312, "NO_ROUTE", queue])
    assert.deepEqual([content.toString(), properties.headers.a], ["back", 1])
    assert.deepEqual(order, ["returned", "confirmed"])
  }, { confirm: true }))

// ---- refusals

test("channel errors carry the right codes and leave the connection and its channels alone", () =>
  withChannel(async (channel, connection) => {
    const missing = unique("missing")
    const { queue } = await channel.assertQueue(unique("own"), { exclusive: true, messageTtl: 1000 })
    const text = await channelError(connection, 404, (c) => c.checkQueue(missing))
    assert.match(text, /404 \(NOT-FOUND\) with message "NOT_FOUND - no queue '.*' in vhost '\/'"/)
    await channelError(connection, 404, (c) => c.checkExchange(missing))
    await channelError(connection, 404, (c) => c.publish(missing, "", Buffer.from("")))
    await channelError(connection, 404, (c) => c.consume(missing, () => {}))
    const inequivalent = await channelError(connection, 406, (c) =>
      c.assertQueue(queue, { exclusive: true, messageTtl: 999 }))
    assert.match(inequivalent, /inequivalent arg 'x-message-ttl' for queue '.*' in vhost '\/': received '999' but current is '1000'/)
    await channelError(connection, 406, (c) => c.assertExchange("amq.direct", "topic"))
    await channelError(connection, 406, (c) => c.ack({ fields: { deliveryTag: 77 } }))
    await channelError(connection, 406, (c) => c.assertQueue("", { exclusive: true, messageTtl: -1 }))
    await channelError(connection, 403, (c) => c.assertQueue("amq.mine"))
    await channelError(connection, 403, (c) => c.deleteExchange("amq.direct"))
    publish(channel, queue, "still here")
    assert.deepEqual(await bodies(channel, queue), ["still here"])
  }))

test("a channel error tells which method failed", () =>
  withChannel(async (channel) => {
    const error = await rejected(channel.checkQueue(unique("missing")))
    assert.deepEqual([error.code, error.classId, error.methodId], [404, 50, 10])
  }))

test("an exclusive queue is refused to other connections with 405", () =>
  withChannel((channel) =>
    withConnection(async (other) => {
      const queue = await declare(channel)
      await channelError(other, 405, (c) => c.checkQueue(queue))
      await channelError(other, 405, (c) => c.consume(queue, () => {}))
      await channelError(other, 405, (c) => c.get(queue))
      await channelError(other, 405, (c) => c.deleteQueue(queue))
    })))

test("an exclusive consumer keeps others out with 403", () =>
  withChannel(async (channel, connection) => {
    const queue = await declare(channel)
    await channel.consume(queue, () => {}, { exclusive: true })
    await channelError(connection, 403, (c) => c.consume(queue, () => {}))
  }))

test("a user may do what its permissions allow, and is refused the rest with 403", () =>
  withChannel((channel) =>
    withConnection(async (limited) => {
      const others = unique("others"), own = `own.${unique("queue")}`
      await channel.assertQueue(others)
      const refused = async (right, what, act) =>
        assert.match(await channelError(limited, 403, act), new RegExp(
          `ACCESS_REFUSED - ${right} access to ${what} in vhost '/' refused for user 'limited'`))

      const allowed = await limited.createChannel()
      await allowed.assertQueue(own, { durable: false })
      await allowed.bindQueue(own, "amq.direct", "key")
      channel.publish("amq.direct", "key", Buffer.from("m"))
      const got = later()
      await allowed.consume(own, got.resolve, { noAck: true })
      assert.equal((await got.promise).content.toString(), "m")
      allowed.publish("amq.fanout", "", Buffer.from("to nobody"))

      await refused("configure", `queue '${others}'`, (c) => c.deleteQueue(others))
      await refused("configure", "queue 'new'", (c) => c.assertQueue("new"))
      await refused("configure", "exchange 'new'", (c) => c.assertExchange("new", "fanout"))
      await refused("write", `queue '${others}'`, (c) => c.bindQueue(others, "amq.direct", "key"))
      await refused("write", "exchange 'amq.direct'", (c) => c.publish("amq.direct", "key", Buffer.from("")))
      await refused("write", "exchange 'amq.default'", (c) => c.sendToQueue(own, Buffer.from("")))
      await refused("read", "exchange 'amq.topic'", (c) => c.bindQueue(own, "amq.topic", "key"))
      await refused("read", `queue '${others}'`, (c) => c.get(others))
      await refused("read", `queue '${others}'`, (c) => c.consume(others, () => {}))
      await allowed.deleteQueue(own)
      await channel.deleteQueue(others)
    }, {}, uriOf("limited"))))

test("a wrong password is refused with 403", async () => {
  const error = await rejected(amqp.connect(uri.replace("guest:guest", "guest:wrong")))
  assert.match(error.message, /403 \(ACCESS-REFUSED\) with message "ACCESS_REFUSED - Login was refused/)
})

test("AMQPLAIN logs in", () =>
  withConnection(async (connection) => declare(await connection.createChannel()),
    { credentials: amqp.credentials.amqplain("guest", "guest") }))

test("an unknown virtual host is refused", async () => {
  const error = await rejected(amqp.connect(uri.replace(/\/[^/]*$/, "/nope")))
  // All that amqplib tells is that connection.close came instead of open-ok.
  assert.match(error.message, /ConnectionClose/)
})

test("a reused consumer tag closes the connection with 530", async () => {
  const connection = await amqp.connect(uri)
  const closed = later()
  connection.on("error", closed.resolve)
  const channel = await connection.createChannel()
  channel.on("error", () => {})
  const queue = await declare(channel)
  await channel.consume(queue, () => {}, { consumerTag: "same" })
  channel.consume(queue, () => {}, { consumerTag: "same" }).catch(() => {})
  assert.match((await closed.promise).message, /530 .*attempt to reuse consumer tag 'same'/)
})

test("a new secret is taken", () =>
  withChannel(async (channel, connection) => {
    await connection.updateSecret(Buffer.from("guest"), "rotation")
    await declare(channel)
  }))

// ---- the server speaks first

test("a consumer hears of its queue's deletion", () =>
  withChannel(async (channel, connection) => {
    const queue = unique("deleted")
    await channel.assertQueue(queue)
    const told = later()
    await channel.consume(queue, told.resolve)
    await (await connection.createChannel()).deleteQueue(queue)
    assert.equal(await told.promise, null)
    await declare(channel)
  }))

test("a program can ask to hear of connection.blocked", () =>
  withConnection(async (connection) => {
    connection.on("blocked", () => {}).on("unblocked", () => {})
    const { capabilities } = connection.connection.serverProperties
    for (const name of ["publisher_confirms", "exchange_exchange_bindings", "basic.nack",
      "consumer_cancel_notify", "connection.blocked", "consumer_priorities",
      "authentication_failure_close", "per_consumer_qos", "direct_reply_to"])
      assert.equal(capabilities[name], true, name)
  }))

test("a program whose publishes find no memory hears that it is blocked, and when it may go on", () =>
  withConnection((publisher) =>
    withConnection(async (other) => {
      const { add, count, seen } = collector()
      publisher.on("blocked", add).on("unblocked", () => add("unblocked"))
      const channel = await publisher.createChannel()
      let queue = unique("blocked")
      await channel.assertQueue(queue)
      while (!seen.length) {
        publish(channel, queue, "x".repeat(100_000))
        await pause(0)
      }
      assert.deepEqual(seen, ["low on memory"])
      await (await other.createChannel()).deleteQueue(queue)
      assert.deepEqual(await count(2), ["low on memory", "unblocked"])
      queue = await declare(channel)
      publish(channel, queue, "goes on")
      assert.deepEqual(await bodies(channel, queue), ["goes on"])
    }, {}, uriOf("small")), {}, uriOf("small")))

test("an idle connection lives on heartbeats", async () => {
  const connection = await amqp.connect(`${uri}?heartbeat=1`)
  connection.on("error", () => {})
  const channel = await connection.createChannel()
  await pause(4000)
  await declare(channel)
  await connection.close()
})

test("frame-max and channel-max are negotiated down to what the client asks", async () => {
  const connection = await amqp.connect(`${uri}?frameMax=8192&channelMax=10`)
  assert.deepEqual([connection.connection.frameMax, connection.connection.channelMax], [8192, 10])
  const channel = await connection.createConfirmChannel()
  const queue = await declare(channel)
  const body = crypto.randomBytes(100_000)
  channel.sendToQueue(queue, body)
  await channel.waitForConfirms()
  assert(body.equals((await get(channel, queue)).content), "another body")
  await connection.close()
})

// ---- lifetimes and limits

test("an expired message is not delivered", () =>
  withChannel(async (channel) => {
    const brief = await declare(channel, { messageTtl: 20 })
    const plain = await declare(channel)
    publish(channel, brief, "queue's")
    channel.sendToQueue(plain, Buffer.from("its own"), { expiration: 20 })
    publish(channel, plain, "stays")
    while ((await channel.checkQueue(brief)).messageCount || (await channel.checkQueue(plain)).messageCount > 1)
      await pause(10)
    assert.deepEqual([await bodies(channel, brief), await bodies(channel, plain)], [[], ["stays"]])
  }))

test("an unused queue with x-expires goes away", () =>
  withChannel(async (channel, connection) => {
    const queue = unique("expires")
    await channel.assertQueue(queue, { expires: 100 })
    await pause(1000)
    await channelError(connection, 404, (c) => c.checkQueue(queue))
  }))

test("a full queue drops its oldest message, or refuses the newest with a nack", () =>
  withChannel(async (channel) => {
    const drop = await declare(channel, { maxLength: 2 })
    publish(channel, drop, "1", "2", "3")
    await channel.waitForConfirms()
    assert.deepEqual(await bodies(channel, drop), ["2", "3"])
    const refuse = await declare(channel, { maxLength: 2, overflow: "reject-publish" })
    publish(channel, refuse, "1", "2")
    await channel.waitForConfirms()
    const refused = await new Promise((resolve) => channel.sendToQueue(refuse, Buffer.from("3"), {}, resolve))
    assert(refused instanceof Error, "acked")
    assert.deepEqual(await bodies(channel, refuse), ["1", "2"])
  }, { confirm: true }))

// ---- RPC and restarts

test("calls by direct reply-to get their answers", () =>
  withChannel((server) =>
    withChannel(async (client) => {
      const queue = await declare(server)
      await server.consume(queue, (message) => {
        const { replyTo, correlationId } = message.properties
        const answer = String(Number(message.content.toString()) ** 2)
        server.sendToQueue(replyTo, Buffer.from(answer), { correlationId })
      }, { noAck: true })
      const { add, count } = collector()
      await client.consume("amq.rabbitmq.reply-to", add, { noAck: true })
      for (let number = 0; number < 10; ++number)
        client.sendToQueue(queue, Buffer.from(String(number)),
          { replyTo: "amq.rabbitmq.reply-to", correlationId: String(number) })
      for (const { content, properties } of await count(10))
        assert.equal(Number(content.toString()), Number(properties.correlationId) ** 2)
    })))

test("direct reply-to without its consumer is refused with 406", () =>
  withConnection((connection) => channelError(connection, 406, (c) =>
    c.sendToQueue("x", Buffer.from(""), { replyTo: "amq.rabbitmq.reply-to" }))))

test("a restart ends the connection with 320, and the program can connect again", async () => {
  const connection = await amqp.connect(uri)
  const closed = later()
  connection.on("error", () => {})
  connection.on("close", closed.resolve)
  await connection.createChannel()
  await restartBroker()
  assert.match(String((await closed.promise)?.message), /320 \(CONNECTION-FORCED\)/)
  await withChannel(async (channel) => {
    const queue = await declare(channel)
    publish(channel, queue, "after")
    await channel.waitForConfirms()
    assert.deepEqual(await bodies(channel, queue), ["after"])
  }, { confirm: true })
}, 120_000)

test("amqplib's recovering connection sets its consumers up again after a restart", async () => {
  const queue = unique("recovered")
  const { add, count } = collector()
  const connection = await amqp.connect(uri, {
    recovery: {
      initialDelay: 50, maxDelay: 500,
      setup: async (model) => {
        const channel = await model.createChannel()
        await channel.assertQueue(queue)
        await channel.consume(queue, (message) => add(message?.content.toString()), { noAck: true })
      },
    },
  })
  connection.on("error", () => {})
  const connected = collector()
  connection.on("connect", connected.add)
  await restartBroker()
  await connected.count(1)
  await withChannel(async (channel) => {
    await channel.assertQueue(queue)
    publish(channel, queue, "after")
    // The first may be the null that a consumer gets when its channel ends.
    while (!(await count(1)).includes("after")) await pause(20)
    await channel.deleteQueue(queue)
  })
  await connection.close()
}, 120_000)

await main()
