import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { statSync } from "node:fs"
import { join } from "node:path"
import { askStats, footfall, PROGRAM, type Prepared, prepareSite, type Served, serveFootfall } from "../../scripts/instance.ts"
import { openEventStore } from "../../src/store/events/events.ts"
import { BROWSER, temporaryFolder } from "../kit.ts"
import { bySize, longTest } from "../size.ts"
import { event, NO_TRAITS } from "../store/events/samples.ts"

/** Threat `cardinality`: a site that sends arbitrarily many distinct values. */

const EVENTS = bySize({ check: 12_000, full: 12_000, release: 1_000_000 })
const EACH = 1_000
const VISITORS = 12_000
/** Upper bound for the values that stay within the limits, including their indexes. */
const KEPT_BYTES = 8 << 20

/** An event whose values all depend on `value`: distinct values for each event, or repeated ones. */
function eventOf(value: number, visitor: number) {
  return {
    name: value % 2 === 0 ? "pageview" : `event-${value}`,
    url: `https://shop.example.com/page-${value}?utm_campaign=campaign-${value}`,
    referrer: `https://host-${value}.example/`,
    title: `Title ${value}`,
    ip: `10.1.${visitor >> 8}.${visitor & 255}`,
    user_agent: BROWSER,
    props: { order: `order-${value}`, [`key-${value}`]: "x" },
  }
}

async function send({ address }: Served, { siteId, key }: Prepared, numberOf: (i: number) => number): Promise<void> {
  for (let from = 0; from < EVENTS; from += EACH) {
    const events = Array.from({ length: EACH }, (_, i) => eventOf(numberOf(from + i), (from + i) % VISITORS))
    const response = await fetch(`${address}/api/public/v1/sites/${siteId}/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ events }),
    })
    expect(await response.json()).toEqual({ accepted: EACH, rejected: [], dropped: [] })
  }
}

interface Breakdown {
  rows: { value: string; metrics: Record<string, number> }[]
  total_rows: number
}

/** Records a day of such events and returns the reported figures, the memory used, and the size of the file after shutdown. */
async function recordDay(numberOf: (i: number) => number) {
  using folder = temporaryFolder()
  const site = await prepareSite(PROGRAM, folder.path)
  const second = ["--name", "Other", "--hosts", "other.example", "--timezone", "UTC"]
  const { id: otherId } = await footfall<{ id: number }>(PROGRAM, folder.path, "site", "create", ...second)
  const other = { ...site, siteId: otherId }
  await using server = await serveFootfall({ dataDir: folder.path, flags: ["--api-rate-limit", "0"] })
  const ask = <Answer>(of: Prepared, query: string) => askStats<Answer>(server.address, of, query)
  await fetch(`${server.address}/api/event`, {
    method: "POST",
    headers: { "user-agent": BROWSER },
    body: JSON.stringify({ n: "pageview", u: "https://other.example/a?utm_campaign=own", d: "other.example" }),
  })
  const otherBreakdowns = () =>
    Promise.all(["page", "utm_campaign"].map((dimension) => ask<Breakdown>(other, `breakdown?period=today&dimension=${dimension}`)))
  const before = await otherBreakdowns()
  await send(server, site, numberOf)
  expect((await otherBreakdowns()).map(({ rows }) => rows)).toEqual(before.map(({ rows }) => rows))
  const summary = await ask<{ metrics: Record<string, number> }>(site, "summary?period=today&metrics=events,pageviews")
  const total = async (dimension: string) =>
    (await ask<Breakdown>(site, `breakdown?period=today&dimension=${dimension}&metrics=visitors&limit=1`)).total_rows
  const dimensions = ["page", "title", "referrer", "event", "utm_campaign", "property&property=order"]
  const totals: Record<string, number> = {}
  for (const dimension of dimensions) totals[dimension] = await total(dimension)
  const { own } = await server.memory()
  expect(await server.kill("SIGTERM")).toBe(0)
  return { summary: summary.metrics, totals, memory: own, file: statSync(join(folder.path, "events.db")).size }
}

longTest(
  `counts ${EVENTS} events with as many distinct values in full, at little more cost than with ten distinct values`,
  async () => {
    const usual = await recordDay((i) => i % 10)
    const distinct = await recordDay((i) => i)
    expect(distinct.summary).toEqual({ events: EVENTS, pageviews: EVENTS / 2 })
    // The limit of each dimension, plus `(other)`.
    expect(distinct.totals).toEqual({
      page: 10_001,
      title: 10_001,
      referrer: 10_001,
      event: 501,
      utm_campaign: 2_001,
      "property&property=order": 10_001,
    })
    expect(distinct.file).toBeLessThan(1.4 * usual.file + KEPT_BYTES)
    expect(distinct.memory - usual.memory).toBeLessThan(64 << 20)
  },
  60_000 + EVENTS * 2,
)

const NOON = Date.parse("2026-11-21T12:00:00Z")
const VALUE_BYTES = 2_000
const LIMIT = 32 << 20

test("stores at most 32 MiB of long values per day, across restarts", () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  let store = openEventStore(path, { now: NOON })
  const long = (key: number, value: number) => `${key} ${value} `.padEnd(VALUE_BYTES, "x")
  const fill = (siteId: number, day: string, keys: readonly number[]) =>
    store.write(NOON, (writer) => {
      const visitor = writer.visitor(siteId, day, { high: 1, low: 1 })
      const id = writer.openVisit(siteId, { rotating: visitor, visitor, visitorKind: "rotating", traits: NO_TRAITS }, day)
      for (let value = 0; value < 500; value++)
        writer.add(siteId, id, event({ at: NOON, props: keys.map((key) => [`key${key}`, long(key, value)]) }), day)
    })
  const keys = Array.from({ length: 40 }, (_, key) => key)
  fill(1, "2026-11-21", keys)
  store.close()
  store = openEventStore(path, { now: NOON })
  fill(1, "2026-11-21", keys)
  fill(2, "2026-11-21", [0])
  fill(1, "2026-11-22", [40])
  const merged = store.drops(1, "2026-11-21", "2026-11-21")
  store.close()
  const db = new Database(path, { readonly: true })
  const bytes = (siteId: number) =>
    db
      .query<{ bytes: number }, [number]>("select coalesce(sum(octet_length(value)), 0) as bytes from dictionary where site_id = ?")
      .get(siteId)!.bytes
  const texts = { first: bytes(1), second: bytes(2) }
  db.close()
  // The rest of the day has no room for another long value; the next day starts with the full limit.
  expect(texts.first).toBeGreaterThan(LIMIT + 500 * VALUE_BYTES - 2 * VALUE_BYTES)
  expect(texts.first).toBeLessThan(LIMIT + 500 * VALUE_BYTES + 1_000)
  expect(texts.second).toBeGreaterThan(500 * VALUE_BYTES)
  const kept = Math.floor((LIMIT - 40 * "key00".length) / VALUE_BYTES)
  const [row] = merged
  expect(row?.reason).toBe("cardinality")
  expect(Math.abs(row!.count - 2 * (40 * 500 - kept))).toBeLessThan(4)
})
