import { expect, test } from "bun:test"
import fc from "fast-check"
import { returningVisitors } from "../../src/query/parts/visitor-bits.ts"
import { ColumnCache } from "../../src/store/events/cache.ts"
import type { Part, Snapshot } from "../../src/store/events/part.ts"
import { Results } from "../../src/store/events/results.ts"
import { syntheticSite } from "./synthetic-site.ts"

/** A site whose segments are given by their visitors. A part without an id stands for the tail. */
function siteOf(results: Results) {
  const empty = syntheticSite(1, 0, 1)
  const read: (number | undefined)[] = []
  const partOf = ({ id, visitors }: { id?: number; visitors: number[] }): Part => ({
    ...({ siteId: 1, importId: 0, visits: visitors.length } as Part), // the other members are not used
    ...(id !== undefined && { id }),
    visit() {
      read.push(id)
      return Uint32Array.from(visitors)
    },
  })
  return {
    read,
    snapshot: (parts: { id?: number; visitors: number[] }[]): Snapshot => ({
      ...empty,
      results,
      parts: parts.map(partOf),
      visitorLimit: Math.max(0, ...parts.flatMap(({ visitors }) => visitors)) + 1,
    }),
  }
}

const bitsOf = (words: Int32Array): number[] =>
  Array.from({ length: words.length * 32 }, (_, n) => n).filter((n) => ((words[n >>> 5]! >>> (n & 31)) & 1) === 1)

function severalTimes(parts: readonly { visitors: number[] }[]): number[] {
  const all = parts.flatMap(({ visitors }) => visitors).sort((a, b) => a - b)
  return [...new Set(all.filter((visitor, at) => visitor === all[at - 1]))]
}

test("reads only the segments that were added since", () => {
  const { read, snapshot } = siteOf(new Results(1 << 20, new ColumnCache(1 << 20)))
  const parts = [
    { id: 1, visitors: [0, 1, 2, 2] },
    { id: 2, visitors: [3, 1] },
  ]
  const before = snapshot(parts)
  expect(bitsOf(returningVisitors(before, before.parts))).toEqual([1, 2])
  const after = snapshot([...parts, { id: 4, visitors: [70, 0] }])
  expect(bitsOf(returningVisitors(after, after.parts))).toEqual([0, 1, 2])
  expect(bitsOf(returningVisitors(after, after.parts))).toEqual([0, 1, 2])
  expect(read).toEqual([1, 2, 4])
})

test("finds the same visitors as a count of all visits, whatever segments are added, replaced and asked for", () => {
  const part = fc.record({ id: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }), seed: fc.integer({ min: 0, max: 100 }) })
  const steps = fc.array(fc.record({ parts: fc.array(part, { maxLength: 6 }), from: fc.nat(3), to: fc.nat(6) }), { maxLength: 12 })
  fc.assert(
    fc.property(steps, (all) => {
      const { snapshot } = siteOf(new Results(1 << 20, new ColumnCache(1 << 20)))
      for (const { parts, from, to } of all) {
        // The visitors of a segment follow from its id, because segments are never changed.
        const given = [...new Map(parts.map(({ id, seed }) => [id ?? `tail ${seed}`, { id, seed: id ?? seed }])).values()]
        const made = given.map(({ id, seed }) => ({
          ...(id !== undefined && { id }),
          visitors: [seed % 7, (seed * 3) % 11, (seed * 5) % 40],
        }))
        const site = snapshot(made)
        const bits = returningVisitors(site, site.parts.slice(from, to))
        expect(bitsOf(bits)).toEqual(severalTimes(made.slice(from, to)))
      }
    }),
    { numRuns: 100 },
  )
}, 60_000)
