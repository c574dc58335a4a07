import { describe, expect, test } from "bun:test"
import { divideHalfEven } from "#plugin"
import { convert, createRateLookup, parseRate, type Rate } from "../rates/rate.ts"

describe("a rate", () => {
  test.each([
    ["1.0853", "1.0853"],
    [1.0853, "1.0853"],
    ["0001.50", "1.5"],
    [".5", "0.5"],
    ["160", "160"],
    ["0.000000000001", "0.000000000001"],
    ["123456789012", "123456789012"],
    ["123456789012000", "123456789012000"],
  ])("%j is read as %s", (sent, rate) => {
    expect(parseRate(sent)).toBe(rate)
  })

  test.each(["0", "0.000", "-1", "+1", "1e3", "1,5", "", ".", "1234567890123", "0.1234567890123", Number.NaN, 1e21, null, true])(
    "%j is rejected",
    (sent) => {
      expect(parseRate(sent)).toBeUndefined()
    },
  )
})

test.each([
  [5n, 2n, 2n],
  [7n, 2n, 4n],
  [-5n, 2n, -2n],
  [-7n, 2n, -4n],
  [10n, 4n, 2n],
  [11n, 4n, 3n],
  [-11n, 4n, -3n],
  [0n, 3n, 0n],
])("%d / %d rounds half to even to %d", (dividend, divisor, quotient) => {
  expect(divideHalfEven(dividend, divisor)).toBe(quotient)
})

const day = "2026-11-20"
const rate = (base: string, quote: string, price: string, more: Partial<Rate> = {}): Rate => ({
  site_id: 0,
  day,
  base,
  quote,
  rate: price,
  ...more,
})

describe("the conversion", () => {
  test.each([
    ["two decimals to two", 1000, "EUR", "USD", [rate("EUR", "USD", "1.0853")], 1085n], // 10.853
    ["half to even, down", 50, "EUR", "USD", [rate("EUR", "USD", "1.05")], 52n], // 0.525
    ["half to even, up", 50, "EUR", "USD", [rate("EUR", "USD", "1.07")], 54n], // 0.535
    ["a negative amount", -50, "EUR", "USD", [rate("EUR", "USD", "1.05")], -52n],
    ["no decimals to two", 1000, "JPY", "EUR", [rate("JPY", "EUR", "0.0062")], 620n], // ¥1000 = €6.20
    ["three decimals to none", 1500, "KWD", "JPY", [rate("KWD", "JPY", "500.1")], 750n], // 1.5 × 500.1 = 750.15
    ["four decimals to two", 10_000, "CLF", "EUR", [rate("CLF", "EUR", "38.555")], 3856n], // 1 × 38.555, half to even
    ["by the inverse rate", 1000, "USD", "EUR", [rate("EUR", "USD", "1.25")], 800n],
    ["through a common base", 1000, "USD", "GBP", [rate("EUR", "USD", "1.25"), rate("EUR", "GBP", "0.85")], 680n], // 10 × 0.85 / 1.25
    ["the largest amount", 1e15, "KWD", "IDR", [rate("KWD", "IDR", "53210.5")], 5_321_050_000_000_000_000n],
    ["to itself", 123, "EUR", "EUR", [], 123n],
  ] as const)("converts %s", (_, minor, from, to, rates, expected) => {
    expect(convert(minor, from, to, createRateLookup(rates)(from, to, day)!)).toBe(expected)
  })
})

describe("the lookup of a rate", () => {
  const find = (rates: Rate[], on = day) => createRateLookup(rates)("USD", "EUR", on)
  test.each([
    ["prefers the direct rate to the inverse one", [rate("EUR", "USD", "1.1"), rate("USD", "EUR", "0.9")], "0.9"],
    ["prefers the inverse rate to a common base", [rate("EUR", "USD", "1.1"), rate("CHF", "USD", "1"), rate("CHF", "EUR", "2")], "1/1.1"],
    [
      "prefers the first base by code",
      [rate("GBP", "USD", "4"), rate("GBP", "EUR", "3"), rate("CHF", "USD", "2"), rate("CHF", "EUR", "1")],
      "1/2",
    ],
    ["prefers the site's rate to that of the instance", [rate("USD", "EUR", "0.9"), rate("USD", "EUR", "0.8", { site_id: 1 })], "0.8"],
    ["prefers the site's inverse rate to a direct one", [rate("USD", "EUR", "0.9"), rate("EUR", "USD", "2", { site_id: 1 })], "1/2"],
    ["combines rates of the site and of the instance", [rate("CHF", "USD", "4"), rate("CHF", "EUR", "3", { site_id: 1 })], "3/4"],
  ] as const)("%s", (_, rates, text) => {
    expect(find([...rates])).toMatchObject({ text, day })
  })

  test("prefers EUR to every other base", () => {
    const rates = [rate("AUD", "USD", "4"), rate("AUD", "GBP", "3"), rate("EUR", "USD", "2"), rate("EUR", "GBP", "1")]
    expect(createRateLookup(rates)("USD", "GBP", day)).toMatchObject({ text: "1/2" })
  })

  test.each([
    ["2026-11-20", "2026-11-20"],
    ["2026-11-23", "2026-11-20"],
    ["2026-11-27", "2026-11-20"],
    ["2026-11-28", undefined],
    ["2026-11-19", undefined],
  ])("on %s uses the rate of %s", (on, used) => {
    expect(find([rate("USD", "EUR", "0.9")], on)?.day).toBe(used)
  })

  test("prefers a nearer day to a better kind of rate", () => {
    expect(find([rate("USD", "EUR", "0.9", { day: "2026-11-19" }), rate("EUR", "USD", "1.25")])).toMatchObject({ text: "1/1.25", day })
  })
})
