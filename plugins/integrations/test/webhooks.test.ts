import { describe, expect, test } from "bun:test"
import { Webhook } from "standardwebhooks"
import { sql } from "#plugin"
import { HAS_CATALOG_SERVER } from "#plugin/test"
import { receiver, SITE, type Stand, stand } from "./kit.ts"

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Verifies a message with the reference library, as a receiver does. The library uses the real time. */
const verified = (secret: string, { body, headers }: { body: string; headers: Record<string, string> }): unknown => {
  const timestamp = Number(headers["webhook-timestamp"]) * 1_000
  const original = Date.now
  Date.now = () => timestamp
  try {
    return new Webhook(secret).verify(body, headers)
  } finally {
    Date.now = original
  }
}

const deliveries = async ({ ask }: Stand, id: number, query = "") => (await ask("GET", `/webhooks/${id}/deliveries${query}`)).body.data

describe("a message", () => {
  test("has the form and the signature of Standard Webhooks", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id, secret } = await world.webhook(hook.url())
    await world.publish("goal.created", { goal_id: 7, name: "Sign-up", kind: "event", value: "signup" })
    await world.work()
    const [message] = hook.received
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const body = {
      type: "goal.created",
      timestamp: "2026-11-21T12:00:00Z",
      id: message!.headers["webhook-id"],
      version: 1,
      sequence: 1,
      organization_id: 1,
      site_id: 1,
      data: { goal_id: 7, name: "Sign-up", kind: "event", value: "signup" },
    }
    expect(verified(secret, message!)).toEqual(body)
    expect(message!.headers["webhook-id"]).toMatch(/^msg_[0-9a-f]{32}$/)
    expect(message!.headers["user-agent"]).toBe("Footfall/0.0.0-test")
    expect(message!.headers["content-type"]).toBe("application/json")
    expect(() => verified(secret, { ...message!, body: message!.body.replace("signup", "signin") })).toThrow()
    expect(await deliveries(world, id)).toMatchObject([
      { state: "delivered", attempt: 1, status: 200, code: null, detail: null, sequence: 1 },
    ])
    expect((await world.ask("GET", `/webhooks/${id}/deliveries/1`)).body).toMatchObject({ id: 1, body: message!.body })
  })

  test("is signed with both secrets for 24 hours after a rotation", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id, secret: first } = await world.webhook(hook.url())
    const rotated = await world.ask("POST", `/webhooks/${id}/rotate-secret`)
    const second = rotated.body.secret
    expect([rotated.status, second === first]).toEqual([200, false])
    await world.publish("goal.created")
    await world.work()
    expect(hook.received[0]!.headers["webhook-signature"]!.split(" ")).toHaveLength(2)
    for (const secret of [first, second]) expect(verified(secret, hook.received[0]!)).toMatchObject({ type: "goal.created" })
    world.instance.clock.advance(DAY)
    await world.publish("goal.created")
    await world.work()
    expect(verified(second, hook.received[1]!)).toMatchObject({ sequence: 2 })
    expect(() => verified(first, hook.received[1]!)).toThrow()
    // A second rotation within a day ends the oldest secret.
    const third = (await world.ask("POST", `/webhooks/${id}/rotate-secret`)).body.secret
    const fourth = (await world.ask("POST", `/webhooks/${id}/rotate-secret`)).body.secret
    await world.publish("goal.created")
    await world.work()
    for (const secret of [third, fourth]) expect(verified(secret, hook.received[2]!)).toMatchObject({ sequence: 3 })
    expect(() => verified(second, hook.received[2]!)).toThrow()
  })

  test("larger than 20 KiB is cut to its ids", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    await world.webhook(hook.url())
    await world.publish("goal.created", { goal_id: 7, name: "x".repeat(20_100), url: "https://a.example" })
    await world.publish("goal.created", { goal_id: 8, name: "x".repeat(20_400), parent_id: 9, user_id: "text", list: [1] })
    await world.work()
    const [whole, cut] = hook.received.map(({ body }) => JSON.parse(body).data)
    expect(whole.name).toHaveLength(20_100)
    expect(cut).toEqual({ goal_id: 8, parent_id: 9, truncated: true })
    for (const { body } of hook.received) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(20 * 1_024)
  })

  test("goes to the webhooks of its site and of its organization that want its event", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const second = await world.instance.app.instance.sites.create(1, { name: "Blog", hosts: ["blog.example"] })
    await world.work()
    const names = { all: ["*"], goals: ["goal.created", "goal.completed"] }
    for (const [path, more] of [
      ["/site-all", { events: names.all }],
      ["/site-goals", { events: names.goals }],
      ["/organization-all", { events: names.all, scope: "organization" }],
    ] as const)
      await world.webhook(hook.url(path), more)
    const seen = async (event: string, siteId: number | null) => {
      const before = hook.received.length
      await world.publish(event, {}, siteId)
      await world.work()
      return hook.received
        .slice(before)
        .map(({ path }) => path.slice(1))
        .toSorted()
    }
    expect(await seen("goal.created", 1)).toEqual(["organization-all", "site-all", "site-goals"])
    expect(await seen("goal.deleted", 1)).toEqual(["organization-all", "site-all"])
    expect(await seen("goal.created", second.id)).toEqual(["organization-all"])
    expect(await seen("member.joined", null)).toEqual(["organization-all"])
    expect(await seen("goal.completed", 1)).toEqual(["site-goals"])
    expect(await seen("internal.payment_received", 1)).toEqual([])
    await world.instance.app.instance.outbox.writeAlone({ event: "goal.created", organizationId: 2 })
    await world.work()
    expect(hook.received.at(-1)!.path).toBe("/site-goals")
  })

  test("is the test event on request", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id, secret } = await world.webhook(hook.url(), { events: ["goal.created"] })
    expect(await world.ask("POST", `/webhooks/${id}/test`)).toMatchObject({ status: 202, body: { event: "ping", state: "pending" } })
    await world.work()
    expect(verified(secret, hook.received[0]!)).toMatchObject({ type: "ping", site_id: 1, data: {} })
  })
})

