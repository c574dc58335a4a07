import { expect, test } from "bun:test"
import { dimensionsOf, dimensionsText, touchesOf, touchesText } from "../orders/frozen.ts"

const DIMENSIONS = { event: "purchase", entry_page: "/tea", source: "Google", utm_content: 'a "b"' }
const TOUCHES = [
  { at: 1, sequence: 2, source: "Google", channel: "Organic Search", entry_page: "/tea" },
  { at: 3, sequence: 4, utm_content: "b" },
  { at: 5, sequence: 6 },
]

test("dimensions and touches are stored without names and without missing ones at the end", () => {
  const dims_json = dimensionsText({ ...DIMENSIONS, country: "", region: undefined })
  expect(dims_json).not.toContain("entry_page")
  expect(dimensionsOf({ dims_json })).toEqual(DIMENSIONS)
  expect(dimensionsText({ event: "purchase", country: "" })).toBe('["purchase"]')
  const touches_json = touchesText(TOUCHES.map((touch) => ({ utm_term: "", ...touch })))
  expect(touchesOf({ touches_json })).toEqual(TOUCHES)
  expect(touchesText(TOUCHES.slice(2))).toBe("[[5,6]]")
})

test("dimensions and touches that earlier versions stored with their names are read", () => {
  expect(dimensionsOf({ dims_json: JSON.stringify(DIMENSIONS) })).toEqual(DIMENSIONS)
  expect(touchesOf({ touches_json: JSON.stringify(TOUCHES) })).toEqual(TOUCHES)
  expect([dimensionsOf({ dims_json: "{}" }), touchesOf({ touches_json: "[]" })]).toEqual([{}, []])
})
