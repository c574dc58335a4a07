import { describe, expect, test } from "bun:test"
import { type AnyPlugin, definePlugin } from "#plugin"
import type { ImportResponse, PreviewResponse } from "../responses.ts"
import { run, startByHand } from "./by-hand.ts"
import { type ImportStage, PATH, startImports } from "./kit.ts"
import { contentOf, filesOf } from "./stores.ts"

/** From the file of an export to the report of revenue. */

type Row = Readonly<Record<string, unknown>>
const micros = (time: string) => `${Date.parse(`${time}Z`)}002`

function bigQueryRow(event_name: string, time: string, { order = "", ecommerce = {} }: { order?: string; ecommerce?: Row }): Row {
  const params = { page_location: "https://shop.example/thanks", ga_session_id: "1", currency: "EUR" }
  const event_params = Object.entries(params).map(([key, string_value]) => ({ key, value: { string_value } }))
  const paid = { ...(order !== "" && { transaction_id: order }), ...ecommerce }
  return { event_name, event_timestamp: micros(time), user_pseudo_id: "1.2", event_params, ecommerce: paid }
}
const sold = (time: string, order: string, amount: number) =>
  bigQueryRow("purchase", time, { order, ecommerce: { purchase_revenue: amount } })
const refunded = (time: string, order: string, amount: unknown) =>
  bigQueryRow("refund", time, { order, ecommerce: { refund_value: amount } })

const bigQuery = (rows: readonly Row[], more: object = {}) => ({
  source: "ga4_bigquery",
  files: [{ name: "events.json", content: JSON.stringify(rows) }],
  ...more,
})

const ROWS = [
  sold("2026-10-01T10:00:00", "A", 50),
  sold("2026-10-01T11:00:00", "B", 20.5),
  refunded("2026-10-02T09:00:00", "A", 10),
  refunded("2026-10-03T09:00:00", "B", 20.5),
  refunded("2026-10-03T09:30:00", "", "1.25"),
]

/** Lets consumers and jobs do what waits. */
async function settle({ instance }: Pick<ImportStage, "instance">): Promise<void> {
  for (let round = 0; round < 3; round++) {
    instance.clock.advance(2_000)
    await instance.runJobs()
  }
}

/** Returns gross, refunds and orders with refunds of a range in EUR, as the report of revenue has them. */
async function revenueOf({ instance, headers }: Pick<ImportStage, "instance" | "headers">, from = "2026-09-01", to = "2026-10-31") {
  const { status, body } = await instance.api.get(`/api/private/sites/1/revenue/report?from=${from}&to=${to}`, undefined, headers)
  if (status !== 200) throw new Error(JSON.stringify(body))
  const { currencies } = body as { currencies: { gross: Money; refunds: Money; net: Money; orders: number; refunded_orders: number }[] }
  const [first] = currencies
  if (!first) return "nothing"
  const { gross, refunds, net, orders, refunded_orders } = first
  return `${gross.amount} - ${refunds.amount} = ${net.amount}, ${refunded_orders} of ${orders} orders`
}
interface Money {
  amount: string
}

const started = async (options: object = {}): Promise<ImportStage> => {
  const stage = await startImports({ isWhole: true, now: "2026-11-26T12:00:00Z", ...options })
  await settle(stage) // consumers receive the events from their first delivery on
  return stage
}