describe("a failed delivery", () => {
  test.each([
    [500, "status_500"],
    [404, "status_404"],
    [302, "redirected"],
    [304, "status_304"],
  ])("is tried again after status %p", async (status, code) => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    hook.answers.push(status === 302 ? new Response(null, { status, headers: { location: "https://new.example/hook" } }) : status)
    await world.publish("goal.created")
    await world.work()
    const [failed] = await deliveries(world, id)
    expect(failed).toMatchObject({ state: "failed", attempt: 1, code })
    await world.after(36 * SECOND)
    expect(hook.received).toHaveLength(2)
    expect(hook.received[1]!.headers["webhook-id"]).toBe(hook.received[0]!.headers["webhook-id"]!)
    expect(hook.received[1]!.body).toBe(hook.received[0]!.body)
    expect(await deliveries(world, id)).toMatchObject([{ state: "delivered", attempt: 2 }])
  })

  test("waits 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, each with a deviation of at most a fifth, and is then dead", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    hook.always = 500
    const { id } = await world.webhook(hook.url())
    await world.publish("goal.created")
    await world.work()
    const pauses: number[] = []
    for (const pause of [30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, DAY]) {
      const [{ next_at, attempt }] = await deliveries(world, id)
      expect(attempt).toBe(pauses.length + 1)
      const wait = Date.parse(next_at) - world.instance.clock.now()
      // Times are shown in whole seconds.
      expect(wait).toBeWithin(pause * 0.8 - SECOND, pause * 1.2 + 1)
      pauses.push(wait)
      await world.after(pause * 0.8 - 2 * SECOND)
      expect(hook.received).toHaveLength(pauses.length)
      await world.after(pause * 0.4 + 4 * SECOND)
      expect(hook.received).toHaveLength(pauses.length + 1)
    }
    expect(await deliveries(world, id)).toMatchObject([{ state: "dead", attempt: 7, next_at: null, code: "status_500" }])
    await world.after(3 * DAY)
    expect(hook.received).toHaveLength(7)
  })

  test("slows down its receiver, for as long as that asks but at most a day", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    await world.webhook(hook.url())
    const busy = (status: number, retryAfter?: string) =>
      hook.answers.push(new Response("busy", { status, headers: retryAfter === undefined ? {} : { "retry-after": retryAfter } }))
    busy(429, "7200")
    await world.publish("goal.created")
    await world.publish("goal.created")
    await world.work()
    expect(hook.received).toHaveLength(1)
    await world.after(2 * HOUR - MINUTE)
    expect(hook.received).toHaveLength(1)
    busy(503, "9999999")
    await world.after(2 * MINUTE)
    expect(hook.received).toHaveLength(2)
    await world.after(DAY - MINUTE)
    expect(hook.received).toHaveLength(2)
    await world.after(2 * MINUTE)
    expect(hook.received).toHaveLength(4)
    // Other failures concern one message only.
    hook.answers.push(500)
    await world.publish("goal.created")
    await world.publish("goal.created")
    await world.work()
    await world.after(SECOND)
    expect(hook.received).toHaveLength(6)
  })

  test("shows the beginning of the answer, without control characters, and the new address of a redirect", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    hook.answers.push(new Response(`no\u0000\u001b[31m${"x".repeat(5_000)}`, { status: 500 }))
    hook.answers.push(new Response(null, { status: 308, headers: { location: "https://new.example/hook" } }))
    await world.publish("goal.created")
    await world.work()
    const [{ detail }] = await deliveries(world, id)
    expect(detail.startsWith("no  [31mxxx")).toBe(true)
    expect(detail.length).toBeLessThanOrEqual(2_048)
    await world.after(36 * SECOND)
    expect(await deliveries(world, id)).toMatchObject([
      { code: "redirected", status: null, detail: "The address redirects to https://new.example/hook. Enter the new address instead." },
    ])
  })

  test("to a blocked address is not tried again until the URL changes", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(`http://10.1.2.3:${hook.port}/hook`)
    await world.publish("goal.created")
    await world.work()
    const failed = {
      state: "failed",
      attempt: 1,
      code: "blocked_address",
      next_at: null,
      detail: "Requests to this address are not allowed.",
    }
    expect(await deliveries(world, id)).toMatchObject([failed])
    await world.after(3 * DAY)
    expect(await deliveries(world, id)).toMatchObject([failed])
    expect((await world.ask("PATCH", `/webhooks/${id}`, { url: hook.url() })).status).toBe(200)
    await world.work()
    expect(await deliveries(world, id)).toMatchObject([{ state: "delivered", attempt: 2 }])
  })

  test("can be delivered again for 30 days, with the same message id", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    hook.always = 500
    const { id } = await world.webhook(hook.url())
    await world.publish("goal.created")
    await world.work()
    hook.always = 200
    expect(await world.ask("POST", `/webhooks/${id}/deliveries/1/redeliver`)).toMatchObject({
      status: 202,
      body: { state: "pending", attempt: 0 },
    })
    await world.work()
    expect(new Set(hook.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1)
    expect(await deliveries(world, id)).toMatchObject([{ state: "delivered", attempt: 1 }])
    expect(await deliveries(world, id, "?state=failed")).toEqual([])
    // The nightly job deletes it after that.
    await world.after(29 * DAY)
    const { catalog } = world.instance.app.instance
    const left = async () => (await catalog.all(sql`select id from integrations_deliveries`)).length
    expect(await left()).toBe(1)
    await world.after(2 * DAY)
    expect(await left()).toBe(0)
  })
})

