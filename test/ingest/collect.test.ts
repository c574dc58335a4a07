import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { openPlaceFile } from "../../src/ingest/place/place.ts"
import { temporaryFolder } from "../kit.ts"
import { BROWSER, siteOf, startIntake, TRACKING_ID } from "./intake.ts"
import { placeFileBytes } from "./place-file.ts"

const OTHER_ID = "33333333-3333-4333-8333-333333333333"

test("an accepted event is answered with 202 and ok, and is on disk then", async () => {
  using intake = startIntake()
  expect(await intake.send()).toEqual({ status: 202, headers: {}, body: "ok" })
  expect(intake.visits()).toMatchObject([{ pageviews: 1, entry: "example.com/" }])
})

test("a payload of Plausible's script is a valid one", async () => {
  using intake = startIntake()
  const payload = {
    n: "pageview",
    v: 26,
    u: "https://example.com/?utm_source=Newsletter",
    d: "example.com",
    r: null,
    i: true,
    p: { author: "x" },
  }
  expect(await intake.send(JSON.stringify(payload))).toMatchObject({ status: 202 })
  const engagement = { n: "engagement", sd: 42, d: "example.com", u: "https://example.com/", p: { author: "x" }, e: 3_100, v: 26 }
  expect(await intake.send(JSON.stringify(engagement))).toMatchObject({
    status: 202,
    headers: expect.not.objectContaining({ "x-plausible-dropped": "1" }),
  })
  expect(intake.visits()).toMatchObject([{ pageviews: 1, events: 1, engaged: 3_100 }])
})

describe("several sites", () => {
  test("each get the event, together or not at all", async () => {
    using intake = startIntake()
    intake.directory.put(siteOf({ id: 2, tracking_id: OTHER_ID }))
    expect((await intake.send({ d: `${TRACKING_ID},${OTHER_ID},nobody` })).headers["x-plausible-dropped"]).toBe("1")
    expect([intake.visits(1).length, intake.visits(2).length]).toEqual([1, 1])
  })

  test("named twice count once", async () => {
    using intake = startIntake()
    await intake.send({ d: `${TRACKING_ID},example.com` })
    expect(intake.visits()).toMatchObject([{ pageviews: 1 }])
  })

  test("of two organizations share no host: its events are counted for both and for the instance", async () => {
    using intake = startIntake()
    intake.directory.put(siteOf({ id: 2, organization_id: 2, tracking_id: OTHER_ID }))
    intake.directory.put(siteOf({ id: 3, organization_id: 2, tracking_id: "33333333-3333-4333-8333-333333333333" }))
    expect((await intake.send({ d: null })).headers["x-plausible-dropped"]).toBe("1")
    await intake.send({ d: "WWW.example.com" })
    const counted = { host_disputed: 2, "host_disputed example.com": 2 }
    expect([0, 1, 2, 3].map((siteId) => intake.drops(siteId))).toEqual([counted, counted, counted, {}])
    expect(intake.store.dropSamples(2)[0]).toEqual({
      at: intake.clock.now(),
      reason: "host_disputed",
      hostname: "example.com",
      page: "",
      browser: "",
      country: "",
    })
  })
})

describe("X-Debug-Request", () => {
  const debug = { headers: { "x-debug-request": "true", "x-forwarded-for": "1.2.3.4" }, peer: "127.0.0.1" }

  test("stores nothing and tells the address that counts", async () => {
    using intake = startIntake()
    expect(await intake.send({}, debug)).toEqual({ status: 200, headers: {}, body: "1.2.3.4" })
    intake.collector.flush()
    expect([intake.visits(), intake.drops()]).toEqual([[], {}])
  })

  test("tells why the event would be dropped", async () => {
    using intake = startIntake()
    expect((await intake.send({ u: "https://evil.org/" }, debug)).headers["x-footfall-dropped"]).toBe("host")
    expect((await intake.send({ d: "nobody" }, debug)).headers["x-footfall-dropped"]).toBe("unknown_site")
    expect(intake.drops()).toEqual({})
  })
})

describe("the picture", () => {
  const get = (intake: ReturnType<typeof startIntake>, query: string, headers: Record<string, string> = { "accept-language": "de" }) =>
    intake.collector.collect({
      method: "GET",
      url: `http://stats.example/p.gif${query}`,
      headers: new Headers({ "user-agent": BROWSER, ...headers }),
      body: new Uint8Array(),
      peer: "9.9.9.9",
    })

  test("counts the page it names, or the one that shows it", async () => {
    using intake = startIntake()
    await get(intake, `?d=${TRACKING_ID}&u=https%3A%2F%2Fexample.com%2Fa&r=https%3A%2F%2Fgoogle.com`)
    await get(intake, `?d=${TRACKING_ID}`, { "accept-language": "de", referer: "https://example.com/b" })
    expect(intake.visits()).toMatchObject([{ pageviews: 2, entry: "example.com/a", exit: "example.com/b" }])
    expect(intake.visits()[0]!.traits).toStartWith("Google|")
  })

  test.each([
    ["without a language", { "accept-language": "" }],
    ["fetched by a script", { "accept-language": "de", "sec-fetch-dest": "empty" }],
  ])("%s is a bot's", async (_, headers) => {
    using intake = startIntake()
    await get(intake, `?d=${TRACKING_ID}&u=https://example.com/`, headers)
    expect(intake.drops()).toEqual({ bot: 1 })
  })

  test("in an image is a person's", async () => {
    using intake = startIntake()
    await get(intake, `?d=${TRACKING_ID}&u=https://example.com/`, { "accept-language": "de", "sec-fetch-dest": "image" })
    expect(intake.visits().length).toBe(1)
  })

  test("without a page is refused", async () => {
    using intake = startIntake()
    await expect(get(intake, `?d=${TRACKING_ID}`)).rejects.toMatchObject({ code: "invalid_event" })
  })
})

