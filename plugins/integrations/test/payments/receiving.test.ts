import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { raw, sql } from "#plugin"
import { BROWSER, HAS_CATALOG_SERVER } from "#plugin/test"
import { HOOK_KINDS } from "../../payments/hook.ts"
import { PAYMENT_INTENT, SECRETS, signatureOf, stripeEvent } from "./providers.ts"
import { type Shop, startShop } from "./shop.ts"
import { lemonEvent, lemonInvoice, lemonOrder, paddleTransaction, shopifyOrder, wooOrder } from "./shops.ts"

const SALE = stripeEvent("payment_intent.succeeded", PAYMENT_INTENT)
const REFUND = stripeEvent(
  "refund.created",
  { id: "re_1", amount: 1200, charge: "ch_3Q1", payment_intent: "pi_3Q1", currency: "eur", status: "succeeded" },
  "evt_2",
)
/** Shared by the tests that record no payment, or only look at their own. */
let shared: Shop
beforeAll(async () => {
  shared = await startShop()
})
afterAll(() => shared[Symbol.asyncDispose]())

const PUBLISHED = { status: 200, body: { result: "published", detail: "" } }

const EVENTS = {
  stripe: SALE,
  paddle: paddleTransaction({}),
  lemonsqueezy: lemonEvent("order_created", lemonOrder()),
  woocommerce: wooOrder({}),
  shopify: shopifyOrder(),
  "payments-generic": {
    type: "sale",
    id: "P-1",
    order_id: "A-1001",
    amount_minor: 500,
    currency: "EUR",
    occurred_at: "2026-11-26T11:00:00Z",
  },
} as const

test.each([
  ["stripe", "pi_3Q1", "49.00", "EUR"],
  ["paddle", "txn_01", "29.00", "USD"],
  ["lemonsqueezy", "orders:501", "11.99", "USD"],
  ["woocommerce", "727", "29.35", "USD"],
  ["shopify", "820982911946154508", "398.94", "USD"],
  ["payments-generic", "P-1", "5.00", "EUR"],
] as const)("records a signed sale of %s", async (kind, external_id, amount, currency) => {
  const hook = await shared.hook(kind)
  const order_id = `order of ${kind}`
  expect(await shared.send(hook, JSON.stringify(EVENTS[kind]).replace("A-1001", order_id))).toMatchObject(PUBLISHED)
  const provider = kind === "payments-generic" ? "generic" : kind
  expect((await shared.transactions()).filter((transaction) => transaction.provider === provider)).toMatchObject([
    { type: "sale", provider, external_id, order_id, trust: "webhook", amount: { amount, currency } },
  ])
  expect(await shared.lastEvent(hook)).toMatchObject({ result: "published", detail: "" })
})

describe("one payment", () => {
  test("links a refund that arrives before its sale", async () => {
    await using shop = await startShop()
    const hook = await shop.hook("stripe")
    expect(await shop.send(hook, REFUND)).toMatchObject(PUBLISHED)
    expect(await shop.transactions()).toMatchObject([{ type: "refund", parent_id: null, amount: { amount: "12.00" } }])
    expect(await shop.send(hook, SALE)).toMatchObject(PUBLISHED)
    const [sale, refund] = (await shop.transactions()).sort((a, b) => b.type.localeCompare(a.type))
    expect(sale).toMatchObject({ type: "sale", amount: { amount: "49.00" } })
    expect(refund).toMatchObject({ type: "refund", parent_id: sale.id })
  })

  test("is one transaction, whichever of its records Stripe reports and in whatever order", async () => {
    await using shop = await startShop()
    const hook = await shop.hook("stripe")
    const charge = { id: "ch_3Q1", amount: 5000, captured: true, currency: "eur", payment_intent: "pi_3Q1", metadata: {} }
    const session = { id: "cs_1", mode: "payment", payment_status: "paid", amount_total: 5100, currency: "eur", payment_intent: "pi_3Q1" }
    await shop.send(hook, stripeEvent("checkout.session.completed", session, "evt_a"))
    await shop.send(hook, stripeEvent("charge.succeeded", charge, "evt_b"))
    await shop.send(hook, stripeEvent("payment_intent.succeeded", PAYMENT_INTENT, "evt_c"))
    expect(await shop.transactions()).toMatchObject([{ external_id: "pi_3Q1", order_id: "A-1001", amount: { amount: "49.00" } }])
  })

  test("is recorded once from 100 copies at the same time, and from a later repetition", async () => {
    await using shop = await startShop()
    const hook = await shop.hook("stripe")
    const answers = await Promise.all(Array.from({ length: 100 }, () => shop.send(hook, SALE)))
    expect(answers.map(({ status, body }) => `${status} ${body.result}`)).toEqual(Array(100).fill("200 published"))
    const { catalog } = shop.instance.app.instance
    const count = (from: string) => catalog.get<{ n: number }>(from === "events" ? EVENT_COUNT : OUTBOX_COUNT)
    expect(await Promise.all(["events", "outbox"].map(count))).toEqual([{ n: 1 }, { n: 1 }])
    shop.instance.clock.advance(86_400_000)
    expect(await shop.send(hook, SALE)).toMatchObject(PUBLISHED)
    expect(await count("outbox")).toEqual({ n: 1 })
    expect(await shop.transactions()).toHaveLength(1)
  })

  test("adds up the partial refunds that Lemon Squeezy reports as sums", async () => {
    await using shop = await startShop()
    const hook = await shop.hook("lemonsqueezy")
    const refunded = (amount: number) => lemonEvent("order_refunded", lemonOrder({ status: "partial_refund", refunded_amount: amount }))
    await shop.send(hook, lemonEvent("order_created", lemonOrder()))
    const results = []
    for (const amount of [300, 500, 300, 400, 1199]) {
      const { body } = await shop.send(hook, refunded(amount))
      results.push(body.result)
    }
    expect(results).toEqual(["published", "published", "published", "ignored", "published"])
    const refunds = (await shop.transactions()).filter(({ type }) => type === "refund")
    expect(refunds.map(({ amount }) => amount.amount)).toEqual(["3.00", "2.00", "6.99"])
  })

  test("of Lemon Squeezy is not mixed up with a subscription invoice of the same number", async () => {
    await using shop = await startShop()
    const hook = await shop.hook("lemonsqueezy")
    await shop.send(hook, lemonEvent("order_created", lemonOrder()))
    await shop.send(hook, lemonEvent("subscription_payment_success", lemonInvoice("renewal")))
    expect(await shop.transactions()).toHaveLength(2)
  })
})

