import { expect, setDefaultTimeout, test } from "bun:test"
import { type Receiver, receiver, type Stand, stand } from "../kit.ts"

setDefaultTimeout(60_000)

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** An instance whose site is older than a day, with a webhook that receives everything. */
async function grownUp(hook: Receiver): Promise<Stand> {
  const at = await stand([hook], { now: "2026-11-16T12:00:00Z" })
  await at.webhook(hook.url())
  await at.after(2 * DAY)
  return at
}

/** Lets visitors view a page, each from an address of its own. */
async function visit({ instance }: Stand, count: number, payload: object = {}): Promise<void> {
  for (let i = 0; i < count; i++)
    await instance.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example", ...payload }, { address: `198.51.100.${i + 1}` })
}

/** The traffic events that the webhook received, oldest first. */
const received = (hook: Receiver) =>
  hook.received.map(({ body }) => JSON.parse(body)).filter(({ type }) => type.startsWith("traffic.") || type === "goal.completed")
const types = (hook: Receiver) => received(hook).map(({ type }) => type)

test("fires a spike once, is silent while it lasts, and reports its end", async () => {
  using hook = receiver()
  await using at = await grownUp(hook)
  const member = await at.ask("GET", "/../../me")
  const created = await at.ask("POST", "/alerts", {
    type: "spike",
    threshold: 3,
    channels: [{ type: "email", address: member.body.user.email }],
  })
  expect(created).toMatchObject({ status: 201, body: { type: "spike", threshold: 3, window_minutes: null, state: "ok", fired_24h: 0 } })
  await visit(at, 2)
  await at.after(MINUTE)
  expect(types(hook)).toEqual([])
  await visit(at, 3)
  await at.after(MINUTE)
  expect(received(hook)).toMatchObject([
    {
      type: "traffic.spike",
      site_id: 1,
      data: { alert_id: 1, value: 3, threshold: 3, summary: "3 current visitors. The threshold is 3." },
    },
  ])
  expect((await at.ask("GET", "/alerts/1")).body).toMatchObject({ state: "firing", fired_24h: 1 })
  await visit(at, 3)
  await at.after(MINUTE)
  expect(types(hook)).toEqual(["traffic.spike"])
  await at.after(6 * MINUTE)
  expect(types(hook)).toEqual(["traffic.spike", "traffic.resolved"])
  await at.instance.app.instance.accounts.mail.settled()
  expect(at.emails.filter(({ text }) => text.includes("Traffic spike"))).toHaveLength(1)
})

test("fires at most twice in 24 hours", async () => {
  using hook = receiver()
  await using at = await grownUp(hook)
  await at.ask("POST", "/alerts", { type: "spike", threshold: 1 })
  for (let hour = 0; hour < 23; hour++) {
    await visit(at, 1)
    await at.after(MINUTE)
    await at.after(HOUR - MINUTE)
  }
  expect(types(hook).filter((type) => type === "traffic.spike")).toHaveLength(2)
  await at.after(2 * HOUR)
  await visit(at, 1)
  await at.after(MINUTE)
  expect(types(hook).filter((type) => type === "traffic.spike")).toHaveLength(3)
})

test("with a factor, fires only above the usual visitors of the hour", async () => {
  using hook = receiver()
  await using at = await grownUp(hook)
  // Two visitors in each five minutes of the same hour, in each of the last four weeks.
  for (let week = 0; week < 4; week++) {
    for (let slice = 0; slice < 12; slice++) {
      await visit(at, 2)
      at.instance.clock.advance(5 * MINUTE)
    }
    await at.after(7 * DAY - HOUR)
  }
  const ask = await at.as({ role: "owner" }) // the session before has expired
  expect(await ask("POST", "/alerts", { type: "spike", threshold: 3, factor: 2 })).toMatchObject({ status: 201 })
  await visit(at, 3)
  await at.after(MINUTE)
  expect(types(hook)).toEqual([])
  await visit(at, 4)
  await at.after(MINUTE)
  expect(received(hook)).toMatchObject([{ type: "traffic.spike", data: { value: 4, usual: 2 } }])
})

