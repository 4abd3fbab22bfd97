// Baton as programs that use @cloudamqp/amqp-client meet it: its low-level client, then its sessions.

import assert from "node:assert/strict"
import crypto from "node:crypto"
import { AMQPClient, AMQPSession } from "@cloudamqp/amqp-client"
import { collector, later, main, pause, rejected, restartBroker, test, uri } from "./tap.mjs"

const unique = (name) => `interop.cloudamqp.${name}.${crypto.randomBytes(4).toString("hex")}`
const keep = { noAck: false }

async function connect(query = "") {
  const client = new AMQPClient(uri + query)
  client.onerror = () => {}
  await client.connect()
  return client
}

async function withClient(use, query) {
  const client = await connect(query)
  try {
    await use(client)
  } finally {
    if (!client.closed) await client.close()
  }
}

/** Runs `use` with a channel of a new connection, in confirm mode if asked to. */
async function withChannel(use, { confirm = false, query } = {}) {
  await withClient(async (client) => {
    const channel = await client.channel()
    if (confirm) await channel.confirmSelect()
    await use(channel, client)
  }, query)
}

/** A session with the retries that a test has time for. */
async function withSession(use, options) {
  const session = await AMQPSession.connect(uri, { reconnectInterval: 50, maxReconnectInterval: 500, ...options })
  try {
    await use(session)
  } finally {
    await session.stop()
  }
}

const declare = async (channel, args) => (await channel.queueDeclare("", { exclusive: true, autoDelete: false }, args)).name

async function get(channel, queue, options) {
  const message = await channel.basicGet(queue, options)
  assert(message, `nothing in ${queue}`)
  return message
}

/** Everything that is ready in the queue. */
async function bodies(channel, queue) {
  const found = []
  for (let message; (message = await channel.basicGet(queue)); ) found.push(message.bodyString())
  return found
}

/** What `act` does to a channel of its own closes that channel with this code; gives the text. */
async function channelError(client, code, act) {
  const channel = await client.channel()
  const closed = later()
  channel.onerror = closed.resolve
  act(channel).catch(() => {})
  const text = String(await closed.promise)
  assert.match(text, new RegExp(`\\b${code}\\b`))
  return text
}

// ---- publish, consume, settle

test("a confirmed publish is consumed with its body unchanged", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    assert.equal(await channel.basicPublish("", queue, new Uint8Array([0, 255, 65])), 1)
    const got = later()
    await channel.basicConsume(queue, keep, got.resolve)
    const message = await got.promise
    assert.deepEqual([...message.body], [0, 255, 65])
    assert.deepEqual([message.exchange, message.routingKey, message.redelivered], ["", queue, false])
    await message.ack()
  }, { confirm: true }))

test("1000 publishes are each confirmed, and consumed in order", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    const sent = Array.from({ length: 1000 }, (_, number) => String(number))
    const tags = await Promise.all(sent.map((body) => channel.basicPublish("", queue, body, { deliveryMode: 2 })))
    assert.deepEqual(tags, sent.map((_, index) => index + 1))
    await channel.prefetch(100)
    const { add, count } = collector()
    await channel.basicConsume(queue, keep, async (message) => {
      add(message.bodyString())
      await message.ack()
    })
    assert.deepEqual(await count(1000), sent)
  }, { confirm: true }))

test("prefetch 3 leaves the fourth message in the queue until one is acked", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    for (let i = 0; i < 5; ++i) await channel.basicPublish("", queue, "m")
    await channel.prefetch(3)
    const { add, count, seen } = collector()
    await channel.basicConsume(queue, keep, add)
    await count(3)
    const left = async () => (await channel.queueDeclare(queue, { passive: true })).messageCount
    assert.equal(await left(), 2)
    assert.equal(seen.length, 3)
    await seen[0].ack()
    await count(4)
    assert.equal(await left(), 1)
  }))