describe("a webhook is disabled", () => {
  test("at once when its receiver answers 410", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    hook.answers.push(410)
    await world.publish("goal.created")
    await world.publish("goal.created")
    await world.work()
    expect(hook.received).toHaveLength(1)
    expect((await world.ask("GET", `/webhooks/${id}`)).body).toMatchObject({ enabled: false, disabled_reason: "gone" })
    expect(await deliveries(world, id)).toMatchObject([
      { state: "dead", code: "webhook_disabled" },
      { state: "dead", code: "status_410" },
    ])
    await world.instance.app.instance.accounts.mail.deliver()
    expect(world.emails.map(({ text }) => text).join()).toContain("status 410")
    await world.publish("goal.created")
    await world.work()
    expect(hook.received).toHaveLength(1)
    // Enabled again, it receives what happens from now on.
    expect((await world.ask("PATCH", `/webhooks/${id}`, { enabled: true })).body).toMatchObject({ enabled: true, disabled_reason: null })
    await world.publish("goal.created")
    await world.work()
    expect(hook.received).toHaveLength(2)
  })

  test("after five days without a success, with one event and one email to each person who can repair it", async () => {
    using dead = receiver()
    using alive = receiver()
    await using world = await stand([dead, alive])
    await world.as({ role: "admin" })
    await world.as({ role: "editor" })
    dead.always = 500
    const { id } = await world.webhook(dead.url())
    await world.webhook(alive.url(), { events: ["webhook.disabled"] })
    for (let day = 0; day < 6; day++) {
      await world.publish("goal.created")
      await world.work()
      await world.after(DAY)
    }
    const { body } = await world.ask("GET", `/webhooks/${id}`)
    expect(body).toMatchObject({ enabled: false, disabled_reason: "failing", failing_since: "2026-11-21T12:00:00Z" })
    expect(alive.received.map(({ body: text }) => JSON.parse(text).data)).toEqual([
      { webhook_id: id, url: `127.0.0.1:${dead.port}/…0001`, reason: "failing" },
    ])
    await world.instance.app.instance.accounts.mail.deliver()
    expect(world.emails).toHaveLength(2)
    const count = dead.received.length
    await world.after(3 * DAY)
    expect(dead.received).toHaveLength(count)
  })

  test("by a person, and a success in between starts the five days again", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    for (let failure = 0; failure < 3; failure++) {
      hook.answers.push(500)
      await world.publish("goal.created")
      await world.work()
      await world.after(2 * DAY)
    }
    expect(hook.received).toHaveLength(6)
    expect((await world.ask("GET", `/webhooks/${id}`)).body).toMatchObject({ enabled: true, failing_since: null })
    expect((await world.ask("PATCH", `/webhooks/${id}`, { enabled: false })).body).toMatchObject({
      enabled: false,
      disabled_reason: "manual",
    })
  })
})

