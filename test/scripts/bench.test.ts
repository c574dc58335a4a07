import { expect, test } from "bun:test"
import { join } from "node:path"
import { fillCopies } from "../../scripts/bench/hundred/fill.ts"
import { comparePeople, fillPeople, peopleCases } from "../../scripts/bench/people/people.ts"
import { compareAnswers, fill } from "../../scripts/bench/stores/stores.ts"
import { examineEventFile } from "../../src/store/events/copy.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { temporaryFolder } from "../kit.ts"

// DuckDB, SQLite and ClickHouse share no code with our kernels, so their agreement shows that all are right.
test.each([
  ["one site", { events: 8_000, sites: 1 }],
  ["several sites", { events: 6_000, sites: 3 }],
])(
  "Footfall and the other stores give the same answer to every report of the benchmark: %s",
  async (_, size) => {
    await using filled = await fill({ ...size, days: 365, seed: 7, end: Date.parse("2026-11-21T00:00:00Z") })
    expect(filled.events).toBeGreaterThan(5_500)
    await compareAnswers(filled)
  },
  60_000,
)

test("Footfall and DuckDB give the same answer to every query about people of the benchmark", async () => {
  const end = Date.parse("2026-11-21T00:00:00Z")
  await using filled = await fillPeople({ events: 20_000, sites: 1, days: 200, seed: 7, end })
  for (const one of peopleCases(end)) await comparePeople(filled, one)
}, 60_000)

test.each([
  ["one site", { events: 12_000, sites: 1 }],
  ["several sites", { events: 9_000, sites: 3 }],
])(
  "a store that is filled with copies has their events, each under its own visitors, orders and sequences: %s",
  async (_, size) => {
    using folder = temporaryFolder()
    const path = join(folder.path, "events.db")
    const end = Date.parse("2026-11-21T00:00:00Z")
    const copied = await fillCopies(path, { ...size, days: 400, seed: 7, end }, 3_000)
    expect(examineEventFile(path, { full: true }).faults).toEqual([])
    const reader = openEventReader(path, { cacheBytes: 8 << 20 })
    const [sequences, orders, visitors] = [new Set<number>(), new Set<string>(), new Set<string>()]
    let [events, visits, sales, newest] = [0, 0, 0, 0]
    for (let siteId = 1; siteId <= size.sites; siteId++) {
      const { parts, dictionary } = reader.snapshot(siteId)
      const key = dictionary("property").find("order_id")!
      for (const part of parts) {
        events += part.events
        visits += part.visits
        newest = Math.max(newest, part.maxAt)
        for (const sequence of part.sequences()) sequences.add(sequence)
        for (const visitor of part.visit("visitor")) visitors.add(`${siteId} ${visitor}`)
        const { key: keys, value } = part.props()
        for (let at = 0; at < keys.length; at++)
          if (keys[at] === key) orders.add(`${siteId} ${dictionary(`property:${key}`).text(value[at]!)}`)
        sales += part.revenue().row.length
      }
    }
    reader.close()
    expect(events).toBe(copied.events)
    expect(Math.abs(events - size.events)).toBeLessThan(size.events / 10)
    expect(sequences.size).toBe(visits)
    expect(visitors.size).toBe(copied.visitors * size.sites)
    expect(orders.size).toBe(sales)
    expect(sales).toBeGreaterThan(20)
    expect(newest).toBeGreaterThan(end - 86_400_000)
  },
  60_000,
)