test("nacks requeue or drop as they say, and requeued messages are marked redelivered", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    for (const body of ["1", "2", "3", "4"]) await channel.basicPublish("", queue, body)
    const messages = []
    for (let i = 0; i < 4; ++i) messages.push(await get(channel, queue, keep))
    await messages[3].nack(true)
    await messages[1].nack(false)
    await messages[2].reject(true)
    await messages[0].reject(false)
    const back = [await get(channel, queue), await get(channel, queue)]
    assert.deepEqual(back.map((m) => [m.bodyString(), m.redelivered]), [["3", true], ["4", true]])
    assert.equal(await channel.basicGet(queue), null)
  }))

test("an ack with multiple settles everything up to its tag, recover returns the rest", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    for (const body of ["1", "2", "3"]) await channel.basicPublish("", queue, body)
    await get(channel, queue, keep)
    const second = await get(channel, queue, keep)
    await get(channel, queue, keep)
    await second.ack(true)
    await channel.basicRecover(true)
    assert.deepEqual(await bodies(channel, queue), ["3"])
  }))

test("a consumer can be read as an iterator, and cancelled", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    for (const body of ["1", "2", "3"]) await channel.basicPublish("", queue, body)
    const consumer = await channel.basicConsume(queue, keep)
    const got = []
    for await (const message of consumer.messages) {
      got.push(message.bodyString())
      await message.ack()
      if (got.length === 3) break
    }
    await channel.basicCancel(consumer.tag)
    assert.deepEqual(got, ["1", "2", "3"])
    assert.equal((await channel.queueDeclare(queue, { passive: true })).consumerCount, 0)
  }))

test("basic.get gives the message and how many are left, then nothing", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    await channel.basicPublish("", queue, "1")
    await channel.basicPublish("", queue, "2")
    assert.equal((await get(channel, queue)).messageCount, 1)
    await get(channel, queue)
    assert.equal(await channel.basicGet(queue), null)
  }))

test("purge and delete count what they remove", () =>
  withChannel(async (channel) => {
    const queue = await declare(channel)
    await channel.basicPublish("", queue, "1")
    assert.equal((await channel.queuePurge(queue)).messageCount, 1)
    await channel.basicPublish("", queue, "2")
    assert.equal((await channel.queueDelete(queue)).messageCount, 1)
  }))

test("20 channels of a connection work side by side", () =>
  withClient((client) => Promise.all(Array.from({ length: 20 }, async (_, index) => {
    const channel = await client.channel()
    await channel.confirmSelect()
    const queue = await declare(channel)
    const { add, count } = collector()
    await channel.basicConsume(queue, {}, (message) => add(message.bodyString()))
    const sent = Array.from({ length: 50 }, (_, number) => `${index} ${number}`)
    await Promise.all(sent.map((body) => channel.basicPublish("", queue, body)))
    assert.deepEqual(await count(50), sent)
  }))))

// ---- bodies, properties, headers

for (const [what, size, query] of [["an empty body", 0], ["a body of 1 MiB", 1 << 20],
  ["a body of 20 MiB", 20 << 20], ["a body of 1 MiB in frames of 128 KiB", 1 << 20, "?frameMax=131072"]]) {
  test(`${what} comes back unchanged`, () =>
    withChannel(async (channel) => {
      const body = crypto.randomBytes(size)
      const queue = await declare(channel)
      await channel.basicPublish("", queue, body)
      const message = await get(channel, queue)
      assert.equal(message.bodySize, size)
      assert(body.equals(message.body ?? new Uint8Array(0)), "another body")
    }, { confirm: true, query }))
}

test("every message property comes back unchanged", () =>
  withChannel(async (channel) => {
    const sent = {
      contentType: "text/plain", contentEncoding: "utf-8", headers: { a: 1 }, deliveryMode: 1, priority: 7,
      correlationId: "c-1", replyTo: "replies", expiration: "60000", messageId: "m-1",
      timestamp: new Date(1_700_000_000_000), type: "greeting", userId: "guest", appId: "interop",
    }
    const queue = await declare(channel)
    await channel.basicPublish("", queue, "", sent)
    assert.deepEqual((await get(channel, queue)).properties, sent)
  }))