test("an event that is consumed again after a crash adds no delivery", async () => {
  using hook = receiver()
  await using world = await stand([hook])
  const { id } = await world.webhook(hook.url(), { events: ["goal.created"] })
  await world.publish("goal.created")
  await world.instance.app.instance.outbox.deliver()
  const [event] = await world.instance.app.instance.catalog.all<{ id: number }>(sql`select id from outbox where event = 'goal.created'`)
  const consume = () => world.consume(event!.id)
  await consume()
  await Promise.all([consume(), consume()])
  await world.work()
  expect(await deliveries(world, id)).toHaveLength(1)
  expect(hook.received).toHaveLength(1)
})

test("deliveries are attempted however often their job was interrupted", async () => {
  using hook = receiver()
  await using world = await stand([hook])
  const { id } = await world.webhook(hook.url())
  hook.answers.push(500)
  await world.publish("goal.created")
  await world.work()
  const { catalog, jobs } = world.instance.app.instance
  const [job] = await catalog.all(sql`
    update jobs set state = 'running', attempts = 1000 where kind = 'integrations.deliver-webhooks' and state = 'queued' returning id`)
  expect(job).toBeDefined()
  await jobs.recover()
  await world.after(40 * SECOND)
  expect(await deliveries(world, id)).toMatchObject([{ state: "delivered", attempt: 2 }])
})