describe("refunds of a BigQuery export", () => {
  test("count in the revenue of their day and belong to their order, as the preview says", async () => {
    await using stage = await started()
    const preview = (await stage.post("/preview", bigQuery(ROWS))).body as PreviewResponse
    expect(preview.rows).toEqual({ read: 5, accepted: 5, rejected: 0, skipped: 0 })
    expect(preview.totals).toMatchObject({ events: 2, revenue: [{ currency: "EUR", amount: "38.75" }] })
    expect(preview.overlap).toMatchObject({ days_total: 3, days_effective: 3 })
    const done = await stage.run(bigQuery(ROWS, { preview_hash: preview.preview_hash }))
    expect(done).toMatchObject({ state: "completed", rows: { imported: 5 }, totals: preview.totals, date_end: "2026-10-03" })
    await settle(stage)
    expect(await revenueOf(stage)).toBe("70.50 - 31.75 = 38.75, 2 of 2 orders")
    expect(await revenueOf(stage, "2026-10-02", "2026-10-02")).toBe("0.00 - 10.00 = -10.00, 1 of 0 orders")
    const { body } = await stage.instance.api.get("/api/private/sites/1/revenue/transactions?type=refund", undefined, stage.headers)
    const found = (body as { data: { external_id: string; parent_id: number | null; amount: Money }[] }).data
    expect(found.map(({ external_id, parent_id, amount }) => [external_id, parent_id !== null, amount.amount])).toEqual([
      [`import:1::${micros("2026-10-03T09:30:00")}`, false, "1.25"],
      [`import:1:B:${micros("2026-10-03T09:00:00")}`, true, "20.50"],
      [`import:1:A:${micros("2026-10-02T09:00:00")}`, true, "10.00"],
    ])
    expect(filesOf(stage.instance.dataDir).filter((name) => name.startsWith("staging"))).toEqual([])
  })

  test("are hidden, shown and undone with their import", async () => {
    await using stage = await started()
    await stage.run(bigQuery(ROWS))
    await settle(stage)
    const all = await revenueOf(stage)
    await stage.send("PATCH", "/1", { enabled: false })
    await settle(stage)
    expect(await revenueOf(stage)).toBe("nothing")
    await stage.send("PATCH", "/1", { enabled: true })
    await settle(stage)
    expect(await revenueOf(stage)).toBe(all)
    await stage.post("/1/undo")
    await settle(stage)
    expect(await revenueOf(stage)).toBe("nothing")
    expect(contentOf(stage.instance).rows).toMatchObject({ "events.db revenue_transactions": 0 })
  })

  test("count once when two imports report them, whichever is hidden", async () => {
    await using stage = await started()
    await stage.run(bigQuery(ROWS))
    await stage.run(bigQuery(ROWS, { force: true }))
    await settle(stage)
    const once = "70.50 - 31.75 = 38.75, 2 of 2 orders"
    expect(await revenueOf(stage)).toBe(once)
    await stage.send("PATCH", "/1", { enabled: false })
    await settle(stage)
    expect(await revenueOf(stage)).toBe(once)
    await stage.send("PATCH", "/1", { enabled: true })
    await stage.post("/2/undo")
    await settle(stage)
    expect(await revenueOf(stage)).toBe(once)
    await stage.post("/1/undo")
    await settle(stage)
    expect(await revenueOf(stage)).toBe("nothing")
  })

  test("are left out on the days of native data, by a filter, if they are repeated, and without a valid amount", async () => {
    await using stage = await started({ now: "2026-10-02T12:00:00Z" })
    await stage.instance.collect({ n: "pageview", u: "https://shop.example/", d: stage.instance.site.tracking_id })
    const rows = [...ROWS.slice(0, 3), ROWS[0]!, refunded("2026-09-30T09:00:00", "A", 1), refunded("2026-09-30T09:00:00", "A", 1)]
    rows.push(
      refunded("2026-09-30T08:00:00", "A", null),
      refunded("2026-09-30T08:00:00", "A", 0.001),
      refunded("2026-09-01T08:00:00", "A", 5),
    )
    const done = await stage.run(bigQuery(rows, { options: { from: "2026-09-15" } }))
    expect(done.skip_reasons).toEqual({ native: 1, repeated_row: 1, revenue_invalid: 2, filtered: 1 })
    expect(done.rows).toMatchObject({ read: 9, imported: 4, skipped: 5 })
    await settle(stage)
    expect(await revenueOf(stage)).toBe("70.50 - 1.00 = 69.50, 1 of 2 orders")
  })

  test("follow their import into a new time zone of the site", async () => {
    await using stage = await started()
    await stage.run(bigQuery([...ROWS, refunded("2026-10-04T22:30:00", "A", 2)]))
    await settle(stage)
    expect(((await stage.get("/1")).body as ImportResponse).days).toMatchObject([
      { from: "2026-10-01", to: "2026-10-03" },
      { from: "2026-10-05" },
    ])
    await stage.instance.app.instance.sites.update(1, { timezone: "UTC" })
    stage.instance.clock.advance(60_000)
    await settle(stage)
    expect(((await stage.get("/1")).body as ImportResponse).days).toMatchObject([{ from: "2026-10-01", to: "2026-10-04" }])
    expect(await revenueOf(stage, "2026-10-04", "2026-10-04")).toBe("0.00 - 2.00 = -2.00, 1 of 0 orders")
  })

  test("are gone after a reset of the site, also those that were not received yet", async () => {
    await using stage = await started()
    await stage.run(bigQuery(ROWS))
    await stage.instance.app.hooks.onVisitsErase(1, { all: true })
    await settle(stage)
    const { body } = await stage.instance.api.get("/api/private/sites/1/revenue/transactions", undefined, stage.headers)
    expect(body).toMatchObject({ data: [] })
    expect(await revenueOf(stage)).toBe("nothing")
  })

  test("are rows of a type that is not imported if no area takes them", async () => {
    await using stage = await startImports({ now: "2026-11-26T12:00:00Z" })
    expect(await stage.run(bigQuery(ROWS))).toMatchObject({
      skip_reasons: { not_imported_type: 3 },
      totals: { revenue: [{ currency: "EUR", amount: "70.50" }] },
    })
  })
})

