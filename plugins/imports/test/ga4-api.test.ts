import { describe, expect, test } from "bun:test"
import { type AnalyticsData, analyticsData, type Google, google, programPlugins } from "#plugin/test"
import type { ImportResponse, PreviewResponse } from "../responses.ts"
import { API_TABLES } from "../sources/ga4/api-tables.ts"
import { run, startByHand } from "./by-hand.ts"
import { type ImportStage, PATH, startImports } from "./kit.ts"
import { filesOf } from "./stores.ts"

const ANALYTICS = "https://www.googleapis.com/auth/analytics.readonly"
const PROPERTY = "properties/123"
const NOW = "2026-11-26T12:00:00Z"

const five = (users: number, views: number, sessions: number, engaged: number, seconds: number) => ({
  totalUsers: String(users),
  screenPageViews: String(views),
  sessions: String(sessions),
  engagedSessions: String(engaged),
  userEngagementDuration: String(seconds),
})
const [FIRST, LAST] = [{ date: "20260901" }, { date: "20261005" }]

/** Two days that lie in two slices, in the reports of all tables. */
const ROWS = {
  "": [
    { ...FIRST, ...five(4, 9, 5, 2, 300) },
    { ...LAST, ...five(2, 3, 2, 2, 100) },
  ],
  "sessionSource,sessionMedium,sessionCampaignName,sessionManualAdContent,sessionGoogleAdsKeyword": [
    { ...FIRST, sessionSource: "google", sessionMedium: "organic", sessionCampaignName: "(organic)", ...five(3, 6, 3, 1, 200) },
    { ...FIRST, sessionSource: "(direct)", sessionMedium: "(none)", sessionCampaignName: "(direct)", ...five(1, 3, 2, 1, 100) },
    { ...LAST, sessionSource: "news", sessionMedium: "email", sessionCampaignName: "may", ...five(2, 3, 2, 2, 100) },
  ],
  "hostName,pagePath": [
    { ...FIRST, hostName: "shop.example", pagePath: "/", ...five(4, 6, 5, 2, 200), activeUsers: "4" },
    { ...FIRST, hostName: "shop.example", pagePath: "/tea", ...five(2, 3, 2, 2, 100), activeUsers: "2" },
    { ...LAST, hostName: "shop.example", pagePath: "/tea", ...five(2, 3, 2, 2, 100), activeUsers: "2" },
  ],
  landingPage: [{ ...FIRST, landingPage: "/", ...five(4, 9, 5, 2, 300) }],
  "countryId,region,city": [
    { ...FIRST, countryId: "DE", region: "Bavaria", city: "Munich", ...five(3, 7, 4, 2, 200) },
    { ...FIRST, countryId: "(not set)", region: "(not set)", city: "(not set)", ...five(1, 2, 1, 0, 100) },
  ],
  deviceCategory: [{ ...FIRST, deviceCategory: "mobile", ...five(4, 9, 5, 2, 300) }],
  browser: [{ ...FIRST, browser: "Safari (in-app)", ...five(4, 9, 5, 2, 300) }],
  "operatingSystem,operatingSystemVersion": [
    { ...FIRST, operatingSystem: "Macintosh", operatingSystemVersion: "10.15.7", ...five(4, 9, 5, 2, 300) },
  ],
  eventName: [
    { ...FIRST, eventName: "page_view", eventCount: "9", totalUsers: "4" },
    { ...FIRST, eventName: "sign_up", eventCount: "3", totalUsers: "2" },
  ],
}
/** Requests of a run: the first report, and each other table in two slices. */
const REQUESTS = 1 + 2 * (API_TABLES.length - 1)

interface World extends AsyncDisposable {
  stage: ImportStage
  fake: Google
  data: AnalyticsData
}

interface Options {
  rows?: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>
  timezone?: string
  /** Connects the account of a person instead of a service account. */
  isPersonal?: boolean
}

const fakes = async (rows: NonNullable<Options["rows"]>, now: () => number) => {
  const fake = await google({ now })
  const data = analyticsData(fake, { property: PROPERTY, rows, today: "2026-11-26" })
  fake.api(async (request, url) => data.answer(request, url))
  return { fake, data, settings: { ...fake.settings, ga4_api_base: fake.origin } }
}

const connect = ({ app }: ImportStage["instance"], fake: Google) =>
  app.instance.connections.connectServiceAccount("google", fake.serviceAccount(), { organizationId: 1, userId: null, scopes: [ANALYTICS] })

/** Connects the account of a person as the dashboard does: over Google's page of consent and back. */
async function consent({ instance, headers }: ImportStage, fake: Google): Promise<void> {
  const path = "/api/private/sites/1/integrations/google-analytics/connect"
  const { status, body: begun } = await instance.api.post(path, {}, undefined, headers)
  expect(status).toBe(200)
  const back = await fake.consent((begun as { authorize_url: string }).authorize_url)
  expect((await instance.fetch(new Request(back, { headers }))).status).toBe(303)
}