describe("the routes", () => {
  const good = { url: "https://hooks.example/in", events: ["*"] }
  test.each([
    ["no URL", { ...good, url: undefined }, 422, "validation_failed"],
    ["no events", { ...good, events: [] }, 422, "validation_failed"],
    ["an event twice", { ...good, events: ["goal.created", "goal.created"] }, 422, "validation_failed"],
    ["an unknown event", { ...good, events: ["goal.created", "goal.lost"] }, 422, "unknown_event"],
    ["an internal event", { ...good, events: ["internal.payment_received"] }, 422, "unknown_event"],
    ["the test event", { ...good, events: ["ping"] }, 422, "unknown_event"],
    ["a name next to `*`", { ...good, events: ["*", "goal.created"] }, 422, "validation_failed"],
    ["a text without a scheme", { ...good, url: "hooks.example" }, 422, "blocked_address"],
    ["another scheme", { ...good, url: "ftp://hooks.example/" }, 422, "blocked_address"],
    ["credentials in the URL", { ...good, url: "https://me@hooks.example/" }, 422, "blocked_address"],
    ["a port that is not allowed", { ...good, url: "https://hooks.example:25/" }, 422, "blocked_address"],
    ["a local name", { ...good, url: "https://printer.local/" }, 422, "blocked_address"],
    ["a long URL", { ...good, url: `https://hooks.example/${"x".repeat(2_048)}` }, 422, "validation_failed"],
    ["a long description", { ...good, description: "x".repeat(201) }, 422, "validation_failed"],
    ["a line break in the description", { ...good, description: "a\nb" }, 422, "validation_failed"],
    ["an unknown scope", { ...good, scope: "instance" }, 422, "validation_failed"],
    ["an unknown field", { ...good, secret: "whsec_x" }, 422, "validation_failed"],
    ["a list", [], 422, "validation_failed"],
  ])("refuse a webhook with %s", async (_, body, status, code) => {
    const { ask } = await shared()
    expect(await ask("POST", "/webhooks", body)).toMatchObject({ status, body: { code } })
    expect((await ask("GET", "/webhooks")).body.data).toEqual([])
  })

  test("refuse the 21st webhook of a site and of an organization", async () => {
    await using world = await stand([])
    const scopes = ["site", "organization"]
    for (const scope of scopes) for (let i = 0; i < 20; i++) await world.webhook(`https://hooks.example/${i}`, { scope })
    for (const scope of scopes)
      expect(await world.ask("POST", "/webhooks", { ...good, scope })).toMatchObject({
        status: 422,
        body: { code: "limit_reached", limit: 20 },
      })
    expect((await world.ask("GET", "/webhooks?limit=30&count=true")).body).toMatchObject({ has_more: true, total: 40 })
  })

  test("refuse everything while outgoing requests are off", async () => {
    await using world = await stand([], { settings: { outbound: "off" } })
    expect(await world.ask("POST", "/webhooks", good)).toMatchObject({ status: 422, body: { code: "outbound_disabled" } })
  })

  test("show webhooks of the organization only to those who manage it as a whole", async () => {
    await using world = await stand([])
    const { id } = await world.webhook("https://hooks.example/in", { scope: "organization" })
    const siteAdmin = await world.as({ role: "viewer", siteRole: "admin" })
    expect((await siteAdmin("GET", "/webhooks")).body.data).toEqual([])
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/rotate-secret"],
      ["GET", "/deliveries"],
    ] as const)
      expect(await siteAdmin(method, `/webhooks/${id}${path}`)).toMatchObject({ status: 404, body: { code: "webhook_not_found" } })
    expect(await siteAdmin("POST", "/webhooks", { ...good, scope: "organization" })).toMatchObject({
      status: 403,
      body: { code: "forbidden" },
    })
    expect((await siteAdmin("POST", "/webhooks", good)).status).toBe(201)
    expect((await (await world.as({ role: "editor" }))("GET", "/webhooks")).status).toBe(403)
  })

  test("keep versions, and accept the body of a GET", async () => {
    await using world = await stand([])
    const { id } = await world.webhook("https://hooks.example/services/T0001/B0001")
    const { body, headers } = await world.ask("GET", `/webhooks/${id}`)
    expect(body).toMatchObject({ url: "hooks.example/…0001", events: ["*"], secret: { set: true }, version: 1, scope: "site" })
    expect(headers.get("etag")).toBe('"1"')
    expect((await world.ask("PATCH", `/webhooks/${id}`, { ...body, description: "Sales" })).body).toMatchObject({
      version: 2,
      description: "Sales",
    })
    expect(await world.ask("PATCH", `/webhooks/${id}`, { description: "x", version: 1 })).toMatchObject({
      status: 409,
      body: { code: "version_conflict", current: { version: 2 } },
    })
    expect((await world.ask("PATCH", `/webhooks/${id}`, { description: "x" }, { "if-match": '"1"' })).status).toBe(412)
    expect((await world.ask("DELETE", `/webhooks/${id}`, undefined, { "if-match": '"1"' })).status).toBe(412)
    expect((await world.ask("DELETE", `/webhooks/${id}`)).status).toBe(204)
    expect((await world.ask("GET", `/webhooks/${id}`)).status).toBe(404)
  })
})

