/**
 * Random histories of what removes revenue: imports that are hidden, shown and undone, erasure of people and by filter, retention and a
 * reset, in any order. After each step the report is compared with a model that adds big integers and knows nothing of how it is stored.
 */
import { expect, setDefaultTimeout, test } from "bun:test"
import { bySize, SEED } from "#plugin/test"
import type { ReportResponse } from "../report/responses.ts"
import { finish, type Shop, startShop } from "./kit.ts"

setDefaultTimeout(300_000)
const HISTORIES = bySize({ check: 2, full: 40, release: 1_000 })
const STEPS = 12
const RANGE = "from=2026-09-01&to=2026-11-26"
const CURRENCIES = ["EUR", "JPY"] as const
const PAGES = ["/a", "/b", "/c"] as const
/** Imports are of days before, native orders of days after the cutoff of a retention of 30 days. */
const RETENTION_DAYS = 30

interface Sale {
  order: string
  user: string
  page: string
  isFromGoogle: boolean
  currency: (typeof CURRENCIES)[number]
  /** Of the tracked event, undefined once it is erased. */
  tracked: bigint | undefined
  paid: bigint | undefined
  refunded: bigint
  isAttributed: boolean
}

interface Import {
  id: number
  minor: bigint
  isShown: boolean
}

/** Returns whole numbers below a limit, the same for the same seed. */
function generator(seed: number): (limit: number) => number {
  let state = (seed + 0x9e3779b9) >>> 0
  return (limit) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
}

const decimal = (minor: bigint, currency: string): string =>
  currency === "JPY" ? `${minor}` : `${minor / 100n}.${String(minor % 100n).padStart(2, "0")}`

class Model {
  sales: Sale[] = []
  manual: bigint[] = []
  imports: Import[] = []

  /** Gross, refunds and orders by currency, and the gross that Google is credited with. */
  facts(): Record<string, unknown> {
    const counted = this.sales.filter(({ tracked, paid }) => tracked !== undefined || paid !== undefined)
    const amount = ({ tracked, paid }: Sale): bigint => paid ?? tracked ?? 0n
    const add = (amounts: readonly bigint[]) => amounts.reduce((sum, one) => sum + one, 0n)
    return Object.fromEntries(
      CURRENCIES.flatMap((currency) => {
        const own = counted.filter((sale) => sale.currency === currency)
        const others = currency === "EUR" ? [...this.manual, ...this.imports.flatMap(({ isShown, minor }) => (isShown ? [minor] : []))] : []
        const google = add(own.filter(({ isFromGoogle, isAttributed }) => isFromGoogle && isAttributed).map(amount))
        const orders = own.length + others.length
        const refunds = add(own.map(({ refunded }) => refunded))
        if (orders === 0) return []
        return [
          [
            currency,
            [add([...own.map(amount), ...others]), refunds]
              .map((minor) => decimal(minor, currency))
              .concat(decimal(google, currency), String(orders)),
          ],
        ]
      }),
    )
  }
}

