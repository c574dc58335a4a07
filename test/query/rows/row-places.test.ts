import { expect, test } from "bun:test"
import fc from "fast-check"
import { nextVisits, type Pick, type RowsPlace } from "../../../src/query/rows/places.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { openTraffic, SITE } from "../traffic.ts"

const START = Date.parse("2026-11-21T10:00:00Z")
const RANGE = { from: START, to: START + 86_400_000 }
const LATER = START + 60 * 86_400_000
const never = () => {}

type Traffic = ReturnType<typeof openTraffic>

/** Reads to the end in small batches, with something happening before each but the first one. */
async function readAll(traffic: Traffic, of: "visits" | "events", meanwhile: (batch: number) => Promise<unknown> | unknown) {
  const batches: Pick[][] = []
  let place: RowsPlace | undefined
  for (;;) {
    const found = nextVisits(traffic.snapshot(), { site: SITE, range: RANGE, of, most: 4 }, place, never)
    batches.push(found.picks)
    place = found.next
    if (!place) return { batches, omitted: found.omitted }
    await meanwhile(batches.length)
  }
}

const eraseStarts = (traffic: Traffic, isErased: (start: number) => boolean) =>
  traffic.store.erase(SITE.id, (part) => Uint8Array.from(part.starts(), (start) => (isErased(start) ? 1 : 0)), LATER)

const startsOf = (batches: Pick[][]) => batches.flat().map(({ startedAt }) => startedAt - START)

test("what is erased while it is read is left out and counted, and comes neither twice nor half", async () => {
  using traffic = openTraffic(START)
  for (let i = 0; i < 12; i++) traffic.visit({ visitor: i, events: [{ at: START + i }] })
  await traffic.seal()
  // Two that were read, three that were not.
  const { batches, omitted } = await readAll(traffic, "visits", async (batch) => {
    if (batch === 1) await eraseStarts(traffic, (start) => [0, 1, 6, 7, 11].includes(start - START))
    await traffic.store.dropRetired(LATER + 3_600_000)
  })
  expect(startsOf(batches)).toEqual([0, 1, 2, 3, 4, 5, 8, 9, 10])
  expect(omitted).toBe(3)
})

test("what comes in while it is read is not part of it", async () => {
  using traffic = openTraffic(START)
  for (let i = 0; i < 9; i++) traffic.visit({ visitor: i, events: [{ at: START + 10 * i }] })
  const { batches, omitted } = await readAll(traffic, "visits", (batch) => {
    traffic.visit({ visitor: 100 + batch, events: [{ at: START + 75 }] })
  })
  expect(startsOf(batches)).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80])
  expect(omitted).toBe(0)
})

test("a visit with more events than a batch has comes in pieces, each of its events once", async () => {
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

test("an event counts by its own time, whenever its visit began", async () => {
  using traffic = openTraffic(START)
  traffic.visit({ visitor: 1, events: [{ at: RANGE.from - 5_000 }, { at: RANGE.from + 5 }] })
  traffic.visit({ visitor: 2, events: [{ at: RANGE.from - 9_000 }] })
  traffic.visit({ visitor: 3, events: [{ at: RANGE.to - 1 }, { at: RANGE.to }] })
  const found = nextVisits(traffic.snapshot(), { site: SITE, range: RANGE, of: "events", most: 100 }, undefined, never)
  const rows = found.picks.map(({ part, from, to }) => Array.from(found.choice.events(part).subarray(from, to)))
  expect(rows).toEqual([
    [0, 1],
    [1, 0],
  ])
})

type Step = "seal" | "erase" | "visit" | "merge" | "drop" | "nothing"
const anyStep = fc.constantFrom<Step>("seal", "erase", "visit", "merge", "drop", "nothing")

test("whatever happens to the store, each visit comes once or is counted as omitted", async () => {
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
        const gone = new Set<string>()
        const { batches, omitted } = await readAll(traffic, "visits", async (batch) => {
          await take(traffic, steps[batch % steps.length]!, batch, gone)
        })
        const found = batches.flat().map(({ startedAt, sequence }) => `${startedAt} ${sequence}`)
        expect(new Set(found).size).toBe(found.length)
        expect(found.every((key) => before.has(key))).toBe(true)
        // Those that were read before they were erased are in it; of the others none is missing.
        expect([...before].filter((key) => !gone.has(key) && !found.includes(key))).toEqual([])
        expect(omitted).toBe(before.size - found.length)
      },
    ),
    { seed: 3, numRuns: 60 },
  )
}, 60_000)

async function take(traffic: Traffic, step: Step, batch: number, gone: Set<string>): Promise<void> {
  if (step === "seal") await traffic.seal()
  if (step === "merge") await traffic.store.merge(LATER)
  if (step === "drop") await traffic.store.dropRetired(LATER + 3_600_000)
  if (step === "visit") traffic.visit({ visitor: 1_000 + batch, events: [{ at: START + 20 }] })
  if (step !== "erase") return
  const isErased = (start: number) => (start - START) % 5 === batch % 5
  for (const key of keysOf(traffic.snapshot())) if (isErased(Number(key.split(" ")[0]))) gone.add(key)
  await eraseStarts(traffic, isErased)
}

const keysOf = ({ parts }: Snapshot) =>
  new Set(parts.flatMap((part) => Array.from(part.starts(), (start, visit) => `${start} ${part.sequences()[visit]!}`)))
