import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { eventOf, openTarget, type Target } from "./target.ts"

let target: Target
beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.close())

/** Part of every invalid value; no response may contain it. */
const MARK = "zqxjmark"
const SITE = "/api/public/v1/sites/1"
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
const stream = (text: string) => new Blob([text]).stream()
const SHOP = "https://shop.example"

/** Expects a problem with the status and one of the codes, without any submitted value. */
async function expectProblem(answer: Response, status: number, ...codes: string[]): Promise<void> {
  const text = await answer.text()
  expect({ text, status: answer.status, type: answer.headers.get("content-type") }).toEqual({
    text,
    status,
    type: "application/problem+json",
  })
  const problem = JSON.parse(text)
  expect(problem.status).toBe(status)
  expect(codes).toContain(problem.code)
  expect(text).not.toContain(MARK)
}

describe("POST /api/event", () => {
  const good = { n: "pageview", u: `${SHOP}/` }
  const json = (more: object) => JSON.stringify({ ...good, ...more })

  test.each<[string, BodyInit | null]>([
    ["no body", null],
    ["an empty body", ""],
    ["blanks", "   "],
    ["a truncated body", '{"n":"pageview"'],
    ["text", MARK],
    ["null", "null"],
    ["a number", "5"],
    ["a string", `"${MARK}"`],
    ["an array", "[]"],
    ["an array of events", `[${json({})}]`],
    ["an empty object", "{}"],
    ["two JSON values", `${json({})}${json({})}`],
    ["bytes that are not UTF-8", Uint8Array.of(0x7b, 0x22, 0x6e, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d)],
    ["NUL bytes", "\0\0\0\0"],
    ["a NUL after the JSON", `{"n":"pageview","u":"${SHOP}/"}\0`],
    ["deeply nested arrays", nested(30_000)],
    ["deeply nested objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
    ["an infinite number", `{"n":"pageview","u":"${SHOP}/","e":1e400,"sd":${"9".repeat(400)}}`.replace("pageview", "")],
    ["no name", JSON.stringify({ u: `${SHOP}/` })],
    ["an empty name", json({ n: "" })],
    ["a blank name", json({ n: "   " })],
    ["a long name", json({ n: MARK.repeat(20) })],
    ["an array as the name", json({ n: [MARK] })],
    ["true as the name", json({ n: true })],
    ["null as the name", json({ n: null })],
    ["no URL", JSON.stringify({ n: "pageview" })],
    ["an empty URL", json({ u: "" })],
    ["a number as the URL", json({ u: 5 })],
    ["an object as the URL", json({ u: { href: MARK } })],
    ["a data URL", json({ u: `data:text/html,${MARK}` })],
    ["a long URL", json({ u: `${SHOP}/${"a".repeat(8_200)}` })],
    ["a blank domain", json({ d: " " })],
    ["six domains", json({ d: "a.example,b.example,c.example,d.example,e.example,f.example" })],
    ["a number as the domain", json({ d: 5 })],
    ["engagement without time or depth", json({ n: "engagement" })],
    ["an invalid event id", json({ id: `${MARK} ${MARK}` })],
  ])("rejects %s", async (_, body) => {
    const answer = await fetch(`${target.url}/api/event`, { method: "POST", body, headers: target.browser })
    await expectProblem(answer, 400, "invalid_event", "invalid_json")
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
  })

  test.each([
    ["with Content-Length", MARK.repeat(8_193)],
    ["of several megabytes", "x".repeat(4 << 20)],
  ])("rejects a large body %s", async (_, body) => {
    await expectProblem(await fetch(`${target.url}/api/event`, { method: "POST", body, headers: target.browser }), 413, "body_too_large")
    const chunked = await fetch(`${target.url}/api/event`, { method: "POST", body: stream(body), headers: target.browser })
    await expectProblem(chunked, 413, "body_too_large")
  })

  test.each([
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/html",
    "application/xml",
    "application/jsonx",
    MARK,
  ])("rejects the content type %s", async (type) => {
    const headers = { ...target.browser, "content-type": type }
    await expectProblem(await fetch(`${target.url}/api/event`, { method: "POST", body: json({}), headers }), 415, "unsupported_media_type")
  })

  test.each(["GET", "HEAD", "PUT", "PATCH", "DELETE"])("rejects the method %s", async (method) => {
    const answer = await fetch(`${target.url}/api/event`, { method })
    expect({ status: answer.status, allow: answer.headers.get("allow") }).toEqual({ status: 405, allow: "POST, OPTIONS" })
  })

  // Unusual but readable input is accepted in whole or in part and never causes an internal error.
  test.each<[string, object]>([
    ["unknown fields", { zz: 1, __proto__x: 2 }],
    ["properties of every type", { p: { a: 1, b: true, c: null, d: [1], e: { f: 1 }, g: "\0", h: "\ud800", "": "x" } }],
    ["an array as properties", { p: [1, 2] }],
    ["properties as invalid JSON text", { m: "{" }],
    ["hundreds of properties", { p: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i])) }],
    ["a lone surrogate in the page", { u: `${SHOP}/\ud800` }],
    ["a NUL in the page", { u: `${SHOP}/\0` }],
    ["invalid escapes in the page", { u: `${SHOP}/%zz%ff?utm_source=%zz` }],
    ["an invalid referrer", { r: "http://[" }],
    ["a number as the referrer", { r: 5 }],
    ["a string as the revenue", { $: "5" }],
    ["an invalid revenue", { $: { amount: "1e400", currency: "XXX" } }],
    ["a negative width", { w: -1 }],
    ["a string as the age", { o: "x" }],
    ["an unknown time zone", { tz: "Mars/Base" }],
    ["an object as the title", { t: { a: 1 } }],
  ])("accepts %s", async (_, more) => {
    const answer = await fetch(`${target.url}/api/event`, {
      method: "POST",
      body: json({ ...more, d: "nowhere.example" }),
      headers: target.browser,
    })
    expect(answer.status).toBeOneOf([202, 400])
  })

  test("accepts a body of exactly the limit", async () => {
    const before = await target.pageviews()
    const body = json({}).padEnd(64 << 10)
    expect((await fetch(`${target.url}/api/event`, { method: "POST", body, headers: target.browser })).status).toBe(202)
    expect((await fetch(`${target.url}/api/event`, { method: "POST", body: stream(body), headers: target.browser })).status).toBe(202)
    expect((await fetch(`${target.url}/api/event`, { method: "POST", body: `${body} `, headers: target.browser })).status).toBe(413)
    expect((await target.pageviews()) - before).toBe(2)
  })

  test("stores nothing for a debug request", async () => {
    const before = await target.pageviews()
    const headers = { ...target.browser, "x-debug-request": "true", "x-forwarded-for": "203.0.113.9" }
    const answer = await fetch(`${target.url}/api/event`, { method: "POST", body: json({}), headers })
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: "203.0.113.9" })
    expect(await target.pageviews()).toBe(before)
  })

  test("accepts JSON as text/plain, as application/json and without a content type", async () => {
    const before = await target.pageviews()
    for (const type of ["text/plain", "text/plain;charset=UTF-8", "application/json", "Application/JSON; charset=utf-8", undefined]) {
      // Bytes have no content type of their own.
      const body = new TextEncoder().encode(json({}))
      const { "content-type": _, ...headers } = target.browser
      const answer = await fetch(`${target.url}/api/event`, {
        method: "POST",
        body,
        headers: { ...headers, ...(type && { "content-type": type }) },
      })
      expect({ type, status: answer.status, text: await answer.text() }).toEqual({ type, status: 202, text: "ok" })
    }
    expect((await target.pageviews()) - before).toBe(5)
  })
})