async function factsOf(shop: Shop): Promise<Record<string, unknown>> {
  const { status, body } = await shop.get(`/revenue/report?${RANGE}&group_by=source`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  const { currencies, breakdown } = body as ReportResponse
  const google = breakdown.find(({ key }) => key === "Google")
  return Object.fromEntries(
    currencies.map(({ currency, gross, refunds, orders }) => {
      const credited = google?.by_currency.find((one) => one.currency === currency)?.gross.amount
      return [currency, [gross.amount, refunds.amount, credited ?? (currency === "JPY" ? "0" : "0.00"), String(orders)]]
    }),
  )
}

test.each(Array.from({ length: HISTORIES }, (_, index) => SEED * 1_000 + index))(
  "history %d of sales and removals agrees with the model",
  async (seed) => {
    const below = generator(seed)
    await using shop = await startShop({ whole: true, identified: true })
    const console = { cookie: await shop.instance.signIn({ isInstanceAdmin: true }) }
    const model = new Model()
    const log: string[] = []
    const accepted = async (sent: ReturnType<Shop["send"]>) => {
      const { status, body } = await sent
      if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)} after ${log.join(", ")}`)
      return body as { id: number; confirm: string }
    }
    let number = 0
    const steps: readonly (readonly [name: string, step: () => Promise<void>])[] = [
      ["sell", sell],
      ["sell", sell],
      ["sell", sell],
      ["pay", pay],
      ["add", add],
      ["import", importOne],
      ["toggle an import", toggle],
      ["undo an import", undo],
      ["erase a person", erasePerson],
      ["erase by page", erasePage],
      ["retain", retain],
      ["reset", reset],
    ]
    for (let step = 0; step < STEPS; step++) {
      // A reset is rare, because it ends what was built up.
      const [name, run] = step < 4 ? steps[below(6)]! : steps[below(below(4) === 0 ? 12 : 11)]!
      log.push(name)
      await run()
      await shop.sell([])
      expect({ log, facts: await factsOf(shop) }).toEqual({ log, facts: model.facts() })
    }

    async function sell(): Promise<void> {
      const [order, user] = [`O-${++number}`, `u${number}`]
      const [currency, page] = [CURRENCIES[below(2)]!, PAGES[below(3)]!]
      const isFromGoogle = below(2) === 0
      const minor = below(6) === 0 ? 10n ** 15n : BigInt(1 + below(1_000_000))
      const refunded = below(3) === 0 ? 1n + minor / 3n : 0n
      const at = (minute: number) => `2026-11-${10 + below(1) + (number % 15)}T10:0${minute}:00Z`
      const url = `https://shop.example${page}`
      const money = (amount: bigint) => ({
        amount: `${amount < 0n ? "-" : ""}${decimal(amount < 0n ? -amount : amount, currency)}`,
        currency,
      })
      await shop.sell([
        { at: at(0), user, url, ...(isFromGoogle && { referrer: "https://www.google.com/" }) },
        { at: at(1), user, url, order, revenue: money(minor) },
        ...(refunded > 0n ? [{ at: at(2), user, url, order, revenue: money(-refunded) }] : []),
      ])
      model.sales.push({ order, user, page, isFromGoogle, currency, tracked: minor, paid: undefined, refunded, isAttributed: true })
    }
    async function pay(): Promise<void> {
      const sale = model.sales[below(model.sales.length || 1)]
      if (!sale || sale.paid !== undefined || sale.tracked === undefined) return
      sale.paid = BigInt(1 + below(1_000_000))
      await shop.pay({
        ...{ version: 1, provider: "stripe", type: "sale", external_id: `pi_${sale.order}`, aliases: [], order_id: sale.order },
        ...{ amount_minor: Number(sale.paid), currency: sale.currency, occurred_at: "2026-11-25T10:00:00Z" },
      })
    }
    async function add(): Promise<void> {
      const minor = BigInt(1 + below(1_000_000))
      const manual = { amount: decimal(minor, "EUR"), currency: "EUR", occurred_at: "2026-11-20T10:00:00Z" }
      await accepted(shop.send("POST", "/revenue/transactions", manual))
      model.manual.push(minor)
    }
    async function importOne(): Promise<void> {
      const minor = BigInt(1 + below(1_000_000))
      const day = `2026-10-${String(1 + (number++ % 25)).padStart(2, "0")}`
      const content = `Time,Path,V,Event,Amount,Currency,Order\n${day}T10:00:00Z,/,v,purchase,${decimal(minor, "EUR")},EUR,I-${number}\n`
      const mapping = {
        ...{ timestamp: "Time", path: "Path", visitor_id: "V", event_name: "Event", revenue: "Amount", currency: "Currency" },
        props: { order_id: "Order" },
      }
      const body = { source: "csv_generic", files: [{ name: "sales.csv", content }], options: { mapping } }
      const { id } = await accepted(shop.send("POST", "/imports", body))
      model.imports.push({ id, minor, isShown: true })
    }
    async function toggle(): Promise<void> {
      const one = model.imports[below(model.imports.length || 1)]
      if (!one) return
      one.isShown = !one.isShown
      await accepted(shop.send("PATCH", `/imports/${one.id}`, { enabled: one.isShown }))
    }
    async function undo(): Promise<void> {
      const [one] = model.imports.splice(below(model.imports.length || 1), 1)
      if (one) await accepted(shop.send("POST", `/imports/${one.id}/undo`))
    }
    async function erasePerson(): Promise<void> {
      const sale = model.sales[below(model.sales.length || 1)]
      if (!sale || sale.tracked === undefined || !sale.isAttributed) return
      await accepted(shop.send("POST", "/people/erase", { user_id: sale.user, confirm: true }))
      await finish(shop)
      sale.isAttributed = false
    }
    async function erasePage(): Promise<void> {
      const page = PAGES[below(3)]!
      const request = { from: "2026-11-01", to: "2026-11-26", filters: [{ dimension: "page", operator: "is", values: [page] }] }
      const { confirm } = await accepted(shop.send("POST", "/erase/preview", request))
      await accepted(shop.send("POST", "/erase", { ...request, confirm }))
      await finish(shop)
      // What a person's erasure has cut off from its visit stays.
      for (const sale of model.sales.filter((each) => each.page === page && each.isAttributed)) {
        sale.tracked = undefined
        sale.refunded = 0n
        sale.isAttributed = false
      }
    }
    async function retain(): Promise<void> {
      const ask = (path: string, body: object) =>
        shop.instance.api.send("POST", `/api/private/admin/retention/${path}`, body, undefined, console)
      const wanted = { site_id: 1, retention_days: RETENTION_DAYS }
      const { at } = (await ask("preview", wanted)).body as { at: string }
      expect(await ask("run", { ...wanted, at })).toMatchObject({ status: 202 })
      await finish(shop)
      model.imports = []
    }
    async function reset(): Promise<void> {
      await accepted(shop.send("POST", "/reset", { confirm: shop.instance.site.name }))
      await finish(shop)
      Object.assign(model, new Model())
    }
  },
)
