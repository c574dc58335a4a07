import { expect, test } from "bun:test"
import fc from "fast-check"
import { MAX_ROWS, openItems, packItems, rowOf, visitOf } from "../../../src/store/events/bytes/items.ts"

const columns = (rows: readonly (readonly [name: number, page: number, visit: number])[]) => ({
  name: Uint32Array.from(rows, ([name]) => name),
  page: Uint32Array.from(rows, ([, page]) => page),
  visit: Uint32Array.from(rows, ([, , visit]) => visit),
})

/** Returns name, page and visit of each row, as the items have them. */
function rowsOf({ names, pages, starts, events }: ReturnType<typeof openItems>) {
  const rows: [number, number, number][] = []
  for (let item = 0; item < names.length; item++) {
    const own = events.subarray(starts[item], starts[item + 1])
    expect(Array.from(own, rowOf)).toEqual(Array.from(own, rowOf).sort((a, b) => a - b))
    for (const event of own) rows[rowOf(event)] = [names[item]!, pages[item]!, visitOf(event)]
  }
  return rows
}

test("lists each event once, in the item of its name and page, in order of rows", () => {
  const row = fc.tuple(fc.nat(4), fc.oneof(fc.nat(5), fc.integer({ min: 0, max: 0xffff_ffff })), fc.nat(0xffff))
  fc.assert(
    fc.property(fc.array(row, { maxLength: 300 }), (rows) => {
      const items = openItems(packItems(columns(rows)))
      expect(rowsOf(items)).toEqual(rows)
      expect(new Set(Array.from(items.names, (name, item) => `${name} ${items.pages[item]}`)).size).toBe(items.names.length)
    }),
  )
})

test("has room for as many items as a segment has events", () => {
  const rows = Array.from({ length: MAX_ROWS }, (_, row) => [row % 2, row >>> 1, row] as const)
  const items = openItems(packItems(columns(rows)))
  expect(items.names.length).toBe(MAX_ROWS)
  expect(rowsOf(items)).toEqual(rows.map((row) => [...row]))
})
