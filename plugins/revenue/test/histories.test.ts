/**
 * Random histories of orders, compared with a small model. The model knows the facts of an order and nothing of how they are stored: who is
 * believed, which refunds belong to which order, and that nothing counts twice.
 */
import { expect, test } from "bun:test"
import { bySize, SEED } from "#plugin/test"
import { type SentEvent, type Shop, startShop } from "./kit.ts"

const HISTORIES = bySize({ check: 6, full: 40, release: 1_000 })
/** A random history that was once wrong: a dispute that waited for its sale was reported again, for another order. */
const ONCE_WRONG = [31_032]
const STEPS = 30

/** Returns numbers from 0 to below 1, the same for the same seed. */
function generator(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return { below, oneOf: <Value>(values: readonly Value[]): Value => values[below(values.length)]! }
}

/** What the model knows of an order. */
interface Order {
  minor: bigint
  currency: string
  trust: number
  /** Rank of the record that stated the amount, and whose record it is. */
  rank: number
  provider: string
}

interface Refund {
  order: string
  minor: bigint
  currency: string
  type: "refund" | "dispute" | "adjustment"
}

const TRUST = { client: 0, server: 1, webhook: 2 } as const

class Model {
  readonly orders = new Map<string, Order>()
  readonly refunds = new Map<string, Refund>()
  readonly voided = new Set<string>()

  sale(order: string, claim: Order): void {
    const known = this.orders.get(order)
    const isStronger = known === undefined || claim.trust > known.trust
    const isBetterRecord = known !== undefined && claim.provider === known.provider && claim.rank < known.rank
    if (isStronger || isBetterRecord) this.orders.set(order, claim)
  }
  refund(id: string, refund: Refund): void {
    if (!this.voided.has(id) && !this.refunds.has(id)) this.refunds.set(id, refund)
  }
  void(id: string): void {
    this.voided.add(id)
    this.refunds.delete(id)
  }

  /** The facts of all transactions, as texts in a fixed order. */
  facts(): string[] {
    const refunds = [...this.refunds.values()]
    const orders = [...this.orders].map(([id, { minor, currency, trust, provider }]) => {
      const linked = refunds.filter(({ order }) => order === id)
      const paidBack = linked
        .filter((each) => each.currency === currency)
        .reduce((sum, each) => sum + (each.type === "adjustment" ? -each.minor : each.minor), 0n)
      const flags = [...(linked.some(({ type }) => type === "dispute") ? ["disputed"] : []), ...(paidBack > minor ? ["over_refunded"] : [])]
      return `sale ${id} ${minor} ${currency} ${trust} ${provider} ${flags}`
    })
    return [
      ...orders,
      ...refunds.map(
        ({ type, order, minor, currency }) => `${type} ${order} ${minor} ${currency} ${this.orders.has(order) ? "linked" : "waiting"}`,
      ),
    ].sort()
  }
}

async function factsOf(shop: Shop): Promise<string[]> {
  const rows = await shop.transactions()
  const trusts = Object.keys(TRUST)
  return rows
    .map(({ type, order_id, amount, trust, provider, flags, parent_id }) => {
      const minor = `${amount.amount_minor} ${amount.currency}`
      if (type === "sale")
        return `sale ${order_id} ${minor} ${trusts.indexOf(trust)} ${provider} ${flags.filter((flag) => flag !== "unattributed")}`
      return `${type} ${order_id} ${minor} ${parent_id === null ? "waiting" : "linked"}`
    })
    .sort()
}

const CURRENCIES = [
  ["EUR", 2],
  ["JPY", 0],
  ["KWD", 3],
  ["CLF", 4],
] as const

function decimal(minor: number, decimals: number): string {
  const digits = String(minor).padStart(decimals + 1, "0")
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

test.each([...ONCE_WRONG, ...Array.from({ length: HISTORIES }, (_, index) => SEED * 1_000 + index)])(
  "history %d agrees with the model",
  async (seed) => {
    const { below, oneOf } = generator(seed)
    await using shop = await startShop()
    const model = new Model()
    let ids = 0
    let waiting: (SentEvent & { apply(): void })[] = []
    const flush = async () => {
      if (waiting.length > 0) await shop.sell(waiting)
      // The events of a request are stored in the order of their times.
      for (const { apply } of waiting.toSorted((a, b) => a.at.localeCompare(b.at))) apply()
      waiting = []
    }
    for (let step = 0; step < STEPS; step++) {
      const order = `O-${below(5)}`
      const [currency, decimals] = oneOf(CURRENCIES)
      const minor = below(10) === 0 ? 1_000_000_000_000_000 - below(5) : below(100_000)
      const at = `2026-11-26T0${below(9)}:${10 + below(49)}:00Z`
      const payment = { version: 1, aliases: [], amount_minor: minor, currency, occurred_at: at }
      const provider = oneOf(["stripe", "paddle"])
      switch (below(8)) {
        case 0: {
          await flush()
          await shop.browse({ order, revenue: { amount: decimal(minor, decimals), currency }, address: `203.0.113.${1 + below(200)}` })
          await shop.sell([])
          model.sale(order, { minor: BigInt(minor), currency, trust: TRUST.client, rank: 1, provider: "tracker" })
          break
        }
        case 1: {
          const sale: Order = { minor: BigInt(minor), currency, trust: TRUST.server, rank: 1, provider: "tracker" }
          waiting.push({ at, order, revenue: { amount: decimal(minor, decimals), currency }, apply: () => model.sale(order, sale) })
          break
        }
        case 2: {
          if (minor === 0) break
          const refund: Refund = { order, minor: BigInt(minor), currency, type: "refund" }
          const apply = () => model.refund(`event:${ids++}`, refund)
          waiting.push({ at, order, revenue: { amount: `-${decimal(minor, decimals)}`, currency }, apply })
          break
        }
        case 3:
        case 4: {
          await flush()
          const rank = 1 + below(4)
          const sent = { ...payment, provider, type: "sale", external_id: `${provider}:${order}`, order_id: order, amount_rank: rank }
          for (let copy = 0; copy <= below(2); copy++) await shop.pay(sent)
          model.sale(order, { minor: BigInt(minor), currency, trust: TRUST.webhook, rank, provider })
          break
        }
        case 5: {
          await flush()
          const type = oneOf(["refund", "dispute", "adjustment"] as const)
          const id = `${provider}:${below(6)}`
          await shop.pay({ ...payment, provider, type, external_id: id, parent: `${provider}:${order}`, order_id: order })
          model.refund(`${type} ${id}`, { order, minor: BigInt(minor), currency, type })
          break
        }
        case 6: {
          await flush()
          const id = `${provider}:${below(6)}`
          await shop.pay({ ...payment, provider, type: "refund", external_id: id, order_id: order, voided: true })
          model.void(`refund ${id}`)
          break
        }
        default: {
          await flush()
          const body = { amount: decimal(minor, decimals), currency, occurred_at: at, order_id: order }
          const { status } = await shop.send("POST", "/revenue/transactions", body)
          const known = model.orders.get(order)
          expect(status).toBe(known === undefined || known.trust === TRUST.client ? 201 : 409)
          if (status === 201) model.sale(order, { minor: BigInt(minor), currency, trust: TRUST.server, rank: 1, provider: "manual" })
        }
      }
    }
    await flush()
    expect(await factsOf(shop)).toEqual(model.facts())
  },
)
