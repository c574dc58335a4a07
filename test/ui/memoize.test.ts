import { expect, test } from "bun:test"
import { kept } from "../../src/ui/kept.ts"

test("what is dear is made once for what it is made from", () => {
  let made = 0
  const format = kept((locale: string, options: Intl.NumberFormatOptions) => {
    made++
    return new Intl.NumberFormat(locale, options)
  })
  expect([format("en", {}), format("en", {}), format("de", {})].map((one) => one.format(1_234))).toEqual(["1,234", "1,234", "1.234"])
  expect(format("en", { maximumFractionDigits: 0 }).format(1.5)).toBe("2")
  expect(made).toBe(3)
})
