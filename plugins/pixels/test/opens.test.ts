import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "#plugin/test"
import { openStage } from "./stage.ts"

const GMAIL = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"
const YAHOO = "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html"
const CAMO = "github-camo (876de43e)"
const SAFARI =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"

test.each([
  ["direct", SAFARI, { opens_total: 1, opens_direct: 1, opens_proxied: 0, opens_prefetched: 0, bots: 0 }],
  ["github_camo", CAMO, { opens_total: 1, opens_direct: 0, opens_proxied: 1, opens_prefetched: 0, bots: 0 }],
  ["gmail_proxy", GMAIL, { opens_total: 1, opens_direct: 0, opens_proxied: 1, opens_prefetched: 0, bots: 0 }],
  ["yahoo_proxy", YAHOO, { opens_total: 1, opens_direct: 0, opens_proxied: 1, opens_prefetched: 0, bots: 0 }],
  ["apple_mpp", "Mozilla/5.0", { opens_total: 1, opens_direct: 0, opens_proxied: 0, opens_prefetched: 1, bots: 0 }],
  [
    "outlook_scan",
    "Microsoft Office Existence Discovery",
    { opens_total: 1, opens_direct: 0, opens_proxied: 0, opens_prefetched: 1, bots: 0 },
  ],
  [
    "outlook_scan",
    "Mozilla/5.0 (compatible; Barracuda Sentinel)",
    { opens_total: 1, opens_direct: 0, opens_proxied: 0, opens_prefetched: 1, bots: 0 },
  ],
  [
    "bot",
    "Googlebot/2.1 (+http://www.google.com/bot.html)",
    { opens_total: 0, opens_direct: 0, opens_proxied: 0, opens_prefetched: 0, bots: 1 },
  ],
  [
    "bot",
    "Viber/20.9.0.8 CFNetwork/1410.0.3 Darwin/22.6.0",
    { opens_total: 0, opens_direct: 0, opens_proxied: 0, opens_prefetched: 0, bots: 1 },
  ],
  ["bot", "curl/8.5.0", { opens_total: 0, opens_direct: 0, opens_proxied: 0, opens_prefetched: 0, bots: 1 }],
  ["bot", "", { opens_total: 0, opens_direct: 0, opens_proxied: 0, opens_prefetched: 0, bots: 1 }],
] as const)("an open is %s when %p asks", async (via, agent, counts) => {
  await using stage = await openStage()
  const { id, slug } = await stage.make()
  await stage.ask(`/p/${slug}.gif`, { headers: { "user-agent": agent, "accept-language": "de" } })
  await stage.folded()
  expect((await stage.get(`/${id}/stats?period=today`)).body).toMatchObject(counts)
  expect((await stage.get(`/${id}/breakdown?dimension=via`)).body).toMatchObject({ rows: [{ value: via, opens: 1 }], total_rows: 1 })
  const { opens_total, opens_direct } = counts
  expect((await stage.get(`/${id}`)).body).toMatchObject({ opens_total, opens_direct })
})

test("counts opens from listed address ranges as prefetched, whatever the user agent, without a location", async () => {
  using folder = temporaryFolder()
  const pixel_relays = join(folder.path, "relays.csv")
  writeFileSync(pixel_relays, "172.224.226.0/31,GB,GB-EN,London,\n2a02:26f7::/32,US,US-CA,Palo Alto,\n")
  await using stage = await openStage({ pixel_relays })
  const { id, slug } = await stage.make()
  for (const [address, agent] of [
    ["172.224.226.1", SAFARI],
    ["2a02:26f7:b::1", SAFARI],
    ["172.224.226.0", GMAIL],
    ["172.224.226.2", SAFARI],
  ] as const)
    await stage.ask(`/p/${slug}.gif`, { address, headers: { "user-agent": agent } })
  await stage.folded()
  const counts = { opens_total: 4, opens_direct: 1, opens_proxied: 1, opens_prefetched: 2, bots: 0 }
  expect((await stage.get(`/${id}/stats?period=today`)).body).toMatchObject(counts)
  expect((await stage.get(`/${id}/breakdown?dimension=via`)).body).toMatchObject({ rows: [{ value: "apple_mpp", opens: 2 }, {}, {}] })
  expect((await stage.get(`/${id}/breakdown?dimension=device`)).body).toMatchObject({
    rows: [{ value: "Mobile", opens: 1 }],
    total_rows: 1,
  })
})

