import { expect, test } from "bun:test"
import { numberedByVisit, visitIn } from "../../run/visits.ts"

const line = (visitor: number, page: string) =>
  `2 ${visitor} {"visitor":${visitor},"kind":"rotating","userId":"","traits":[],"events":[{"page":"${page}"}],"day":"2026-05-01"}`

test("visitors are numbered by their first visit, and visits stay as they are otherwise", () => {
  const sorted = [line(7, "/a"), line(2, "/b"), line(7, "/c,d"), line(0, '/{\\"visitor\\":2}'), line(2, "/e")]
  expect([...numberedByVisit(sorted, 8)]).toEqual([
    line(0, "/a"),
    line(1, "/b"),
    line(0, "/c,d"),
    line(2, '/{\\"visitor\\":2}'),
    line(1, "/e"),
  ])
  expect(visitIn([...numberedByVisit([line(5, "/a")], 6)][0]!).visitor).toBe(0)
})