describe("POST /sites/{id}/events", () => {
  const post = (body: BodyInit | null, type = "application/json") =>
    fetch(`${target.url}${SITE}/events`, {
      method: "POST",
      body,
      headers: { authorization: `Bearer ${target.keys.events}`, "content-type": type },
    })

  test.each<[string, BodyInit | null, number, string]>([
    ["no body", null, 400, "invalid_json"],
    ["an empty body", "", 400, "invalid_json"],
    ["text", MARK, 400, "invalid_json"],
    ["a truncated body", '{"events":[', 400, "invalid_json"],
    ["bytes that are not UTF-8", Uint8Array.of(0x22, 0xff, 0x22), 400, "invalid_json"],
    ["nested arrays", `{"events":${nested(10)}}`, 400, "invalid_json"],
    ["deeply nested arrays", nested(400_000), 400, "invalid_json"],
    ["null", "null", 422, "validation_failed"],
    ["a number", "5", 422, "validation_failed"],
    ["a top-level array", JSON.stringify([eventOf("/")]), 422, "validation_failed"],
    ["a single event", JSON.stringify(eventOf("/")), 422, "validation_failed"],
    ["an empty list", '{"events":[]}', 422, "validation_failed"],
    ["an object as the events", '{"events":{"0":1}}', 422, "validation_failed"],
    ["a string as the events", `{"events":"${MARK}"}`, 422, "validation_failed"],
    ["an unknown field", `{"events":[{}],"other":"${MARK}"}`, 422, "validation_failed"],
    ["a field named __proto__", `{"events":[{}],"__proto__":{"a":"${MARK}"}}`, 422, "validation_failed"],
    ["1001 events", JSON.stringify({ events: Array.from({ length: 1_001 }, () => eventOf("/")) }), 422, "validation_failed"],
  ])("rejects %s", async (_, body, status, code) => {
    await expectProblem(await post(body), status, code)
  })

  test.each([
    ["an incomplete line", `${JSON.stringify(eventOf("/"))}\n{"name":"${MARK}\n`, 400, "invalid_json"],
    ["no lines", "\n\n", 422, "validation_failed"],
    ["1001 lines", `${JSON.stringify(eventOf("/"))}\n`.repeat(1_001), 422, "validation_failed"],
  ])("rejects NDJSON with %s", async (_, body, status, code) => {
    await expectProblem(await post(body, "application/x-ndjson"), status, code)
  })

  test("rejects a large body, with and without Content-Length", async () => {
    const large = `{"events":["${"x".repeat(1 << 20)}"]}`
    await expectProblem(await post(large), 413, "body_too_large")
    await expectProblem(await post(stream(large)), 413, "body_too_large")
  })

  test.each(["text/plain", "text/csv", "application/merge-patch+json", "application/json-seq"])(
    "rejects the content type %s",
    async (type) => {
      await expectProblem(await post('{"events":[{}]}', type), 415, "unsupported_media_type")
    },
  )

  const odd: [string, unknown][] = [
    ["null", null],
    ["a number", 5],
    ["a string", MARK],
    ["an array", []],
    ["an empty object", {}],
    ["no name", { url: `${SHOP}/` }],
    ["no URL", { name: "pageview" }],
    ["an unknown field", { ...eventOf("/"), colour: MARK }],
    ["a number as the name", { ...eventOf("/"), name: 5 }],
    ["an empty name", { ...eventOf("/"), name: " " }],
    ["a long name", { ...eventOf("/"), name: MARK.repeat(20) }],
    ["a reserved name", { ...eventOf("/"), name: "engagement" }],
    ["a NUL in the name", { ...eventOf("/"), name: "a\0b" }],
    ["a lone surrogate in the name", { ...eventOf("/"), name: "a\ud800b" }],
    ["a number as the URL", { ...eventOf("/"), url: 7 }],
    ["a data URL", { ...eventOf("/"), url: `data:,${MARK}` }],
    ["a short id", { ...eventOf("/"), id: "short" }],
    ["a day that does not exist", { ...eventOf("/"), timestamp: "2026-02-30T00:00:00Z" }],
    ["an invalid time", { ...eventOf("/"), timestamp: MARK }],
    ["a time out of range", { ...eventOf("/"), timestamp: 1e300 }],
    ["a negative time", { ...eventOf("/"), timestamp: -5 }],
    ["true as the time", { ...eventOf("/"), timestamp: true }],
    ["an invalid visitor address", { ...eventOf("/"), ip: "999.1.1.1" }],
    ["an array as props", { ...eventOf("/"), props: [MARK] }],
    ["31 props", { ...eventOf("/"), props: Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`k${i}`, 1])) }],
    ["a nested property", { ...eventOf("/"), props: { a: { b: MARK } } }],
    ["a revenue without an amount", { ...eventOf("/"), revenue: {} }],
    ["a revenue out of range", { ...eventOf("/"), revenue: { amount: "1e400" } }],
    ["an unknown currency", { ...eventOf("/"), revenue: { amount: 1, currency: MARK } }],
    ["a string as interactive", { ...eventOf("/"), interactive: "no" }],
    ["an object as the user id", { ...eventOf("/"), user_id: { a: 1 } }],
  ]

  test.each(odd)("rejects %s and stores the events before and after it", async (_, bad) => {
    const before = await target.pageviews()
    const answer = await post(JSON.stringify({ events: [eventOf("/before"), bad, eventOf("/after")] }))
    const text = await answer.text()
    expect({ status: answer.status, text }).toEqual({ status: 202, text })
    const { accepted, rejected, dropped } = JSON.parse(text)
    expect(accepted + rejected.length + dropped.length).toBe(3)
    expect(rejected.map(({ index }: { index: number }) => index)).toEqual([1])
    expect(text).not.toContain(MARK)
    expect((await target.pageviews()) - before).toBe(2)
  })

  test("accepts a JSON array and NDJSON", async () => {
    const before = await target.pageviews()
    const list = await post(JSON.stringify({ events: [eventOf("/a"), eventOf("/b")] }))
    expect({ status: list.status, body: await list.json() }).toEqual({ status: 202, body: { accepted: 2, rejected: [], dropped: [] } })
    const lines = await post(
      `${JSON.stringify(eventOf("/a"))}\r\n\n${JSON.stringify(eventOf("/b"))}`,
      "application/x-ndjson; charset=utf-8",
    )
    expect({ status: lines.status, body: await lines.json() }).toEqual({ status: 202, body: { accepted: 2, rejected: [], dropped: [] } })
    expect((await target.pageviews()) - before).toBe(4)
  })
})