test("headers of every type that the client writes come back unchanged", () =>
  withChannel(async (channel) => {
    const headers = {
      text: "Stafette →", yes: true, no: false, int: 123456, negative: -5, long: 2 ** 40, float: 0.5,
      double: 2 ** 33 + 0.5, void: null, bytes: new Uint8Array([0, 1, 255]), time: new Date(1_700_000_000_000),
      list: [1, "two", null, [true], { deep: [1] }],
      table: { nested: { deeper: { deepest: "here" } }, empty: {}, none: [] },
    }
    const queue = await declare(channel)
    await channel.basicPublish("", queue, "", { headers: { ...headers, big: 5n } })
    assert.deepEqual((await get(channel, queue)).properties.headers, { ...headers, big: 5 })
  }))

// ---- routing

test("direct, fanout, topic and headers exchanges route as bound", () =>
  withChannel(async (channel) => {
    const cases = {
      direct: { key: "orange", got: ["orange"] },
      fanout: { key: "", got: ["orange", "quick.orange.fox", "lazy"] },
      topic: { key: "*.orange.#", got: ["quick.orange.fox"] },
      headers: { key: "", args: { "x-match": "any", length: 4, none: 1 }, got: ["lazy"] },
    }
    for (const [type, { key, args, got }] of Object.entries(cases)) {
      const exchange = unique(type)
      await channel.exchangeDeclare(exchange, type, { autoDelete: true, durable: false })
      const queue = await declare(channel)
      await channel.queueBind(queue, exchange, key, args)
      for (const word of ["orange", "quick.orange.fox", "lazy"])
        await channel.basicPublish(exchange, word, word, { headers: { length: word.length } })
      assert.deepEqual(await bodies(channel, queue), got, type)
      await channel.queueUnbind(queue, exchange, key, args)
    }
  }))

test("a message passes from exchange to exchange, once for each queue", () =>
  withChannel(async (channel) => {
    const [source, target, queue] = [unique("source"), unique("target"), await declare(channel)]
    await channel.exchangeDeclare(source, "topic")
    await channel.exchangeDeclare(target, "fanout")
    await channel.exchangeBind(target, source, "in.#")
    await channel.queueBind(queue, target, "")
    await channel.queueBind(queue, source, "#")
    await channel.basicPublish(source, "in.here", "through")
    assert.deepEqual(await bodies(channel, queue), ["through"])
    await channel.exchangeUnbind(target, source, "in.#")
    await channel.exchangeDelete(source)
    await channel.exchangeDelete(target)
  }))

test("what an exchange cannot route goes to its alternate exchange", () =>
  withChannel(async (channel) => {
    const exchange = unique("main")
    await channel.exchangeDeclare(exchange, "direct", {}, { "alternate-exchange": "amq.fanout" })
    const queue = await declare(channel)
    await channel.queueBind(queue, "amq.fanout", "")
    await channel.basicPublish(exchange, "nowhere", "saved")
    assert.deepEqual(await bodies(channel, queue), ["saved"])
    await channel.exchangeDelete(exchange)
  }))

test("a mandatory message without a route is returned before it is confirmed", () =>
  withChannel(async (channel) => {
    const order = []
    let returned
    channel.onReturn = (message) => {
      order.push("returned")
      returned = message
    }
    await channel.basicPublish("", unique("nowhere"), "back", { headers: { a: 1 } }, true)
    order.push("confirmed")
    assert.deepEqual(order, ["returned", "confirmed"])
    assert.deepEqual([returned.replyCode, returned.replyText], [312, "NO_ROUTE"])
    assert.deepEqual([returned.bodyString(), returned.properties.headers], ["back", { a: 1 }])
  }, { confirm: true }))

// ---- refusals

