import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Umami } from "@umami/node"
import { BROWSER } from "../../kit.ts"
import { COUNTED, openCompat, view, WEBSITE } from "./compat.ts"

let compat: Awaited<ReturnType<typeof openCompat>>
beforeAll(async () => {
  compat = await openCompat()
})
afterAll(() => compat[Symbol.asyncDispose]())

const BOT = "Googlebot/2.1 (+http://www.google.com/bot.html)"
const NOBODY = "99999999-9999-4999-8999-999999999999"
const GIF = { type: "image/gif", size: 43, begin: "474946383961" }

async function pictureOf(answer: Response) {
  const bytes = await answer.bytes()
  const { status, headers } = answer
  return {
    status,
    reason: headers.get("x-goatcounter"),
    type: headers.get("content-type"),
    size: bytes.length,
    begin: bytes.slice(0, 6).toHex(),
  }
}

/** Runs requests and returns by how much the site's counts have grown. */
async function growth(send: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await compat.counted()
  await send()
  const after = await compat.counted()
  return { pageviews: after.pageviews! - before.pageviews!, events: after.events! - before.events! }
}

test("Umami's own client counts after changing its URL", async () => {
  const client = new Umami({ websiteId: WEBSITE, hostUrl: compat.url, userAgent: BROWSER })
  const answers: unknown[] = []
  const record = async (request: Promise<Response>) => {
    const answer = await request
    answers.push([answer.status, await answer.json()])
  }
  const grown = await growth(async () => {
    await record(
      client.track({ hostname: "shop.example", url: "/node", title: "Node", language: "de-DE", screen: "800x600", referrer: "" }),
    )
    await record(client.track("signup", { plan: "pro" }))
    await record(client.identify({ plan: "pro" }))
  })
  expect(answers).toEqual([
    [200, COUNTED],
    [200, COUNTED],
    [200, COUNTED],
  ])
  expect(grown).toEqual({ pageviews: 1, events: 2 })
})

describe("POST /api/send", () => {
  test.each([
    ["an event", view(), {}, 200, COUNTED, null, 1],
    ["an event as plain text", view(), { "content-type": "text/plain;charset=UTF-8" }, 200, COUNTED, null, 1],
    ["an event with a cache token", view(), { "x-umami-cache": "footfall" }, 200, COUNTED, null, 1],
    ["a bot", view(), { "user-agent": BOT }, 200, { beep: "boop" }, "1", 0],
    ["an event of a foreign host", view({ hostname: "evil.org" }), {}, 200, COUNTED, "1", 0],
    [
      "an identification without a visit",
      view({ id: "u", hostname: "shop.example" }, "identify"),
      { "user-agent": `${BROWSER} Edg/1` },
      200,
      COUNTED,
      "1",
      0,
    ],
  ])("answers %s", async (_, body, headers, status, answerBody, dropped, events) => {
    let answer: Response | undefined
    const grown = await growth(async () => {
      answer = await compat.post("/api/send", body, headers as Record<string, string>)
    })
    expect([answer!.status, await answer!.json(), answer!.headers.get("x-plausible-dropped")]).toEqual([status, answerBody, dropped])
    expect(grown.events).toBe(events)
    expect(answer!.headers.get("content-type")).toBe("application/json")
    expect(answer!.headers.get("access-control-allow-origin")).toBe("*")
  })

  test.each([
    ["an unknown site", view({ website: NOBODY }), 400, "invalid_event", [["/payload/website", "unknown_site"]]],
    [
      "a link",
      view({ website: undefined, link: WEBSITE }),
      400,
      "invalid_event",
      [
        ["/payload/link", "invalid_choice"],
        ["/payload/website", "required"],
      ],
    ],
    ["text that is not JSON", "{", 400, "invalid_event", [["", "invalid_type"]]],
    ["a long name", view({ name: "n".repeat(51) }), 400, "invalid_event", [["/payload/name", "too_long"]]],
    ["a large body", view({ title: "t".repeat(65_536) }), 413, "body_too_large", []],
  ])("rejects %s", async (_, body, status, code, faults) => {
    let answer: Response | undefined
    const grown = await growth(async () => {
      answer = await compat.post("/api/send", body)
    })
    const problem = (await answer!.json()) as { code: string; errors?: { pointer: string; code: string }[] }
    expect([answer!.status, problem.code, (problem.errors ?? []).map(({ pointer, code }) => [pointer, code])]).toEqual([
      status,
      code,
      faults,
    ])
    expect(answer!.headers.get("content-type")).toBe("application/problem+json")
    expect(answer!.headers.get("access-control-allow-origin")).toBe("*")
    expect(grown.events).toBe(0)
  })

  test("rejects other media types and methods, and answers preflights", async () => {
    expect((await compat.post("/api/send", view(), { "content-type": "text/html" })).status).toBe(415)
    const got = await fetch(`${compat.url}/api/send`)
    expect([got.status, got.headers.get("allow")]).toEqual([405, "POST, OPTIONS"])
    const preflight = await fetch(`${compat.url}/api/send`, { method: "OPTIONS" })
    expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([
      204,
      expect.stringContaining("x-umami-website-id"),
    ])
  })
})

