import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { bySize } from "#plugin/test"
import { packTransactions } from "../packed/chunks.ts"
import type { ReportResponse } from "../report/responses.ts"
import { type Entry, enter } from "./books.ts"
import { type Shop, startShop } from "./kit.ts"

/**
 * Random histories against a model that adds big integers over the transactions as they were written. It shares no code with the report.
 * The runs of a test share an instance.
 */
const RUNS_PER_TEST = 25
const TESTS = bySize({ check: 1, full: 40, release: 400 })
const SOURCES = ["Google", "newsletter", "Bing", undefined] as const
const DECIMALS: Record<string, bigint> = { EUR: 2n, USD: 2n, JPY: 0n, KWD: 3n, UYW: 4n }
const CURRENCIES = Object.keys(DECIMALS)
const DAY_MS = 86_400_000
const FIRST = Date.parse("2026-10-01T00:00:00Z")
/** The last local midnights before and after which transactions are in the range. */
const FROM = Date.parse("2026-10-10T22:00:00Z")
const TO = Date.parse("2026-11-20T23:00:00Z")
const RANGE = "from=2026-10-11&to=2026-11-20"

type Random = (below: number) => number

function randomOf(seed: number): Random {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

/** A transaction of the model. The others of an order have the index of its sale. */
interface Booked extends Entry {
  atMs: number
  amountBig: bigint
}

function history(random: Random): Booked[] {
  const entries: Booked[] = []
  const size = 1 + random(30)
  for (let i = 0; i < size; i++) {
    const sales = entries.flatMap(({ type }, index) => (type === "sale" ? [index] : []))
    const type = sales.length > 0 ? (["sale", "sale", "refund", "dispute", "adjustment"] as const)[random(5)]! : "sale"
    const of = type !== "sale" && random(5) > 0 ? sales[random(sales.length)]! : undefined
    const amount = (type === "adjustment" && random(2) === 0 ? -1 : 1) * random(random(4) === 0 ? 1e15 : 100_000)
    const atMs = FIRST + random(60) * DAY_MS + random(DAY_MS)
    const hasVisit = random(4) > 0
    entries.push({
      ...{ type, amount, atMs, at: new Date(atMs).toISOString(), amountBig: BigInt(amount) },
      ...(of !== undefined && { of }),
      currency: of !== undefined && random(5) > 0 ? entries[of]!.currency! : CURRENCIES[random(CURRENCIES.length)]!,
      trust: (["client", "server", "webhook"] as const)[random(3)]!,
      ...(hasVisit && { visitor: random(6), dims: { country: ["DE", "FR"][random(2)]! } }),
      touches: hasVisit ? Array.from({ length: random(5) }, () => ({ ...(SOURCES[random(4)] && { source: SOURCES[random(4)]! }) })) : [],
    })
  }
  return entries
}

interface Sums {
  gross: bigint
  refunds: bigint
  net: bigint
  /** In hundredths. */
  orders: bigint
}

const text = (minor: bigint, currency: string): string => {
  const decimals = Number(DECIMALS[currency]!)
  const digits = `${minor < 0n ? -minor : minor}`.padStart(decimals + 1, "0")
  return `${minor < 0n ? "-" : ""}${decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`}`
}

const shown = (all: ReadonlyMap<string, Sums>): Record<string, string[]> =>
  Object.fromEntries(
    [...all].map(([key, { gross, refunds, net, orders }]) => {
      const currency = key.slice(-3)
      return [key, [text(gross, currency), text(refunds, currency), text(net, currency), String(Number(orders) / 100)]]
    }),
  )

function add(all: Map<string, Sums>, key: string, type: Entry["type"], amount: bigint, orders: bigint): void {
  const sums = all.get(key) ?? { gross: 0n, refunds: 0n, net: 0n, orders: 0n }
  all.set(key, sums)
  if (type === "sale") sums.gross += amount
  if (type === "refund" || type === "dispute") sums.refunds += amount
  sums.net += type === "refund" || type === "dispute" ? -amount : amount
  if (type === "sale") sums.orders += orders
}

/** The price of one euro, by currency, on every day from a day on. */
type Prices = ReadonlyMap<string, { since: number; until: number; price: bigint }>

/** Euros in cents, rounded half to even; undefined without a price on the day of the sale. */
function inCents({ amountBig, currency }: Booked, saleAt: number, prices: Prices): bigint | undefined {
  if (currency === "EUR") return amountBig
  const known = prices.get(currency!)
  if (!known || saleAt < known.since || saleAt >= known.until) return undefined
  // The price has four decimals.
  const [dividend, divisor] = [amountBig * 10n ** 2n * 10_000n, known.price * 10n ** DECIMALS[currency!]!]
  const size = dividend < 0n ? -dividend : dividend
  let cents = size / divisor
  const rest = size % divisor
  if (2n * rest > divisor || (2n * rest === divisor && cents % 2n === 1n)) cents++
  return dividend < 0n ? -cents : cents
}

/** Sources that a model credits, in order. */
function credited(entry: Booked, model: string): (string | undefined)[] {
  if (entry.visitor === undefined) return ["(unattributed)"]
  const all = (entry.touches ?? []).map(({ source }) => source)
  const sourced = all.filter((source) => source !== undefined)
  const last = all.at(-1)
  if (model === "last_touch_direct") return [last]
  if (sourced.length === 0) return [undefined]
  if (model === "first_touch") return [sourced[0]]
  return model === "linear" ? sourced : [sourced.at(-1)]
}

const MODELS = ["last_touch", "last_touch_direct", "first_touch", "linear"]

async function write(shop: Shop, entries: readonly Booked[], random: Random): Promise<void> {
  const { people } = shop.instance.app.instance
  await shop.instance.rows(({ run }) => {
    run(sql`delete from revenue_transactions`)
    run(sql`delete from revenue_chunks`)
  })
  const ids = await enter(shop, entries)
  // Some are written once more with another amount, and then with their own again: the packed rows follow.
  const numberer = await people.numberer(1)
  const again = ids.filter(() => random(4) === 0)
  for (const change of [1, -1])
    await shop.instance.rows((rows) => {
      for (const id of again) rows.run(sql`update revenue_transactions set amount_minor = amount_minor + ${change} where id = ${id}`)
      packTransactions(rows, 1, again, numberer)
    })
}

const firstRuns = Array.from({ length: TESTS }, (_, index) => index * RUNS_PER_TEST)
test.each(firstRuns)(
  `agrees with big integers over ${RUNS_PER_TEST} random histories, from number %d on`,
  async (first) => {
    await using shop = await startShop({ now: "2026-12-10T12:00:00Z" })
    for (let run = first; run < first + RUNS_PER_TEST; run++) {
      const random = randomOf(run * 7_919 + 17)
      // The number of requests in a second is limited.
      shop.instance.clock.advance(1_000)
      const entries = history(random)
      await write(shop, entries, random)
      const prices = new Map(
        ["USD", "JPY", "KWD"].map((currency) => {
          const day = 20 + random(30)
          // Local midnight in Berlin, which is at 22:00 or 23:00 UTC.
          const midnight = (days: number) =>
            Temporal.PlainDate.from("2026-10-01").add({ days }).toZonedDateTime("Europe/Berlin").epochMilliseconds
          // Clocks go back in between, so that 8 days are an hour longer.
          return [currency, { since: midnight(day), until: midnight(day + 8), price: 1n + BigInt(random(2_000_000)), day }] as const
        }),
      )
      await shop.instance.rows(({ run: execute }) => {
        execute(sql`delete from revenue_rates`)
        for (const [currency, { price, day }] of prices)
          execute(sql`insert into revenue_rates (site_id, day, base, quote, rate, source)
          values (1, ${Temporal.PlainDate.from("2026-10-01").add({ days: day }).toString()}, 'EUR', ${currency}, ${text4(price)}, 'manual')`)
      })
      const model = MODELS[random(4)]!
      const byOrder = random(2) === 0
      const isVerified = random(3) === 0
      const query = `${RANGE}&attribution=${model}&refund_basis=${byOrder ? "order_date" : "refund_date"}&trust=${isVerified ? "verified" : "all"}`
      const expected = {
        currencies: new Map<string, Sums>(),
        base: new Map<string, Sums>(),
        groups: new Map<string, Sums>(),
        missing: new Map<string, Sums>(),
      }
      for (const entry of entries) {
        const sale = entry.of === undefined ? entry : entries[entry.of]!
        const bookedAt = byOrder ? sale.atMs : entry.atMs
        if (bookedAt < FROM || bookedAt >= TO || (isVerified && entry.trust === "client")) continue
        add(expected.currencies, entry.currency!, entry.type, entry.amountBig, 100n)
        const cents = inCents(entry, sale.atMs, prices)
        if (cents === undefined) {
          add(expected.missing, entry.currency!, entry.type, entry.amountBig, 100n)
          continue
        }
        add(expected.base, "EUR", entry.type, cents, 100n)
        const sources = credited(sale, model)
        const count = BigInt(sources.length)
        sources.forEach((source, i) => {
          const size = cents < 0n ? -cents : cents
          const share = size / count + (BigInt(i) < size % count ? 1n : 0n)
          const orders = 100n / count + (BigInt(i) < 100n % count ? 1n : 0n)
          add(expected.groups, `${source ?? "Direct"} EUR`, entry.type, cents < 0n ? -share : share, orders)
        })
      }
      const each = (await shop.get(`/revenue/report?${query}`)).body as ReportResponse
      const base = (await shop.get(`/revenue/report?${query}&currency=EUR&limit=500`)).body as ReportResponse
      const found = {
        currencies: figures(each.currencies),
        base:
          base.base!.orders === 0 && base.base!.net.amount === "0.00" && base.base!.gross.amount === "0.00" ? {} : figures([base.base!]),
        groups: Object.fromEntries(
          base.breakdown.flatMap(({ key, orders, by_currency }) =>
            by_currency.map(({ gross, refunds, net }) => [`${key} EUR`, [gross.amount, refunds.amount, net.amount, String(orders)]]),
          ),
        ),
        missing: Object.fromEntries(
          base.base!.unconverted.map(({ currency, amount, orders }) => [currency, [amount.amount, String(orders)]]),
        ),
      }
      const wanted = shown(expected.base)
      expect({ run, query, ...found }).toEqual({
        ...{ run, query },
        currencies: shown(expected.currencies),
        base: Object.values(wanted).some(([gross, , net, orders]) => gross !== "0.00" || net !== "0.00" || orders !== "0") ? wanted : {},
        groups: shown(expected.groups),
        missing: Object.fromEntries(
          Object.entries(shown(expected.missing)).map(([currency, [, , net, orders]]) => [currency, [net!, orders!]]),
        ),
      })
      // The buckets add up to the figures.
      for (const { currency, gross, net } of each.currencies) {
        const sum = (figure: "gross" | "net") =>
          each.timeseries.reduce(
            (all, { by_currency }) => all + minor(by_currency.find((one) => one.currency === currency)![figure].amount),
            0n,
          )
        expect([sum("gross"), sum("net")]).toEqual([minor(gross.amount), minor(net.amount)])
      }
    }
  },
  300_000,
)

const text4 = (price: bigint): string => {
  const digits = `${price}`.padStart(5, "0")
  return `${digits.slice(0, -4)}.${digits.slice(-4)}`
}

const minor = (amount: string): bigint => BigInt(amount.replace(".", ""))

const figures = (list: readonly Pick<ReportResponse["currencies"][number], "currency" | "gross" | "refunds" | "net" | "orders">[]) =>
  Object.fromEntries(
    list.map(({ currency, gross, refunds, net, orders }) => [currency, [gross.amount, refunds.amount, net.amount, String(orders)]]),
  )
