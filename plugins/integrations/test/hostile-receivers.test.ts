import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { Socket, TCPSocketListener } from "bun"
import { nameServer } from "#plugin/test"
import { type Receiver, receiver, type Stand, stand } from "./kit.ts"

/** Receivers of webhooks and chats that lie, never end or send nonsense. */

type Json = Record<string, unknown>
const deliveries = async ({ ask }: Stand, id: number): Promise<Json[]> => (await ask("GET", `/webhooks/${id}/deliveries`)).body.data
const errors = ({ instance }: Stand) => instance.log.lines.filter(({ level }) => level === "error")

describe("a name that leads inside", () => {
  /** Counts connections on loopback that no request may make. */
  function sink(port: number) {
    let connections = 0
    const listener = Bun.listen({ hostname: "127.0.0.1", port, socket: { open: () => void connections++, data: () => {} } })
    return { connections: () => connections, [Symbol.dispose]: () => listener.stop(true) }
  }

  /** Starts an instance for which 127.0.0.2 is the public network, and whose name server may lie. */
  async function startAt(outside: { port: number }, dns: { address: string }): Promise<Stand> {
    const ports = `80,443,${outside.port}`
    const settings = { allow_private_webhooks: "127.0.0.2/32", outbound_ports: ports }
    return stand([], { settings, nameServers: [dns.address] })
  }

  test("after it led outside gets no connection, neither from a webhook nor from a chat", async () => {
    let count = 0
    const outside = Bun.serve({ port: 0, hostname: "127.0.0.2", fetch: () => new Response(String(count++)) })
    using inside = sink(outside.port!)
    // The first look-up of each name, of its IPv4 and IPv6 addresses, leads outside.
    const addresses = [["127.0.0.2"], ["127.0.0.1"]]
    using dns = await nameServer({}, { "hooks.example": addresses, "chat.example": addresses })
    await using world = await startAt({ port: outside.port! }, dns)
    const { id } = await world.webhook(`http://hooks.example:${outside.port}/in`, { events: ["import.failed"] })
    const url = `http://chat.example:${outside.port}/services/T0001/B0001`
    expect((await world.ask("POST", "/integrations/slack/connect", { url })).status).toBe(201)
    await world.publish("import.failed")
    await world.work()
    expect(count).toBe(2)
    await world.publish("import.failed")
    await world.work()
    expect(inside.connections()).toBe(0)
    expect(count).toBe(2)
    const [blocked, delivered] = await deliveries(world, id)
    expect(delivered).toMatchObject({ state: "delivered" })
    expect(blocked).toMatchObject({
      ...{ state: "failed", code: "blocked_address", next_at: null },
      detail: "Requests to this address are not allowed.",
    })
    const { data } = (await world.ask("GET", "/integrations")).body
    expect(data[0].last_error).toMatchObject({ code: "blocked_address" })
    // Neither the address nor the rule is told.
    expect(JSON.stringify([blocked, data, world.instance.log.lines])).not.toContain("127.0.0.1")
    await outside.stop(true)
  })
})

describe("an answer", () => {
  /** What a receiver sends after a request. It ends the connection itself, or never. */
  const ANSWERS: Record<string, (socket: Socket<unknown>) => unknown> = {
    "is no HTTP at all": (socket) => socket.end("220 mail.example ESMTP\r\n"),
    "ends before its headers": (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Le"),
    "ends in the middle of its body": (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"),
    "has an endless body": (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      pump(socket, `10000\r\n${"x".repeat(65_536)}\r\n`)
    },
    "has endless headers": (socket) => {
      socket.write("HTTP/1.1 200 OK\r\n")
      pump(socket, `X-Filler: ${"x".repeat(8_000)}\r\n`)
    },
    "never begins to have a status": (socket) => pump(socket, "\r\n".repeat(4_096)),
  }

  /** Writes the same bytes until the connection is closed. */
  function pump(socket: Socket<unknown>, bytes: string): void {
    const timer = setInterval(() => {
      if (socket.readyState !== 1) clearInterval(timer)
      else for (let count = 0; count < 20; count++) socket.write(bytes)
    }, 1)
  }

  const servers: TCPSocketListener[] = []
  let good: Receiver
  let world: Stand
  const ids = new Map<string, number>()
  beforeAll(async () => {
    good = receiver()
    for (const answer of Object.values(ANSWERS))
      servers.push(Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: (socket) => void answer(socket) } }))
    world = await stand([good], {
      settings: { outbound_ports: ["80", "443", good.port, ...servers.map(({ port }) => port)].join(",") },
    })
    for (const [index, name] of Object.keys(ANSWERS).entries())
      ids.set(name, (await world.webhook(`http://127.0.0.1:${servers[index]!.port}/in`)).id)
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    good[Symbol.dispose]()
    for (const server of servers) server.stop(true)
  })

  test("that is broken or endless is a failure that is tried again, and delays no other receiver", async () => {
    const { id } = await world.webhook(good.url())
    const before = process.memoryUsage().rss
    await world.publish("goal.created")
    await world.work()
    expect(good.received).toHaveLength(1)
    expect(await deliveries(world, id)).toMatchObject([{ state: "delivered" }])
    const results = await Promise.all([...ids].map(async ([name, each]) => [name, (await deliveries(world, each))[0]!] as const))
    const codes = Object.fromEntries(results.map(([name, { code }]) => [name, code]))
    expect(codes).toEqual({
      "is no HTTP at all": "not_connected",
      "ends before its headers": "not_connected",
      "ends in the middle of its body": "not_connected",
      "has an endless body": "too_large",
      "has endless headers": "not_connected",
      "never begins to have a status": "not_connected",
    })
    for (const [, delivery] of results) expect(delivery).toMatchObject({ state: "failed", attempt: 1, next_at: expect.any(String) })
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 2 ** 20)
    expect(errors(world)).toEqual([])
  }, 60_000)
})