test("channel errors carry the right codes and leave the connection and its channels alone", () =>
  withChannel(async (channel, client) => {
    const missing = unique("missing")
    const own = unique("own")
    await channel.queueDeclare(own, { exclusive: true, durable: false }, { "x-max-length": 5 })
    const text = await channelError(client, 404, (c) => c.queueDeclare(missing, { passive: true }))
    assert.match(text, /NOT_FOUND - no queue '.*' in vhost '\/'/)
    await channelError(client, 404, (c) => c.basicPublish(missing, "", ""))
    await channelError(client, 404, (c) => c.queueBind(own, missing, ""))
    await channelError(client, 406, (c) =>
      c.queueDeclare(own, { exclusive: true, durable: false }, { "x-max-length": 6 }))
    await channelError(client, 406, (c) => c.exchangeDeclare("amq.fanout", "direct"))
    await channelError(client, 406, (c) => c.basicAck(99))
    await channelError(client, 406, (c) => c.basicNack(99))
    await channelError(client, 406, (c) => c.basicReject(99))
    await channelError(client, 406, (c) => c.txCommit())
    await channelError(client, 403, (c) => c.queueDeclare("amq.mine"))
    await channelError(client, 403, (c) => c.exchangeDelete("amq.fanout"))
    await channel.basicPublish("", own, "still here")
    assert.deepEqual(await bodies(channel, own), ["still here"])
  }))

test("an exclusive queue is refused to other connections with 405", () =>
  withChannel((channel) =>
    withClient(async (other) => {
      const queue = await declare(channel)
      await channelError(other, 405, (c) => c.queueDeclare(queue, { passive: true }))
      await channelError(other, 405, (c) => c.basicConsume(queue, {}, () => {}))
    })))

test("a wrong password is refused with 403", async () => {
  const client = new AMQPClient(uri.replace("guest:guest", "guest:wrong"))
  client.onerror = () => {}
  assert.match((await rejected(client.connect())).message, /403 - ACCESS_REFUSED|ACCESS_REFUSED.*403/)
})

test("an unknown virtual host is refused with 530", async () => {
  const client = new AMQPClient(uri.replace(/\/[^/]*$/, "/nope"))
  client.onerror = () => {}
  assert.match((await rejected(client.connect())).message, /NOT_ALLOWED - vhost nope not found/)
})

test("immediate publishes close the connection with 540", async () => {
  const client = await connect()
  const closed = later()
  client.onerror = closed.resolve
  const channel = await client.channel()
  channel.onerror = () => {}
  channel.basicPublish("", "x", "", {}, false, true).catch(() => {})
  assert.match((await closed.promise).message, /NOT_IMPLEMENTED/)
})

test("a new secret is taken", () =>
  withChannel(async (channel, client) => {
    await client.updateSecret("guest", "rotation")
    await declare(channel)
  }))

test("channel.flow(active) is answered", () =>
  withChannel(async (channel) => assert.equal(await channel.basicFlow(true), true)))

// ---- the server speaks first

test("a consumer hears of its queue's deletion", () =>
  withChannel(async (channel, client) => {
    const queue = unique("deleted")
    await channel.queueDeclare(queue)
    const consumer = await channel.basicConsume(queue, {}, () => {})
    const told = rejected(consumer.wait())
    await (await client.channel()).queueDelete(queue)
    assert.match((await told).message, /cancelled by the server/)
    await declare(channel)
  }))

test("a program can ask to hear of connection.blocked", () =>
  withClient(async (client) => {
    client.onblocked = client.onunblocked = () => {}
    assert.equal(client.blocked, undefined)
  }))

test("an idle connection lives on heartbeats", () =>
  withChannel(async (channel) => {
    await pause(4000)
    await declare(channel)
  }, { query: "?heartbeat=1" }))

// ---- lifetimes and limits

test("an expired message is not delivered", () =>
  withChannel(async (channel) => {
    const [brief, plain] = [await declare(channel, { "x-message-ttl": 20 }), await declare(channel)]
    await channel.basicPublish("", brief, "queue's")
    await channel.basicPublish("", plain, "its own", { expiration: "20" })
    await channel.basicPublish("", plain, "stays")
    const count = async (queue) => (await channel.queueDeclare(queue, { passive: true })).messageCount
    while ((await count(brief)) || (await count(plain)) > 1) await pause(10)
    assert.deepEqual([await bodies(channel, brief), await bodies(channel, plain)], [[], ["stays"]])
  }))

test("an unused queue with x-expires goes away", () =>
  withChannel(async (channel, client) => {
    const queue = unique("expires")
    await channel.queueDeclare(queue, {}, { "x-expires": 100 })
    await pause(1000)
    await channelError(client, 404, (c) => c.queueDeclare(queue, { passive: true }))
  }))

