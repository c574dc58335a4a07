/** A node that has deleted its copy of the events, compared with an instance whose events are in its own store. */

import { Database } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { statSync } from "node:fs"
import { join } from "node:path"
import type { Filter } from "../../src/domain/filter.ts"
import { siteFacts } from "../../src/services/stats/open-report.ts"
import { BROWSER, startInstance, type TestInstance } from "../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

setDefaultTimeout(300_000)

const HOUR = 3_600_000
const DAY = 24 * HOUR
const STATS = "/api/public/v1/sites/1/stats"
const OLD = "An old page"

/** Days of traffic: people who are identified, sales, and pages of which some occur on one day only. */
async function sendDay(instance: TestInstance, day: number): Promise<void> {
  const at = (minutes: number) => new Date(instance.clock.now() - HOUR + minutes * 60_000).toISOString()
  const events = Array.from({ length: 24 }, (_, place) => {
    const person = place % 8
    const url = `https://shop.example/${place % 3 === 0 ? `day/${day}` : `page/${place % 5}`}`
    return {
      ...{ name: place % 6 === 5 ? "Purchase" : "pageview", url, timestamp: at(place), user_agent: BROWSER, ip: `203.0.113.${person}` },
      ...(person < 4 && { user_id: `user ${person}` }),
      ...(place % 6 === 5 && {
        revenue: { amount: 5 + place, currency: "EUR" },
        props: { order_id: `${day} ${place}`, plan: `plan ${day}` },
      }),
      ...(day === 0 && { referrer: "https://news.example/", title: OLD }),
    }
  })
  const { body } = await instance.api.post("/api/public/v1/sites/1/events", { events }, instance.eventsKey)
  expect(body).toMatchObject({ accepted: events.length })
}

/** Seals everything, and lets jobs and replaced segments end. */
async function settle(instance: TestInstance): Promise<void> {
  const { app, clock } = instance
  await instance.runJobs()
  await app.instance.events.seal(clock.now(), true)
  await app.instance.events.shipped(new AbortController().signal)
  clock.advance(30_000)
  await app.instance.events.dropRetired(clock.now())
}

const REPORTS = [
  ...["today", "7d", "30d", "all"].map((period) => `summary?period=${period}&metrics=visitors,visits,pageviews,events,bounce_rate`),
  "timeseries?period=all&interval=day&metrics=visitors,pageviews",
  ...["page", "entry_page", "source", "event"].map((dimension) => `breakdown?period=all&dimension=${dimension}&metrics=visitors,events`),
  "breakdown?period=all&dimension=property&property=plan&metrics=visitors,events",
  "goals?period=all",
]

/** Returns what an instance says about its site: reports, files, the beginning of the data, people, sales and previews. */
async function answersOf(instance: TestInstance): Promise<unknown[]> {
  const { api, app, key, site } = instance
  const cookie = await instance.signIn({ role: "owner" })
  const ask = async (path: string) => {
    const { status, body } = await api.get(path, path.includes("private") ? undefined : key, { cookie })
    return { path, status, body }
  }
  const answers: unknown[] = []
  for (const report of REPORTS) answers.push(await ask(`${STATS}/${report}`))
  answers.push(await ask("/api/public/v1/sites/1/export?type=timeseries&format=json&period=all&metrics=visits"))
  answers.push(((await ask("/api/public/v1/sites/1")).body as { first_event_at?: string }).first_event_at)
  answers.push(await ask("/api/private/sites/1/retention-preview?days=2"))
  answers.push(await ask("/api/private/sites/1/revenue/report?period=30d"))
  const { by } = await app.console.retention.preview({ site_id: 1, retention_days: 2 })
  answers.push(by)
  answers.push((await app.console.lists.figures([1])).get(1)!.last_event_at)
  for (let person = 0; person < 5; person++) answers.push((await app.instance.people.find(site, `user ${person}`)).length)
  answers.push(["shop.example", "*.shop.example", "other.example"].map((host) => app.instance.events.hasEventsFrom(1, host)))
  return [...answers, storedBeside(instance)]
}

/** Returns what the store of a node keeps of visits besides the visits: texts, people and sales. */
function storedBeside({ dataDir }: TestInstance): unknown[] {
  using db = new Database(join(dataDir, "events.db"), { readonly: true })
  return [
    "select distinct value from dictionary where value <> '' order by value",
    "select hex(person_key) is not null as is_person from identities",
    "select at, order_id, amount_minor from sale_events order by at",
  ].map((sql) => db.query(sql).all())
}

