import { expect, test } from "bun:test"
import fc from "fast-check"
import { combine } from "../../../src/store/events/bytes/combinations.ts"
import {
  addExpected,
  addSteps,
  decodeItems,
  encodeItems,
  engagedOf,
  entriesOf,
  exitsOf,
  longestEngagements,
  minus,
  rowsNamed,
  stepsOf,
  successorsOf,
  visitsOf,
} from "../../../src/store/events/bytes/event-codes.ts"

const PAGEVIEW = 1
const ENGAGEMENT = 2
const SIGNUP = 4

/** Events of visits: the name, the page, and the time since the visit began. Numbers beyond what occurs must be kept, too. */
const number = fc.oneof(fc.nat(5), fc.integer({ min: 0, max: 0xffff_ffff }))
const row = fc.record({ name: fc.integer({ min: 1, max: 5 }), page: number, offset: number })
const someVisits = fc.array(fc.record({ events: fc.array(row, { maxLength: 6 }) }), { maxLength: 20 })
type Visits = typeof someVisits extends fc.Arbitrary<infer Value> ? Value : never

function rowsOf(visits: Visits) {
  const events = visits.flatMap((visit) => visit.events)
  const firsts = new Uint32Array(visits.length + 1)
  visits.forEach((visit, at) => {
    firsts[at + 1] = firsts[at]! + visit.events.length
  })
  const column = (name: keyof Visits[number]["events"][number]) => Uint32Array.from(events, (event) => event[name])
  const { of, table } = combine([column("name"), column("page")])
  const [names, pages] = table as [Uint32Array, Uint32Array]
  return {
    firsts,
    itemOf: Uint16Array.from(of),
    names,
    pages,
    offsets: column("offset"),
  }
}

test("items are restored from the first ones and the codes of the others", () => {
  fc.assert(
    fc.property(someVisits, (visits) => {
      const rows = rowsOf(visits)
      const next = successorsOf(rows)
      const { entries, codes } = encodeItems(rows, next)
      const restored = { firsts: rows.firsts, itemOf: new Uint16Array(rows.itemOf.length) }
      decodeItems(entries, codes, next, restored)
      expect(restored.itemOf).toEqual(rows.itemOf)
    }),
    { seed: 7 },
  )
})

test("offsets are restored from the steps", () => {
  fc.assert(
    fc.property(someVisits, (visits) => {
      const { offsets, firsts } = rowsOf(visits)
      expect(addSteps(stepsOf(offsets, firsts), firsts)).toEqual(offsets)
    }),
    { seed: 7 },
  )
})

test("differences from what is expected restore every number", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(number, number)), (pairs) => {
      const [values, expected] = [Uint32Array.from(pairs, ([value]) => value), Uint32Array.from(pairs, ([, of]) => of)]
      expect(addExpected(new Uint32Array(minus(values, expected)), expected)).toEqual(values)
    }),
    { seed: 7 },
  )
})

test("what is expected of a visit is what was recorded", () => {
  const rows = rowsOf([
    {
      events: [
        { name: PAGEVIEW, page: 7, offset: 0 },
        { name: ENGAGEMENT, page: 7, offset: 60_000 },
        { name: SIGNUP, page: 7, offset: 61_000 },
        { name: PAGEVIEW, page: 8, offset: 90_000 },
        { name: ENGAGEMENT, page: 8, offset: 95_000 },
      ],
    },
    { events: [{ name: SIGNUP, page: 9, offset: 0 }] },
  ])
  const { names, pages, firsts, itemOf, offsets } = rows
  expect([...visitsOf(firsts)]).toEqual([0, 0, 0, 0, 0, 1])
  expect([...stepsOf(offsets, firsts)]).toEqual([0, 60_000, 1_000, 29_000, 5_000, 0])
  const { entries } = encodeItems(rows, successorsOf(rows))
  expect([...entriesOf(pages, names, entries)]).toEqual([7, 0])
  expect([...exitsOf(pages, rows)]).toEqual([8, 0])
  const reports = rowsNamed(ENGAGEMENT, { names, itemOf })
  expect([...reports]).toEqual([1, 4])
  expect([...longestEngagements(reports, offsets, rows)]).toEqual([60_000, 5_000])
  expect([...engagedOf(reports, Uint32Array.of(50, 4), firsts)]).toEqual([54, 0])
})

test("combinations are numbered by how often they occur", () => {
  const { of, table } = combine([Uint32Array.of(5, 6, 6, 5, 6), Uint32Array.of(1, 2, 2, 3, 2)])
  expect([...of]).toEqual([1, 0, 0, 2, 0])
  expect(table.map((column) => [...column])).toEqual([
    [6, 5, 5],
    [2, 1, 3],
  ])
})
