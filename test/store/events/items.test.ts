import { expect, test } from "bun:test"
import fc from "fast-check"
import { findItems, LazyItems, MAX_ROWS, openItemRows, packItemRows, packVisits } from "../../../src/store/events/bytes/items.ts"

/** Rows of a segment: the events of each visit are adjacent. */
interface Row {
  name: number
  page: number
  visit: number
}

function itemsOf(rows: readonly Row[], visits: number) {
  const columns = {
    name: Uint32Array.from(rows, ({ name }) => name),
    page: Uint32Array.from(rows, ({ page }) => page),
    visit: Uint32Array.from(rows, ({ visit }) => visit),
  }
  const found = openItemRows(packItemRows(findItems(columns, visits)))
  return new LazyItems({ table: () => found, rows: () => found, visits: () => packVisits(found) })
}

function expectItemsOf(rows: readonly Row[], visits: number): void {
  const items = itemsOf(rows, visits)
  expect(Array.from(items.itemOf, (item) => [items.names[item]!, items.pages[item]!])).toEqual(rows.map(({ name, page }) => [name, page]))
  expect(new Set(Array.from(items.names, (name, item) => `${name} ${items.pages[item]}`)).size).toBe(items.names.length)
  const byItem = Map.groupBy(rows, (_, row) => items.itemOf[row]!)
  for (let item = 0; item < items.names.length; item++) {
    const own = items.visits.subarray(items.starts[item], items.starts[item + 1])
    expect(Array.from(own)).toEqual(byItem.get(item)!.map(({ visit }) => visit))
  }
  for (let visit = 0; visit < visits; visit++) {
    const own = rows.slice(items.firsts[visit], items.firsts[visit + 1])
    expect(own).toEqual(rows.filter((row) => row.visit === visit))
  }
}

test("lists the visits of each item and the rows of each visit", () => {
  const event = fc.tuple(fc.nat(4), fc.oneof(fc.nat(5), fc.integer({ min: 0, max: 0xffff_ffff })))
  fc.assert(
    fc.property(fc.array(fc.array(event, { minLength: 1, maxLength: 9 }), { maxLength: 40 }), (visits) =>
      expectItemsOf(
        visits.flatMap((events, visit) => events.map(([name, page]) => ({ name, page, visit }))),
        visits.length,
      ),
    ),
  )
})

test("has room for as many items and visits as a segment has events", () => {
  const items = itemsOf(
    Array.from({ length: MAX_ROWS }, (_, row) => ({ name: row % 2, page: row >>> 1, visit: row })),
    MAX_ROWS,
  )
  expect(items.names.length).toBe(MAX_ROWS)
  expect(Array.from(items.itemOf)).toEqual(Array.from({ length: MAX_ROWS }, (_, row) => row))
  expect(Array.from(items.starts)).toEqual(Array.from({ length: MAX_ROWS + 1 }, (_, row) => row))
  expect(Array.from(items.visits)).toEqual(Array.from({ length: MAX_ROWS }, (_, row) => row))
  expect(Array.from(items.firsts)).toEqual(Array.from({ length: MAX_ROWS + 1 }, (_, row) => row))
})
