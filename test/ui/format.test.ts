import { expect, test } from "bun:test"
import { memoize, percent } from "../../src/ui/text/format.ts"

test("creates a value once per list of arguments", () => {
  let made = 0
  const format = memoize((locale: string, options: Intl.NumberFormatOptions) => {
    made++
    return new Intl.NumberFormat(locale, options)
  })
  expect([format("en", {}), format("en", {}), format("de", {})].map((one) => one.format(1_234))).toEqual(["1,234", "1,234", "1.234"])
  expect(format("en", { maximumFractionDigits: 0 }).format(1.5)).toBe("2")
  expect(made).toBe(3)
})

test("a small percentage is not rounded to 0", () => {
  const texts = [0, 0.04, 0.05, 0.06, 3.14, 12.5, undefined].map(percent)
  expect(texts).toEqual(["0%", "<0.1%", "0.1%", "0.1%", "3.1%", "13%", "–"])
})
