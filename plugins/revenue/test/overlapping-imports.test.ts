/**
 * Imports that report the same orders and hold days by turns. An order counts as the events report it that are shown: once, with the
 * amount of the first one and on the day of the earliest. A model says which events these are.
 */
import { expect, setDefaultTimeout, test } from "bun:test"
import { bySize, SEED } from "#plugin/test"
import type { ReportResponse } from "../report/responses.ts"
import { type Shop, startShop } from "./kit.ts"

setDefaultTimeout(300_000)
const HISTORIES = bySize({ check: 1, full: 20, release: 300 })
const STEPS = 10
const DAYS = 6
const ORDERS = ["A", "B", "C", "D"] as const

/** An event of an import. Its visit starts on a day and its order is placed on this day or, after midnight, on the next one. */
interface Reported {
  day: number
  isAfterMidnight: boolean
  order: string
  minor: number
}

interface Import {
  id: number
  isEnabled: boolean
  events: readonly Reported[]
}

const dayText = (day: number): string => `2026-10-${String(day).padStart(2, "0")}`
const bookedOn = ({ day, isAfterMidnight }: Reported): string => dayText(day + (isAfterMidnight ? 1 : 0))

/** Returns the CSV text of an import. The site is in Berlin, where days end at 22:00 UTC in October. */
const csv = (events: readonly Reported[], name: string): string =>
  ["Time,Path,V,Event,Amount,Currency,Order"]
    .concat(
      events.flatMap(({ day, isAfterMidnight, order, minor }, index) => {
        const visitor = `${name}-${index}`
        return [
          `${dayText(day)}T21:4${index}:00Z,/,${visitor},,,,`,
          `${dayText(day)}T${isAfterMidnight ? "22:0" : "21:5"}${index}:00Z,/,${visitor},purchase,${minor / 100},EUR,${order}`,
        ]
      }),
    )
    .join("\n")

/** Returns what counts: the day and amount of each order. Imports hold days in the order in which they were completed. */
function expected(imports: readonly Import[]): string[] {
  const holders = new Map<string, number>()
  const shown: Reported[] = []
  for (const { id, isEnabled, events } of imports) {
    if (!isEnabled) continue
    const days = new Set(events.map(({ day }) => dayText(day)))
    for (const day of days) if (!holders.has(day)) holders.set(day, id)
    shown.push(...events.filter(({ day }) => holders.get(dayText(day)) === id))
  }
  return [...Map.groupBy(shown, ({ order }) => order)]
    .map(([order, reports]) => `${order} ${reports.map(bookedOn).sort()[0]} ${(reports[0]!.minor / 100).toFixed(2)}`)
    .sort()
}

/** Returns what the list shows, after comparing it with the report. */
async function counted(shop: Shop): Promise<string[]> {
  const listed = await shop.transactions()
  const { body } = await shop.get("/revenue/report?from=2026-10-01&to=2026-10-31&interval=day")
  const { currencies, timeseries } = body as ReportResponse
  expect(currencies.map(({ orders }) => orders)).toEqual(listed.length === 0 ? [] : [listed.length])
  const reported = timeseries.flatMap(({ time, by_currency: [sums] }) => (sums && sums.orders > 0 ? [`${time} ${sums.gross.amount}`] : []))
  const lines = listed.map(({ order_id, occurred_at, amount }) => {
    const day = Temporal.Instant.from(String(occurred_at)).toZonedDateTimeISO("Europe/Berlin").toPlainDate().toString()
    return { line: `${order_id} ${day} ${amount.amount}`, day, minor: amount.amount_minor }
  })
  const byDay = [...Map.groupBy(lines, ({ day }) => day)].map(
    ([day, group]) => `${day} ${(group.reduce((sum, { minor }) => sum + minor, 0) / 100).toFixed(2)}`,
  )
  expect(reported).toEqual(byDay.sort())
  return lines.map(({ line }) => line).sort()
}

async function importEvents(shop: Shop, events: readonly Reported[], name: string): Promise<number> {
  const mapping = {
    ...{ timestamp: "Time", path: "Path", visitor_id: "V", event_name: "Event", revenue: "Amount", currency: "Currency" },
    props: { order_id: "Order" },
  }
  const body = { source: "csv_generic", files: [{ name: `${name}.csv`, content: csv(events, name) }], options: { mapping } }
  const { status, body: answer } = await shop.send("POST", "/imports", body)
  expect({ status, answer }).toMatchObject({ status: 202 })
  await shop.sell([])
  return (answer as { id: number }).id
}

const on = (day: number, order: string, minor: number, isAfterMidnight = false): Reported => ({ day, order, minor, isAfterMidnight })

