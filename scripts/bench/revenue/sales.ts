/**
 * What sale events cost when events are stored, and the visits and touches of 100,000 orders. Everything runs in one process, so that the
 * ratios do not depend on the machine.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { NewEvent } from "../../../src/domain/event.ts"
import { TRAITS, type VisitTraits } from "../../../src/domain/visit.ts"
import { saleVisits } from "../../../src/query/sales/sale-visits.ts"
import { touches } from "../../../src/query/sales/touches.ts"
import { pseudonyms } from "../../../src/query/show/pseudonyms.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { count, ms, table } from "../table.ts"
import { quantile, type Timing, timed } from "../timing.ts"
import { measureSalesLoad } from "./sales-load.ts"

/** Events per group commit, as many as ingestion stores at once. */
const GROUP = 200
const GROUPS = 100
/** Rounds alternate between the cases, so that other load on the machine affects all. */
const ROUNDS = 31
const START = Date.parse("2026-11-01T00:00:00Z")
const MINUTE = 60_000
// Every trait is named.
const TRAITS_OF_VISIT = { ...Object.fromEntries(TRAITS.map((trait) => [trait, ""])), source: "Google", country: "DE" } as VisitTraits

/** Which events have revenue, and whether it is stored as sale events. */
type Case = "no revenue" | "5 % with revenue, without sale events" | "5 % with revenue"
const CASES: readonly Case[] = ["no revenue", "5 % with revenue, without sale events", "5 % with revenue"]

function eventOf(number: number, at: number, wanted: Case): NewEvent {
  const plain = { at, name: "pageview", page: `/page/${number % 500}`, hostname: "shop.example", title: "", interactive: true, props: [] }
  if (wanted === "no revenue" || number % 20 !== 0) return plain
  const revenue = { amount: 1000 + number, currency: "EUR" }
  const sold: NewEvent = { ...plain, name: "purchase", revenue, props: [["order_id", `order-${number}`]] }
  if (wanted !== "5 % with revenue") return sold
  return { ...sold, sale: { ...revenue, orderId: `order-${number}`, trust: "client", isRepeated: false } }
}

/** Stores visits of four events each. Returns the events per second of processor time, which other programs on the machine do not change. */
function storeEvents(wanted: Case): number {
  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const store = openEventStore(join(folder, "events.db"), { now: START })
  const begun = process.cpuUsage()
  for (let group = 0; group < GROUPS; group++) {
    store.append(START + group * 10, (writer) => {
      for (let i = 0; i < GROUP; i += 4) {
        const first = group * GROUP + i
        const visitor = writer.visitor(1, "2026-11-01", { high: 1, low: first })
        const visit = { rotating: visitor, visitor, visitorKind: "rotating", traits: TRAITS_OF_VISIT } as const
        const id = writer.openVisit(1, visit, "2026-11-01")
        for (let each = 0; each < 4; each++) writer.add(1, id, eventOf(first + each, START + first + each, wanted), "2026-11-01")
      }
    })
  }
  const { user, system } = process.cpuUsage(begun)
  const perSecond = (1e6 * GROUP * GROUPS) / (user + system)
  store.close()
  rmSync(folder, { recursive: true })
  return perSecond
}

const ORDERS = 100_000
/** Visits of each buyer before the order. */
const VISITS = 5
const SITE = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }
const SITE_KEY = new Uint8Array(32)

/** Stores the visits of 100,000 buyers over 30 days, the last of which has the order, and seals them. */
async function fillOrders(store: EventStore): Promise<void> {
  const days = 30
  for (let day = 0; day < days; day++) {
    for (let from = 0; from < (ORDERS * VISITS) / days; from += GROUP) {
      store.append(START + day * 24 * 60 * MINUTE + from, (writer) => {
        for (let i = from; i < Math.min(from + GROUP, (ORDERS * VISITS) / days); i++) {
          const number = Math.floor((day * ORDERS * VISITS) / days) + i
          const buyer = number % ORDERS
          const at = START + day * 24 * 60 * MINUTE + i * 50
          const visitor = writer.person(1, { high: 7, low: buyer }, "user")
          const visit = { rotating: visitor, visitor, visitorKind: "user", traits: TRAITS_OF_VISIT } as const
          const id = writer.openVisit(1, visit, "2026-11-01")
          const isOrder = number >= ORDERS * (VISITS - 1)
          writer.add(1, id, eventOf(isOrder ? number * 20 : 1, at, "5 % with revenue"), "2026-11-01")
        }
      })
    }
    await store.seal(START + (day + 1) * 24 * 60 * MINUTE, true)
  }
}

export async function measureSales(): Promise<void> {
  const rounds = Array.from({ length: ROUNDS }, () => CASES.map(storeEvents))
  const rates = CASES.map((_, index) =>
    quantile(
      rounds.map((round) => round[index]!),
      0.5,
    ),
  )
  const ratio = (index: number, of: number) =>
    quantile(
      rounds.map((round) => round[index]! / round[of]!),
      0.5,
    )
  console.log(`\n### Storing events, group commits of ${GROUP}, medians of ${ROUNDS} rounds\n`)
  console.log(
    table(
      ["Events", "Events per second of processor time"],
      CASES.map((name, index) => [name, count(rates[index]!)]),
    ),
  )
  console.log(`\nSale events leave ${(100 * ratio(2, 1)).toFixed(1)} % of the rate when 5 % of the events are sales.`)

  const folder = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  const path = join(folder, "events.db")
  const store = openEventStore(path, { now: START })
  await fillOrders(store)
  const reader = openEventReader(path, { cacheBytes: 192 << 20 })
  const unchecked = () => {}
  const sales = store.salesAfter(1, 0, ORDERS)
  const sequences = sales.map(({ sequence }) => sequence)
  const ofSales = { site: SITE, now: Number.MAX_SAFE_INTEGER, siteKey: SITE_KEY, of: { sales: sequences } }
  const visits = await timed(() => saleVisits(reader.snapshot(1, "visits", "all", { isPassing: true }), ofSales, unchecked))
  const visitors = pseudonyms(SITE_KEY, "visitor")(Array.from({ length: ORDERS }, (_, ordinal) => ordinal))
  const range = { from: START, to: START + 60 * 24 * 60 * MINUTE }
  const query = { site: SITE, siteKey: SITE_KEY, visitors, range, alongside: "clicks" } as const
  let rows = 0
  const found = await timed(() => {
    rows = touches(reader.snapshot(1, "visits", [], { alongside: "clicks", isPassing: true }), query, unchecked).touches.length
  })
  console.log(`\n### ${count(sales.length)} orders of ${count(ORDERS)} people, ${count(ORDERS * VISITS)} visits\n`)
  const row = (name: string, { median, p95 }: Timing) => [name, ms(median), ms(p95)]
  console.log(table(["Query", "Median ms", "p95 ms"], [row("visits of all orders", visits), row(`all ${count(rows)} touches`, found)]))
  reader.close()
  store.close()
  rmSync(folder, { recursive: true })
  await measureSalesLoad()
}

if (import.meta.main) await measureSales()
