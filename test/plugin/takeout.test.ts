import { expect, test } from "bun:test"
import { type AnyPlugin, definePlugin, type Host, type ImportedVisit, type Query, siteFacts } from "#plugin"
import { archiveOf, BROWSER, archiveLines as lines, startInstance, type TestInstance } from "#plugin/test"
import type { VisitTraits } from "../../src/domain/visit.ts"
import { auditOf } from "../http/private/person.ts"
import { showImports } from "../visible-imports.ts"

/** Defines short links that also store a favourite visitor of each site. */
function links(): { plugin: AnyPlugin; host(): Host } {
  let known: Host
  const plugin = definePlugin({
    id: "golinks",
    title: "Links",
    paths: { open: ["go"] },
    records: { link_click: { title: "Click", kind: "clicks" }, dot_open: { title: "Open", kind: "opens" } },
    setup(host) {
      known = host
      const routes = host.openRouter().get("/go/:id", async ({ params, request, server }) => {
        const site = host.services.sites.directory.byId(1)!
        await host.record({ request, server }, site, { name: "link_click", props: { link_id: params.id, human: 1 } })
        return new Response("")
      })
      return {
        openRoutes: [routes],
        exporters: {
          links: async function* (site, { visitors }) {
            yield { id: 7, target: `https://${site.hosts[0]}/` }
            yield { id: 8, best: visitors([await someVisitor(host)])[0] }
          },
        },
      }
    },
  })
  return { plugin, host: () => known }
}

/** Returns the pseudonym of the only visitor with two visits. */
async function someVisitor(host: Host): Promise<string> {
  const names: string[] = []
  const exported = await host.services.exports.open(host.services.sites.directory.byId(1)!, {
    type: "visits",
    format: "ndjson",
    period: "7d",
  })
  let text = ""
  for await (const piece of exported.read(new AbortController().signal)) text += new TextDecoder().decode(piece)
  for (const line of text.trim().split("\n")) names.push(JSON.parse(line).visitor)
  return names.find((name, i) => names.indexOf(name) !== i)!
}

const HOUR = 3_600_000

async function startWithTraffic(plugin: AnyPlugin): Promise<TestInstance> {
  const instance = await startInstance({ plugins: [plugin], now: "2026-11-20T08:00:00Z" })
  const click = (id: number, address: string) =>
    instance.fetch(new Request(`http://localhost/go/${id}?utm_source=news`, { headers: { "user-agent": BROWSER } }), address)
  const view = (address: string) => instance.collect({ n: "pageview", u: "https://shop.example/" }, { address })
  for (const address of ["203.0.113.1", "203.0.113.2"]) {
    await click(7, address)
    await view(address)
  }
  instance.clock.advance(2 * HOUR)
  await view("203.0.113.1")
  await click(8, "203.0.113.9")
  instance.clock.advance(24 * HOUR)
  return instance
}

const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex")

test("an archive contains records and plugin data, with the same pseudonym of a visitor throughout, even of disabled plugins", async () => {
  const { plugin } = links()
  await using instance = await startWithTraffic(plugin)
  await instance.app.instance.plugins.turn("golinks", false, null)
  const files = await archiveOf(instance)
  const [visits, clicks] = [lines(files["visits.ndjson"]), lines(files["clicks.ndjson"])]
  expect(clicks.map(({ events, utm_source }) => [events[0].name, events[0].props, utm_source])).toEqual([
    [
      "link_click",
      [
        ["link_id", "7"],
        ["human", "1"],
      ],
      "news",
    ],
    [
      "link_click",
      [
        ["link_id", "7"],
        ["human", "1"],
      ],
      "news",
    ],
    [
      "link_click",
      [
        ["link_id", "8"],
        ["human", "1"],
      ],
      "news",
    ],
  ])
  expect(visits.map(({ visitor }) => visitor)).toEqual([clicks[0].visitor, clicks[1].visitor, clicks[0].visitor])
  expect(lines(files["golinks_links.ndjson"])).toEqual([
    { id: 7, target: "https://shop.example/" },
    { id: 8, best: clicks[0].visitor },
  ])
  const manifest = JSON.parse(files["manifest.json"]!)
  expect(manifest.counts).toMatchObject({ visits: 3, clicks: 3, opens: 0, golinks_links: 2 })
  expect(manifest.files["golinks_links.ndjson"]).toEqual({
    bytes: files["golinks_links.ndjson"]!.length,
    sha256: sha256(files["golinks_links.ndjson"]!),
  })
  expect(manifest.files["clicks.ndjson"].sha256).toBe(sha256(files["clicks.ndjson"]!))
})

