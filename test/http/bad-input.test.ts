import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { eventOf, openTarget, type Target } from "./target.ts"

let target: Target
beforeAll(async () => {
  target = await openTarget()
})
afterAll(() => target.close())

/** Stands in every bad value; no answer may hold it. */
const MARK = "zqxjmark"
const SITE = "/api/public/v1/sites/1"
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)
const stream = (text: string) => new Blob([text]).stream()
const SHOP = "https://shop.example"

/** A problem of this status and one of these codes, which holds nothing of what was sent. */
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
    ["half a body", '{"n":"pageview"'],
    ["text", MARK],
    ["null", "null"],
    ["a number", "5"],
    ["a text", `"${MARK}"`],
    ["a list", "[]"],
    ["a list of events", `[${json({})}]`],
    ["an empty object", "{}"],
    ["two values", `${json({})}${json({})}`],
    ["bytes that are not UTF-8", Uint8Array.of(0x7b, 0x22, 0x6e, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d)],
    ["NUL bytes", "\0\0\0\0"],
    ["a NUL inside", `{"n":"pageview","u":"${SHOP}/"}\0`],
    ["deep lists", nested(30_000)],
    ["deep objects", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
    ["a number without end", `{"n":"pageview","u":"${SHOP}/","e":1e400,"sd":${"9".repeat(400)}}`.replace("pageview", "")],
    ["no name", JSON.stringify({ u: `${SHOP}/` })],
    ["an empty name", json({ n: "" })],
    ["a name of blanks", json({ n: "   " })],
    ["a long name", json({ n: MARK.repeat(20) })],
    ["a name that is a list", json({ n: [MARK] })],
    ["a name that is true", json({ n: true })],
    ["a null name", json({ n: null })],
    ["no address", JSON.stringify({ n: "pageview" })],
    ["an empty address", json({ u: "" })],
    ["an address that is a number", json({ u: 5 })],
    ["an address that is an object", json({ u: { href: MARK } })],
    ["a data address", json({ u: `data:text/html,${MARK}` })],
    ["a long address", json({ u: `${SHOP}/${"a".repeat(8_200)}` })],
    ["a blank domain", json({ d: " " })],
    ["six domains", json({ d: "a.example,b.example,c.example,d.example,e.example,f.example" })],
    ["a domain that is a number", json({ d: 5 })],
    ["an engagement without anything", json({ n: "engagement" })],
    ["a bad event id", json({ id: `${MARK} ${MARK}` })],
  ])("refuses %s", async (_, body) => {
    const answer = await fetch(`${target.url}/api/event`, { method: "POST", body, headers: target.browser })
    await expectProblem(answer, 400, "invalid_event", "invalid_json")
    expect(answer.headers.get("access-control-allow-origin")).toBe("*")
  })

  test.each([
    ["with a length", MARK.repeat(8_193)],
    ["far too large", "x".repeat(4 << 20)],
  ])("refuses a large body %s", async (_, body) => {
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
  ])("refuses the content type %s", async (type) => {
    const headers = { ...target.browser, "content-type": type }
    await expectProblem(await fetch(`${target.url}/api/event`, { method: "POST", body: json({}), headers }), 415, "unsupported_media_type")
  })

  test.each(["GET", "HEAD", "PUT", "PATCH", "DELETE"])("refuses the method %s", async (method) => {
    const answer = await fetch(`${target.url}/api/event`, { method })
    expect({ status: answer.status, allow: answer.headers.get("allow") }).toEqual({ status: 405, allow: "POST, OPTIONS" })
  })

  // Odd, but readable: taken, in whole or in part, and never a fault of the server.
  test.each<[string, object]>([
    ["unknown fields", { zz: 1, __proto__x: 2 }],
    ["properties of every type", { p: { a: 1, b: true, c: null, d: [1], e: { f: 1 }, g: "\0", h: "\ud800", "": "x" } }],
    ["properties that are a list", { p: [1, 2] }],
    ["properties as broken JSON text", { m: "{" }],
    ["hundreds of properties", { p: Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i])) }],
    ["a lone surrogate in the page", { u: `${SHOP}/\ud800` }],
    ["a NUL in the page", { u: `${SHOP}/\0` }],
    ["broken escapes in the page", { u: `${SHOP}/%zz%ff?utm_source=%zz` }],
    ["a bad referrer", { r: "http://[" }],
    ["a referrer that is a number", { r: 5 }],
    ["a revenue that is text", { $: "5" }],
    ["a revenue without sense", { $: { amount: "1e400", currency: "XXX" } }],
    ["a width without sense", { w: -1 }],
    ["an age without sense", { o: "x" }],
    ["a zone that does not exist", { tz: "Mars/Base" }],
    ["a title of another type", { t: { a: 1 } }],
  ])("stays calm at %s", async (_, more) => {
    const answer = await fetch(`${target.url}/api/event`, {
      method: "POST",
      body: json({ ...more, d: "nowhere.example" }),
      headers: target.browser,
    })
    expect(answer.status).toBeOneOf([202, 400])
  })

  test("takes a body of exactly its limit", async () => {
    const before = await target.pageviews()
    const body = json({}).padEnd(64 << 10)
    expect((await fetch(`${target.url}/api/event`, { method: "POST", body, headers: target.browser })).status).toBe(202)
    expect((await fetch(`${target.url}/api/event`, { method: "POST", body: stream(body), headers: target.browser })).status).toBe(202)
    expect((await fetch(`${target.url}/api/event`, { method: "POST", body: `${body} `, headers: target.browser })).status).toBe(413)
    expect((await target.pageviews()) - before).toBe(2)
  })

  test("stores nothing for who only asks", async () => {
    const before = await target.pageviews()
    const headers = { ...target.browser, "x-debug-request": "true", "x-forwarded-for": "203.0.113.9" }
    const answer = await fetch(`${target.url}/api/event`, { method: "POST", body: json({}), headers })
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: "203.0.113.9" })
    expect(await target.pageviews()).toBe(before)
  })

  test("takes JSON as text, as JSON and without a type", async () => {
    const before = await target.pageviews()
    for (const type of ["text/plain", "text/plain;charset=UTF-8", "application/json", "Application/JSON; charset=utf-8", undefined]) {
      // Bytes have no type of their own.
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
    ["half a body", '{"events":[', 400, "invalid_json"],
    ["bytes that are not UTF-8", Uint8Array.of(0x22, 0xff, 0x22), 400, "invalid_json"],
    ["deep lists", `{"events":${nested(10)}}`, 400, "invalid_json"],
    ["very deep lists", nested(400_000), 400, "invalid_json"],
    ["null", "null", 422, "validation_failed"],
    ["a number", "5", 422, "validation_failed"],
    ["a bare list", JSON.stringify([eventOf("/")]), 422, "validation_failed"],
    ["one event", JSON.stringify(eventOf("/")), 422, "validation_failed"],
    ["an empty list", '{"events":[]}', 422, "validation_failed"],
    ["a list that is an object", '{"events":{"0":1}}', 422, "validation_failed"],
    ["a list that is a text", `{"events":"${MARK}"}`, 422, "validation_failed"],
    ["an unknown field", `{"events":[{}],"other":"${MARK}"}`, 422, "validation_failed"],
    ["a field named __proto__", `{"events":[{}],"__proto__":{"a":"${MARK}"}}`, 422, "validation_failed"],
    ["1001 events", JSON.stringify({ events: Array.from({ length: 1_001 }, () => eventOf("/")) }), 422, "validation_failed"],
  ])("refuses %s", async (_, body, status, code) => {
    await expectProblem(await post(body), status, code)
  })

  test.each([
    ["a broken line", `${JSON.stringify(eventOf("/"))}\n{"name":"${MARK}\n`, 400, "invalid_json"],
    ["nothing", "\n\n", 422, "validation_failed"],
    ["1001 lines", `${JSON.stringify(eventOf("/"))}\n`.repeat(1_001), 422, "validation_failed"],
  ])("refuses lines with %s", async (_, body, status, code) => {
    await expectProblem(await post(body, "application/x-ndjson"), status, code)
  })

  test("refuses a large body, with a length and without", async () => {
    const large = `{"events":["${"x".repeat(1 << 20)}"]}`
    await expectProblem(await post(large), 413, "body_too_large")
    await expectProblem(await post(stream(large)), 413, "body_too_large")
  })

  test.each(["text/plain", "text/csv", "application/merge-patch+json", "application/json-seq"])(
    "refuses the content type %s",
    async (type) => {
      await expectProblem(await post('{"events":[{}]}', type), 415, "unsupported_media_type")
    },
  )

  const odd: [string, unknown][] = [
    ["null", null],
    ["a number", 5],
    ["a text", MARK],
    ["a list", []],
    ["an empty object", {}],
    ["no name", { url: `${SHOP}/` }],
    ["no address", { name: "pageview" }],
    ["an unknown field", { ...eventOf("/"), colour: MARK }],
    ["a name that is a number", { ...eventOf("/"), name: 5 }],
    ["an empty name", { ...eventOf("/"), name: " " }],
    ["a long name", { ...eventOf("/"), name: MARK.repeat(20) }],
    ["a reserved name", { ...eventOf("/"), name: "engagement" }],
    ["a NUL in the name", { ...eventOf("/"), name: "a\0b" }],
    ["a lone surrogate in the name", { ...eventOf("/"), name: "a\ud800b" }],
    ["a bad address", { ...eventOf("/"), url: 7 }],
    ["a data address", { ...eventOf("/"), url: `data:,${MARK}` }],
    ["a bad id", { ...eventOf("/"), id: "short" }],
    ["a day that does not exist", { ...eventOf("/"), timestamp: "2026-02-30T00:00:00Z" }],
    ["a time that is none", { ...eventOf("/"), timestamp: MARK }],
    ["a time beyond numbers", { ...eventOf("/"), timestamp: 1e300 }],
    ["a negative time", { ...eventOf("/"), timestamp: -5 }],
    ["a time that is true", { ...eventOf("/"), timestamp: true }],
    ["an address of a visitor that is none", { ...eventOf("/"), ip: "999.1.1.1" }],
    ["props that are a list", { ...eventOf("/"), props: [MARK] }],
    ["31 props", { ...eventOf("/"), props: Object.fromEntries(Array.from({ length: 31 }, (_, i) => [`k${i}`, 1])) }],
    ["a nested property", { ...eventOf("/"), props: { a: { b: MARK } } }],
    ["a revenue without amount", { ...eventOf("/"), revenue: {} }],
    ["a revenue beyond numbers", { ...eventOf("/"), revenue: { amount: "1e400" } }],
    ["a currency that is none", { ...eventOf("/"), revenue: { amount: 1, currency: MARK } }],
    ["interactive as a text", { ...eventOf("/"), interactive: "no" }],
    ["a user id of another type", { ...eventOf("/"), user_id: { a: 1 } }],
  ]

  test.each(odd)("judges %s by itself", async (_, bad) => {
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

  test("takes a list and lines", async () => {
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
  test.each(ids)("%s is no site", async (id) => {
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

  test.each(["/1", "1//"])("%s makes no path", async (id) => {
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
    ["breakdown", "dimension=page&limit=101"],
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
  test.each(refused.map(([name, query]) => [name, query.slice(0, 60), query] as const))("%s?%s is refused", async (name, _, query) => {
    await expectProblem(await get(`${name}?${query}`), 400, "invalid_query")
  })
})

test("after all of this nothing was stored but what was acknowledged, and events still come in", async () => {
  const before = await target.pageviews()
  const answer = await fetch(`${target.url}/api/event`, {
    method: "POST",
    body: JSON.stringify({ n: "pageview", u: `${SHOP}/last` }),
    headers: target.browser,
  })
  expect(answer.status).toBe(202)
  expect(await target.pageviews()).toBe(before + 1)
  // 2 of exactly the limit, 5 of each content type, 2 beside each judged event, 4 of lists and lines.
  expect(before).toBe(2 + 5 + 31 * 2 + 4)
})