describe("the country", () => {
  const countryOf = (intake: ReturnType<typeof startIntake>) => intake.visits().map(({ traits }) => traits.split("|")[9])

  test.each([
    ["of the browser's zone", {}, { tz: "Europe/Berlin" }, undefined, "DE"],
    ["of UTC is missing", {}, { tz: "UTC" }, undefined, ""],
    ["of an unknown zone is missing", {}, { tz: "Mars/Base" }, undefined, ""],
    ["of an absurd zone is missing", {}, { tz: "x".repeat(5_000) }, undefined, ""],
    ["of a trusted proxy comes first", { "cf-ipcountry": "fr" }, { tz: "Europe/Berlin" }, "127.0.0.1", "FR"],
    ["of a proxy that does not know", { "cf-ipcountry": "XX" }, { tz: "Europe/Berlin" }, "127.0.0.1", "DE"],
    ["of a stranger's header does not count", { "cf-ipcountry": "FR" }, { tz: "Europe/Berlin" }, "9.9.9.9", "DE"],
  ])("%s", async (_, headers, body, peer, expected) => {
    using intake = startIntake({}, { geoHeader: "cf-ipcountry" })
    await intake.send(body, { headers, ...(peer && { peer }) })
    expect(countryOf(intake)).toEqual([expected])
  })

  test("of the operator's file comes before the zone", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "places.mmdb")
    writeFileSync(path, placeFileBytes({ "9.9.9.9": { country: { iso_code: "US" }, subdivisions: [{ iso_code: "CA" }] } }))
    const placeFile = openPlaceFile(path)
    using intake = startIntake({}, { placeFile })
    while (placeFile.builtAt() === undefined) await Bun.sleep(1) // the file is read beside
    await intake.send({ tz: "Europe/Berlin" })
    expect(intake.visits()[0]!.traits.split("|").slice(9, 12)).toEqual(["US", "US-CA", ""])
  })

  test("of a file that cannot be read is that of the zone", async () => {
    const causes: string[] = []
    using intake = startIntake({}, { placeFile: openPlaceFile("/nowhere/at/all.mmdb"), onPlaceFault: (cause) => causes.push(cause) })
    while (causes.length === 0) await Bun.sleep(1)
    await intake.send({ tz: "Europe/Berlin" })
    expect([countryOf(intake), causes.length]).toEqual([["DE"], 1])
  })
})

test("forwarded headers from a stranger are told of", async () => {
  const told: string[] = []
  using intake = startIntake({}, { onForwardedIgnored: (peer) => told.push(peer) })
  await intake.send({}, { headers: { "x-forwarded-for": "1.1.1.1" } })
  await intake.send({}, { headers: { "x-forwarded-for": "1.1.1.1" }, peer: "127.0.0.1" })
  expect(told).toEqual(["9.9.9.9"])
})

test("the client's address is the same for limits elsewhere", () => {
  using intake = startIntake()
  const headers = new Headers({ "x-forwarded-for": "1.1.1.1" })
  expect(intake.collector.clientAddress("127.0.0.1", headers)).toBe("1.1.1.1")
  expect(intake.collector.clientAddress("9.9.9.9", headers)).toBe("9.9.9.9")
  expect(intake.collector.clientAddress(undefined, headers)).toBeUndefined()
})

test("salts that are not there yet are waited for", async () => {
  using intake = startIntake({}, { salts: { get: async () => new Uint8Array(32) } })
  await Promise.all([intake.send(), intake.send()])
  expect(intake.visits()).toMatchObject([{ pageviews: 2 }])
})

test("salts that cannot be read answer 503, and nothing is stored", async () => {
  const salts = { get: () => Promise.reject(new Error("the catalog is locked")) }
  using intake = startIntake({}, { salts })
  await expect(intake.send()).rejects.toMatchObject({ code: "unavailable", members: { retry_after: 1 } })
  expect(intake.visits()).toEqual([])
})

test("no address is in the store after all", async () => {
  using intake = startIntake()
  await intake.send({}, { peer: "203.0.113.77" })
  await intake.send({ u: "https://evil.org/" }, { peer: "203.0.113.77" })
  intake.collector.flush()
  expect(JSON.stringify([intake.visits(), intake.store.dropSamples(1), intake.drops()])).not.toContain("203.0.113")
})
