import { expect, test } from "bun:test"
import fc from "fast-check"
import { AppError } from "../../src/domain/error.ts"
import { BROWSER, siteOf, startIntake, TRACKING_ID } from "./intake.ts"

const LIMITS = { visitorEventsPerMinute: 0, siteEventsPerSecond: 0, siteBurst: 0, instanceEventsPerSecond: 0 }
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom(
    "\0",
    "\ud83d",
    "\udc00x",
    "__proto__",
    "constructor",
    "toString",
    "(none)",
    "../..",
    "%",
    "%00%ff",
    "//",
    "http://",
    "\u202e",
    "a".repeat(5_000),
  ),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
)
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 4 }), fc.double(), fc.integer(), fc.boolean())
const names = [
  "n",
  "u",
  "d",
  "r",
  "p",
  "m",
  "$",
  "i",
  "h",
  "sd",
  "e",
  "t",
  "l",
  "tz",
  "w",
  "x",
  "y",
  "id",
  "o",
  "f",
  "name",
  "url",
  "props",
  "meta",
]
const body = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 12 })
const view = { n: "pageview", u: "https://example.com/", d: TRACKING_ID }
const header = fc.string({ unit: "grapheme-ascii", maxLength: 100 }).map((sent) => sent.trim())

/** Returns the status of a call, or the code of an error that the caller can act on. Any other error fails the test. */
async function outcome(call: Promise<{ status?: number }>): Promise<unknown> {
  try {
    return (await call).status
  } catch (error) {
    return error instanceof AppError ? error.code : error
  }
}

test("answers or rejects any payload without an internal error", async () => {
  const errors: unknown[] = []
  using intake = startIntake(
    { settings: { identity_mode: "identified", hash_routing: true, allowed_query_params: ["q", "__proto__"] } },
    { limits: LIMITS, onError: (error) => errors.push(error) },
  )
  await fc.assert(
    fc.asyncProperty(body, fc.boolean(), header, header, header, async (sent, isView, agent, language, forwarded) => {
      const headers = {
        "user-agent": isView ? BROWSER : agent,
        "accept-language": language,
        "x-forwarded-for": forwarded,
        origin: forwarded,
        referer: agent,
      }
      const got = await outcome(intake.send(JSON.stringify(isView ? { ...sent, ...view } : sent), { headers, peer: "127.0.0.1" }))
      expect([202, "invalid_event"]).toContain(got as never)
    }),
    { seed: 7, numRuns: 1_500 },
  )
  expect(errors).toEqual([])
})

test("rejects arbitrary bytes", async () => {
  using intake = startIntake({}, { limits: LIMITS })
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
      const request = { method: "POST", url: "http://stats.example/api/event", headers: new Headers(), body: bytes, peer: "9.9.9.9" }
      expect(await outcome(intake.collector.collect(request))).toBe("invalid_event")
    }),
    { seed: 7, numRuns: 500 },
  )
  expect(intake.visits()).toEqual([])
})

test("answers or rejects any pixel URL", async () => {
  using intake = startIntake({}, { limits: LIMITS })
  await fc.assert(
    fc.asyncProperty(fc.webQueryParameters(), text, async (query, page) => {
      const url = `http://stats.example/p.gif?d=${TRACKING_ID}&${query}&u=${page}`
      const headers = new Headers({ "user-agent": BROWSER, "accept-language": "de" })
      const got = await outcome(intake.collector.collect({ method: "GET", url, headers, body: new Uint8Array(), peer: "9.9.9.9" }))
      expect([202, "invalid_event"]).toContain(got as never)
    }),
    { seed: 7, numRuns: 500 },
  )
})

test("accounts for every event of any server request", async () => {
  using intake = startIntake({}, { limits: LIMITS })
  const event = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(fc.constantFrom("name", "url", "id", "timestamp", "ip", "user_agent", "props", "revenue", "title", "interactive"), value),
    fc.record({ name: text, url: fc.constant("/a"), title: text, referrer: text, user_agent: text }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 10 }), async (events) => {
      const { accepted, rejected, dropped } = await intake.collector.collectServerEvents(siteOf({}), events)
      expect(accepted + rejected.length + dropped.length).toBe(events.length)
    }),
    { seed: 7, numRuns: 300 },
  )
})
