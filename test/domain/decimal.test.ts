import { describe, expect, test } from "bun:test"
import { type Condition, textTest } from "../../src/domain/filter.ts"

const holds = (text: string, op: Condition["op"], ...values: string[]) => textTest({ op, values, caseSensitive: true })(text)

describe("a comparison of decimal numbers", () => {
  test.each([
    ["10", "9", 1],
    ["9", "10", -1],
    ["9", "9.0", 0],
    ["007", "7", 0],
    ["-0", "0", 0],
    ["-0.00", "0", 0],
    ["-2", "-10", 1],
    ["-2", "1", -1],
    ["0.30000000000000004", "0.3", 1],
    ["0.1", "0.10", 0],
    ["0.09", "0.1", -1],
    ["9007199254740993", "9007199254740992", 1],
    ["123456789012345678901234567890.1", "123456789012345678901234567890.2", -1],
    ["-1.5", "-1.25", -1],
  ])("is exact: %s and %s", (text, value, order) => {
    expect(holds(text, "gt", value)).toBe(order > 0)
    expect(holds(text, "gte", value)).toBe(order >= 0)
    expect(holds(text, "lt", value)).toBe(order < 0)
    expect(holds(text, "lte", value)).toBe(order <= 0)
  })

  test.each(["", " 5", "5 ", "+5", "5.", ".5", "1e3", "0x10", "1,5", "1_000", "5 EUR", "Infinity", "NaN", "٥", "--5", "true"])(
    "never matches text that is not a decimal number: %p",
    (text) => {
      for (const op of ["gt", "gte", "lt", "lte"] as const) {
        expect(holds(text, op, "-1000000")).toBe(false)
        expect(holds(text, op, "1000000")).toBe(false)
        expect(holds("5", op, text)).toBe(false)
      }
    },
  )

  test("holds when one of several values does", () => {
    expect(holds("5", "gt", "9", "4")).toBe(true)
    expect(holds("5", "gt", "9", "none")).toBe(false)
  })
})
