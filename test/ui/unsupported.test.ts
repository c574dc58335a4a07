import { expect, test } from "bun:test"
import { AppError } from "../../src/domain/error.ts"
import { parseQuery } from "../../src/query/parse/parse.ts"
import { unsupportedText } from "../../src/ui/report/cards/empty-card.tsx"

const MOMENT = { now: Date.parse("2026-11-21T11:00:00Z"), timezone: "UTC" }

/** Returns the message with which a breakdown is refused. */
function detailOf(given: Record<string, unknown>): string {
  try {
    parseQuery("breakdown", { period: "7d", ...given }, MOMENT, "json")
  } catch (error) {
    if (error instanceof AppError) return error.members.errors![0]!.detail
  }
  throw new Error("The breakdown was not refused")
}

test("a card says in words which metric can't be broken down, or needs pages", () => {
  expect(unsupportedText(detailOf({ dimension: "event", metrics: ["bounce_rate"] }))).toBe("Bounce rate can't be broken down by event.")
  expect(unsupportedText(detailOf({ dimension: "country", metrics: ["time_on_page"] }))).toBe(
    "Time on page can only be shown for pages. Filter by a page.",
  )
})
