import { afterAll, expect, test } from "bun:test"
import { startShop } from "./kit.ts"

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

test("every active currency has its decimals in events, manual transactions and payments", async () => {
  expect(rows.length).toBeGreaterThan(150)
  const at = "2026-11-26T10:00:00Z"
  await shop.sell(rows.map(({ currency, amount }) => ({ at, order: `event ${currency}`, revenue: { amount, currency } })))
  for (let start = 0; start < rows.length; start += 100) {
    const transactions = rows
      .slice(start, start + 100)
      .map(({ currency, amount }) => ({ amount, currency, occurred_at: at, order_id: `manual ${currency}` }))
    expect(await shop.send("POST", "/revenue/transactions", { transactions })).toMatchObject({ status: 201 })
  }
  for (const { currency, amount } of rows) {
    const { body } = await shop.get(`/revenue/transactions?currency=${currency}`)
    const found = (body as { data: { order_id: string; amount: object }[] }).data.map(({ order_id, amount }) => ({ order_id, amount }))
    expect(found.sort((a, b) => a.order_id.localeCompare(b.order_id))).toEqual([
      { order_id: `event ${currency}`, amount: { amount_minor: 12345, currency, amount } },
      { order_id: `manual ${currency}`, amount: { amount_minor: 12345, currency, amount } },
    ])
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
