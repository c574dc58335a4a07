import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { sql } from "#plugin"
import { archiveLines, archiveOf } from "#plugin/test"
import { PAYMENT_INTENT, SECRETS, stripeEvent } from "./providers.ts"
import { type Shop, SITE, startShop } from "./shop.ts"

const NEW_SECRET = "whsec_a-new-secret-of-stripe-0001"
const SALE = stripeEvent("payment_intent.succeeded", PAYMENT_INTENT)
const DAY_MS = 86_400_000

describe("the hooks of a site", () => {
  let shop: Shop
  let id: number
  beforeAll(async () => {
    shop = await startShop()
    id = (await shop.hook("stripe")).id
  })
  afterAll(() => shop[Symbol.asyncDispose]())

  test("are created with a URL that is shown once, and a secret that never is", async () => {
    const created = await shop.ask("POST", "/integrations/hooks", { kind: "paddle", signing_secret: SECRETS.paddle })
    expect(created).toMatchObject({ status: 201, body: { kind: "paddle", enabled: true, last_event: null, previous_secret_until: null } })
    expect(created.body.url).toMatch(/\/api\/hooks\/paddle\/[\w-]{43}$/)
    expect(created.headers.get("location")).toBe(`${SITE}/integrations/hooks/${created.body.id}`)
    const { body } = await shop.ask("GET", `/integrations/hooks/${created.body.id}`)
    expect(body).not.toHaveProperty("url")
    expect(body.secret).toEqual({ set: true, hint: "…cQoP", updated_at: "2026-11-26T12:00:00Z" })
    expect((await shop.ask("GET", "/integrations/hooks")).body.data).toMatchObject([
      { id, kind: "stripe" },
      { id: body.id, kind: "paddle" },
    ])
    expect((await shop.ask("DELETE", `/integrations/hooks/${body.id}`)).status).toBe(204)
    expect((await shop.ask("GET", `/integrations/hooks/${body.id}`)).body.code).toBe("hook_not_found")
  })

  test.each([
    ["an unknown kind", { kind: "bank", signing_secret: "a-long-secret" }, "/kind", "invalid_choice"],
    ["a short secret", { kind: "stripe", signing_secret: "abc" }, "/signing_secret", "too_short"],
    ["a long secret", { kind: "stripe", signing_secret: "a".repeat(501) }, "/signing_secret", "too_long"],
    ["a secret that is not base64", { kind: "payments-generic", signing_secret: "not a key!" }, "/signing_secret", "invalid_characters"],
    ["an unknown field", { kind: "stripe", signing_secret: "a-long-secret", url: "x" }, "/url", "unknown_field"],
  ])("are refused with %s", async (_, body, pointer, code) => {
    const answer = await shop.ask("POST", "/integrations/hooks", body)
    expect(answer).toMatchObject({ status: 422, body: { code: "validation_failed", errors: [{ pointer, code }] } })
    expect(JSON.stringify(answer.body)).not.toContain("a-long-secret")
  })

  test("can be created before the provider has shown a secret, and refuse every event until it is entered", async () => {
    const { body } = await shop.ask("POST", "/integrations/hooks", { kind: "stripe" })
    expect(body.secret).toEqual({ set: false })
    const send = (secret: string) => shop.send({ ...body, path: new URL(body.url).pathname }, SALE, { secret })
    expect((await send(NEW_SECRET)).body).toMatchObject({ code: "invalid_signature" })
    expect((await send("")).body).toMatchObject({ code: "invalid_signature" })
    const entered = await shop.ask("POST", `/integrations/hooks/${body.id}/rotate-secret`, { signing_secret: NEW_SECRET })
    expect(entered.body).toMatchObject({ secret: { set: true }, previous_secret_until: null })
    expect((await send(NEW_SECRET)).status).toBe(200)
    expect((await shop.ask("DELETE", `/integrations/hooks/${body.id}`)).status).toBe(204)
  })

  test("can be read by editors and changed by admins", async () => {
    const editor = await shop.as({ role: "editor" })
    expect((await editor("GET", `/integrations/hooks/${id}`)).status).toBe(200)
    expect((await editor("PATCH", `/integrations/hooks/${id}`, { enabled: false })).body).toMatchObject({
      code: "forbidden",
      required_permission: "integrations:write",
    })
    const viewer = await shop.as({ role: "viewer" })
    expect((await viewer("GET", "/integrations/hooks")).status).toBe(403)
  })

  test("accept the body of a GET, and refuse a stale version", async () => {
    const { body } = await shop.ask("GET", `/integrations/hooks/${id}`)
    expect((await shop.ask("PATCH", `/integrations/hooks/${id}`, body)).body).toEqual(body)
    const changed = await shop.ask("PATCH", `/integrations/hooks/${id}`, { ...body, enabled: false })
    expect(changed.body).toMatchObject({ enabled: false, version: body.version + 1 })
    expect(await shop.ask("PATCH", `/integrations/hooks/${id}`, { enabled: true, version: body.version })).toMatchObject({
      status: 409,
      body: { code: "version_conflict" },
    })
    expect((await shop.ask("PATCH", `/integrations/hooks/${id}`, { enabled: true })).body.enabled).toBe(true)
  })

  test("are at most 20", async () => {
    const body = { kind: "shopify", signing_secret: SECRETS.shopify }
    const answers = []
    for (let count = 0; count < 20; count++) answers.push(await shop.ask("POST", "/integrations/hooks", body))
    expect(answers.map(({ status }) => status)).toEqual([...Array(19).fill(201), 422])
    expect(answers.at(-1)!.body).toMatchObject({ code: "limit_reached", limit: 20, resource: "payment_hooks" })
  })
})