test("refuses to start with a malformed list of relays, naming the line", async () => {
  using folder = temporaryFolder()
  const pixel_relays = join(folder.path, "relays.csv")
  writeFileSync(pixel_relays, "network,country\n172.224.226.0/31,GB\n")
  expect(await openStage({ pixel_relays }).catch((error: unknown) => error)).toMatchObject({
    exit: "configuration",
    message: expect.stringContaining(`pixel_relays: ${pixel_relays}: line 1: "network,country" is not an address or range`),
  })
})

test("reports location and device of direct opens only", async () => {
  await using stage = await openStage()
  const { id, slug } = await stage.make()
  for (const agent of [SAFARI, GMAIL, CAMO, "Mozilla/5.0"]) {
    await stage.ask(`/p/${slug}.gif`, { headers: { "user-agent": agent, "accept-language": "de" } })
  }
  await stage.folded()
  for (const [dimension, value] of [
    ["device", "Mobile"],
    ["os", "iOS"],
    ["browser", "Safari"],
  ])
    expect((await stage.get(`/${id}/breakdown?dimension=${dimension}`)).body).toMatchObject({
      rows: [{ value, opens: 1 }],
      total_rows: 1,
      meta: { notes: [expect.stringContaining("Direct opens only")] },
    })
})

test("stores only the first value of each named parameter, and none that is too long or has control characters", async () => {
  await using stage = await openStage()
  const { id, slug } = await stage.make({ allowed_params: ["campaign", "issue"] })
  const long = "x".repeat(101)
  for (const query of [
    "campaign=spring&campaign=autumn&secret=1",
    `issue=${long}`,
    "issue=%00%0a",
    `issue=${"y".repeat(100)}`,
    "CAMPAIGN=no",
  ])
    await stage.ask(`/p/${slug}.gif?${query}`)
  await stage.folded()
  const rowsOf = async (name: string) => ((await stage.get(`/${id}/breakdown?dimension=param:${name}`)).body as { rows: object[] }).rows
  expect(await rowsOf("campaign")).toEqual([
    { value: "(none)", opens: 4 },
    { value: "spring", opens: 1 },
  ])
  expect(await rowsOf("issue")).toEqual([
    { value: "(none)", opens: 4 },
    { value: "y".repeat(100), opens: 1 },
  ])
  expect(await rowsOf("secret")).toEqual([{ value: "(none)", opens: 5 }])
})