async function start({ rows = ROWS, timezone = "America/New_York", isPersonal = false }: Options = {}): Promise<World> {
  const clock = { now: () => Date.parse(NOW) }
  const { fake, data, settings } = await fakes(rows, () => clock.now())
  const stage = await startImports({ isWhole: true, now: NOW, settings })
  clock.now = stage.instance.clock.now
  await stage.instance.app.instance.sites.update(1, { timezone })
  await (isPersonal ? consent(stage, fake) : connect(stage.instance, fake))
  return {
    ...{ stage, fake, data },
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]()
      await fake[Symbol.asyncDispose]()
    },
  }
}

const body = (options: object = {}) => ({ source: "ga4_api", options: { connection_id: 1, property: PROPERTY, ...options } })

async function statsOf({ instance }: Pick<ImportStage, "instance">, path: string, query: string) {
  const answer = await instance.api.get(`/api/public/v1/sites/1/stats/${path}?${query}`, instance.statsKey)
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body as { metrics: Record<string, number>; rows: Record<string, unknown>[] }
}
const SEPTEMBER = "from=2026-09-01&to=2026-09-30"

const staged = ({ instance }: Pick<ImportStage, "instance">): string[] =>
  filesOf(instance.dataDir).filter((name) => name.startsWith("staging"))

describe("a preview", () => {
  test("requests only the totals of the days, and leaves nothing behind", async () => {
    await using world = await start()
    const { stage, data } = world
    const { status, body: answer } = await stage.post("/preview", body())
    expect({ status, answer }).toMatchObject({
      status: 200,
      answer: {
        source: "ga4_api",
        complete: false,
        detected: { timezone: "America/New_York" },
        date_start: "2026-09-01",
        date_end: "2026-10-05",
        totals: { visitors: 6, visits: 7, pageviews: 12 },
        rows: { read: 2, accepted: 2, rejected: 0 },
        unsupported: ["browser_versions", "exit_pages", "utm_source"],
        warnings: [],
      },
    })
    expect(data.requests).toEqual([
      {
        ...{ property: PROPERTY, from: "2015-08-14", to: "yesterday", dimensions: ["date"], limit: 10_000, offset: 0 },
        metrics: ["totalUsers", "screenPageViews", "sessions", "engagedSessions", "userEngagementDuration"],
      },
    ])
    expect(staged(stage)).toEqual([])
    expect(await stage.get("")).toMatchObject({ body: { data: [] } })
  })

  test("warns of another time zone, of samples and of hidden rows", async () => {
    await using world = await start({ timezone: "Europe/Berlin" })
    world.data.metadata = { samplingMetadatas: [{ samplesReadCount: "1" }], subjectToThresholding: true, dataLossFromOtherRow: true }
    const { warnings } = (await world.stage.post("/preview", body())).body as PreviewResponse
    expect(warnings.map(({ code }) => code).sort()).toEqual(["other_rows", "sampled", "thresholded", "timezone_differs"])
  })

  test.each([
    ["403_property", 422, "analytics_property_denied", "Property access management"],
    ["api_disabled", 422, "analytics_api_disabled", "Turn it on"],
    ["quota_429", 429, "analytics_quota", "2026-11-26T13:00:00"],
    ["token_expired", 409, "analytics_not_connected", "Connect the account again"],
    ["malformed", 503, "unavailable", "Try again in a few minutes"],
    ["500", 503, "unavailable", "answered with the status 500"],
  ] as const)(
    "of a service in the scenario %s answers %d %s",
    async (scenario, status, code, words) => {
      await using world = await start()
      world.data.scenario = scenario
      const answer = await world.stage.post("/preview", body())
      expect(answer).toMatchObject({ status, body: { code } })
      expect((answer.body as { detail: string }).detail).toContain(words)
      expect(staged(world.stage)).toEqual([])
    },
    20_000,
  )

  test.each([
    ["a connection that does not exist", { connection_id: 7 }, 409, "analytics_not_connected"],
    ["a property that is not the account's", { property: "properties/9" }, 422, "analytics_property_denied"],
    ["an invalid property", { property: "123" }, 422, "validation_failed"],
    ["a range that ends before it begins", { from: "2026-10-02", to: "2026-10-01" }, 422, "validation_failed"],
    ["days without data", { to: "2020-01-01" }, 422, "nothing_to_import"],
  ])("refuses %s", async (_, options, status, code) => {
    await using world = await start()
    expect(await world.stage.post("/preview", body(options))).toMatchObject({ status, body: { code } })
  })

  test("refuses files, a missing property, and people who may not use connections", async () => {
    await using world = await start()
    const { stage } = world
    const files = [{ name: "a.csv", content: "a" }]
    expect(await stage.post("/preview", { ...body(), files })).toMatchObject({ status: 422, body: { errors: [{ pointer: "/files" }] } })
    expect(await stage.post("/preview", { source: "ga4_api", options: { connection_id: 1 } })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: "/options/property" }] },
    })
    const editor = { cookie: await stage.instance.signIn({ role: "editor" }) }
    for (const path of [PATH, `${PATH}/preview`])
      expect(await stage.instance.api.send("POST", path, body(), undefined, editor)).toMatchObject({
        status: 403,
        body: { code: "forbidden", required_permission: "integrations:write" },
      })
    expect(world.data.requests).toEqual([])
  })
})