describe("ids in paths", () => {
  const ids = [
    "abc",
    "0",
    "1e3",
    "01",
    "-1",
    "+1",
    "1.0",
    "0x1",
    "10000000000000000",
    `1${"0".repeat(30)}`,
    "1%20",
    "%201",
    "%zz",
    "%ff",
    "%00",
    "1%00",
    "1%2f2",
    "1%2F",
    "%5c",
    "null",
    "__proto__",
    "%E2%91%A0",
    "1;x",
    MARK,
  ]
  test.each(ids)("%s is not a site id", async (id) => {
    const headers = { authorization: `Bearer ${target.keys.all}`, "content-type": "application/json" }
    for (const [path, method] of [
      ["stats/summary", "GET"],
      ["stats/realtime", "GET"],
      ["events", "POST"],
    ] as const) {
      const answer = await fetch(`${target.url}/api/public/v1/sites/${id}/${path}`, {
        method,
        headers,
        ...(method === "POST" && { body: "{" }),
      })
      await expectProblem(answer, 404, "site_not_found")
    }
  })

  test.each(["/1", "1//"])("%s is not a path", async (id) => {
    const headers = { authorization: `Bearer ${target.keys.all}` }
    await expectProblem(await fetch(`${target.url}/api/public/v1/sites/${id}/stats/summary`, { headers }), 404, "not_found")
  })
})

