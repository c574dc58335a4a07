import { describe, expect, test } from "bun:test"
import { sql } from "#plugin"
import { HAS_CATALOG_SERVER, longTest } from "#plugin/test"
import { type Receiver, receiver, type Stand, stand } from "./kit.ts"

const DAY = 86_400_000
const deliveries = async ({ ask }: Stand, id: number, query = "") => (await ask("GET", `/webhooks/${id}/deliveries${query}`)).body.data

/** Lets each answer of a receiver take a while, and counts how many are open at once. */
function slowed(hook: Receiver, { ms, status }: { ms: number; status: number }) {
  const seen = { open: 0, most: 0 }
  hook.always = async () => {
    seen.most = Math.max(seen.most, ++seen.open)
    await Bun.sleep(ms)
    seen.open--
    return new Response(null, { status })
  }
  return seen
}

describe("receivers do not delay each other", () => {
  test("twelve that never answer take at most eight of the places, once they have failed", async () => {
    using slow = receiver()
    using fast = receiver()
    await using world = await stand([slow, fast])
    // Long enough for all to begin: a catalog on a server takes a while for each.
    const ms = HAS_CATALOG_SERVER ? 600 : 150
    const seen = slowed(slow, { ms, status: 500 })
    for (let i = 0; i < 12; i++) await world.webhook(slow.url(`/slow-${i}`))
    const { id } = await world.webhook(fast.url())
    await world.publish("goal.created")
    await world.work()
    expect(seen.most).toBeGreaterThan(8)
    seen.most = 0
    for (let i = 0; i < 5; i++) await world.publish("goal.created")
    const begun = performance.now()
    await world.work()
    expect(seen.most).toBe(8)
    expect(fast.received).toHaveLength(6)
    // One at a time, the slow ones take at least two rounds. The fast receiver has all its events before the second one ends.
    expect(fast.received.at(-1)!.at - begun).toBeLessThan(slow.received.at(-1)!.at + ms - begun)
    expect(await deliveries(world, id, "?state=delivered")).toHaveLength(6)
  }, 60_000)

  test("32 are called at once, and each gets one message at a time", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const seen = slowed(hook, { ms: 200, status: 200 })
    for (const scope of ["site", "organization"])
      for (let i = 0; i < 20; i++) await world.webhook(hook.url(`/${scope}-${i}`), { scope, events: ["goal.created"] })
    for (let i = 0; i < 2; i++) await world.publish("goal.created")
    await world.work()
    expect(hook.received).toHaveLength(80)
    expect(seen.most).toBe(32)
    const sequences = Map.groupBy(hook.received, ({ path }) => path)
      .values()
      .map((own) => own.map(({ body }) => JSON.parse(body).sequence))
    expect([...sequences]).toEqual(Array(40).fill([1, 2]))
  }, 30_000)

  test("at most 700 attempts begin in a second, so that a backlog leaves time for events and reports", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    for (const scope of ["site", "organization"])
      for (let i = 0; i < 16; i++) await world.webhook(hook.url(`/${scope}-${i}`), { scope, events: ["goal.created"] })
    // The first event opens the connections, so that those after it arrive as soon as they are sent.
    for (const count of [1, 15]) {
      hook.received.length = 0
      for (let i = 0; i < count; i++) await world.publish("goal.created")
      await world.work()
    }
    expect(hook.received).toHaveLength(480)
    const times = hook.received.map(({ at }) => at)
    // 479 pauses of 1.4 ms are 671 ms, less what the first one is late on a busy machine. Without the limit, all take about 110 ms.
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(400)
  }, 30_000)

  longTest(
    "one that never answers is given up after 15 seconds",
    async () => {
      using hook = receiver()
      await using world = await stand([hook])
      hook.always = () => new Promise<Response>(() => {})
      const { id } = await world.webhook(hook.url())
      await world.publish("goal.created")
      const begun = performance.now()
      await world.work()
      expect(performance.now() - begun).toBeWithin(15_000, 25_000)
      expect(await deliveries(world, id)).toMatchObject([{ state: "failed", attempt: 1, code: "timeout", status: null }])
    },
    60_000,
  )
})

test("keeps the newest 10,000 finished deliveries of a webhook, and all that wait", async () => {
  await using world = await stand([])
  const { id } = await world.webhook("https://hooks.example/in", { events: ["goal.created"] })
  const { catalog } = world.instance.app.instance
  const now = world.instance.clock.now()
  await catalog.run(sql`
    insert into integrations_deliveries (webhook_id, event, message_id, sequence, state, attempt, next_at, created_at)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 10050)
    select ${id}, 'goal.created', 'msg_' || n, n, iif(n <= 3, 'failed', 'delivered'), 1, iif(n <= 3, ${now + 3 * DAY}, null), ${now}
    from numbers`)
  await catalog.run(sql`update integrations_webhooks set sequence = 10050 where id = ${id}`)
  await world.after(DAY)
  const kept = await catalog.all(sql`
    select state, count(*) as n, min(sequence) as first from integrations_deliveries where webhook_id = ${id} group by state order by state`)
  expect(kept).toEqual([
    { state: "delivered", n: 10_000, first: 51 },
    { state: "failed", n: 3, first: 1 },
  ])
})