const EVENT_COUNT = sql`select count(*) as n from integrations_hook_events`
const OUTBOX_COUNT = sql`select count(*) as n from outbox where event = 'internal.payment_received'`

test("attributes a payment to the visit of the customer whom the shop names", async () => {
  await using shop = await startShop()
  const { instance } = shop
  await shop.ask("PATCH", "/settings", { identity_mode: "identified" })
  const visit = {
    ...{ name: "pageview", url: "https://shop.example/pricing", referrer: "https://news.example/", timestamp: "2026-11-26T11:30:00Z" },
    ...{ ip: "203.0.113.9", user_agent: BROWSER, user_id: "user-7" },
  }
  const sent = await instance.api.post("/api/public/v1/sites/1/events", { events: [visit] }, instance.eventsKey)
  expect(sent.body).toMatchObject({ accepted: 1 })
  const hook = await shop.hook("stripe")
  await shop.send(hook, SALE)
  await shop.send(
    hook,
    stripeEvent(
      "payment_intent.succeeded",
      { ...PAYMENT_INTENT, id: "pi_2", latest_charge: "ch_2", metadata: { user_id: "stranger" } },
      "evt_3",
    ),
  )
  const [known, unknown] = (await shop.transactions()).sort((a, b) => b.external_id.localeCompare(a.external_id))
  expect(known).toMatchObject({ external_id: "pi_3Q1", source: "news.example" })
  expect(known.flags).not.toContain("unattributed")
  expect(unknown).toMatchObject({ external_id: "pi_2", source: null, flags: ["unattributed"] })
  // The user id itself is stored nowhere with the payment.
  const { catalog } = instance.app.instance
  const payloads = await catalog.all<{ payload: string }>(
    sql`select payload_json as payload from outbox where event = 'internal.payment_received'`,
  )
  expect(JSON.stringify(payloads)).not.toContain("user-7")
})

test("a visitor whom a sender of the generic form names must be one of the site", async () => {
  const hook = await shared.hook("payments-generic")
  const event = { ...EVENTS["payments-generic"], id: "P-2", order_id: "A-2", visitor: "00112233445566aa" }
  expect(await shared.send(hook, event, { id: "msg_2" })).toMatchObject(PUBLISHED)
  const found = (await shared.transactions()).filter(({ order_id }) => order_id === "A-2")
  expect(found).toMatchObject([{ flags: ["unattributed"] }])
})