describe("a run", () => {
  test("imports every table, as the reports then have it, and is undone", async () => {
    await using world = await start()
    const { stage, data } = world
    const preview = (await stage.post("/preview", body())).body as PreviewResponse
    data.requests = []
    const done = await stage.run({ ...body(), preview_hash: preview.preview_hash })
    expect(done).toMatchObject({
      state: "completed",
      error: null,
      label: "Google Analytics 4: properties/123",
      timezone: "America/New_York",
      totals: { visitors: 6, visits: 7, pageviews: 12 },
      rows: { read: 16, imported: 15, skipped: 1, rejected: 0 },
      skip_reasons: { not_imported_type: 1 },
      days: [
        { from: "2026-09-01", to: "2026-09-01" },
        { from: "2026-10-05", to: "2026-10-05" },
      ],
    })
    expect(data.requests).toHaveLength(REQUESTS)
    const slices = data.requests.filter(({ dimensions }) => dimensions.includes("browser")).map(({ from, to }) => `${from} ${to}`)
    expect(slices).toEqual(["2026-09-01 2026-10-01", "2026-10-02 2026-10-05"])
    const { metrics } = await statsOf(stage, "summary", `${SEPTEMBER}&metrics=visitors,visits,pageviews,bounce_rate,visit_duration`)
    expect(metrics).toMatchObject({ visitors: 4, visits: 5, pageviews: 9, bounce_rate: 60, visit_duration: 60 })
    const rows = async (dimension: string, query = SEPTEMBER, metric = "visitors") =>
      Object.fromEntries(
        (await statsOf(stage, "breakdown", `${query}&dimension=${dimension}&metrics=${metric}`)).rows.map((row) => [
          row.value,
          row[metric],
        ]),
      )
    expect(await rows("page")).toEqual({ "/": 4, "/tea": 2 })
    expect(await rows("entry_page")).toEqual({ "/": 4 })
    expect(await rows("device")).toEqual({ Mobile: 4 })
    expect(await rows("os")).toEqual({ Mac: 4 })
    expect(await rows("country")).toMatchObject({ DE: 3 })
    expect(await rows("event", SEPTEMBER, "events")).toMatchObject({ sign_up: 3 })
    expect(await rows("source")).toMatchObject({ Google: 3 })
    expect(await rows("utm_campaign", "from=2026-10-01&to=2026-10-31")).toEqual({ may: 2 })
    expect(staged(stage)).toEqual([])
    await stage.post("/1/undo")
    await stage.instance.runJobs()
    expect((await statsOf(stage, "summary", SEPTEMBER)).metrics).toMatchObject({ visitors: 0 })
  })

  test("reads reports of several pages whole", async () => {
    const pages = Array.from({ length: 20_001 }, (_, at) => ({
      ...FIRST,
      hostName: "shop.example",
      pagePath: `/${at}`,
      ...five(1, 1, 1, 1, 1),
    }))
    await using world = await start({ rows: { ...ROWS, "hostName,pagePath": pages } })
    const done = await world.stage.run(body({ tables: ["imported_pages"] }))
    expect(done).toMatchObject({ state: "completed", rows: { rejected: 0 } })
    const requests = world.data.requests
      .filter(({ dimensions }) => dimensions.includes("pagePath"))
      .map(({ from, offset }) => [from, offset])
    expect(requests).toEqual([
      ["2026-09-01", 0],
      ["2026-09-01", 10_000],
      ["2026-09-01", 20_000],
      ["2026-10-02", 0],
    ])
    // The totals of the days, and the table that the options name.
    expect(world.data.requests).toHaveLength(5)
    expect((await world.stage.get("/1")).body).toMatchObject({ rows: { imported: 20_001 + 2 } })
  })

  test("waits an hour when the quota is used up, and continues with the report at which it stopped", async () => {
    await using world = await start()
    const { stage, data } = world
    Object.assign(data, { scenario: "quota_429", after: 6 })
    const waiting = await stage.run(body())
    expect(waiting).toMatchObject({ state: "running", error: { code: "analytics_quota" }, can_retry: false })
    expect(waiting.error!.message).toContain("2026-11-26T13:00:00")
    await stage.instance.runJobs()
    expect(data.requests).toHaveLength(7)
    data.scenario = "ok"
    stage.instance.clock.advance(30 * 60_000)
    await stage.instance.runJobs()
    expect(data.requests).toHaveLength(7)
    stage.instance.clock.advance(30 * 60_000)
    await stage.instance.runJobs()
    expect((await stage.get("/1")).body).toMatchObject({ state: "completed", error: null, rows: { imported: 15 } })
    // The refused request is repeated, and no other one.
    expect(data.requests).toHaveLength(REQUESTS + 1)
    expect(data.requests[7]).toEqual(data.requests[6]!)
  })

  test("that waits for the quota is cancelled with its files", async () => {
    await using world = await start()
    const { stage, data } = world
    Object.assign(data, { scenario: "quota_429", after: 6 })
    await stage.run(body())
    expect(staged(stage).length).toBeGreaterThan(0)
    expect(await stage.post("/1/cancel")).toMatchObject({ status: 202, body: { state: "cancelled" } })
    expect(staged(stage)).toEqual([])
    stage.instance.clock.advance(61 * 60_000)
    await stage.instance.runJobs()
    expect(data.requests).toHaveLength(7)
  })

  test("that fails says why, keeps what it has fetched, and continues with it", async () => {
    await using world = await start()
    const { stage, data } = world
    Object.assign(data, { scenario: "403_property", after: 6 })
    expect(await stage.run(body())).toMatchObject({ state: "failed", error: { code: "analytics_property_denied" }, can_retry: true })
    data.scenario = "ok"
    await stage.post("/1/retry")
    await stage.instance.runJobs()
    expect((await stage.get("/1")).body as ImportResponse).toMatchObject({ state: "completed", rows: { imported: 15 } })
    expect(data.requests).toHaveLength(REQUESTS + 1)
  })

  test("refreshes a token that has expired meanwhile", async () => {
    await using world = await start()
    const { stage, fake } = world
    await stage.post("/preview", body())
    // Beyond the hour that tokens are valid at the fake, and unknown to the instance.
    const tokens = () => fake.requests.filter(({ path }) => path === "/token").length
    const before = tokens()
    stage.instance.clock.advance(3_600_000)
    expect(await stage.run(body())).toMatchObject({ state: "completed" })
    expect(tokens()).toBe(before + 1)
  })
})