test("an order on a day that another import holds counts as the other import reports it, until that one is hidden", async () => {
  await using shop = await startShop({ whole: true })
  const first = await importEvents(shop, [on(2, "B", 100), on(3, "A", 200, true)], "first")
  // The day of A's visit is held by the first import, and that of its later report is not.
  const second = await importEvents(shop, [on(3, "A", 300), on(4, "A", 400), on(5, "C", 500)], "second")
  expect(await counted(shop)).toEqual(["A 2026-10-04 2.00", "B 2026-10-02 1.00", "C 2026-10-05 5.00"])
  await shop.send("PATCH", `/imports/${first}`, { enabled: false })
  await shop.sell([])
  expect(await counted(shop)).toEqual(["A 2026-10-03 3.00", "C 2026-10-05 5.00"])
  await shop.send("PATCH", `/imports/${first}`, { enabled: true })
  await shop.sell([])
  expect(await counted(shop)).toEqual(["A 2026-10-04 2.00", "B 2026-10-02 1.00", "C 2026-10-05 5.00"])
  await shop.send("PATCH", `/imports/${second}`, { enabled: false })
  await shop.sell([])
  expect(await counted(shop)).toEqual(["A 2026-10-04 2.00", "B 2026-10-02 1.00"])
})

test("an order that changes while an import is hidden for a moment counts as both imports report it afterwards", async () => {
  await using shop = await startShop({ whole: true })
  const first = await importEvents(shop, [on(2, "A", 100)], "first")
  await importEvents(shop, [on(3, "A", 300)], "second")
  const body = { amount: "7", currency: "EUR", occurred_at: "2026-10-05T10:00:00Z", order_id: "A" }
  const added = await shop.send("POST", "/revenue/transactions", body)
  expect(await counted(shop)).toEqual(["A 2026-10-05 7.00"])
  const { id } = added.body as { id: number }
  await shop.send("PATCH", `/imports/${first}`, { enabled: false })
  // The order is folded at once, from the only import that is shown.
  await shop.send("DELETE", `/revenue/transactions/${id}`)
  expect(await counted(shop)).toEqual(["A 2026-10-03 3.00"])
  await shop.send("PATCH", `/imports/${first}`, { enabled: true })
  await shop.sell([])
  expect(await counted(shop)).toEqual(["A 2026-10-02 1.00"])
})

test("an order that the site has seen has the time and the visit of the site, whatever imports report and when they are undone", async () => {
  await using shop = await startShop({ whole: true })
  const id = await importEvents(shop, [on(2, "A", 100)], "first")
  await shop.sell([
    { at: "2026-11-20T10:00:00Z", referrer: "https://www.google.com/" },
    { at: "2026-11-20T10:01:00Z", order: "A", revenue: { amount: "3", currency: "EUR" } },
  ])
  const seen = [{ order_id: "A", occurred_at: "2026-11-20T10:01:00Z", source: "Google", amount: { amount: "3.00" }, import_id: null }]
  expect(await shop.transactions()).toMatchObject(seen)
  expect(await shop.send("POST", `/imports/${id}/undo`)).toMatchObject({ status: 202 })
  await shop.sell([])
  expect(await shop.send("POST", "/revenue/recompute", {})).toMatchObject({ status: 202 })
  await shop.sell([])
  expect(await shop.transactions()).toMatchObject(seen)
})

test.each(Array.from({ length: HISTORIES }, (_, index) => SEED * 1_000 + index))("history %d of overlapping imports", async (seed) => {
  await using shop = await startShop({ whole: true })
  let state = (seed + 0x9e3779b9) >>> 0
  const below = (limit: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % limit
  }
  const imports: Import[] = []
  const log: string[] = []
  for (let step = 0; step < STEPS; step++) {
    const chosen = imports[below(imports.length || 1)]
    const action = imports.length < 2 ? 0 : below(4)
    if (action === 0 || !chosen) {
      const events = Array.from({ length: 1 + below(5) }, () => on(1 + below(DAYS), ORDERS[below(4)]!, 1 + below(1_000), below(3) === 0))
      events.sort((a, b) => a.day - b.day)
      const id = await importEvents(shop, events, `import-${step}`)
      imports.push({ id, isEnabled: true, events })
      log.push(`import ${id}: ${JSON.stringify(events)}`)
    } else if (action === 1) {
      imports.splice(imports.indexOf(chosen), 1)
      expect(await shop.send("POST", `/imports/${chosen.id}/undo`)).toMatchObject({ status: 202 })
      log.push(`undo ${chosen.id}`)
    } else {
      chosen.isEnabled = !chosen.isEnabled
      expect(await shop.send("PATCH", `/imports/${chosen.id}`, { enabled: chosen.isEnabled })).toMatchObject({ status: 200 })
      log.push(`${chosen.isEnabled ? "show" : "hide"} ${chosen.id}`)
    }
    await shop.sell([])
    expect({ log, counted: await counted(shop) }).toEqual({ log, counted: expected(imports) })
  }
})