test("the document of the API contains the schema of each event's message", async () => {
  const { instance } = await shared()
  const cookie = await instance.signIn({ role: "viewer" })
  // biome-ignore lint/suspicious/noExplicitAny: a document whose parts are compared
  const read = async (path: string): Promise<any> =>
    (await instance.api.send("GET", `/api/private/${path}`, undefined, undefined, { cookie })).body
  const { webhooks, components } = await read("openapi.json")
  const { data } = await read("integrations/events")
  expect(Object.keys(webhooks)).toEqual(data.map(({ event }: { event: string }) => event))
  const { schema } = webhooks["goal.created"].post.requestBody.content["application/json"]
  expect(schema).toEqual({ $ref: "#/components/schemas/GoalCreatedMessage" })
  const { properties } = components.schemas.GoalCreatedMessage
  expect(properties.type).toMatchObject({ const: "goal.created" })
  expect(properties.data.anyOf[0].properties).toHaveProperty("goal_id")
})

let world: Promise<Stand> | undefined
/** An instance for refusals, which leave nothing behind. */
const shared = (): Promise<Stand> => (world ??= stand([]))

test("no URL and no secret is in an answer, the log, the audit log or a file", async () => {
  using hook = receiver()
  await using world = await stand([hook])
  const url = hook.url("/services/T0HQSECRETPATH/B0HQSECRETPATH")
  const { id, secret } = await world.webhook(url)
  const rotated = (await world.ask("POST", `/webhooks/${id}/rotate-secret`)).body.secret
  hook.always = () => new Response(null, { status: 302, headers: { location: url.replace("http:", "https:") } })
  await world.publish("goal.created")
  await world.work()
  const { catalog } = world.instance.app.instance
  const seen = [
    (await world.ask("GET", "/webhooks")).body,
    (await world.ask("GET", `/webhooks/${id}`)).body,
    await deliveries(world, id),
    (await world.ask("GET", `/webhooks/${id}/deliveries/1`)).body,
    world.instance.log.lines,
    await catalog.all(sql`select * from audit_log`),
    await catalog.all(sql`select * from outbox`),
  ]
  // A catalog on a server has its files there.
  if (!HAS_CATALOG_SERVER) {
    await catalog.checkpoint()
    await catalog.copyTo(`${world.instance.dataDir}/copy.db`)
  }
  const names = HAS_CATALOG_SERVER ? ["events.db"] : ["copy.db", "catalog.db", "events.db"]
  const files = names.map((name) => Bun.file(`${world.instance.dataDir}/${name}`).arrayBuffer())
  const texts = [Buffer.from(JSON.stringify(seen)), ...(await Promise.all(files)).map((bytes) => Buffer.from(bytes))]
  for (const text of texts) for (const hidden of ["HQSECRETPATH", secret, rotated]) expect(text.includes(hidden)).toBe(false)
})

test("webhooks end with their site, its transfer and the organization, with their secrets", async () => {
  await using world = await stand([])
  const { sites, organizations, catalog } = world.instance.app.instance
  const left = async () => [
    await catalog.all(sql`select site_id from integrations_webhooks order by id`),
    (await catalog.all(sql`select id from secrets`)).length,
  ]
  const other = await organizations.create({ name: "Other" })
  await world.webhook("https://hooks.example/1")
  await world.webhook("https://hooks.example/2", { scope: "organization" })
  expect(await left()).toEqual([[{ site_id: 1 }, { site_id: null }], 4])
  await sites.transfer(1, other.id, 1)
  expect(await left()).toEqual([[{ site_id: null }], 2])
  await organizations.remove(1, { confirm: "Shop" }, null)
  expect(await left()).toEqual([[], 0])
  void SITE
})
