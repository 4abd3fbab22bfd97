// What the Node.js clients here share: tests with a sentence as their name, and lines for run.py.
//
//     test("an empty body comes back empty", async () => { ... })
//     await main()

import assert from "node:assert/strict"
import net from "node:net"

export const uri = process.env.BATON_URI ?? "amqp://guest:guest@127.0.0.1:5672/%2f"

const tests = []

export class Skip extends Error {}

/** Registers a test; it fails when it throws or takes longer than its limit. */
export function test(name, run, limitMs = 30_000) {
  tests.push({ name, run, limitMs })
}

/** The error that the promise is rejected with. */
export async function rejected(promise) {
  let value
  try {
    value = await promise
  } catch (error) {
    return error
  }
  assert.fail(`no error, got ${JSON.stringify(value)}`)
}

/** A promise that is told its value later, by `resolve`. */
export function later() {
  let resolve, reject
  const promise = new Promise((yes, no) => ([resolve, reject] = [yes, no]))
  return { promise, resolve, reject }
}

/** Collects what it is called with; `count(n)` gives them once there are n. */
export function collector() {
  const seen = []
  let waiting
  const add = (item) => {
    seen.push(item)
    if (waiting && seen.length >= waiting.wanted) waiting.resolve(seen)
  }
  const count = (wanted) => {
    if (seen.length >= wanted) return Promise.resolve(seen)
    waiting = { wanted, ...later() }
    return waiting.promise
  }
  return { add, count, seen }
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** The URI of a broker, or user, of that kind: `small` (has little memory), `limited` (may do little). */
export function uriOf(kind) {
  const given = process.env[`BATON_${kind.toUpperCase()}_URI`]
  if (!given) throw new Skip(`nobody here has a ${kind} one`)
  return given
}

/** Has run.py end the broker with SIGTERM and start it again; resolves when it is ready. */
export async function restartBroker() {
  const control = process.env.BATON_CONTROL
  if (!control) throw new Skip("nobody here can restart the broker")
  const [host, port] = control.split(":")
  const answer = await new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), host, () => socket.write("restart\n"))
    let text = ""
    socket.setEncoding("utf8")
    socket.on("data", (part) => (text += part))
    socket.on("end", () => resolve(text.trim()))
    socket.on("error", reject)
  })
  assert.equal(answer, "ok", "what the runner said")
}

function limited(promise, ms) {
  const { promise: overdue, reject } = later()
  const timer = setTimeout(() => reject(new Error("it took too long")), ms)
  return Promise.race([promise, overdue]).finally(() => clearTimeout(timer))
}

function told(error) {
  const text = String(error?.message ?? error).split(/\s+/).join(" ").slice(0, 500)
  const where = /interop\.mjs:(\d+)/.exec(error?.stack ?? "")
  return where ? `${text} (line ${where[1]})` : text
}

/** Runs all tests, or those whose name contains the first argument. */
export async function main() {
  const wanted = tests.filter(({ name }) => !process.argv[2] || name.includes(process.argv[2]))
  let failed = 0
  for (const { name, run, limitMs } of wanted) {
    try {
      await limited(run(), limitMs)
      console.log(`ok ${name}`)
    } catch (error) {
      if (error instanceof Skip) {
        console.log(`skip ${name}: ${error.message}`)
      } else {
        failed += 1
        console.log(`not ok ${name}: ${told(error)}`)
      }
    }
  }
  console.log(`1..${wanted.length}`)
  process.exit(failed ? 1 : 0)
}
