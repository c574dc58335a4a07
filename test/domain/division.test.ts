import { describe, expect, test } from "bun:test"
import { divideHalfAway, divideHalfEven, shareOf } from "../../src/domain/division.ts"

test.each([
  [5n, 2n, 2n],
  [7n, 2n, 4n],
  [-5n, 2n, -2n],
  [-7n, 2n, -4n],
  [1n, 3n, 0n],
  [2n, 3n, 1n],
  [10n ** 27n + 5n, 10n, 10n ** 26n],
])("rounds %p / %p half to even", (dividend, divisor, quotient) => {
  expect(divideHalfEven(dividend, divisor)).toBe(quotient)
})

test.each([
  [5n, 2n, 3n],
  [-5n, 2n, -3n],
  [1n, 3n, 0n],
  [-2n, 3n, -1n],
])("rounds %p / %p half away from zero", (dividend, divisor, quotient) => {
  expect(divideHalfAway(dividend, divisor)).toBe(quotient)
})

describe("shares", () => {
  test.each([
    [1000n, [334n, 333n, 333n]],
    [-1000n, [-334n, -333n, -333n]],
    [100n, [34n, 33n, 33n]],
    [2n, [1n, 1n, 0n]],
    [0n, [0n, 0n, 0n]],
  ])("of %p are largest first and add up", (amount, shares) => {
    expect(shares.map((_, part) => shareOf(amount, part, 3))).toEqual(shares)
  })
})
