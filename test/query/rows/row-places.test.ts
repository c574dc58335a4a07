import { expect, test } from "bun:test"
import fc from "fast-check"
import { nextVisits, type PickedVisit, type RowsCursor } from "../../../src/query/rows/cursor.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { openTraffic, SITE } from "../traffic.ts"

const START = Date.parse("2026-11-21T10:00:00Z")
const RANGE = { from: START, to: START + 86_400_000 }
const LATER = START + 60 * 86_400_000
const neverStop = () => {}

type Traffic = ReturnType<typeof openTraffic>

/** Reads to the end in small batches and calls `meanwhile` before each batch except the first. */
async function readAll(traffic: Traffic, of: "visits" | "events", meanwhile: (batch: number) => Promise<unknown> | unknown) {
  const batches: PickedVisit[][] = []
  let cursor: RowsCursor | undefined
  for (;;) {
    const found = nextVisits(traffic.snapshot(), { site: SITE, range: RANGE, of, maxRows: 4 }, cursor, neverStop)
    batches.push(found.picks)
    cursor = found.next
    if (!cursor) return { batches, omitted: found.omitted }
    await meanwhile(batches.length)
  }
}

const eraseStarts = (traffic: Traffic, isErased: (start: number) => boolean) =>
  traffic.store.erase(SITE.id, (part) => Uint8Array.from(part.starts(), (start) => (isErased(start) ? 1 : 0)), LATER)

const startsOf = (batches: PickedVisit[][]) => batches.flat().map(({ startedAt }) => startedAt - START)

test("omits and counts visits that are erased during the read, and returns none twice or in part", async () => {
  using traffic = openTraffic(START)
  for (let i = 0; i < 12; i++) traffic.visit({ visitor: i, events: [{ at: START + i }] })
  await traffic.seal()
  // Erases two visits that were already read and three that were not.
  const { batches, omitted } = await readAll(traffic, "visits", async (batch) => {
    if (batch === 1) await eraseStarts(traffic, (start) => [0, 1, 6, 7, 11].includes(start - START))
    await traffic.store.dropRetired(LATER + 3_600_000)
  })
  expect(startsOf(batches)).toEqual([0, 1, 2, 3, 4, 5, 8, 9, 10])
  expect(omitted).toBe(3)
})

test("ignores visits that arrive during the read", async () => {
  using traffic = openTraffic(START)
  for (let i = 0; i < 9; i++) traffic.visit({ visitor: i, events: [{ at: START + 10 * i }] })
  const { batches, omitted } = await readAll(traffic, "visits", (batch) => {
    traffic.visit({ visitor: 100 + batch, events: [{ at: START + 75 }] })
  })
  expect(startsOf(batches)).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80])
  expect(omitted).toBe(0)
})

test("splits a visit with more events than a batch holds, returning each event once", async () => {
  using traffic = openTraffic(START)
  traffic.visit({ visitor: 1, events: Array.from({ length: 9 }, (_, i) => ({ at: START + i })) })
  traffic.visit({ visitor: 2, events: [{ at: START + 4 }, { at: START + 5 }] })
  const { batches, omitted } = await readAll(traffic, "events", () => traffic.seal())
  const pieces = batches.map((picks) => picks.map(({ startedAt, from, to }) => [startedAt - START, to - from]))
  expect(pieces).toEqual([
    [[0, 4]],
    [[0, 4]],
    [
      [0, 1],
      [4, 2],
    ],
  ])
  expect(omitted).toBe(0)
})

test("selects events by their own time, even if their visit began before the range", async () => {
  using traffic = openTraffic(START)
  traffic.visit({ visitor: 1, events: [{ at: RANGE.from - 5_000 }, { at: RANGE.from + 5 }] })
  traffic.visit({ visitor: 2, events: [{ at: RANGE.from - 9_000 }] })
  traffic.visit({ visitor: 3, events: [{ at: RANGE.to - 1 }, { at: RANGE.to }] })
  const found = nextVisits(traffic.snapshot(), { site: SITE, range: RANGE, of: "events", maxRows: 100 }, undefined, neverStop)
  const rows = found.picks.map(({ part, from, to }) => Array.from(found.choice.events(part).subarray(from, to)))
  expect(rows).toEqual([
    [0, 1],
    [1, 0],
  ])
})

type Step = "seal" | "erase" | "visit" | "merge" | "drop" | "nothing"
const anyStep = fc.constantFrom<Step>("seal", "erase", "visit", "merge", "drop", "nothing")

test("returns each visit once or counts it as omitted, whatever happens to the store", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ start: fc.nat(40), sealed: fc.boolean() }), { minLength: 1, maxLength: 60 }),
      fc.array(anyStep, { minLength: 1, maxLength: 8 }),
      async (visits, steps) => {
        using traffic = openTraffic(START)
        for (const [i, { start, sealed }] of visits.entries()) {
          traffic.visit({ visitor: i, events: [{ at: START + start }, { at: START + start + 1 }] })
          if (sealed) await traffic.seal()
        }
        const before = keysOf(traffic.snapshot())
        const erased = new Set<string>()
        const { batches, omitted } = await readAll(traffic, "visits", async (batch) => {
          await applyStep(traffic, steps[batch % steps.length]!, batch, erased)
        })
        const found = batches.flat().map(({ startedAt, sequence }) => `${startedAt} ${sequence}`)
        expect(new Set(found).size).toBe(found.length)
        expect(found.every((key) => before.has(key))).toBe(true)
        // A visit may have been read before it was erased; every visit that was not erased must be present.
        expect([...before].filter((key) => !erased.has(key) && !found.includes(key))).toEqual([])
        expect(omitted).toBe(before.size - found.length)
      },
    ),
    { seed: 3, numRuns: 60 },
  )
}, 60_000)

async function applyStep(traffic: Traffic, step: Step, batch: number, erased: Set<string>): Promise<void> {
  if (step === "seal") await traffic.seal()
  if (step === "merge") await traffic.store.merge(LATER)
  if (step === "drop") await traffic.store.dropRetired(LATER + 3_600_000)
  if (step === "visit") traffic.visit({ visitor: 1_000 + batch, events: [{ at: START + 20 }] })
  if (step !== "erase") return
  const isErased = (start: number) => (start - START) % 5 === batch % 5
  for (const key of keysOf(traffic.snapshot())) if (isErased(Number(key.split(" ")[0]))) erased.add(key)
  await eraseStarts(traffic, isErased)
}

const keysOf = ({ parts }: Snapshot) =>
  new Set(parts.flatMap((part) => Array.from(part.starts(), (start, visit) => `${start} ${part.sequences()[visit]!}`)))