test("accepts both secrets for 24 hours after a rotation, and then only the new one", async () => {
  await using shop = await startShop()
  const hook = await shop.hook("stripe")
  const event = (id: string) => stripeEvent("payment_intent.succeeded", PAYMENT_INTENT, id)
  const rotated = await shop.ask("POST", `/integrations/hooks/${hook.id}/rotate-secret`, { signing_secret: NEW_SECRET })
  expect(rotated).toMatchObject({ status: 200, body: { previous_secret_until: "2026-11-27T12:00:00Z", secret: { hint: "…0001" } } })
  expect((await shop.send(hook, event("evt_1"))).status).toBe(200)
  expect((await shop.send(hook, event("evt_2"), { secret: NEW_SECRET })).status).toBe(200)
  shop.instance.clock.advance(DAY_MS)
  expect((await shop.send(hook, event("evt_3"))).body.code).toBe("invalid_signature")
  expect((await shop.send(hook, event("evt_3"), { secret: NEW_SECRET })).status).toBe(200)
  expect((await shop.ask("GET", `/integrations/hooks/${hook.id}`)).body.previous_secret_until).toBeNull()
  const secrets = () => shop.instance.app.instance.catalog.get(sql`select count(*) as n from secrets where purpose = 'signing'`)
  expect(await secrets()).toEqual({ n: 2 })
  shop.instance.clock.advance(DAY_MS)
  await shop.instance.runJobs()
  expect(await secrets()).toEqual({ n: 1 })
})

test("keeps bodies sealed for 30 days, and the ids of events longer", async () => {
  await using shop = await startShop()
  const hook = await shop.hook("stripe")
  const { clock, runJobs, app } = shop.instance
  await shop.send(hook, SALE)
  const stored = () =>
    app.instance.catalog.get(sql`
      select (select count(*) from integrations_hook_events) as events, (select count(*) from secrets where purpose = 'body') as bodies`)
  expect(await stored()).toEqual({ events: 1, bodies: 1 })
  clock.advance(29 * DAY_MS)
  await runJobs()
  expect(await stored()).toEqual({ events: 1, bodies: 1 })
  clock.advance(2 * DAY_MS)
  await runJobs()
  expect(await stored()).toEqual({ events: 1, bodies: 0 })
  clock.advance(400 * DAY_MS)
  await runJobs()
  expect(await stored()).toEqual({ events: 0, bodies: 0 })
})

test("writes no secret, token or body into answers, logs, audit, archive or files", async () => {
  await using shop = await startShop()
  const { instance } = shop
  const hook = await shop.hook("stripe")
  const token = hook.path.split("/").at(-1)!
  await shop.send(hook, { ...SALE, planted: "planted-body-of-a-payment" })
  await shop.send(hook, { ...SALE, id: "evt_2" }, { secret: "wrong-secret-9999" })
  await shop.ask("PATCH", `/integrations/hooks/${hook.id}`, { enabled: false })
  await shop.ask("POST", `/integrations/hooks/${hook.id}/rotate-secret`, { signing_secret: NEW_SECRET })
  await shop.transactions()
  const archive = await archiveOf(instance)
  const audit = await instance.app.instance.catalog.all<{ action: string }>(
    sql`select action, target_type, target_label, changes_json from audit_log where action like 'integrations.hook.%' order by id`,
  )
  expect(audit.map(({ action }) => action)).toEqual([
    "integrations.hook.create",
    "integrations.hook.update",
    "integrations.hook.rotate-secret",
  ])
  const answers = await Promise.all(["", `/${hook.id}`].map((path) => shop.ask("GET", `/integrations/hooks${path}`)))
  const seen = {
    answers: JSON.stringify(answers.map(({ body }) => body)),
    audit: JSON.stringify(audit),
    logs: JSON.stringify(instance.log.lines),
    archive: JSON.stringify(archive),
    files: filesOf(instance.dataDir),
  }
  expect(archiveLines(archive["integrations_hooks.ndjson"])).toMatchObject([{ kind: "stripe", enabled: false }])
  for (const [place, text] of Object.entries(seen)) {
    for (const secret of [SECRETS.stripe, NEW_SECRET, token, "planted-body-of-a-payment", "wrong-secret-9999"])
      expect([place, secret, text.includes(secret)]).toEqual([place, secret, false])
    // The address of the signed-in user is `user-` with random digits.
    expect([place, /user-7(?![0-9a-f])/.test(text)]).toEqual([place, false])
  }
})

/** Returns the bytes of all files in a folder as text. */
const filesOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n")

test("deletes the hooks, events and secrets of a deleted site", async () => {
  await using shop = await startShop()
  const { app, clock, runJobs } = shop.instance
  for (const kind of ["stripe", "shopify"] as const) await shop.hook(kind)
  await shop.send(await shop.hook("stripe"), SALE)
  await app.instance.sites.remove(1)
  clock.advance(31 * DAY_MS)
  for (let round = 0; round < 3; round++) await runJobs()
  const rest = await app.instance.catalog.get(sql`
    select (select count(*) from integrations_hooks) as hooks, (select count(*) from integrations_hook_events) as events,
      (select count(*) from secrets where owner = 'integrations') as secrets`)
  expect(rest).toEqual({ hooks: 0, events: 0, secrets: 0 })
})