test("a failing exporter fails the job and creates no archive", async () => {
  const failing = definePlugin({
    id: "broken",
    title: "Broken",
    setup: () => ({
      exporters: {
        things: async function* () {
          yield { id: 1 }
          throw new Error("made up")
        },
      },
    }),
  })
  await using instance = await startInstance({ plugins: [failing] })
  const cookie = await instance.signIn({ role: "owner" })
  const begun = await instance.api.post("/api/private/sites/1/takeout", undefined, undefined, { cookie })
  await instance.app.instance.jobs.drain()
  const path = begun.headers.get("location")!
  expect((await instance.api.get(path, undefined, { cookie })).body).toMatchObject({ state: "failed" })
  expect((await instance.api.get(`${path}/file`, undefined, { cookie })).status).toBe(404)
  expect([...new Bun.Glob("**/*.zip").scanSync(instance.dataDir)]).toEqual([])
  expect((await auditOf(instance)).slice(-2)).toEqual(["sites.takeout.begin", "sites.takeout.finish"])
})

const VISITS_BY_KIND = ["rotating", "device", "user"] as const
const event = (at: number, name = "pageview") => ({
  at,
  name,
  page: "/",
  hostname: "shop.example",
  title: "",
  interactive: true,
  props: [],
})

/** Converts a visit or record of an archive to an imported visit. */
const toImport = ({ visitor, visitor_kind, events, started_at, ...traits }: Record<string, unknown>): ImportedVisit => ({
  visitor: visitor as string,
  visitorKind: visitor_kind as (typeof VISITS_BY_KIND)[number],
  events: events as ImportedVisit["events"],
  traits: traits as unknown as VisitTraits,
  day: new Date(started_at as number).toISOString().slice(0, 10),
})

test("imported records give the same counts and visitors keep their kind, across several batches", async () => {
  const { plugin, host } = links()
  await using instance = await startWithTraffic(plugin)
  const traits = toImport(lines((await archiveOf(instance))["visits.ndjson"])[0]).traits
  const at = Date.parse("2026-11-20T09:00:00Z")
  const kinds = VISITS_BY_KIND.map((visitorKind) => ({ visitor: visitorKind, visitorKind, traits, day: "2026-11-20", events: [event(at)] }))
  await host().imports.addVisits({ siteId: 1, importId: 3 }, kinds)
  await showImports(instance, [{ id: 3 }])
  const files = await archiveOf(instance)

  const elsewhere = links()
  await using other = await startInstance({ plugins: [elsewhere.plugin], now: new Date(instance.clock.now()).toISOString() })
  const place = { siteId: 1, importId: 1, visitors: new Map<string, number>() }
  const { imports } = elsewhere.host()
  for (const line of lines(files["visits.ndjson"])) await imports.addVisits(place, [toImport(line)])
  for (const line of lines(files["clicks.ndjson"])) await imports.addRecords({ ...place, kind: "clicks" }, [toImport(line)])

  await showImports(other, [{ id: 1 }])
  const there = await archiveOf(other)
  const kindsOf = (text: string | undefined) => lines(text).map(({ started_at, visitor_kind }) => [started_at, visitor_kind])
  expect(kindsOf(there["visits.ndjson"])).toEqual(kindsOf(files["visits.ndjson"]))
  expect(kindsOf(there["visits.ndjson"]).map(([, kind]) => kind)).toEqual([
    "rotating",
    "rotating",
    "rotating",
    "device",
    "user",
    "rotating",
  ])
  const asked = (host: Host, records?: "clicks") => counted(host, other, records)
  expect(await asked(elsewhere.host(), "clicks")).toEqual([
    ["7", 2, 2],
    ["8", 1, 1],
  ])
  expect(await asked(elsewhere.host(), "clicks")).toEqual(await asked(host(), "clicks"))
  const summary = (on: TestInstance) => on.api.get("/api/public/v1/sites/1/stats/summary?period=7d&metrics=visitors,visits,events", on.key)
  expect((await summary(other)).body).toMatchObject({ metrics: { visitors: 5, visits: 6, events: 6 } })
  expect((await summary(instance)).body).toMatchObject({ metrics: { visitors: 5, visits: 6, events: 6 } })
})

async function counted(host: Host, { site, clock }: TestInstance, records?: "clicks"): Promise<unknown[]> {
  const query: Query = {
    site: siteFacts(site, []),
    ...(records && { records }),
    range: { from: 0, to: clock.now() },
    timezone: "UTC",
    now: clock.now(),
    metrics: ["visitors", "events"],
    groupings: [{ by: "dimension", dimension: "property", property: "link_id" }],
    order: [],
    limit: 10,
    offset: 0,
    fillBuckets: false,
  }
  const { rows } = await host.engine.aggregate(query, { organizationId: 1 })
  return rows.map(({ keys, values }) => [...keys, ...values])
}