describe("POST /api/batch", () => {
  test("answers with the rejection of each invalid event and stores the rest", async () => {
    const items = [view(), view({ website: NOBODY }), view({ name: "signup" }), { type: "event" }, view({ hostname: "evil.org" })]
    let answer: Response | undefined
    const grown = await growth(async () => {
      answer = await compat.post("/api/batch", items)
    })
    expect(answer!.status).toBe(200)
    expect(await answer!.json()).toEqual({
      size: 5,
      processed: 3,
      errors: 2,
      details: [
        { index: 1, response: { error: expect.objectContaining({ code: "invalid_event", status: 400, message: "No site has this id." }) } },
        {
          index: 3,
          response: { error: expect.objectContaining({ code: "invalid_event", status: 400, message: "The event is not valid." }) },
        },
      ],
      cache: "footfall",
    })
    expect(answer!.headers.get("x-plausible-dropped")).toBe("2")
    expect(grown).toEqual({ pageviews: 1, events: 2 })
  })

  test.each([
    ["an empty list", [], 200, { size: 0, processed: 0, errors: 0, details: [], cache: "footfall" }],
    ["an object", view(), 400, { code: "invalid_event" }],
    ["101 events", Array.from({ length: 101 }, () => view()), 400, { code: "invalid_event", errors: [{ code: "too_many" }] }],
    ["a body over 256 KiB", JSON.stringify([view({ title: "t".repeat(262_144) })]), 413, { code: "body_too_large" }],
  ])("answers %s", async (_, body, status, answerBody) => {
    const answer = await compat.post("/api/batch", body)
    expect(answer.status).toBe(status)
    expect(await answer.json()).toMatchObject(answerBody)
  })

  test("accepts 100 events that exceed the size limit of /api/send", async () => {
    const items = Array.from({ length: 100 }, (_, i) => view({ url: `/many/${i}`, title: "t".repeat(1_000) }))
    let answer: Response | undefined
    const grown = await growth(async () => {
      answer = await compat.post("/api/batch", items)
    })
    expect(await answer!.json()).toMatchObject({ size: 100, processed: 100, errors: 0 })
    expect(grown).toEqual({ pageviews: 100, events: 100 })
  })
})

