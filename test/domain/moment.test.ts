import { expect, test } from "bun:test"
import { jumpText, spanText } from "../../src/domain/moment.ts"

test.each([
  [0, "0 seconds"],
  [1_999, "1 second"],
  [119_999, "119 seconds"],
  [120_000, "2 minutes"],
  [3_660_000, "61 minutes"],
  [17 * 3_600_000, "17 hours"],
  [47.9 * 3_600_000, "47 hours"],
  [48 * 3_600_000, "2 days"],
] as const)("%i ms are %s", (ms, text) => expect(spanText(ms)).toBe(text))

test("describes the size and direction of a clock change", () => {
  expect(jumpText(3_660_000)).toBe("61 minutes forward")
  expect(jumpText(-90_000)).toBe("90 seconds back")
})
