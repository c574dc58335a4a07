import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { ReportResponse } from "../report/responses.ts"
import { type Entry, enter } from "./books.ts"
import { type Shop, startShop } from "./kit.ts"

const shops: Shop[] = []
/** Starts an instance with transactions. The site is in Berlin and its currency EUR. */
async function shopWith(entries: readonly Entry[]): Promise<Shop> {
  const shop = await startShop()
  shops.push(shop)
  await enter(shop, entries)
  return shop
}
afterAll(async () => {
  for (const shop of shops) await shop[Symbol.asyncDispose]()
})

const reported = async (shop: Shop, query = ""): Promise<ReportResponse> => {
  const { status, body } = await shop.get(`/revenue/report?from=2026-11-01&to=2026-11-30${query}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body as ReportResponse
}

const google = { source: "Google", channel: "Organic Search", entry_page: "/" }
const newsletter = { source: "newsletter", channel: "Email", utm_source: "newsletter", entry_page: "/offer" }
const direct = { channel: "Direct", entry_page: "/" }

describe("the report", () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await shopWith([
      { at: "2026-11-02T10:00:00Z", amount: 1000, touches: [google, newsletter, direct, google], dims: { country: "DE" }, visitor: 1 },
      { at: "2026-11-03T23:30:00Z", amount: 500, touches: [newsletter], dims: { country: "FR", event: "Purchase" }, visitor: 1, link: 7 },
      { at: "2026-11-05T10:00:00Z", amount: 300, type: "refund", of: 0 },
      { at: "2026-11-06T10:00:00Z", amount: 1000, currency: "JPY", touches: [direct], dims: { country: "DE" }, trust: "client" },
      { at: "2026-11-07T10:00:00Z", amount: 700, recurring: "renewal" },
      { at: "2026-11-08T10:00:00Z", amount: -50, type: "adjustment", of: 1 },
    ])
  })

  test("lists each currency, those with most orders first", async () => {
    const { currencies, base } = await reported(shop)
    expect(base).toBeUndefined()
    expect(currencies).toEqual([
      {
        currency: "EUR",
        gross: { amount_minor: 2200, currency: "EUR", amount: "22.00" },
        refunds: { amount_minor: 300, currency: "EUR", amount: "3.00" },
        net: { amount_minor: 1850, currency: "EUR", amount: "18.50" },
        orders: 3,
        refunded_orders: 1,
        aov: { amount_minor: 733, currency: "EUR", amount: "7.33" },
        net_per_order: { amount_minor: 617, currency: "EUR", amount: "6.17" },
        // One visitor with two orders, and an order without a visitor.
        customers: 2,
        refund_rate: 13.6,
      },
      {
        currency: "JPY",
        gross: { amount_minor: 1000, currency: "JPY", amount: "1000" },
        refunds: { amount_minor: 0, currency: "JPY", amount: "0" },
        net: { amount_minor: 1000, currency: "JPY", amount: "1000" },
        orders: 1,
        refunded_orders: 0,
        aov: { amount_minor: 1000, currency: "JPY", amount: "1000" },
        net_per_order: { amount_minor: 1000, currency: "JPY", amount: "1000" },
        customers: 1,
        refund_rate: 0,
      },
    ])
  })

  test("books transactions on the local day, and shows days without any as 0", async () => {
    const { timeseries, interval } = await reported(shop)
    expect(interval).toBe("day")
    expect(timeseries).toHaveLength(26)
    const nets = timeseries.map(({ time, by_currency }) => [time, ...by_currency.map(({ net }) => net.amount)])
    expect(nets.slice(0, 8)).toEqual([
      ["2026-11-01", "0.00", "0"],
      ["2026-11-02", "10.00", "0"],
      ["2026-11-03", "0.00", "0"],
      // 23:30 UTC is 00:30 in Berlin.
      ["2026-11-04", "5.00", "0"],
      ["2026-11-05", "-3.00", "0"],
      ["2026-11-06", "0.00", "1000"],
      ["2026-11-07", "7.00", "0"],
      ["2026-11-08", "-0.50", "0"],
    ])
    expect(timeseries.at(-1)).toMatchObject({ time: "2026-11-26", partial: true })
  })

  const groups = async (query: string) =>
    (await reported(shop, query)).breakdown.map(({ key, orders, by_currency }) => [
      key,
      orders,
      ...by_currency.map(({ currency, gross, net }) => `${currency} ${gross.amount} ${net.amount}`),
    ])

  test.each([
    [
      "the last touch that is not direct",
      "last_touch",
      [
        ["Google", 1, "EUR 10.00 7.00"],
        ["(unattributed)", 1, "EUR 7.00 7.00"],
        ["newsletter", 1, "EUR 5.00 4.50"],
        ["Direct", 1, "JPY 1000 1000"],
      ],
    ],
    [
      "the last touch",
      "last_touch_direct",
      [
        ["Google", 1, "EUR 10.00 7.00"],
        ["(unattributed)", 1, "EUR 7.00 7.00"],
        ["newsletter", 1, "EUR 5.00 4.50"],
        ["Direct", 1, "JPY 1000 1000"],
      ],
    ],
    [
      "the first touch",
      "first_touch",
      [
        ["Google", 1, "EUR 10.00 7.00"],
        ["(unattributed)", 1, "EUR 7.00 7.00"],
        ["newsletter", 1, "EUR 5.00 4.50"],
        ["Direct", 1, "JPY 1000 1000"],
      ],
    ],
    // 10.00 over google, newsletter, google: 3.34, 3.33, 3.33. The refund of 3.00 follows: 1.00 each.
    [
      "equal shares",
      "linear",
      [
        ["newsletter", 1.33, "EUR 8.33 6.83"],
        ["(unattributed)", 1, "EUR 7.00 7.00"],
        ["Google", 0.67, "EUR 6.67 4.67"],
        ["Direct", 1, "JPY 1000 1000"],
      ],
    ],
  ])("credits %s", async (_, model, expected) => {
    const sorted = (rows: unknown[][]) => rows.toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))
    expect(sorted(await groups(`&attribution=${model}`))).toEqual(sorted(expected))
  })

  test("orders groups by the net of the currency with most orders, then by key", async () => {
    expect((await groups("")).map(([key]) => key)).toEqual(["(unattributed)", "Google", "newsletter", "Direct"])
  })

  test.each([
    ["channel", ["(unattributed)", "Organic Search", "Email", "Direct"]],
    ["utm_source", ["(none)", "(unattributed)", "newsletter"]],
    ["entry_page", ["/", "(unattributed)", "/offer"]],
    ["country", ["(unattributed)", "DE", "FR"]],
    ["link", ["(none)", "7"]],
    ["recurring", ["(none)", "renewal"]],
  ])("groups by %s", async (group, keys) => {
    expect((await groups(`&group_by=${group}`)).map(([key]) => key).sort()).toEqual(keys.toSorted())
  })

  test("names countries, and credits a refund to the country of its sale", async () => {
    const { breakdown } = await reported(shop, "&group_by=country")
    expect(breakdown.find(({ key }) => key === "DE")).toMatchObject({
      label: "Germany",
      by_currency: [{ net: { amount: "7.00" } }, { net: { amount: "1000" } }],
    })
  })

  test("filters by what a transaction keeps of its visit, refunds with their sale", async () => {
    const filters = encodeURIComponent(JSON.stringify([{ dimension: "country", operator: "is", values: ["DE"] }]))
    const { currencies } = await reported(shop, `&filters=${filters}`)
    expect(currencies.map(({ currency, gross, net }) => [currency, gross.amount, net.amount])).toEqual([
      ["EUR", "10.00", "7.00"],
      ["JPY", "1000", "1000"],
    ])
  })

  test("leaves out what only a browser reported", async () => {
    expect(await reported(shop)).toMatchObject({ trust: "all", unverified: true })
    const verified = await reported(shop, "&trust=verified")
    expect(verified).toMatchObject({ trust: "verified", unverified: false })
    expect(verified.currencies.map(({ currency }) => currency)).toEqual(["EUR"])
  })

  test("keeps subscription payments of one kind", async () => {
    const { currencies } = await reported(shop, "&recurring=renewal")
    expect(currencies.map(({ gross }) => gross.amount)).toEqual(["7.00"])
  })

  test("says what no visit is credited with", async () => {
    const { attribution } = await reported(shop)
    expect(attribution).toEqual({
      model: "last_touch",
      lookback: { asked: 30, effective: 1, reason: "rotating_visitor_ids" },
      unattributed: [{ currency: "EUR", net: { amount_minor: 700, currency: "EUR", amount: "7.00" }, orders: 1 }],
    })
  })

  test("converts with the rates of the sale's day, and names what has none", async () => {
    const rates = [{ day: "2026-11-06", base: "EUR", quote: "JPY", rate: "160" }]
    expect((await shop.send("PUT", "/revenue/rates", { rates })).status).toBe(200)
    const inYen = await reported(shop, "&currency=JPY")
    // The sale of 2 November is before the only rate, that of the 4th as well; 7.00 on the 7th is 1,120 yen.
    expect(inYen.base).toMatchObject({
      currency: "JPY",
      gross: { amount: "2120" },
      net: { amount: "2120" },
      orders: 2,
      complete: false,
      unconverted: [{ currency: "EUR", amount: { amount: "11.50" }, orders: 2 }],
    })
    expect(inYen.meta.rate_missing).toMatchObject({
      total: 2,
      days: [
        { day: "2026-11-04", currency: "EUR", amount: { amount_minor: 450, currency: "EUR", amount: "4.50" }, orders: 1 },
        { day: "2026-11-02", currency: "EUR", amount: { amount_minor: 700, currency: "EUR", amount: "7.00" }, orders: 1 },
      ],
    })
    const inEuro = await reported(shop, "&currency=base")
    // 1,000 yen are 6.25 euros.
    expect(inEuro.base).toMatchObject({ gross: { amount: "28.25" }, complete: true, unconverted: [] })
    expect(inEuro.timeseries.every(({ by_currency }) => by_currency.length === 1)).toBe(true)
  })

  test("downloads all groups as CSV", async () => {
    const answer = await shop.instance.fetch(
      new Request("http://localhost/api/private/sites/1/revenue/report.csv?from=2026-11-01&to=2026-11-30&limit=1", { headers: shop.admin }),
    )
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="revenue-1-2026-11-01-2026-11-26.csv"')
    expect((await answer.text()).split("\r\n").slice(0, 3)).toEqual([
      "key,label,visitors,conversion_rate,currency,orders,gross,refunds,net,aov,share",
      '"(unattributed)","Unattributed",,,"EUR",1,7.00,0.00,7.00,7.00,31.8',
      '"Google",,0,,"EUR",1,10.00,3.00,7.00,10.00,45.5',
    ])
  })

  test.each([
    ["an unknown group", "&group_by=page", "/group_by", "invalid_choice"],
    ["an unknown currency", "&currency=XXX", "/currency", "unknown_currency"],
    ["an unknown model", "&attribution=markov", "/attribution", "invalid_choice"],
    ["too many groups", "&limit=501", "/limit", "out_of_range"],
    ["periods without cohorts", "&periods=3", "/periods", "unsupported_combination"],
    ["too many periods", "&cohort_by=month&periods=37", "/periods", "out_of_range"],
    ["groups by cohort without one", "&group_by=cohort", "/group_by", "unsupported_combination"],
    ["an unknown argument", "&colour=red", "/colour", "unknown_field"],
    ["a time zone", "&timezone=UTC", "/timezone", "unknown_field"],
    ["a filter on pages", `&filters=${encodeURIComponent('[{"dimension":"page","values":["/"]}]')}`, "/filters", "unsupported_filter"],
    ["a reversed comparison", "&compare=custom&compare_from=2026-10-02&compare_to=2026-10-01", "/compare_from", "invalid_range"],
  ])("rejects %s", async (_, query, pointer, code) => {
    const { status, body } = await shop.get(`/revenue/report?from=2026-11-01&to=2026-11-30${query}`)
    expect({ status, errors: (body as { errors: { pointer: string; code: string }[] }).errors }).toMatchObject({
      status: 400,
      errors: [{ pointer, code }],
    })
  })
})

test("keeps the gross of a month when an order is refunded in the next one, unless refunds are booked with their order", async () => {
  const shop = await shopWith([
    { at: "2026-10-20T10:00:00Z", amount: 2500 },
    { at: "2026-11-10T10:00:00Z", amount: 2500, type: "refund", of: 0 },
  ])
  const figures = async (range: string) => {
    const { body } = await shop.get(`/revenue/report?${range}`)
    return (body as ReportResponse).currencies.map(({ gross, refunds, orders, refunded_orders }) => [
      gross.amount,
      refunds.amount,
      orders,
      refunded_orders,
    ])
  }
  const [october, november] = ["from=2026-10-01&to=2026-10-31", "from=2026-11-01&to=2026-11-26"]
  expect(await figures(october)).toEqual([["25.00", "0.00", 1, 0]])
  expect(await figures(november)).toEqual([["0.00", "25.00", 0, 1]])
  expect(await figures(`${october}&refund_basis=order_date`)).toEqual([["25.00", "25.00", 1, 1]])
  expect(await figures(`${november}&refund_basis=order_date`)).toEqual([])
})

test("adds up products and what no item states", async () => {
  const shop = await shopWith([
    {
      at: "2026-11-02T10:00:00Z",
      amount: 3000,
      items: [
        { sku: "A1", name: "Mug", category: "Kitchen", quantity: 2, total_minor: 1000 },
        { sku: "B2", name: "Shirt", quantity: 1, total_minor: 1500 },
      ],
    },
    { at: "2026-11-03T10:00:00Z", amount: 1000, items: [{ sku: "A1", name: "Mug", category: "Kitchen", quantity: 2, total_minor: 1000 }] },
    { at: "2026-11-04T10:00:00Z", amount: 500, type: "refund", of: 1, items: [{ name: "Mug", quantity: 1, total_minor: 500 }] },
    { at: "2026-11-05T10:00:00Z", amount: 800 },
  ])
  const products = async (group: string) =>
    (
      (await shop.get(`/revenue/products?from=2026-11-01&to=2026-11-26&group_by=${group}`)).body as {
        data: Record<string, { amount: string }>[]
      }
    ).data.map(({ key, quantity, gross, refunds, orders }) => [key, quantity, gross!.amount, refunds!.amount, orders])
  expect(await products("name")).toEqual<unknown[]>([
    ["Mug", 4, "20.00", "5.00", 2],
    ["Shirt", 1, "15.00", "0.00", 1],
    // 5.00 of the first order, and an order without items.
    ["(none)", 0, "13.00", "0.00", 1],
  ])
  expect(await products("category")).toEqual<unknown[]>([
    ["(none)", 1, "28.00", "5.00", 2],
    ["Kitchen", 4, "20.00", "0.00", 2],
  ])
  const { breakdown } = await reported(shop, "&group_by=product")
  expect(breakdown.map(({ key, orders, visitors, by_currency }) => [key, orders, visitors, by_currency[0]!.net.amount])).toEqual([
    ["Mug", 2, null, "15.00"],
    ["Shirt", 1, null, "15.00"],
    ["(none)", 1, null, "13.00"],
  ])
})
