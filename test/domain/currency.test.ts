import { expect, test } from "bun:test"
import { currencyDecimals, parseCurrency } from "../../src/domain/currency.ts"
import { currencyStyle } from "../../src/domain/currency-style.ts"

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
const everyCode = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)))

test("contains every code of List One with minor units", () => {
  const counts = Map.groupBy(everyCode, (code) => currencyDecimals(code) ?? "none")
  expect([0, 2, 3, 4].map((decimals) => counts.get(decimals)?.length)).toEqual([17, 139, 7, 2])
})

test.each([
  ["eur", "EUR", 2],
  ["JPY", "JPY", 0],
  ["UGX", "UGX", 0],
  ["MGA", "MGA", 2],
  ["KWD", "KWD", 3],
  ["CLF", "CLF", 4],
  ["XCG", "XCG", 2], // replaces ANG, amendment 176
  ["ZWG", "ZWG", 2], // replaces ZWL, amendment 177
  ["XAD", "XAD", 2], // amendment 179
])("reads %s as %s with %d decimals", (text, code, decimals) => {
  expect(parseCurrency(text)).toBe(code)
  expect(currencyDecimals(code)).toBe(decimals)
})

test.each(["ANG", "ZWL", "CUC", "BGN", "HRK", "SLL", "DEM", "XAU", "XDR", "XTS", "XXX", "", "EU", "EURO"])(
  "%j is not an active currency",
  (text) => {
    expect(parseCurrency(text)).toBeUndefined()
  },
)

test.each(["HUF", "IQD", "COP", "JPY", "KWD", "CLF", "EUR"])("formats amounts of %s with all their decimals", (currency) => {
  const parts = new Intl.NumberFormat("en-US", currencyStyle(currency)).formatToParts(1234.5678)
  expect(parts.find(({ type }) => type === "fraction")?.value.length ?? 0).toBe(currencyDecimals(currency)!)
})