test("fires when traffic drops, stops, reaches a goal, or misses pages", async () => {
  using hook = receiver()
  await using at = await grownUp(hook)
  await at.instance.api.post("/api/public/v1/sites/1/goals", { name: "Signup", kind: "event", value: "Signup" }, at.instance.key)
  const goal = (await at.ask("GET", "/goals")).body.data[0]
  // An event in each window of the seven days before.
  for (let slice = 0; slice < 7 * 24; slice++) {
    at.instance.clock.advance(HOUR)
    await visit(at, 2)
  }
  await at.work()
  const ask = await at.as({ role: "owner" }) // the session before has expired
  for (const alert of [
    { type: "drop", threshold: 2, window_minutes: 120 },
    { type: "no_data", window_minutes: 180 },
    { type: "goal", threshold: 2, goal_id: goal.id },
    { type: "not_found", threshold: 3 },
  ])
    expect(await ask("POST", "/alerts", alert)).toMatchObject({ status: 201 })
  await at.after(5 * MINUTE)
  expect(types(hook)).toEqual([])
  await visit(at, 2, { n: "Signup" })
  await visit(at, 3, { n: "404" })
  await at.after(5 * MINUTE)
  expect(types(hook).toSorted()).toEqual(["traffic.goal", "traffic.not_found"])
  hook.received.length = 0
  await at.after(2 * HOUR)
  expect(types(hook).toSorted()).toEqual(["traffic.drop", "traffic.resolved", "traffic.resolved"])
  hook.received.length = 0
  await at.after(HOUR)
  expect(received(hook)).toMatchObject([{ type: "traffic.stopped", data: { summary: "The last event arrived 185 minutes ago." } }])
  hook.received.length = 0
  await visit(at, 2)
  await at.after(5 * MINUTE)
  expect(types(hook)).toEqual(["traffic.resolved", "traffic.resolved"])
})

test("misses of pages fire only at three times the number of the same window a week ago", async () => {
  using hook = receiver()
  await using at = await grownUp(hook)
  await visit(at, 4, { n: "404" })
  await at.after(7 * DAY)
  const ask = await at.as({ role: "owner" }) // the session before has expired
  expect(await ask("POST", "/alerts", { type: "not_found", threshold: 5, window_minutes: 60 })).toMatchObject({ status: 201 })
  await visit(at, 11, { n: "404" })
  await at.after(5 * MINUTE)
  expect(types(hook)).toEqual([])
  await visit(at, 1, { n: "404" })
  await at.after(5 * MINUTE)
  expect(received(hook)).toMatchObject([{ type: "traffic.not_found", data: { value: 12, threshold: 5 } }])
  // The window of a week ago has passed by now, and only the threshold counts.
  await at.after(2 * HOUR)
  await visit(at, 5, { n: "404" })
  await at.after(5 * MINUTE)
  expect(types(hook)).toEqual(["traffic.not_found", "traffic.resolved", "traffic.not_found"])
})

test("fires neither on the first day of a site, nor during maintenance, nor while an import covers the day", async () => {
  using hook = receiver()
  await using at = await stand([hook], { now: "2026-11-16T12:00:00Z" })
  await at.webhook(hook.url())
  await at.ask("POST", "/alerts", { type: "spike", threshold: 1 })
  await visit(at, 1)
  await at.after(23 * HOUR)
  await visit(at, 1)
  await at.after(MINUTE)
  expect(types(hook)).toEqual([])
  const { maintenance } = at.instance.app.instance
  const actor = { kind: "system", email: "test", ipPrefix: "", userAgent: "", requestId: "" } as const
  await maintenance.change(actor, { enabled: true })
  at.instance.clock.advance(2 * HOUR)
  await visit(at, 1)
  await at.after(MINUTE)
  expect(types(hook)).toEqual([])
  await maintenance.change(actor, { enabled: false })
  const facts = { import_id: 7, source: "csv", label: "Old", state: "completed", date_start: "2026-11-01" }
  await at.publish("import.completed", { ...facts, date_end: "2026-11-17" })
  await at.work()
  await visit(at, 1)
  await at.after(MINUTE)
  expect(types(hook)).toEqual([])
  await at.publish("import.undone", { ...facts, date_end: "2026-11-17" })
  await at.work()
  await visit(at, 1)
  await at.after(MINUTE)
  expect(types(hook)).toEqual(["traffic.spike"])
})

