import { expect, test } from "bun:test"
import fc from "fast-check"
import { firstInOrder } from "../../src/query/measure/first-in-order.ts"

test("returns the same items as a stable sort, in the same order", () => {
  const numbers = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 200 })
  fc.assert(
    fc.property(numbers, fc.integer({ min: 0, max: 60 }), (values, count) => {
      const items = Uint32Array.from(values.keys())
      const compare = (a: number, b: number) => values[a]! - values[b]!
      expect(firstInOrder(items, compare, count)).toEqual([...items].sort(compare).slice(0, count))
    }),
  )
})

test("compares few items with each other when a few of many are wanted", () => {
  const items = Uint32Array.from({ length: 100_000 }, (_, index) => index)
  let comparisons = 0
  const compare = (a: number, b: number) => {
    comparisons++
    return a - b
  }
  expect(firstInOrder(items, compare, 10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(comparisons).toBeLessThan(100_100)
})
