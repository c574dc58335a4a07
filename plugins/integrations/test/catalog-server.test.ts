import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { receiver, stand } from "./kit.ts"
import { PAYMENT_INTENT, SECRETS, signatureOf, stripeEvent } from "./payments/providers.ts"
import { desk } from "./search/kit.ts"

/**
 * The area with its catalog on a libSQL server, where each statement is a request and a transaction a conversation. All tests of the area
 * run this way with `FOOTFALL_TEST_CATALOG=server bun test plugins/integrations`.
 */

const DAY = 86_400_000

test("delivers webhooks and chat messages, records payments once and forgets everything with the site", async () => {
  using hook = receiver()
  using chat = receiver()
  await using world = await stand([hook, chat], { hasCatalogServer: true })
  const { catalog, sites } = world.instance.app.instance
  expect(catalog.remote).toBe(true)

  const { id, secret } = await world.webhook(hook.url(), { events: ["goal.created", "import.failed"] })
  const changes = Array.from({ length: 5 }, (_, i) => world.ask("PATCH", `/webhooks/${id}`, { description: `note ${i}`, version: 1 }))
  expect((await Promise.all(changes)).map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409])
  expect((await world.ask("POST", "/integrations/slack/connect", { url: chat.url("/services/T0001/B0001") })).status).toBe(201)
  hook.answers.push(500)
  await world.publish("goal.created")
  await world.publish("import.failed", { import_id: 1 })
  await world.work()
  const [failed] = (await catalog.all<{ id: number }>(sql`select id from outbox where event = 'goal.created'`)) as [{ id: number }]
  await Promise.all([world.consume(failed.id), world.consume(failed.id)])
  await world.after(40_000)
  expect(hook.received.map(({ body }) => JSON.parse(body).type).toSorted()).toEqual(["goal.created", "goal.created", "import.failed"])
  expect(chat.received).toHaveLength(2)
  expect((await world.ask("GET", `/webhooks/${id}/deliveries?state=delivered&count=true`)).body).toMatchObject({ total: 2 })
  const rotated = await world.ask("POST", `/webhooks/${id}/rotate-secret`)
  expect([rotated.status, rotated.body.secret === secret]).toEqual([200, false])

  const made = await world.ask("POST", "/integrations/hooks", { kind: "stripe", signing_secret: SECRETS.stripe })
  const body = JSON.stringify(stripeEvent("payment_intent.succeeded", PAYMENT_INTENT))
  const headers = signatureOf("stripe", body, { at: world.instance.clock.now() })
  const { pathname } = new URL(made.body.url)
  const copies = await Promise.all(Array.from({ length: 20 }, () => world.instance.api.post(pathname, body, undefined, headers)))
  expect(copies.map(({ status }) => status)).toEqual(Array(20).fill(200))
  const count = async () => (await catalog.all(sql`select id from outbox where event = 'internal.payment_received'`)).length
  expect(await count()).toBe(1)

  expect((await world.ask("POST", "/alerts", { type: "drop" })).status).toBe(201)
  const report = await world.ask("POST", "/reports", { kind: "weekly", recipients: ["ann@example.org"] })
  expect((await world.ask("POST", `/reports/${report.body.id}/send-now`)).status).toBe(200)
  await world.instance.app.instance.accounts.mail.deliver()
  expect(world.emails.map(({ to }) => to)).toContain("ann@example.org")

  await sites.remove(1)
  await world.after(31 * DAY)
  await world.work()
  const left = await catalog.get(sql`
    select (select count(*) from integrations_webhooks) + (select count(*) from integrations_deliveries)
      + (select count(*) from integrations_hooks) + (select count(*) from integrations_hook_events)
      + (select count(*) from integrations_alerts) + (select count(*) from integrations_reports)
      + (select count(*) from secrets where owner = 'integrations') as n`)
  expect(left).toEqual({ n: 0 })
  expect(world.instance.log.lines.filter(({ level }) => level === "error")).toEqual([])
}, 120_000)

test("connects an account, maps a property and disconnects, with sealed tokens and used states", async () => {
  await using world = await desk({ hasCatalogServer: true })
  expect(await world.connect()).toContain("result=connected")
  expect(await world.map()).toMatchObject({ kind: "search-console", status: "connecting" })
  const { data } = (await world.ask("GET", "/integrations")).body
  const account = data.find(({ scope }: { scope: string }) => scope === "organization")
  expect((await world.ask("DELETE", `/integrations/${account.id}`)).status).toBe(204)
  const { catalog } = world.instance.app.instance
  expect(await catalog.get(sql`select (select count(*) from connections) + (select count(*) from secrets) as n`)).toEqual({ n: 0 })
  expect(world.google.revoked).toHaveLength(1)
}, 120_000)