describe("the publication of refunds", () => {
  const REFUNDS = 1_200
  const rows = [
    sold("2026-10-01T10:00:00", "A", 50),
    ...Array.from({ length: REFUNDS }, (_, at) => refunded(`2026-10-02T09:${String(at % 60).padStart(2, "0")}:00`, `A${at}`, 1)),
  ]

  /** A plugin that notes the payments and the undone imports that it receives. */
  function taker(received: string[]): AnyPlugin {
    const consume = async ({ event, payload }: { event: string; payload: unknown }) =>
      void received.push(event === "import.undone" ? event : (payload as { external_id: string }).external_id)
    return definePlugin({
      id: "taker",
      title: "Taker",
      paths: {},
      setup: () => ({ consumers: { "take-payments": { events: ["internal.payment_received", "import.undone"], consume } } }),
    })
  }

  /** Ends the process when the slice with this number is published. */
  async function interruptedAt(slice: number) {
    const [received, abort]: [string[], AbortController] = [[], new AbortController()]
    let left = Number.POSITIVE_INFINITY
    const stage = await startByHand(
      (action) => {
        if (action !== "internal.payment_received" || --left > 0) return
        left = Number.POSITIVE_INFINITY
        abort.abort(new Error("The process stops."))
        throw abort.signal.reason
      },
      [taker(received)],
    )
    await stage.instance.runJobs()
    await stage.instance.api.post(PATH, bigQuery(rows), undefined, stage.headers)
    left = slice
    await expect(run(stage.runs, 1, undefined, abort)).rejects.toThrow("The process stops.")
    return { stage, received, [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose]() }
  }

  test.each([1, 2, 3])("continues after an interruption of slice %d, and reports each refund once", async (slice) => {
    await using at = await interruptedAt(slice)
    const { stage, received } = at
    expect(await stage.instance.api.get(`${PATH}/1`, undefined, stage.headers)).toMatchObject({ body: { state: "completed" } })
    await run(stage.runs, 1)
    await stage.instance.app.instance.outbox.deliver()
    expect([received.length, new Set(received).size]).toEqual([REFUNDS, REFUNDS])
    expect(filesOf(stage.instance.dataDir).filter((name) => name.startsWith("staging"))).toEqual([])
  })

  test("ends with an undo, whose event comes after all refunds", async () => {
    await using at = await interruptedAt(2)
    const { stage, received } = at
    await stage.instance.api.post(`${PATH}/1/undo`, undefined, undefined, stage.headers)
    await run(stage.runs, 1)
    await stage.instance.runJobs()
    expect([received.length, received.at(-1)]).toEqual([501, "import.undone"])
    expect(filesOf(stage.instance.dataDir).filter((name) => name.startsWith("staging"))).toEqual([])
  })
})