describe("events without a payment", () => {
  test.each([
    [
      "an unknown type is ignored",
      stripeEvent("customer.created", { id: "cus_1" }, "evt_8"),
      "ignored",
      "Events of the type customer.created report no payment.",
    ],
    [
      "one that cannot be mapped fails",
      stripeEvent("payment_intent.succeeded", { id: "pi_1" }, "evt_9"),
      "failed",
      "The field currency is not an active ISO 4217 code.",
    ],
    ["a body that is not JSON fails", "{", "failed", "The body is not a JSON object."],
    ["an empty body fails", "", "failed", "The body is not a JSON object."],
  ])("%s, and both answer 200", async (_, body, result, detail) => {
    const hook = await shared.hook("stripe")
    const before = await shared.transactions()
    expect(await shared.send(hook, body)).toMatchObject({ status: 200, body: { result, detail } })
    expect(await shared.transactions()).toEqual(before)
    expect(await shared.lastEvent(hook)).toMatchObject({ result, detail })
  })

  test("the unsigned test of WooCommerce answers 200 and is not stored", async () => {
    const hook = await shared.newHook("woocommerce")
    const form = { "content-type": "application/x-www-form-urlencoded" }
    expect(await shared.post(hook.path, "webhook_id=12", form)).toMatchObject({ status: 200, body: { result: "ignored" } })
    expect(await shared.post(hook.path, "webhook_id=12&x=1", form)).toMatchObject({ status: 400 })
    expect(await shared.lastEvent(hook)).toBeNull()
  })
})

describe("requests that are refused", () => {
  const TEXT = JSON.stringify(SALE)
  const signed = signatureOf("stripe", TEXT)
  const TOO_LARGE = "x".repeat(1_048_577)
  test.each([
    ["without a signature", TEXT, {}, undefined, 400, "invalid_signature"],
    ["with a changed body", TEXT.replace("4900", "9900"), signed, undefined, 400, "invalid_signature"],
    [
      "with a signature of 6 minutes ago",
      TEXT,
      signatureOf("stripe", TEXT, { at: Date.parse("2026-11-26T11:54:00Z") }),
      undefined,
      400,
      "invalid_signature",
    ],
    [
      "with the signature of another provider",
      TEXT,
      signatureOf("shopify", TEXT, { secret: SECRETS.stripe }),
      undefined,
      400,
      "invalid_signature",
    ],
    ["above 1 MiB", TOO_LARGE, signatureOf("stripe", TOO_LARGE), undefined, 413, "body_too_large"],
    ["with an unknown token", TEXT, signed, `/api/hooks/stripe/${"A".repeat(43)}`, 404, "hook_not_found"],
    ["above 1 MiB with an unknown token", TOO_LARGE, signed, `/api/hooks/stripe/${"A".repeat(43)}`, 404, "hook_not_found"],
    ["with an unknown provider", TEXT, signed, `/api/hooks/bank/${"A".repeat(43)}`, 404, "hook_not_found"],
  ])("%s", async (_, body, headers, path, status, code) => {
    const hook = await shared.hook("stripe")
    const count = () => shared.instance.app.instance.catalog.get<{ n: number }>(EVENT_COUNT)
    const before = await count()
    expect(await shared.post(path ?? hook.path, body, headers as Record<string, string>)).toMatchObject({ status, body: { status, code } })
    expect(await count()).toEqual(before!)
  })

  test("the token of another provider, a disabled and a deleted hook", async () => {
    const shop = shared
    const hook = await shop.newHook("stripe")
    const notFound = { status: 404, body: { code: "hook_not_found" } }
    expect(await shop.post(hook.path.replace("stripe", "paddle"), TEXT, signed)).toMatchObject(notFound)
    await shop.ask("PATCH", `/integrations/hooks/${hook.id}`, { enabled: false })
    expect(await shop.post(hook.path, TEXT, signed)).toMatchObject(notFound)
    await shop.ask("PATCH", `/integrations/hooks/${hook.id}`, { enabled: true })
    expect(await shop.post(hook.path, TEXT, signed)).toMatchObject(PUBLISHED)
    await shop.ask("DELETE", `/integrations/hooks/${hook.id}`)
    expect(await shop.post(hook.path, TEXT, signed)).toMatchObject(notFound)
  })

  test.each(HOOK_KINDS.map((kind) => [kind] as const))("a body of %s that is not signed", async (kind) => {
    const hook = await shared.hook(kind)
    expect(await shared.send(hook, EVENTS[kind], { secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx" })).toMatchObject({
      status: 400,
      body: { code: "invalid_signature" },
    })
  })
})

// A libSQL server has its own disk, which its operator watches.
test.skipIf(HAS_CATALOG_SERVER)("a full disk answers 503 and stores nothing, so that the provider's next attempt counts", async () => {
  await using shop = await startShop()
  const hook = await shop.hook("stripe")
  const { catalog } = shop.instance.app.instance
  const pages = (await catalog.get<{ page_count: number }>(sql`pragma page_count`))!.page_count
  await catalog.run(sql`pragma max_page_count = ${raw(String(pages))}`)
  const large = { ...SALE, filler: "x".repeat(500_000) }
  const answer = await shop.send(hook, large)
  expect(answer).toMatchObject({ status: 503, body: { code: "storage_full" } })
  expect(answer.headers.get("retry-after")).not.toBeNull()
  await catalog.run(sql`pragma max_page_count = 1073741823`)
  expect(await shop.transactions()).toEqual([])
  expect(await shop.send(hook, large)).toMatchObject(PUBLISHED)
  expect(await shop.transactions()).toHaveLength(1)
})
