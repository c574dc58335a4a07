import { afterAll, describe, expect, test } from "bun:test"
import { startShop } from "./kit.ts"

const shop = await startShop()
afterAll(() => shop[Symbol.asyncDispose]())

const settings = async () => (await shop.get("/revenue/settings")).body as Record<string, unknown> & { version: number }
const wanted = (more: object = {}) => ({
  ...{ base_currency: "USD", refund_basis: "order_date", include_client: false, lookback_days: 90, ignored_referrers: ["pay.example"] },
  ...{ version: 1, ...more },
})

describe("the revenue settings", () => {
  test("have defaults and can be replaced", async () => {
    expect(await shop.get("/revenue/settings", shop.viewer)).toMatchObject({
      status: 200,
      body: {
        ...{ base_currency: null, refund_basis: "refund_date", include_client: true, lookback_days: 30, version: 1 },
        ...{ ignored_referrers_are_default: true, recomputing: false },
      },
    })
    expect(await shop.send("PUT", "/revenue/settings", wanted())).toMatchObject({
      status: 200,
      body: { ...wanted(), ignored_referrers_are_default: false, recomputing: true, version: 2 },
    })
    await shop.instance.runJobs()
    expect(await settings()).toMatchObject({ ...wanted(), recomputing: false, version: 2 })
  })

  test("can be sent back unchanged, and follow the default list of referrers again", async () => {
    const found = await settings()
    expect(await shop.send("PUT", "/revenue/settings", found)).toMatchObject({ status: 200, body: { recomputing: false } })
    const fresh = await startShop()
    const { body } = await fresh.get("/revenue/settings")
    await fresh[Symbol.asyncDispose]()
    const { ignored_referrers } = body as { ignored_referrers: string[] }
    const { version } = await settings()
    const answer = await shop.send("PUT", "/revenue/settings", wanted({ ignored_referrers, version }))
    expect(answer).toMatchObject({ body: { ignored_referrers_are_default: true } })
    await shop.instance.runJobs()
  })

  test("keep both of two writers' versions apart", async () => {
    const { version } = await settings()
    expect(await shop.send("PUT", "/revenue/settings", wanted({ version: version - 1 }))).toMatchObject({
      status: 409,
      body: { code: "version_conflict", current: { version } },
    })
  })

  test.each([
    ["an unknown currency", { base_currency: "DEM" }, "/base_currency", "unknown_currency"],
    ["a missing field", { refund_basis: undefined }, "/refund_basis", "required"],
    ["an unknown basis", { refund_basis: "month" }, "/refund_basis", "invalid_choice"],
    ["a look-back of 0 days", { lookback_days: 0 }, "/lookback_days", "out_of_range"],
    ["a look-back of 366 days", { lookback_days: 366 }, "/lookback_days", "out_of_range"],
    ["a look-back with decimals", { lookback_days: 1.5 }, "/lookback_days", "invalid_type"],
    ["an address as a referrer", { ignored_referrers: ["https://pay.example/x"] }, "/ignored_referrers/0", "invalid_host"],
    ["too many referrers", { ignored_referrers: Array.from({ length: 201 }, (_, i) => `a${i}.example`) }, "/ignored_referrers", "too_many"],
    ["an unknown field", { colour: "red" }, "/colour", "unknown_field"],
  ])("reject %s", async (_, change, pointer, code) => {
    const { version } = await settings()
    expect(await shop.send("PUT", "/revenue/settings", { ...wanted({ version }), ...change })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer, code }] },
    })
  })

  test("are changed by admins only", async () => {
    expect(await shop.send("PUT", "/revenue/settings", wanted(), shop.editor)).toMatchObject({ status: 403 })
  })
})

test("a new currency of the site converts stored amounts again, unless the area has its own", async () => {
  await using own = await startShop()
  const add = { amount: "180", currency: "JPY", occurred_at: "2026-11-20T10:00:00Z" }
  const rates = {
    rates: [
      { day: "2026-11-20", base: "EUR", quote: "JPY", rate: "180" },
      { day: "2026-11-20", base: "USD", quote: "JPY", rate: "150" },
    ],
  }
  expect(await own.send("PUT", "/revenue/rates", rates)).toMatchObject({ status: 200 })
  expect(await own.send("POST", "/revenue/transactions", add)).toMatchObject({ status: 201 })
  const followed = async (revenue_currency: string) => {
    expect(await own.send("PATCH", "/settings", { revenue_currency })).toMatchObject({ status: 200 })
    own.instance.clock.advance(5 * 60_000)
    await own.sell([])
    return (await own.transactions())[0]!.base?.amount
  }
  expect(await followed("EUR")).toMatchObject({ amount: "1.00", currency: "EUR" })
  expect(await followed("USD")).toMatchObject({ amount: "1.20", currency: "USD" })
  const { version } = (await own.get("/revenue/settings")).body as { version: number }
  const settings = {
    base_currency: "EUR",
    refund_basis: "refund_date",
    include_client: true,
    lookback_days: 30,
    ignored_referrers: [],
    version,
  }
  expect(await own.send("PUT", "/revenue/settings", settings)).toMatchObject({ status: 200 })
  expect(await followed("JPY")).toMatchObject({ amount: "1.00", currency: "EUR" })
})
