import { expect, test } from "bun:test"
import { roundedRatio } from "../../src/domain/metric.ts"
import { aggregate } from "../../src/query/measure/aggregate.ts"
import { PairSet } from "../../src/query/measure/pair-set.ts"
import { syntheticSite } from "./synthetic-site.ts"
import { SITE } from "./traffic.ts"

test("counts each pair once, regardless of the number of groups", () => {
  const pairs = new PairSet()
  const visitors = Uint32Array.of(7, 9_999, 7, 4_096, 7)
  pairs.add(Uint32Array.of(0, 0, 0, 1, 1), visitors, 5, 2)
  // With more than 2^20 groups, a pair has fewer bits for the visitor.
  pairs.add(Uint32Array.of(0, 1_048_577, 1_048_577, 2_000_000, 2_000_000), visitors, 5, 2_000_001)
  pairs.add(Uint32Array.of(20_000_000, 0), Uint32Array.of(1, 9_999), 2, 20_000_001)
  const counts = pairs.counts(20_000_001)
  expect([0, 1, 1_048_577, 2_000_000, 20_000_000, 5].map((group) => counts[group])).toEqual([2, 2, 2, 2, 1, 0])
})

test("discards repeated pairs along the way", () => {
  const pairs = new PairSet()
  const groups = Uint32Array.from({ length: 300_000 }, (_, i) => i % 3)
  const visitors = groups.map((_, i) => i)
  for (let time = 0; time < 20; time++) pairs.add(groups, visitors, 300_000, 3)
  expect(Array.from(pairs.counts(3))).toEqual([100_000, 100_000, 100_000])
})

test("counts visitors by page over many parts exactly as a set per page does", () => {
  const day = 86_400_000
  const snapshot = syntheticSite(6, 0, 6 * day)
  const range = { from: day / 2, to: 5 * day }
  const sets = new Map<string, Set<number>>()
  for (const part of snapshot.parts) {
    const [visit, offset, name, page] = (["visit", "offset", "name", "page"] as const).map((column) => part.event(column))
    for (let row = 0; row < part.events; row++) {
      const at = part.starts()[visit![row]!]! + offset![row]!
      if (name![row] === 2 || at < range.from || at >= range.to) continue
      const text = `/page/${page![row]}`
      sets.set(text, (sets.get(text) ?? new Set()).add(part.visit("visitor")[visit![row]!]!))
    }
  }
  const { rows } = aggregate(
    snapshot,
    {
      site: SITE,
      range,
      timezone: "UTC",
      now: range.to,
      metrics: ["visitors"],
      groupings: [{ by: "dimension", dimension: "page" }],
      order: [],
      limit: 10_000,
      offset: 0,
      fillBuckets: false,
    },
    () => {},
  )
  expect(new Map(rows.map(({ keys, values }) => [keys[0], values[0]]))).toEqual(
    new Map(Array.from(sets, ([page, visitors]) => [page, visitors.size])),
  )
})

test.each([
  [1, 3, 1, 0.3],
  [1, 16, 2, 0.06],
  [100, 1_600, 1, 0.1],
  [625, 10_000, 2, 0.06],
  [5, 2, 0, 3],
  [-5, 2, 0, -3],
  [-1, 3, 0, 0],
  [1, 0, 1, 0],
  [33.35 * 100, 10_000, 2, 0.33],
])("%p / %p to %p decimals is %p", (numerator, denominator, decimals, expected) => {
  expect(roundedRatio(numerator, denominator, decimals)).toBe(expected)
})
