import { expect, test } from "bun:test"
import { EventBuffer } from "../../src/ingest/commit/buffer.ts"
import { createIngestCounts } from "../../src/ingest/commit/outcomes.ts"
import { recordEvent } from "../../src/ingest/commit/visits.ts"
import type { Candidate } from "../../src/ingest/draft.ts"
import { StoreFault } from "../../src/store/events/fault.ts"
import { fixedClock } from "../kit.ts"

const clock = () => fixedClock("2026-11-21T12:00:30Z")
const MINUTE = Date.parse("2026-11-21T12:00:00Z") / 60_000

test("counts by minute, site and outcome, and removes rows once they are stored", () => {
  const now = clock()
  const counts = createIngestCounts(now)
  counts.add(1, "accepted")
  counts.add(1, "accepted")
  counts.add(2, "bot")
  now.advance(60_000)
  counts.add(1, "accepted")
  const rows = counts.waiting()
  expect(rows).toEqual([
    { minute: MINUTE, site_id: 1, outcome: "accepted", count: 2 },
    { minute: MINUTE, site_id: 2, outcome: "bot", count: 1 },
    { minute: MINUTE + 1, site_id: 1, outcome: "accepted", count: 1 },
  ])
  // Counts added while the rows were being written are retained.
  counts.add(1, "accepted")
  counts.stored(rows)
  expect(counts.waiting()).toEqual([{ minute: MINUTE + 1, site_id: 1, outcome: "accepted", count: 1 }])
})

test("keeps at most ten thousand rows while nothing can be stored", () => {
  const now = clock()
  const counts = createIngestCounts(now)
  for (let site = 1; site <= 12_000; site++) counts.add(site, "refused_storage")
  expect(counts.waiting()).toHaveLength(10_000)
})

test("reports the median and 99th percentile of the last thousand commits", () => {
  const counts = createIngestCounts(clock())
  expect(counts.commits()).toBeUndefined()
  for (let i = 0; i < 500; i++) counts.took(1_000)
  for (let ms = 1; ms <= 1_000; ms++) counts.took(ms)
  expect(counts.commits()).toEqual({ p50_ms: 501, p99_ms: 991 })
})

test.each([
  ["full", "refused_storage"],
  ["io", "refused_storage"],
] as const)("an event that the store rejects with %s counts as %s", async (kind, outcome) => {
  const now = clock()
  const counts = createIngestCounts(now)
  const refuse = () => {
    throw new StoreFault(kind, "a test")
  }
  const buffer = new EventBuffer({
    record: recordEvent,
    store: { append: refuse, sync: refuse, syncNow: refuse, probe: refuse, held: () => undefined },
    clock: now,
    counts,
  })
  const candidate = { siteId: 7 } as Candidate // the store throws before reading any other field
  await expect(buffer.store([candidate, candidate], 1)).rejects.toMatchObject({ code: kind === "full" ? "storage_full" : "unavailable" })
  if (kind === "full") await expect(buffer.store([candidate], 1)).rejects.toMatchObject({ code: "storage_full" })
  expect(counts.waiting()).toEqual([{ minute: MINUTE, site_id: 7, outcome, count: kind === "full" ? 3 : 2 }])
  buffer.stop()
})
