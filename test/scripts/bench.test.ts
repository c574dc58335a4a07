import { expect, test } from "bun:test"
import { comparePeople, fillPeople, peopleCases } from "../../scripts/bench/people/people.ts"
import { compareAnswers, fill } from "../../scripts/bench/stores/stores.ts"

// DuckDB, SQLite and ClickHouse share no code with our kernels, so their agreement shows that all are right.
test.each([
  ["one site", { events: 8_000, sites: 1 }],
  ["several sites", { events: 6_000, sites: 3 }],
])(
  "Footfall and the other stores give the same answer to every report of the benchmark: %s",
  async (_, size) => {
    await using filled = await fill({ ...size, days: 365, seed: 7, end: Date.parse("2026-11-21T00:00:00Z") })
    expect(filled.events).toBeGreaterThan(5_500)
    await compareAnswers(filled)
  },
  60_000,
)

test("Footfall and DuckDB give the same answer to every query about people of the benchmark", async () => {
  const end = Date.parse("2026-11-21T00:00:00Z")
  await using filled = await fillPeople({ events: 20_000, sites: 1, days: 200, seed: 7, end })
  for (const one of peopleCases(end)) await comparePeople(filled, one)
}, 60_000)
