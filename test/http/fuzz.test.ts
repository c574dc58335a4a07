import { afterAll, beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import { FLAT_DIMENSIONS } from "../../src/domain/dimension.ts"
import { FLAT_METRICS } from "../../src/domain/metric.ts"
import { bySize, SEED } from "../size.ts"
import { strangeText, strangeValue } from "../strange.ts"
import { openTarget, type Target } from "./target.ts"

let target: Target
beforeAll(async () => {
  target = await openTarget({ api_rate_limit: "0" })
})
afterAll(() => target.close())

/** Fraction of the calls of a full run. */
const SHARE = bySize({ check: 0.25, full: 1, release: 20 })
const keys =
  "n name u url d domain r referrer p props m meta $ revenue i interactive h hashMode sd e v t title l language tz w screen_width x user_id y id o f".split(
    " ",
  )
const odd = fc.dictionary(fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...keys) }, strangeText), strangeValue, { maxKeys: 3 })
/** A valid event with some invalid fields. About a sixth are for a page that only probes ask for, and are dropped. */
const payload = fc
  .tuple(fc.constantFrom("", "", "", "", "", ".env"), odd)
  .map(([path, fields]) => ({ n: "pageview", u: `https://shop.example/${path}`, ...fields }))

test("no payload causes an internal error, and every acknowledged event is counted", async () => {
  const answers = { taken: 0, dropped: 0, refused: 0 }
  let pageviews = 0
  await fc.assert(
    fc.asyncProperty(payload, async (event) => {
      const answer = await fetch(`${target.url}/api/event`, { method: "POST", body: JSON.stringify(event), headers: target.browser })
      const text = await answer.text()
      if (answer.status !== 202) {
        answers.refused++
        return expect({ status: answer.status, text }).toEqual({ status: 400, text: expect.stringContaining('"code":"invalid_event"') })
      }
      if (answer.headers.has("x-plausible-dropped")) answers.dropped++
      else {
        answers.taken++
        if (event.n === "pageview") pageviews++
      }
    }),
    { seed: SEED, numRuns: 1_200 * SHARE },
  )
  for (const [kind, count] of Object.entries(answers)) expect({ kind, isEnough: count > 20 * SHARE }).toEqual({ kind, isEnough: true })
  expect(await target.pageviews()).toBe(pageviews)
}, 60_000)

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  // A valid event with some bytes changed.
  fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 4 }).map((turned) => {
    const body = new TextEncoder().encode('{"n":"pageview","u":"https://shop.example/page","p":{"a":"b"}}')
    for (const [at, byte] of turned) body[at] = byte
    return body
  }),
)

test("no byte sequence causes an internal error", async () => {
  await fc.assert(
    fc.asyncProperty(bytes, async (body) => {
      const answer = await fetch(`${target.url}/api/event`, { method: "POST", body, headers: target.browser })
      expect(answer.status).toBeOneOf([202, 400])
      await answer.text()
    }),
    { seed: SEED, numRuns: 1_000 * SHARE },
  )
}, 60_000)

const name = fc.constantFrom(
  "period",
  "from",
  "to",
  "timezone",
  "filters",
  "compare",
  "compare_from",
  "compare_to",
  "match_weekday",
  "imports",
  "metrics",
  "interval",
  "dimension",
  "property",
  "sort",
  "order",
  "limit",
  "offset",
)
const sensible = fc.constantFrom(
  "today",
  "7d",
  "all",
  "2026-11-01",
  "2026-11-20",
  "Asia/Kathmandu",
  "previous_period",
  "custom",
  "true",
  "day",
  "auto",
  "page",
  "goal",
  "property",
  "plan",
  "desc",
  "10",
  "visitors",
  "visitors,pageviews",
  "bounce_rate",
)
const filters = fc
  .array(
    fc.record({
      dimension: fc.oneof(fc.constantFrom(...FLAT_DIMENSIONS), strangeText),
      operator: fc.oneof(
        fc.constantFrom("is", "is_not", "contains", "starts_with", "matches_wildcard", "matches_wildcard_not"),
        strangeText,
      ),
      values: fc.array(fc.oneof(strangeText, fc.constantFrom("/", "*", "(none)", "Direct")), { maxLength: 3 }),
    }),
    { maxLength: 3 },
  )
  .map((list) => JSON.stringify(list))
const metrics = fc.subarray([...FLAT_METRICS], { minLength: 1, maxLength: 5 }).map((list) => list.join(","))
const parameter = fc.oneof(
  fc.tuple(name, sensible),
  fc.tuple(name, strangeText),
  fc.tuple(fc.constant("filters"), filters),
  fc.tuple(fc.constant("metrics"), metrics),
  fc.tuple(fc.constant("dimension"), fc.constantFrom(...FLAT_DIMENSIONS)),
)
const query = fc.uniqueArray(parameter, { maxLength: 4, selector: ([key]) => key }).map((list) =>
  // A lone surrogate cannot be percent-encoded, so it is replaced by U+FFFD.
  list.map(([key, text]) => `${key}=${encodeURIComponent(text.toWellFormed())}`).join("&"),
)

test.each(["summary", "timeseries", "breakdown", "realtime"])(
  "no query string causes an internal error in %s",
  async (path) => {
    const headers = { authorization: `Bearer ${target.keys.stats}` }
    const answers = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        const answer = await fetch(`${target.url}/api/public/v1/sites/1/stats/${path}?${text}`, { headers })
        const body = await answer.text()
        answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1)
        expect({ text, body, status: answer.status }).toEqual({ text, body, status: answer.status === 200 ? 200 : 400 })
      }),
      { seed: SEED, numRuns: 400 * SHARE },
    )
    // Both outcomes must occur; otherwise the generated strings are too valid or too broken to prove anything.
    expect(answers.get(200)).toBeGreaterThan(10 * SHARE)
    expect(answers.get(400)).toBeGreaterThan(10 * SHARE)
  },
  60_000,
)

test("afterwards the server works as before", async () => {
  const before = await target.pageviews()
  const body = JSON.stringify({ n: "pageview", u: "https://shop.example/last" })
  expect((await fetch(`${target.url}/api/event`, { method: "POST", body, headers: target.browser })).status).toBe(202)
  expect(await target.pageviews()).toBe(before + 1)
})