describe("recipients", () => {
  const asks = ["anna@example.com", "bert@example.com", "anna@example.com"]

  test("are distinguished by a hash that differs per site, and are stored nowhere", async () => {
    await using stage = await openStage()
    const other = await stage.app.instance.sites.create(stage.site.organization_id, { name: "Other", hosts: ["other.example"] })
    const mine = await stage.make({ recipient_mode: "hashed" })
    const elsewhere = `/api/private/sites/${other.id}/pixels`
    const theirs = (await stage.api.post(elsewhere, { name: "N", kind: "email", recipient_mode: "hashed" }, undefined, stage.as)).body
    for (const slug of [mine.slug, (theirs as { slug: string }).slug])
      for (const recipient of asks)
        await stage.ask(`/p/${slug}.gif?r=${encodeURIComponent(recipient)}`, { headers: { "user-agent": GMAIL } })
    await stage.folded()
    expect((await stage.get(`/${mine.id}/stats?compare=previous_period`)).body).toMatchObject({
      opens_total: 3,
      unique_est: 2,
      comparison: { opens_total: 0, unique_est: 0 },
      meta: { notes: [expect.stringContaining("estimate"), expect.stringContaining("hash")] },
    })
    const known = [await recipientsOf(stage, 1), await recipientsOf(stage, other.id)]
    for (const hashes of known) expect(hashes).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), expect.stringMatching(/^[0-9a-f]{16}$/)])
    expect(known[0]).not.toContain(known[1]![0]!)
    const { app, dataDir } = stage
    await app.instance.events.seal(stage.clock.now(), true)
    const entries = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(entries.map(({ name }) => name)).toEqual(expect.arrayContaining(["catalog.db", "events.db"]))
    const stored = entries.map(({ name, parentPath }) => ({ name, bytes: readFileSync(join(parentPath, name)) }))
    // The search would find them, because it finds the hashes.
    expect(stored.some(({ bytes }) => bytes.includes(known[0]![0]!))).toBe(true)
    expect(stored.filter(({ bytes }) => bytes.includes("anna@example")).map(({ name }) => name)).toEqual([])
  })

  test("are dropped unless the pixel stores them, and for readers who object", async () => {
    await using stage = await openStage()
    const none = await stage.make()
    const hashed = await stage.make({ recipient_mode: "hashed" })
    for (const recipient of asks) {
      await stage.ask(`/p/${none.slug}.gif?r=${recipient}`)
      await stage.ask(`/p/${hashed.slug}.gif?r=${recipient}`, { headers: { "sec-gpc": "1" } })
    }
    await stage.folded()
    expect(await recipientsOf(stage, 1)).toEqual([])
    expect((await stage.get(`/${none.id}/stats`)).body).toMatchObject({ opens_total: 3, unique_est: 1 })
    expect((await stage.get(`/${hashed.id}/stats`)).body).toMatchObject({ opens_total: 3, unique_est: 0 })
  })
})

/** Returns the recipients as stored. */
async function recipientsOf(stage: Awaited<ReturnType<typeof openStage>>, siteId: number): Promise<string[]> {
  const found = new Set<string>()
  const site = { id: siteId, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }
  const query = { site, records: "opens" as const, range: { from: 0, to: stage.clock.now() + 1 } }
  for await (const rows of stage.app.engine.rows(query, { organizationId: 1 }))
    for (const { events } of rows) for (const [key, value] of events[0]!.props) if (key === "recipient") found.add(value)
  return [...found]
}

test.each([
  ["DNT", { dnt: "1" }],
  ["GPC", { "sec-gpc": "1" }],
])("counts an open of a reader who sends %s without a location, and not as a unique reader", async (_, headers) => {
  await using stage = await openStage({ geo_header: "cf-ipcountry", trusted_proxies: "198.51.100.0/24" })
  const { id, slug } = await stage.make()
  for (const reader of ["203.0.113.1", "203.0.113.2"])
    await stage.ask(`/p/${slug}.gif`, {
      headers: { ...headers, "x-forwarded-for": reader, "cf-ipcountry": "DE" } as Record<string, string>,
    })
  await stage.ask(`/p/${slug}.gif`, { headers: { "x-forwarded-for": "203.0.113.3", "cf-ipcountry": "FR" } })
  await stage.folded()
  expect((await stage.get(`/${id}/stats`)).body).toMatchObject({ opens_total: 3, opens_direct: 3, unique_est: 1 })
  expect((await stage.get(`/${id}/breakdown?dimension=country`)).body).toMatchObject({
    rows: [
      { value: "(none)", opens: 2 },
      { value: "FR", opens: 1 },
    ],
  })
})

test("includes no opens in the metrics and visits of the site", async () => {
  await using stage = await openStage()
  const { slug } = await stage.make()
  await stage.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" })
  const before = await stage.api.get("/api/public/v1/sites/1/stats/summary?period=today", stage.key)
  for (let n = 0; n < 5; n++) await stage.ask(`/p/${slug}.gif`, { address: `198.51.100.${n + 1}` })
  await stage.app.collector.recorded()
  const after = await stage.api.get("/api/public/v1/sites/1/stats/summary?period=today", stage.key)
  expect(after.body).toEqual(before.body)
  expect(after.body).toMatchObject({ metrics: { visitors: 1, visits: 1, pageviews: 1, events: 1 } })
  const realtime = await stage.api.get("/api/public/v1/sites/1/stats/realtime", stage.key)
  expect(realtime.body).toMatchObject({ visitors: 1, pageviews: 1 })
})