describe.skipIf(!hasClickhouse())("a node that has deleted what ClickHouse has", () => {
  let running: TestServer
  let embedded: TestInstance
  let remote: TestInstance
  const both = async (work: (instance: TestInstance) => Promise<unknown>) => [await work(embedded), await work(remote)]
  async function expectEqual(): Promise<unknown[]> {
    const expected = await answersOf(embedded)
    expect(await answersOf(remote)).toEqual(expected)
    return expected
  }
  const segments = () => remote.app.instance.events.facts().segments
  beforeAll(async () => {
    running = await startClickhouse()
    embedded = await startInstance()
    remote = await startInstance({ clickhouse: running.server })
    await both(({ app }) => app.instance.sites.configure(1, { identity_mode: "identified" }))
    for (let day = 0; day < 4; day++) {
      await both(async (instance) => {
        await sendDay(instance, day)
        await settle(instance)
        instance.clock.advance(DAY - 30_000)
      })
    }
  })
  afterAll(async () => {
    await embedded[Symbol.asyncDispose]()
    await remote[Symbol.asyncDispose]()
    await running[Symbol.asyncDispose]()
  })

  test("answers as before", async () => {
    const before = segments()
    await expectEqual()
    await remote.app.instance.shipped!.shipping.dropShipped()
    expect(segments()).toBeLessThan(before)
    expect(segments()).toBeGreaterThan(0)
    await expectEqual()
    await both(async ({ clock }) => clock.advance(2 * DAY))
    await remote.app.instance.shipped!.shipping.dropShipped()
    expect(segments()).toBe(0)
    await expectEqual()
  })

  test("erases visits that it has dropped, with their sales and texts, and keeps people who have others", async () => {
    await both(async ({ app, site, clock }) => {
      const filter: Filter = { op: "is", dimension: "page", values: ["/day/1"], missing: false, caseSensitive: true }
      const question = { site: siteFacts(site, []), range: { from: 0, to: clock.now() }, filter }
      const { sequences } = await app.engine.chosenVisits(question, { organizationId: site.organization_id })
      expect(await app.instance.events.eraseVisits(1, sequences.toSorted(), clock.now())).toBe(8)
    })
    await expectEqual()
  })

  test("erases a person", async () => {
    await both(async ({ app, site }) => {
      const { people } = app.instance
      await app.erasure.person(1, await people.pseudonymsOf(site, await people.find(site, "user 2")))
    })
    const answers = await expectEqual()
    expect(answers.slice(-7, -2)).toEqual([1, 1, 0, 1, 0])
  })

  test("removes visits beyond the retention, and the people and texts that only they had", async () => {
    const database = () => remote.app.instance.events
    await both(async ({ app, clock }) => {
      await app.instance.events.retain(1, clock.now() - 4 * DAY, clock.now())
    })
    await expectEqual()
    expect(database().firstAt(1)).toBe(embedded.app.instance.events.firstAt(1)!)
  })

  test("knows since when there is data without having had it", async () => {
    const { store, findSpans, shipping } = remote.app.instance.shipped!
    const known = store.firstAt(1)
    await settle(remote)
    for (const { clock } of [embedded, remote]) clock.advance(3 * DAY)
    embedded.clock.advance(30_000)
    await shipping.dropShipped()
    store.setDroppedSpan(1, "visits", undefined)
    expect(store.firstAt(1)).toBeUndefined()
    await findSpans([1])
    expect([store.firstAt(1), store.lastAt(1)]).toEqual([known, embedded.app.instance.events.lastAt(1)])
    expect(known).toBeNumber()
  })

  test("undoes an import that it has dropped", async () => {
    const rows = Array.from(
      { length: 40 },
      (_, row) => `2026-11-${10 + (row % 9)}T1${row % 10}:00:00Z,/old/${row % 6},s${row},DE,shop.example,pageview`,
    )
    const content = ["added_iso,path,session_id,country_code,hostname,datapoint", ...rows].join("\n")
    const path = "/api/private/sites/1/imports"
    const send = async (instance: TestInstance, ...[method, at, body]: [string, string, object?]) => {
      const headers = { cookie: await instance.signIn({ role: "owner" }) }
      const { status, body: answer } = await instance.api.send(method, path + at, body, undefined, headers)
      expect(status).toBeLessThan(300)
      await settle(instance)
      return answer as { id: number; state: string; totals: { visits: number } }
    }
    const files = [{ name: "export.csv", content }]
    const [one, other] = await both((instance) => send(instance, "POST", "", { source: "simple_analytics", files }))
    expect(one).toMatchObject({ id: (other as { id: number }).id })
    const before = await expectEqual()
    for (const { clock } of [embedded, remote]) clock.advance(3 * DAY)
    await remote.app.instance.shipped!.shipping.dropShipped()
    expect(segments()).toBe(0)
    expect(JSON.stringify(await expectEqual())).toContain("/old/3")
    expect(before).not.toEqual([])
    await both((instance) => send(instance, "POST", `/${(one as { id: number }).id}/undo`))
    expect(JSON.stringify(await expectEqual())).not.toContain("/old/3")
  })

  test("does not grow with what ClickHouse has", async () => {
    const { app, clock, dataDir } = remote
    const { events } = app.instance
    const sizes: number[] = []
    for (let round = 0; round < 3; round++) {
      for (let day = 0; day < 2; day++) {
        await sendDay(remote, day)
        await settle(remote)
        clock.advance(2 * DAY)
      }
      await app.instance.shipped!.shipping.dropShipped()
      clock.advance(30_000)
      await events.dropRetired(clock.now())
      await events.returnFreePages()
      await events.emptyLog()
      sizes.push(statSync(join(dataDir, "events.db")).size)
    }
    expect(sizes[2]! - sizes[1]!).toBeLessThanOrEqual(sizes[1]! / 20)
  })
})
