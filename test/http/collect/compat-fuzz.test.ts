import { afterAll, beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import { BROWSER } from "../../kit.ts"
import { bySize, SEED } from "../../size.ts"
import { strangeText, strangeValue } from "../../strange.ts"
import { openCompat, view, WEBSITE } from "./compat.ts"

let compat: Awaited<ReturnType<typeof openCompat>>
beforeAll(async () => {
  compat = await openCompat()
})
afterAll(async () => {
  // An internal error that another status hides leaves a line in the log.
  expect(compat.log.lines.filter(({ level }) => level === "error")).toEqual([])
  await compat[Symbol.asyncDispose]()
})

/** Fraction of the calls of a full run. */
const SHARE = bySize({ check: 0.25, full: 1, release: 20 })
const KEYS =
  "website hostname url referrer title language screen name data tag id link pixel lcp inp fcp ttfb cls ip userAgent timestamp".split(" ")
const body = fc
  .record({
    type: fc.oneof({ weight: 6, arbitrary: fc.constantFrom("event", "event", "identify", "performance") }, strangeValue),
    dropped: fc.constantFrom({}, {}, {}, {}, {}, {}, { hostname: "evil.org" }, { url: "/.env" }, { referrer: "https://semalt.com/" }),
    odd: fc.dictionary(fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...KEYS) }, strangeText), strangeValue, { maxKeys: 3 }),
  })
  .map(({ type, dropped, odd }) => ({ type, payload: { ...view({ website: WEBSITE }).payload, ...dropped, ...odd } }))

interface Tally {
  taken: number
  dropped: number
  refused: number
}
const expectAll = (tally: Tally) => {
  for (const [kind, count] of Object.entries(tally)) expect({ kind, isEnough: count > 15 }).toEqual({ kind, isEnough: true })
}

test("no payload causes an internal error in /api/send, and every acknowledged event is counted", async () => {
  const tally = { taken: 0, dropped: 0, refused: 0 }
  const { events: before } = await compat.counted()
  let events = 0
  await fc.assert(
    fc.asyncProperty(body, async (sent) => {
      const answer = await compat.post("/api/send", sent)
      const text = await answer.text()
      if (answer.status !== 200) {
        tally.refused++
        return expect({ status: answer.status, text }).toEqual({ status: 400, text: expect.stringContaining('"code":"invalid_event"') })
      }
      if (answer.headers.has("x-plausible-dropped")) tally.dropped++
      else {
        tally.taken++
        if (sent.type === "event") events++
      }
    }),
    { seed: SEED, numRuns: 1_200 * SHARE },
  )
  expectAll(tally)
  expect((await compat.counted()).events).toBe(before! + events)
}, 60_000)

test("no batch causes an internal error in /api/batch, and its counts equal those of the store", async () => {
  const tally = { taken: 0, dropped: 0, refused: 0 }
  const { events: before } = await compat.counted()
  let events = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof({ weight: 8, arbitrary: body }, strangeValue), { maxLength: 8 }), async (sent) => {
      const answer = await compat.post("/api/batch", sent)
      expect(answer.status).toBe(200)
      const { size, processed, errors, details } = (await answer.json()) as Record<string, number> & { details: { index: number }[] }
      expect([size, processed! + errors!, errors]).toEqual([sent.length, sent.length, details.length])
      const failed = new Set(details.map(({ index }) => index))
      const dropped = Number(answer.headers.get("x-plausible-dropped"))
      tally.refused += errors!
      tally.dropped += dropped
      tally.taken += processed!
      // Without drops, every accepted event of a batch is stored.
      const passed = sent.filter((_, index) => !failed.has(index))
      if (dropped === 0) events += passed.filter((item) => (item as { type?: unknown }).type === "event").length
      else events += await eventsStored(before! + events)
    }),
    { seed: SEED, numRuns: 300 * SHARE },
  )
  expectAll(tally)
  expect((await compat.counted()).events).toBe(before! + events)
}, 60_000)

/** Number of stored events beyond the known ones. */
const eventsStored = async (known: number): Promise<number> => (await compat.counted()).events! - known

const FIELDS = "p t r e s q b site ns rnd".split(" ")
const query = fc
  .array(
    fc.tuple(
      fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...FIELDS) }, strangeText),
      fc.oneof(strangeText, fc.constantFrom("true", "0", "150", "149", "shop")),
    ),
    {
      maxLength: 4,
    },
  )
  .map((pairs) =>
    [...pairs, ["p", "/page"] as const].map((pair) => pair.map((text) => encodeURIComponent(text.toWellFormed())).join("=")).join("&"),
  )

test("no query causes an internal error in /count, and every acknowledged event is counted", async () => {
  const tally = { taken: 0, dropped: 0, refused: 0 }
  const { events: before } = await compat.counted()
  await fc.assert(
    fc.asyncProperty(query, async (text) => {
      const answer = await compat.count(text)
      expect([answer.headers.get("content-type"), (await answer.bytes()).length]).toEqual(["image/gif", 43])
      expect({ text, status: answer.status }).toEqual({ text, status: answer.status === 200 ? 200 : 400 })
      if (answer.status === 400) tally.refused++
      else if (answer.headers.has("x-goatcounter")) tally.dropped++
      else tally.taken++
    }),
    { seed: SEED, numRuns: 1_000 * SHARE },
  )
  expectAll(tally)
  expect((await compat.counted()).events).toBe(before! + tally.taken)
}, 60_000)

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.array(fc.tuple(fc.nat(90), fc.nat(255)), { maxLength: 4 }).map((turned) => {
    const good = new TextEncoder().encode(JSON.stringify(view()))
    for (const [at, byte] of turned) good[at] = byte
    return good
  }),
)

test("no byte sequence causes an internal error in an endpoint", async () => {
  await fc.assert(
    fc.asyncProperty(bytes, fc.constantFrom("/api/send", "/api/batch", "/count?p=/"), async (sent, path) => {
      const answer = await fetch(compat.url + path, { method: "POST", body: sent, headers: { "user-agent": BROWSER } })
      expect(answer.status).toBeOneOf([200, 400])
      await answer.bytes()
    }),
    { seed: SEED, numRuns: 600 * SHARE },
  )
}, 60_000)