test("a full queue drops its oldest message, or refuses the newest with a nack", () =>
  withChannel(async (channel) => {
    const drop = await declare(channel, { "x-max-length": 2 })
    for (const body of ["1", "2", "3"]) await channel.basicPublish("", drop, body)
    assert.deepEqual(await bodies(channel, drop), ["2", "3"])
    const refuse = await declare(channel, { "x-max-length": 2, "x-overflow": "reject-publish" })
    for (const body of ["1", "2"]) await channel.basicPublish("", refuse, body)
    assert.match((await rejected(channel.basicPublish("", refuse, "3"))).message, /rejected/)
    assert.deepEqual(await bodies(channel, refuse), ["1", "2"])
  }, { confirm: true }))

test("a transaction shows its publishes at commit and forgets them at rollback", () =>
  withChannel(async (channel, client) => {
    const other = await client.channel()
    const queue = await declare(channel)
    await channel.txSelect()
    await channel.basicPublish("", queue, "lost")
    await channel.txRollback()
    await channel.basicPublish("", queue, "kept")
    assert.deepEqual(await bodies(other, queue), [])
    await channel.txCommit()
    assert.deepEqual(await bodies(other, queue), ["kept"])
  }))

// ---- sessions

test("a session's queues and exchanges publish with confirms and settle after the callback", () =>
  withSession(async (session) => {
    const queue = await session.queue(unique("session"), { durable: true })
    const exchange = await session.topicExchange(unique("topic"), { durable: false })
    await queue.bind(exchange, "a.*")
    const { add, count } = collector()
    const subscription = await queue.subscribe({ prefetch: 5 }, (message) => add(message.bodyString()))
    await exchange.publish("routed", { routingKey: "a.b" })
    await queue.publish("direct")
    assert.deepEqual(await count(2), ["routed", "direct"])
    await subscription.cancel()
    await queue.delete()
    await exchange.delete()
  }))

test("a callback that throws gets its message again", () =>
  withSession(async (session) => {
    const queue = await session.queue(unique("throws"))
    const { add, count } = collector()
    const subscription = await queue.subscribe((message) => {
      add(message.redelivered)
      if (!message.redelivered) throw new Error("once")
    })
    await queue.publish("m")
    assert.deepEqual(await count(2), [false, true])
    await subscription.cancel()
    await queue.delete()
  }))

test("a session's calls by direct reply-to get their answers", () =>
  withSession(async (session) => {
    const name = unique("rpc")
    const server = await session.rpcServer(name, (message) => `answer to ${message.bodyString()}`)
    const client = await session.rpcClient()
    const answers = await Promise.all(["a", "b", "c"].map((question) => client.call(name, question)))
    assert.deepEqual(answers.map((m) => m.bodyString()), ["answer to a", "answer to b", "answer to c"])
    assert.equal((await session.rpcCall(name, "d")).bodyString(), "answer to d")
    await client.close()
    await server.close()
    await (await session.queue(name)).delete()
  }))

test("a restart ends the connection with 320", async () => {
  const client = await connect()
  const closed = later()
  client.onerror = closed.resolve
  await restartBroker()
  assert.match((await closed.promise).message, /320|CONNECTION_FORCED/)
}, 120_000)

test("a session's subscription works on after a restart", async () => {
  const name = unique("recovered")
  const { add, count } = collector()
  const connected = collector()
  // A session subscribes again but does not declare: a program whose queues may be gone does so first.
  const beforeConnect = () => withChannel((channel) => channel.queueDeclare(name, { durable: true }))
  await withSession(async (session) => {
    const queue = await session.queue(name, { durable: true })
    await queue.subscribe((message) => add(message.bodyString()))
    await restartBroker()
    await connected.count(2)
    while (!(await queue.publish("after").then(() => true, () => pause(50)))) continue
    assert.deepEqual(await count(1), ["after"])
    await queue.delete()
  }, { beforeConnect, onconnect: connected.add })
}, 120_000)

await main()