describe("the account of a person", () => {
  test("is connected by consent and imports, also after its access token has expired", async () => {
    await using world = await start({ isPersonal: true })
    const { stage, fake } = world
    const preview = (await stage.post("/preview", body())).body as PreviewResponse
    expect(preview).toMatchObject({ date_start: "2026-09-01", date_end: "2026-10-05" })
    const grants = () => fake.requests.flatMap(({ grant }) => grant ?? [])
    expect(grants()).toEqual(["authorization_code", "refresh_token"])
    stage.instance.clock.advance(3_600_000)
    expect(await stage.run({ ...body(), preview_hash: preview.preview_hash })).toMatchObject({ state: "completed", rows: { imported: 15 } })
    expect(grants()).toEqual(["authorization_code", "refresh_token", "refresh_token"])
    expect((await statsOf(stage, "summary", SEPTEMBER)).metrics).toMatchObject({ visitors: 4, pageviews: 9 })
  })

  test("that withdraws its consent meanwhile fails the import, which says what to do", async () => {
    await using world = await start({ isPersonal: true })
    const { stage, fake } = world
    expect(await stage.post("", body())).toMatchObject({ status: 202 })
    fake.scenario = "invalid_grant"
    stage.instance.clock.advance(3_600_000)
    await stage.instance.runJobs()
    const { body: failed } = await stage.get("/1")
    expect(failed).toMatchObject({ state: "failed", error: { code: "analytics_not_connected" }, can_retry: true })
    expect((failed as ImportResponse).error!.message).toContain("Connect the account again")
  })
})

test("a run that is interrupted while it fetches continues with the next report", async () => {
  const clock = { now: () => Date.now() }
  const { fake, data, settings } = await fakes(ROWS, () => clock.now())
  await using _ = fake
  await using at = await startByHand(
    undefined,
    programPlugins.filter(({ id }) => id === "integrations"),
    settings,
  )
  clock.now = at.instance.clock.now
  const { instance, runs, headers } = at
  await connect(instance, fake)
  expect(await instance.api.post(PATH, body(), undefined, headers)).toMatchObject({ status: 202 })
  for (const abortAt of [1, 4, 4]) await expect(run(runs, 1, abortAt)).rejects.toThrow("The process stops.")
  await run(runs, 1)
  expect(await instance.api.get(`${PATH}/1`, undefined, headers)).toMatchObject({ body: { state: "completed", rows: { imported: 15 } } })
  expect(data.requests).toHaveLength(REQUESTS)
})
