import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { sql } from "#plugin"
import type { ReportResponse } from "../report/responses.ts"
import { enter } from "./books.ts"
import { startShop } from "./kit.ts"

setDefaultTimeout(60_000)

/** Every active currency, by its number of decimals. */
const CURRENCIES = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  2: `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP
    DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD
    LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD
    SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD YER ZAR ZMW
    BOV CHE CHW COU MXV USN VED XAD XCG ZWG`,
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
} as const

/** The number in major units that is 12,345 in minor units, and one with a decimal too many. */
const AMOUNTS = { 0: ["12345", "1.5"], 2: ["123.45", "1.005"], 3: ["12.345", "1.0005"], 4: ["1.2345", "1.00005"] } as const

const rows = ([0, 2, 3, 4] as const).flatMap((decimals) =>
  CURRENCIES[decimals]
    .split(/\s+/)
    .map((currency) => ({ currency, decimals, amount: AMOUNTS[decimals][0], tooFine: AMOUNTS[decimals][1] })),
)

const shop = await startShop()
afterAll(() => shop[Symbol.asyncDispose]())

test("every active currency has its decimals in events, manual transactions, payments and the report", async () => {
  expect(rows.length).toBeGreaterThan(150)
  const at = "2026-11-26T10:00:00Z"
  await shop.sell(rows.map(({ currency, amount }) => ({ at, order: `event ${currency}`, revenue: { amount, currency } })))
  for (let start = 0; start < rows.length; start += 100) {
    const transactions = rows
      .slice(start, start + 100)
      .map(({ currency, amount }) => ({ amount, currency, occurred_at: at, order_id: `manual ${currency}` }))
    expect(await shop.send("POST", "/revenue/transactions", { transactions })).toMatchObject({ status: 201 })
  }
  const { outbox } = shop.instance.app.instance
  for (const { currency } of rows)
    await outbox.writeAlone({
      ...{ event: "internal.payment_received", organizationId: 1, siteId: 1 },
      payload: {
        ...{ version: 1, provider: "stripe", type: "sale", external_id: `pi_${currency}`, aliases: [], order_id: `payment ${currency}` },
        ...{ amount_minor: 12345, currency, occurred_at: at },
      },
    })
  await shop.sell([])
  const found = new Map<string, object[]>()
  for (let cursor = ""; cursor !== "null"; ) {
    const { body } = await shop.get(`/revenue/transactions?limit=200${cursor && `&cursor=${cursor}`}`)
    const page = body as { data: { order_id: string; amount: { currency: string } }[]; next_cursor: string | null }
    for (const { order_id, amount } of page.data) found.set(amount.currency, [...(found.get(amount.currency) ?? []), { order_id, amount }])
    cursor = String(page.next_cursor)
  }
  for (const { currency, amount } of rows)
    expect(found.get(currency)!.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual(
      ["event", "manual", "payment"].map((way) => ({
        order_id: `${way} ${currency}`,
        amount: { amount_minor: 12345, currency, amount },
      })),
    )
  const { body } = await shop.get("/revenue/report?from=2026-11-26&to=2026-11-26")
  const { currencies } = body as ReportResponse
  const sums = new Map(currencies.map(({ currency, gross }) => [currency, gross]))
  expect(sums.size).toBe(rows.length)
  for (const { currency, decimals } of rows) {
    const sum = decimals === 0 ? "37035" : `${"37035".slice(0, -decimals)}.${"37035".slice(-decimals)}`.replace(/^\./, "0.")
    expect(sums.get(currency)).toEqual({ amount_minor: 37035, currency, amount: sum })
  }
})

/** Number of faults that one answer names. */
const FAULTS = 20

test("no currency takes a decimal too many", async () => {
  for (let start = 0; start < rows.length; start += FAULTS) {
    const slice = rows.slice(start, start + FAULTS)
    const transactions = slice.map(({ currency, tooFine }) => ({ amount: tooFine, currency, occurred_at: "2026-11-26T10:00:00Z" }))
    const { status, body } = await shop.send("POST", "/revenue/transactions", { transactions })
    const { errors } = body as { errors: { code: string }[] }
    expect({ status, codes: errors.map(({ code }) => code) }).toEqual({ status: 422, codes: slice.map(() => "too_many_decimals") })
  }
})

/** Largest amount of a transaction, in minor units. A million of them are 10^21. */
const LARGEST = 10 ** 15
const SALES = 100
const COPIES = 10_000

test("sums near 10^21 minor units are exact, with 0, 2, 3 and 4 decimals", async () => {
  await using large = await startShop()
  const at = "2026-11-20T10:00:00Z"
  const currencies = ["JPY", "EUR", "KWD", "CLF"]
  await enter(
    large,
    currencies.flatMap((currency) => [
      ...Array.from({ length: SALES }, () => ({ at, currency, amount: LARGEST })),
      { at, currency, amount: 7 },
      { at, currency, amount: LARGEST - 1, type: "refund" as const },
    ]),
  )
  // The packed rows are copied instead of entering millions of transactions.
  await large.instance.rows(({ run, get }) => {
    const { chunk } = get<{ chunk: number }>(sql`select chunk from revenue_chunks where site_id = 1`)!
    run(sql`with recursive copies (n) as (select 1 union all select n + 1 from copies where n < ${COPIES - 1})
      insert into revenue_chunks select site_id, chunk + n, min_at, max_at, min_sale_at, max_sale_at, currencies, rows, items
      from revenue_chunks, copies where chunk = ${chunk}`)
  })
  const { body } = await large.get("/revenue/report?from=2026-11-20&to=2026-11-20")
  const [gross, refunds] = [BigInt(COPIES) * (BigInt(SALES) * BigInt(LARGEST) + 7n), BigInt(COPIES) * BigInt(LARGEST - 1)]
  const text = (minor: bigint, decimals: number) =>
    decimals === 0 ? `${minor}` : `${String(minor).slice(0, -decimals)}.${String(minor).slice(-decimals)}`
  for (const [i, decimals] of [0, 2, 3, 4].entries()) {
    const found = (body as ReportResponse).currencies.find(({ currency }) => currency === currencies[i])!
    expect([found.gross.amount, found.refunds.amount]).toEqual([text(gross, decimals), text(refunds, decimals)])
    // Beyond 2^53 an amount has no number of minor units.
    expect(found.gross.amount_minor).toBeNull()
  }
})