describe("negative amounts", () => {
  const umami = {
    source: "umami",
    files: [
      {
        name: "website_event.csv",
        content: `event_id,website_id,session_id,visit_id,created_at,event_type,url_path,event_name
e1,w,s1,v1,2026-10-01 10:00:00,2,/thanks,purchase
e2,w,s1,v1,2026-10-01 10:05:00,2,/refund,refund
`,
      },
      {
        name: "event_data.csv",
        content: `website_id,session_id,event_id,data_key,string_value,number_value,date_value,data_type,created_at
w,s1,e1,order_id,A,,,1,2026-10-01 10:00:00
w,s1,e2,order_id,A,,,1,2026-10-01 10:05:00
`,
      },
      {
        name: "revenue.csv",
        content: `revenue_id,website_id,session_id,event_id,event_name,currency,revenue,created_at
r1,w,s1,e1,purchase,EUR,50.0000,2026-10-01 10:00:00
r2,w,s1,e2,refund,EUR,-10.0000,2026-10-01 10:05:00
`,
      },
    ],
  }
  const csv = {
    source: "csv_generic",
    files: [
      {
        name: "sales.csv",
        content: `Time,Path,V,Event,Amount,Currency,Order
2026-10-01T10:00:00Z,/,v,purchase,50,EUR,A
2026-10-01T10:05:00Z,/,v,refund,-10,EUR,A
`,
      },
    ],
    options: {
      mapping: {
        ...{ timestamp: "Time", path: "Path", visitor_id: "V", event_name: "Event", revenue: "Amount", currency: "Currency" },
        props: { order_id: "Order" },
      },
    },
  }
  const action = (more: object) => ({ url: "https://shop.example/thanks", ...more })
  const matomo = {
    source: "matomo",
    files: [
      {
        name: "visits.json",
        content: JSON.stringify([
          {
            ...{ idVisit: "1", visitorId: "0011223344556677", serverTimestamp: 1790848800, firstActionTimestamp: 1790848800 },
            siteCurrency: "EUR",
            actionDetails: [
              action({ type: "ecommerceOrder", timestamp: 1790848800, orderId: "A", revenue: "50" }),
              action({ type: "ecommerceOrder", timestamp: 1790849100, orderId: "A", revenue: "-10" }),
            ],
          },
        ]),
      },
    ],
  }
  const bigQueryPurchase = bigQuery([sold("2026-10-01T10:00:00", "A", 50), sold("2026-10-01T10:05:00", "A", -10)])

  test.each([
    ["Umami", umami],
    ["CSV", csv],
    ["Matomo", matomo],
    ["BigQuery", bigQueryPurchase],
  ])("of %s are refunds of their order, hidden and undone with the import", async (_, body) => {
    await using stage = await started()
    expect(await stage.run(body)).toMatchObject({ state: "completed", totals: { revenue: [{ currency: "EUR", amount: "40.00" }] } })
    await settle(stage)
    const whole = "50.00 - 10.00 = 40.00, 1 of 1 orders"
    expect(await revenueOf(stage)).toBe(whole)
    await stage.send("PATCH", "/1", { enabled: false })
    await settle(stage)
    expect(await revenueOf(stage)).toBe("nothing")
    await stage.send("PATCH", "/1", { enabled: true })
    await settle(stage)
    expect(await revenueOf(stage)).toBe(whole)
    await stage.post("/1/undo")
    await settle(stage)
    expect(await revenueOf(stage)).toBe("nothing")
  })
})
