import { expect, test } from "bun:test"
import { memoize } from "../../src/ui/text/format.ts"

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