test("sends an alert to the chats that it names, once", async () => {
  using hook = receiver()
  await using at = await stand([hook], { now: "2026-11-16T12:00:00Z" })
  await at.after(2 * DAY)
  const quiet = { url: hook.url("/services/quiet-chat-with-a-secret"), config: { events: ["backup.failed"] } }
  const loud = { url: hook.url("/services/loud-chat-with-a-secret"), config: { events: ["traffic.spike"] } }
  const chats = [await at.ask("POST", "/integrations/slack/connect", quiet), await at.ask("POST", "/integrations/slack/connect", loud)]
  hook.received.length = 0
  const channels = chats.map(({ body }) => ({ type: "connection", integration_id: body.id }))
  expect(await at.ask("POST", "/alerts", { type: "spike", threshold: 1, channels })).toMatchObject({ status: 201 })
  await visit(at, 1)
  await at.after(MINUTE)
  await at.work()
  expect(hook.received.map(({ path }) => path).toSorted()).toEqual([
    "/services/loud-chat-with-a-secret",
    "/services/quiet-chat-with-a-secret",
  ])
  expect(hook.received[0]!.body).toContain("1 current visitor. The threshold is 1.")
  expect(await at.ask("POST", "/alerts/1/test")).toMatchObject({ status: 200, body: { ok: true, steps: [{ ok: true }, { ok: true }] } })
})

test("publishes completed goals once a minute where a webhook names the event", async () => {
  using hook = receiver()
  await using at = await grownUp(hook)
  await at.instance.api.post("/api/public/v1/sites/1/goals", { name: "Signup", kind: "event", value: "Signup" }, at.instance.key)
  await visit(at, 2, { n: "Signup" })
  await at.after(MINUTE)
  // `*` does not include the event.
  expect(types(hook)).toEqual([])
  await at.webhook(hook.url("/completions"), { events: ["goal.completed"] })
  await at.after(MINUTE)
  await visit(at, 3, { n: "Signup" })
  // An event that a server reports late arrives now, too.
  const late = {
    name: "Signup",
    url: "https://shop.example/",
    timestamp: at.instance.clock.now() - 6 * HOUR,
    ip: "198.51.100.99",
    user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  }
  expect(await at.instance.api.post("/api/public/v1/sites/1/events", { events: [late] }, at.instance.key)).toMatchObject({ status: 202 })
  await at.after(MINUTE)
  await at.after(MINUTE)
  expect(received(hook)).toMatchObject([{ type: "goal.completed", data: { name: "Signup", conversions: 4 } }])
  // A day later the counted moment moves on, and nothing is counted twice.
  for (let hour = 0; hour < 50; hour++) await at.after(HOUR)
  await visit(at, 1, { n: "Signup" })
  await at.after(MINUTE)
  expect(received(hook).map(({ data }) => data.conversions)).toEqual([4, 1])
})

test.each([
  ["a factor of a drop", { type: "drop", factor: 2 }, "/factor", "not_allowed"],
  ["a threshold of no data", { type: "no_data", threshold: 5 }, "/threshold", "not_allowed"],
  ["a window of a spike", { type: "spike", window_minutes: 60 }, "/window_minutes", "not_allowed"],
  ["a window of four minutes", { type: "drop", window_minutes: 4 }, "/window_minutes", "out_of_range"],
  ["a goal alert without a goal", { type: "goal" }, "/goal_id", "required"],
  ["an unknown goal", { type: "goal", goal_id: 99 }, "/goal_id", "invalid_choice"],
  [
    "a stranger's address",
    { type: "spike", channels: [{ type: "email", address: "stranger@example.org" }] },
    "/channels/0/address",
    "invalid_choice",
  ],
  [
    "an unknown connection",
    { type: "spike", channels: [{ type: "connection", integration_id: 9 }] },
    "/channels/0/integration_id",
    "invalid_choice",
  ],
])("rejects %s", async (_, body, pointer, code) => {
  await using at = await stand([])
  const answer = await at.ask("POST", "/alerts", body)
  expect(answer).toMatchObject({ status: 422, body: { code: "validation_failed", errors: [{ pointer, code }] } })
})

test("a site has at most 20 alerts, and they go with it", async () => {
  await using at = await stand([])
  for (let i = 0; i < 20; i++) expect((await at.ask("POST", "/alerts", { type: "spike", threshold: i + 1 })).status).toBe(201)
  expect(await at.ask("POST", "/alerts", { type: "spike" })).toMatchObject({ status: 422, body: { code: "limit_reached", limit: 20 } })
  expect((await at.ask("GET", "/alerts?limit=7")).body).toMatchObject({ has_more: true })
  expect(await at.ask("PATCH", "/alerts/1", { threshold: 7, version: 1 })).toMatchObject({
    status: 200,
    body: { threshold: 7, version: 2 },
  })
  expect(await at.ask("PATCH", "/alerts/1", { threshold: 8, version: 1 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict" },
  })
  expect(await at.ask("DELETE", "/alerts/1")).toMatchObject({ status: 204 })
  expect(await at.ask("GET", "/alerts/1")).toMatchObject({ status: 404, body: { code: "alert_not_found" } })
})
