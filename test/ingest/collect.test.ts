import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { openPlaceFile } from "../../src/ingest/place/place.ts"
import { temporaryFolder } from "../kit.ts"
import { BROWSER, siteOf, startIntake, TRACKING_ID } from "./intake.ts"
import { placeFileBytes } from "./place-file.ts"

const OTHER_ID = "33333333-3333-4333-8333-333333333333"

test("an accepted event is answered with 202 and ok once it is on disk", async () => {
  using intake = startIntake()
  expect(await intake.send()).toEqual({ status: 202, headers: {}, body: "ok" })
  expect(intake.visits()).toMatchObject([{ pageviews: 1, entry: "example.com/" }])
})

test("accepts a payload of Plausible's script", async () => {
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
  test("receive the event together or not at all", async () => {
    using intake = startIntake()
    intake.directory.put(siteOf({ id: 2, tracking_id: OTHER_ID }))
    expect((await intake.send({ d: `${TRACKING_ID},${OTHER_ID},nobody` })).headers["x-plausible-dropped"]).toBe("1")
    expect([intake.visits(1).length, intake.visits(2).length]).toEqual([1, 1])
  })

  test("count an event once if a site is named twice", async () => {
    using intake = startIntake()
    await intake.send({ d: `${TRACKING_ID},example.com` })
    expect(intake.visits()).toMatchObject([{ pageviews: 1 }])
  })

  test("of two organizations with the same host do not count the event but record the drop for both and for the instance", async () => {
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

  test("stores nothing and returns the client address used", async () => {
    using intake = startIntake()
    expect(await intake.send({}, debug)).toEqual({ status: 200, headers: {}, body: "1.2.3.4" })
    intake.collector.flush()
    expect([intake.visits(), intake.drops()]).toEqual([[], {}])
  })

  test("returns the reason why the event would be dropped", async () => {
    using intake = startIntake()
    expect((await intake.send({ u: "https://evil.org/" }, debug)).headers["x-footfall-dropped"]).toBe("host")
    expect((await intake.send({ d: "nobody" }, debug)).headers["x-footfall-dropped"]).toBe("unknown_site")
    expect(intake.drops()).toEqual({})
  })
})

describe("the tracking pixel", () => {
  const get = (intake: ReturnType<typeof startIntake>, query: string, headers: Record<string, string> = { "accept-language": "de" }) =>
    intake.collector.collect({
      method: "GET",
      url: `http://stats.example/p.gif${query}`,
      headers: new Headers({ "user-agent": BROWSER, ...headers }),
      body: new Uint8Array(),
      peer: "9.9.9.9",
    })

  test("counts the page in its URL, or the page that embeds it", async () => {
    using intake = startIntake()
    await get(intake, `?d=${TRACKING_ID}&u=https%3A%2F%2Fexample.com%2Fa&r=https%3A%2F%2Fgoogle.com`)
    await get(intake, `?d=${TRACKING_ID}`, { "accept-language": "de", referer: "https://example.com/b" })
    expect(intake.visits()).toMatchObject([{ pageviews: 2, entry: "example.com/a", exit: "example.com/b" }])
    expect(intake.visits()[0]!.traits).toStartWith("Google|")
  })

  test.each([
    ["without a language", { "accept-language": "" }],
    ["fetched by a script", { "accept-language": "de", "sec-fetch-dest": "empty" }],
  ])("%s is treated as a bot", async (_, headers) => {
    using intake = startIntake()
    await get(intake, `?d=${TRACKING_ID}&u=https://example.com/`, headers)
    expect(intake.drops()).toEqual({ bot: 1 })
  })

  test("requested as an image is counted", async () => {
    using intake = startIntake()
    await get(intake, `?d=${TRACKING_ID}&u=https://example.com/`, { "accept-language": "de", "sec-fetch-dest": "image" })
    expect(intake.visits().length).toBe(1)
  })

  test("without a page is rejected", async () => {
    using intake = startIntake()
    await expect(get(intake, `?d=${TRACKING_ID}`)).rejects.toMatchObject({ code: "invalid_event" })
  })
})

describe("the country", () => {
  const countryOf = (intake: ReturnType<typeof startIntake>) => intake.visits().map(({ traits }) => traits.split("|")[9])

  test.each([
    ["is that of the browser's time zone", {}, { tz: "Europe/Berlin" }, undefined, "DE"],
    ["is empty for UTC", {}, { tz: "UTC" }, undefined, ""],
    ["is empty for an unknown zone", {}, { tz: "Mars/Base" }, undefined, ""],
    ["is empty for an overlong zone", {}, { tz: "x".repeat(5_000) }, undefined, ""],
    ["of a trusted proxy takes precedence", { "cf-ipcountry": "fr" }, { tz: "Europe/Berlin" }, "127.0.0.1", "FR"],
    ["falls back to the zone if the proxy does not know it", { "cf-ipcountry": "XX" }, { tz: "Europe/Berlin" }, "127.0.0.1", "DE"],
    ["ignores the header of an untrusted peer", { "cf-ipcountry": "FR" }, { tz: "Europe/Berlin" }, "9.9.9.9", "DE"],
  ])("%s", async (_, headers, body, peer, expected) => {
    using intake = startIntake({}, { geoHeader: "cf-ipcountry" })
    await intake.send(body, { headers, ...(peer && { peer }) })
    expect(countryOf(intake)).toEqual([expected])
  })

  test("of the operator's place file takes precedence over the zone", async () => {
    using folder = temporaryFolder()
    const path = join(folder.path, "places.mmdb")
    writeFileSync(path, placeFileBytes({ "9.9.9.9": { country: { iso_code: "US" }, subdivisions: [{ iso_code: "CA" }] } }))
    const placeFile = openPlaceFile(path)
    using intake = startIntake({}, { placeFile })
    while (placeFile.builtAt() === undefined) await Bun.sleep(1) // the file is read in the background
    await intake.send({ tz: "Europe/Berlin" })
    expect(intake.visits()[0]!.traits.split("|").slice(9, 12)).toEqual(["US", "US-CA", ""])
  })

  test("falls back to the zone if the place file cannot be read", async () => {
    const causes: string[] = []
    using intake = startIntake({}, { placeFile: openPlaceFile("/nowhere/at/all.mmdb"), onPlaceFault: (cause) => causes.push(cause) })
    while (causes.length === 0) await Bun.sleep(1)
    await intake.send({ tz: "Europe/Berlin" })
    expect([countryOf(intake), causes.length]).toEqual([["DE"], 1])
  })
})

test("reports forwarded headers from an untrusted peer", async () => {
  const reported: string[] = []
  using intake = startIntake({}, { onForwardedIgnored: (peer) => reported.push(peer) })
  await intake.send({}, { headers: { "x-forwarded-for": "1.1.1.1" } })
  await intake.send({}, { headers: { "x-forwarded-for": "1.1.1.1" }, peer: "127.0.0.1" })
  expect(reported).toEqual(["9.9.9.9"])
})

test("returns the same client address for limits elsewhere", () => {
  using intake = startIntake()
  const headers = new Headers({ "x-forwarded-for": "1.1.1.1" })
  expect(intake.collector.clientAddress("127.0.0.1", headers)).toBe("1.1.1.1")
  expect(intake.collector.clientAddress("9.9.9.9", headers)).toBe("9.9.9.9")
  expect(intake.collector.clientAddress(undefined, headers)).toBeUndefined()
})

test("waits for salts that are not yet loaded", async () => {
  using intake = startIntake({}, { salts: { get: async () => new Uint8Array(32) } })
  await Promise.all([intake.send(), intake.send()])
  expect(intake.visits()).toMatchObject([{ pageviews: 2 }])
})

test("answers 503 and stores nothing if salts cannot be read", async () => {
  const salts = { get: () => Promise.reject(new Error("the catalog is locked")) }
  using intake = startIntake({}, { salts })
  await expect(intake.send()).rejects.toMatchObject({ code: "unavailable", members: { retry_after: 1 } })
  expect(intake.visits()).toEqual([])
})

test("no address is in the store after any of these tests", async () => {
  using intake = startIntake()
  await intake.send({}, { peer: "203.0.113.77" })
  await intake.send({ u: "https://evil.org/" }, { peer: "203.0.113.77" })
  intake.collector.flush()
  expect(JSON.stringify([intake.visits(), intake.store.dropSamples(1), intake.drops()])).not.toContain("203.0.113")
})