describe("/count", () => {
  test.each([
    ["GET", {}],
    ["POST", { method: "POST" }],
    ["POST with an ignored body", { method: "POST", body: "p=/other" }],
  ])("answers %s with the image", async (_, init) => {
    let picture: unknown
    const grown = await growth(async () => {
      const answer = await compat.count("p=%2Fa&t=A&s=800%2C600%2C1&b=0&rnd=abcde&q=", init)
      expect([answer.headers.get("cache-control"), answer.headers.get("access-control-allow-origin")]).toEqual(["no-store", "*"])
      picture = await pictureOf(answer)
    })
    expect(picture).toEqual({ status: 200, reason: null, ...GIF })
    expect(grown).toEqual({ pageviews: 1, events: 1 })
  })

  test.each([
    ["HEAD", "p=%2Fa", { method: "HEAD" }, { status: 200, reason: null, type: "image/gif", size: 0, begin: "" }],
    ["a bot", "p=%2Fa", { headers: { "user-agent": BOT } }, { status: 200, reason: "bot", ...GIF }],
    ["a browser reported as a bot by the script", "p=%2Fa&b=153", {}, { status: 200, reason: "bot", ...GIF }],
    ["a prefetch", "p=%2Fa", { headers: { "sec-purpose": "prefetch" } }, { status: 200, reason: "prefetch", ...GIF }],
    ["a foreign host", "p=%2Fa&site=shop", { headers: { referer: "https://evil.org/" } }, { status: 200, reason: "host", ...GIF }],
    ["an unknown code", "p=%2Fa&site=nobody", {}, { status: 200, reason: "unknown_site", ...GIF }],
    ["no page", "", {}, { status: 400, reason: "p is required.", ...GIF }],
    ["a b of 7", "p=%2Fa&b=7", {}, { status: 400, reason: "b must be 0 or at least 150.", ...GIF }],
    ["an invalid escape", "p=%ff%00", {}, { status: 400, reason: "p contains characters that cannot be stored.", ...GIF }],
    ["a large body", "p=%2Fa", { method: "POST", body: "x".repeat(65_537) }, { status: 413, reason: "body_too_large", ...GIF }],
  ])("answers %s with the image and counts nothing", async (_, query, init, expected) => {
    let picture: unknown
    const grown = await growth(async () => {
      picture = await pictureOf(await compat.count(query, init as RequestInit))
    })
    expect(picture).toEqual(expected)
    expect(grown.events).toBe(0)
  })

  test("answers other methods and preflights like every collect address", async () => {
    const removed = await compat.count("p=%2Fa", { method: "DELETE" })
    expect([removed.status, removed.headers.get("allow")]).toEqual([405, "GET, HEAD, POST, OPTIONS"])
    expect((await compat.count("", { method: "OPTIONS" })).status).toBe(204)
  })
})

test("every endpoint answers a debug request without storing anything", async () => {
  const headers = { "x-debug-request": "true" }
  const grown = await growth(async () => {
    const answers = [
      await compat.post("/api/send", view(), headers),
      await compat.post("/api/send", view({ hostname: "evil.org" }), headers),
      await compat.post("/api/batch", [view()], headers),
      await compat.count("p=%2Fa", { headers }),
    ]
    expect(answers.map((answer) => [answer.status, answer.headers.get("x-footfall-dropped")])).toEqual([
      [200, null],
      [200, "host"],
      [200, null],
      [200, null],
    ])
    for (const answer of answers) expect(await answer.text()).toBe("127.0.0.1")
  })
  expect(grown.events).toBe(0)
})

test("a shielded address receives the same response as in the other product", async () => {
  await using shielded = await openCompat()
  await shielded.app.instance.sites.configure(1, { shields: [{ kind: "ip", value: "127.0.0.1" }] })
  const sent = await shielded.post("/api/send", view())
  expect([sent.status, await sent.json()]).toEqual([403, { error: { code: "forbidden", message: expect.any(String), status: 403 } }])
  const batch = await shielded.post("/api/batch", [view()])
  expect([batch.status, await batch.json()]).toMatchObject([
    200,
    { processed: 0, errors: 1, details: [{ index: 0, response: { error: { status: 403 } } }] },
  ])
  expect(await pictureOf(await shielded.count("p=%2Fa"))).toEqual({ status: 202, reason: "ip", ...GIF })
  expect(await shielded.counted()).toEqual({ pageviews: 0, events: 0 })
})

test("rejects requests over the rate limit with the time to wait", async () => {
  await using limited = await openCompat({ limit_visitor_events: "2" })
  const batch = await limited.post("/api/batch", [view(), view(), view()])
  expect([batch.status, await batch.json()]).toMatchObject([
    200,
    { processed: 2, details: [{ index: 2, response: { error: { code: "rate_limited", status: 429 } } }] },
  ])
  const refused = [
    await limited.post("/api/send", view()),
    await limited.post("/api/batch", [view(), view()]),
    await limited.count("p=%2Fa"),
  ]
  for (const answer of refused) expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)])
  expect((await pictureOf(refused[2]!)).size).toBe(43)
  expect(await limited.counted()).toEqual({ pageviews: 2, events: 2 })
})

test("no endpoint acknowledges an event that cannot be stored", async () => {
  await using stopped = await openCompat()
  stopped.app.collector.stop()
  const refused = [
    await stopped.post("/api/send", view()),
    await stopped.post("/api/batch", [view(), { type: "event" }]),
    await stopped.count("p=%2Fa"),
  ]
  for (const answer of refused) expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)])
  expect((await pictureOf(refused[2]!)).size).toBe(43)
  expect(await stopped.counted()).toEqual({ pageviews: 0, events: 0 })
})