describe("query strings", () => {
  const get = (path: string) => fetch(`${target.url}${SITE}/stats/${path}`, { headers: { authorization: `Bearer ${target.keys.stats}` } })
  const filters = (value: unknown) => `filters=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`
  const is = (more: object) => [{ dimension: "page", values: ["/"], ...more }]

  const refused: [name: string, query: string][] = [
    ["summary", "period=7d&period=30d"],
    ["summary", "a=1&a=1"],
    ["summary", "%61=1&a=1"],
    ["summary", "period=%zz"],
    ["summary", "period=%ff"],
    ["summary", "period=%ed%a0%80"],
    ["summary", "period=7d%00"],
    ["summary", `period=${MARK}`],
    ["summary", "period="],
    ["summary", "period"],
    ["summary", "="],
    ["summary", "__proto__=1"],
    ["summary", "constructor=1"],
    ["summary", "toString=1"],
    ["summary", `colour=${MARK}`],
    ["summary", "from=2026-11-01"],
    ["summary", "to=2026-11-01"],
    ["summary", "from=2026-02-30&to=2026-03-01"],
    ["summary", "from=2026-13-01&to=2026-13-02"],
    ["summary", "from=2026-11-10&to=2026-11-01"],
    ["summary", "from=2999-01-01&to=2999-01-02"],
    ["summary", "from=2000-01-01&to=2026-11-01"],
    ["summary", "from=20261101&to=20261102"],
    ["summary", "from=-000001-01-01&to=2026-01-01"],
    ["summary", `from=${MARK}&to=${MARK}`],
    ["summary", "timezone=Mars/Base"],
    ["summary", "timezone=%2B02:00"],
    ["summary", `timezone=${"A".repeat(5_000)}`],
    ["summary", "compare=custom"],
    ["summary", "compare=custom&compare_from=2026-11-02&compare_to=2026-11-01"],
    ["summary", "compare_from=2026-11-01&compare_to=2026-11-02"],
    ["summary", "match_weekday=yes"],
    ["summary", "imports=1"],
    ["summary", "metrics="],
    ["summary", "metrics=visitors,visitors"],
    ["summary", `metrics=${MARK}`],
    ["summary", "metrics=__proto__"],
    ["summary", `metrics=${"visitors,".repeat(1_000)}visits`],
    ["summary", filters("{")],
    ["summary", filters("null")],
    ["summary", filters({})],
    ["summary", filters([null])],
    ["summary", filters([[]])],
    ["summary", filters(is({ dimension: MARK }))],
    ["summary", filters(is({ dimension: "__proto__" }))],
    ["summary", filters(is({ operator: MARK }))],
    ["summary", filters(is({ operator: "toString" }))],
    ["summary", filters(is({ values: [] }))],
    ["summary", filters(is({ values: "x" }))],
    ["summary", filters(is({ values: [1] }))],
    ["summary", filters(is({ values: [MARK.repeat(300)] }))],
    ["summary", filters(is({ values: Array.from({ length: 51 }, (_, i) => String(i)) }))],
    ["summary", filters(is({ colour: MARK }))],
    ["summary", filters(is({ property: "x" }))],
    ["summary", filters(is({ operator: "matches_wildcard", values: ["*".repeat(9)] }))],
    ["summary", filters(Array.from({ length: 11 }, () => is({})[0]))],
    ["summary", filters(nested(2_000))],
    ["summary", filters('[{"dimension":"page","values":["\\ud800"]}]')],
    ["summary", filters('[{"dimension":"page","values":["\\u0000"]}]')],
    ["timeseries", "interval=second"],
    ["timeseries", "interval=hour&period=12mo"],
    ["breakdown", ""],
    ["breakdown", `dimension=${MARK}`],
    ["breakdown", "dimension=property"],
    ["breakdown", "dimension=page&property=x"],
    ["breakdown", "dimension=page&limit=0"],
    ["breakdown", "dimension=page&limit=1001"],
    ["breakdown", "dimension=page&limit=1e1"],
    ["breakdown", "dimension=page&limit=0x10"],
    ["breakdown", "dimension=page&limit=-1"],
    ["breakdown", "dimension=page&limit=01"],
    ["breakdown", "dimension=page&limit="],
    ["breakdown", "dimension=page&limit=5.0"],
    ["breakdown", "dimension=page&limit=%205"],
    ["breakdown", "dimension=page&limit=99999999999999999999"],
    ["breakdown", "dimension=page&offset=-1"],
    ["breakdown", "dimension=page&offset=10001"],
    ["breakdown", "dimension=page&order=up"],
    ["breakdown", "dimension=page&sort=bounce_rate"],
    ["breakdown", "dimension=event&metrics=bounce_rate"],
    ["realtime", "limit=51"],
    ["realtime", "period=7d"],
  ]
  test.each(refused.map(([name, query]) => [name, query.slice(0, 60), query] as const))("rejects %s?%s", async (name, _, query) => {
    await expectProblem(await get(`${name}?${query}`), 400, "invalid_query")
  })
})

test("afterwards only acknowledged events are stored, and new events are accepted", async () => {
  const before = await target.pageviews()
  const answer = await fetch(`${target.url}/api/event`, {
    method: "POST",
    body: JSON.stringify({ n: "pageview", u: `${SHOP}/last` }),
    headers: target.browser,
  })
  expect(answer.status).toBe(202)
  expect(await target.pageviews()).toBe(before + 1)
  // 2 for bodies of exactly the limit, 5 for the content types, 2 for each rejected event, 4 for the array and NDJSON.
  expect(before).toBe(2 + 5 + 31 * 2 + 4)
})
