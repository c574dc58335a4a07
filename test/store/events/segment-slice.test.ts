import { expect, test } from "bun:test"
import { join } from "node:path"
import fc from "fast-check"
import type { Range } from "../../../src/domain/query.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import type { Part, Snapshot } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { bySize } from "../../size.ts"
import { visibleImport } from "../../visible-imports.ts"
import { type DumpedVisit, dump } from "./dump.ts"
import { HOUR, type PlannedVisit, plannedVisit, START, toImported } from "./planned-visits.ts"

const RUNS = bySize({ check: 30, full: 200, release: 1_000 })

const visit = plannedVisit({ lastHour: 30, maxEvents: 8 })

const ranges = fc
  .uniqueArray(fc.integer({ min: 0, max: 34 * 60 }), { minLength: 2, maxLength: 2 })
  .map((minutes) => minutes.sort((a, b) => a - b).map((minute) => START + minute * 60_000) as [number, number])
  .map(([from, to]): Range => ({ from, to }))

/** Returns the times of all events of a visit. */
const timesOf = ({ rows }: DumpedVisit) => (rows as { at: number }[]).map(({ at }) => at) // every row has one

/** Returns the items of a part in both of their forms, as pairs of a visit and an item in order. */
function itemPairs(part: Part) {
  const { itemOf, firsts, starts, visits } = part.items!()!
  const byVisit = Array.from({ length: part.visits }, (_, row) =>
    [...itemOf.subarray(firsts[row], firsts[row + 1])].map((item) => [row, item]),
  )
  const byItem = [...starts.keys()]
    .slice(0, -1)
    .map((item) => [...visits.subarray(starts[item], starts[item + 1])].map((row) => [row, item]))
  return [byVisit, byItem].map((pairs) =>
    pairs
      .flat()
      .map((pair) => pair.join(" "))
      .sort(),
  )
}

/** Returns the times of the events of a part, each from the one before. Steps that are stored as differences are not read one by one. */
function steppedTimes(part: Part): number[] {
  const [visitOf, starts, steps] = [part.event("visit"), part.starts(), part.steps!()]
  if (!steps) return Array.from(part.event("offset"), (offset, row) => starts[visitOf[row]!]! + offset)
  let at = 0
  return Array.from(visitOf, (visit, row) => {
    at = (row > 0 && visitOf[row - 1] === visit ? at : starts[visit]!) + steps.at(row)
    return at
  })
}

async function withSegment(planned: readonly PlannedVisit[], check: (snapshot: Snapshot, segment: Part) => void): Promise<void> {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: START })
  await store.importVisits({ siteId: 1, importId: 7 }, planned.map(toImported))
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const snapshot = reader.snapshot(1, "visits", [visibleImport(7)])
  check(snapshot, snapshot.parts[0]!)
  reader.close()
  store.close()
}

test("the slices of a segment within a range have all visits that it touches, with all of their events", async () => {
  const run = fc.asyncProperty(fc.array(visit, { minLength: 1, maxLength: 30 }), ranges, (planned, { from, to }) =>
    withSegment(planned, (snapshot, segment) => {
      const slices = segment.within!({ from, to })
      for (const slice of slices) expect(itemPairs(slice)[0]).toEqual(itemPairs(slice)[1]!)
      const stepped = slices.flatMap(steppedTimes)
      const all = dump(snapshot)
      const found = dump({ ...snapshot, parts: slices })
      expect(found.flatMap(timesOf).sort()).toEqual(stepped.sort())
      const texts = new Set(found.map((visit) => JSON.stringify(visit)))
      expect(texts.size).toBe(found.length)
      const touched = all.filter((visit) => timesOf(visit).some((at) => at >= from && at < to))
      for (const visit of touched) expect(texts).toContain(JSON.stringify(visit))
      const known = new Set(all.map((visit) => JSON.stringify(visit)))
      for (const text of texts) expect(known).toContain(text)
      for (const part of slices.filter(({ minStart, minAt, maxAt }) => minStart >= from && minAt >= from && maxAt < to))
        for (const visit of dump({ ...snapshot, parts: [part] })) for (const at of timesOf(visit)) expect(at >= from && at < to).toBe(true)
    }),
  )
  await fc.assert(run, { numRuns: RUNS })
})

test("visits that last beyond an end of the range are apart from those inside", async () => {
  const lasting = { visitor: 0, events: Array.from({ length: 5 }, () => ({ minutes: 25, name: "pageview" as const, page: "/" as const })) }
  const short = { visitor: 1, events: [] }
  const planned = [
    { hour: 0, ...lasting },
    { hour: 1, ...short },
    { hour: 3, ...short },
    { hour: 5, ...lasting },
    { hour: 5, ...short },
  ]
  await withSegment(planned, (_, segment) => {
    const slices = segment.within!({ from: START + 2 * HOUR, to: START + 6 * HOUR })
    expect(slices.map((part) => Array.from(part.starts(), (start) => (start - START) / HOUR))).toEqual([[0, 1], [3], [5, 5]])
    const inside = segment.within!({ from: START + 3 * HOUR, to: START + 8 * HOUR })
    expect(inside.map(({ visits, events }) => [visits, events])).toEqual([[3, 8]])
  })
})
