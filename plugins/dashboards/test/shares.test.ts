import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { Type as t } from "@sinclair/typebox"
import { definePlugin, defineWidget, sql, type Widget } from "#plugin"
import type { Answer } from "#plugin/test"
import { refusal, type Stage, startStage, text, widget } from "./kit.ts"

/** A plugin whose tables know the channel of an order, and whose tickets are nothing for strangers. */
const shop = definePlugin({
  id: "shop",
  title: "Shop",
  setup: () => ({ widgets: { orders: card({}), tickets: card({ shareable: () => false }) } }),
})
const card = (more: Partial<Widget>): Widget =>
  defineWidget({
    title: "Orders",
    description: "The number of orders.",
    size: { min_w: 2, min_h: 1, w: 4, h: 2 },
    config: t.Object({}, { additionalProperties: false }),
    answer: t.Object({ orders: t.Integer() }),
    needs: "site:read",
    filter_dimensions: ["channel"],
    shareable: () => true,
    resolve: async () => ({ data: { orders: 7, order_id: 12 } }),
    ...more,
  })

let stage: Stage
beforeAll(async () => {
  stage = await startStage({ plugins: [shop], settings: { geo_header: "cf-ipcountry", trusted_proxies: "198.51.100.0/24" } })
  for (const [i, country] of ["DE", "DE", "DE", "FR"].entries()) {
    const headers = { "cf-ipcountry": country, "x-forwarded-for": `203.0.113.${i}` }
    await stage.instance.collect({ n: "pageview", u: "https://shop.example/" }, { headers })
    await stage.instance.collect({ n: "pageview", u: `https://shop.example/${country}` }, { headers })
  }
  await stage.send("PATCH", "/settings", { min_group: 1 })
})
afterAll(() => stage[Symbol.asyncDispose]())
afterEach(() => stage.instance.app.instance.catalog.run(sql`delete from dashboards_dashboards`))

interface Made {
  id: number
  slug: string
  url: string
  version: number
}
interface Shared {
  board: number
  widgets: number[]
  share: Made
}
const visitors = widget("metric", { metric: "visitors" })
const countries = widget("breakdown", { dimension: "country", metrics: ["visitors"] }, { x: 4 })

async function shared(fields: object = {}, board: object = {}): Promise<Shared> {
  const made = await stage.post("/dashboards", { name: "Board", range: { period: "today" }, widgets: [visitors, countries], ...board })
  const { id, widgets } = made.body as { id: number; widgets: { id: number }[] }
  const answer = await stage.post(`/dashboards/${id}/shares`, { name: "For Ann", ...fields })
  if (answer.status !== 201) throw new Error(`The share was refused: ${JSON.stringify(answer.body)}`)
  return { board: id, widgets: widgets.map((each) => each.id), share: answer.body as Made }
}
const open = (slug: string, path = "", headers: Record<string, string> = {}) =>
  stage.instance.api.get(`/api/share/d/${slug}${path}`, undefined, headers)
const ask = (slug: string, body: object = {}, headers: Record<string, string> = {}) =>
  stage.instance.api.post(`/api/share/d/${slug}/data`, body, undefined, headers)
type Results = Record<string, { status: string; data: { metrics: Record<string, number>; rows: { value: string; visitors: number }[] } }>
const resultsOf = ({ body }: Answer): Results => (body as { results: Results }).results
/** The parts of an answer by which a stranger could tell reasons apart. */
const withoutRequest = ({ status, headers, body }: Answer) => {
  const { request_id: _, ...rest } = body as { request_id?: string }
  return { status, body: rest, headers: [...headers].filter(([name]) => name !== "x-request-id") }
}

test("a share has a URL with 22 letters and digits, and managers see all of it", async () => {
  const { board, share } = await shared({ theme: "dark", embed_origins: ["https://www.example.com"] })
  expect(share.slug).toMatch(/^[0-9A-Za-z]{22}$/)
  expect(share).toMatchObject({
    name: "For Ann",
    url: expect.stringMatching(new RegExp(`/share/d/${share.slug}$`)),
    has_password: false,
    expires_at: null,
    locked_filters: [],
    allow_range: true,
    allow_filters: true,
    allow_export: false,
    embed_origins: ["https://www.example.com"],
    site_ids: [],
    theme: "dark",
    min_group: 1,
    views: 0,
    last_viewed_at: null,
    version: 1,
  })
  const listed = await stage.get(`/dashboards/${board}/shares`)
  expect(listed.body).toEqual({ data: [share], has_more: false, next_cursor: null })
  const changed = await stage.send("PATCH", `/dashboards/${board}/shares/${share.id}`, { name: "For Bob", version: 1 })
  expect(changed).toMatchObject({ status: 200, body: { name: "For Bob", version: 2, slug: share.slug } })
  expect(refusal(await stage.send("PATCH", `/dashboards/${board}/shares/${share.id}`, { name: "x", version: 1 })).code).toBe(
    "version_conflict",
  )
  expect((await stage.send("PATCH", `/dashboards/${board}/shares/${share.id}`, changed.body as object)).status).toBe(200)
  expect((await stage.send("DELETE", `/dashboards/${board}/shares/${share.id}`)).status).toBe(204)
  expect((await stage.get(`/dashboards/${board}/shares`)).body).toMatchObject({ data: [] })
  expect(refusal(await stage.send("DELETE", `/dashboards/${board}/shares/${share.id}`)).code).toBe("share_not_found")
})

test("stores neither slug nor password in plain text, nor in the audit log", async () => {
  const { share } = await shared({ password: "correct horse" })
  const { catalog } = stage.instance.app.instance
  const rows = await catalog.all<object>(sql`select * from dashboards_shares`)
  const log = await catalog.all<{ action: string; changes_json: string }>(
    sql`select action, changes_json from audit_log order by id desc limit 1`,
  )
  expect(log[0]!.action).toBe("dashboards.share.create")
  const all = JSON.stringify([rows, log], (_, value) => (value instanceof Uint8Array ? new TextDecoder().decode(value) : value))
  for (const secret of [share.slug, "correct horse"]) expect(all).not.toContain(secret)
})

test.each<[object, string[]]>([
  [{}, ["/name required"]],
  [{ name: "" }, ["/name too_short"]],
  [{ name: "x", password: "short" }, ["/password too_short"]],
  [{ name: "x", expires_at: "2020-01-01T00:00:00Z" }, ["/expires_at out_of_range"]],
  [{ name: "x", embed_origins: ["http://x.example"] }, ["/embed_origins/0 invalid_url"]],
  [{ name: "x", embed_origins: Array.from({ length: 11 }, (_, i) => `https://${i}.example`) }, ["/embed_origins too_many"]],
  [{ name: "x", site_ids: [99] }, ["/site_ids/0 site_not_found"]],
  [{ name: "x", site_ids: [1] }, ["/site_ids/0 not_unique"]],
  [{ name: "x", theme: "sepia" }, ["/theme invalid_choice"]],
  [{ name: "x", min_group: 101 }, ["/min_group out_of_range"]],
  [{ name: "x", locked_filters: [{ dimension: "segment", values: [99] }] }, ["/locked_filters/0/values invalid_choice"]],
  [{ name: "x", sections: ["pages"] }, ["/sections unknown_field"]],
])("rejects the share %j", async (body, errors) => {
  const id = await stage.make({ name: "Board" })
  expect(refusal(await stage.post(`/dashboards/${id}/shares`, body))).toEqual({ status: 422, code: "validation_failed", errors })
})

test("a group can't be smaller than the site allows, and a higher value of the site wins", async () => {
  const { share } = await shared({ min_group: 2 })
  expect(await rows(share.slug)).toEqual([["DE", 3]])
  await stage.send("PATCH", "/settings", { min_group: 4 })
  expect(await rows(share.slug)).toEqual([])
  const id = await stage.make({ name: "Other" })
  expect(refusal(await stage.post(`/dashboards/${id}/shares`, { name: "x", min_group: 3 })).errors).toEqual(["/min_group out_of_range"])
  await stage.send("PATCH", "/settings", { min_group: 1 })
})

/** Returns the rows of the first breakdown of a share. */
async function rows(slug: string, body: object = {}): Promise<[string, number][]> {
  const found = Object.values(resultsOf(await ask(slug, body))).find(({ data }) => data?.rows)
  return (found?.data.rows ?? []).map(({ value, visitors: count }) => [value, count])
}
/** Returns the visitors of the first metric of a share. */
async function visitorsOf(slug: string, body: object = {}): Promise<number | string | undefined> {
  const answer = await ask(slug, body)
  if (answer.status !== 200) return refusal(answer).code
  return Object.values(resultsOf(answer)).find(({ data }) => data?.metrics)?.data.metrics.visitors
}

test("only those who may share dashboards manage shares, and Overview can't be shared", async () => {
  const { board } = await shared({}, { visibility: "site" })
  const path = `/dashboards/${board}/shares`
  for (const answer of [await stage.get(path, stage.viewer), await stage.post(path, { name: "x" }, stage.viewer)])
    expect(answer).toMatchObject({ status: 403, body: { required_permission: "dashboards:share" } })
  expect((await stage.get(path, stage.editor)).status).toBe(200)
  const own = await stage.make({ name: "Private" })
  expect(refusal(await stage.get(`/dashboards/${own}/shares`, stage.editor)).code).toBe("dashboard_not_found")
  expect(refusal(await stage.post("/dashboards/0/shares", { name: "x" })).code).toBe("read_only_dashboard")
})

test("viewers receive the dashboard without ids of anything else", async () => {
  const { share, widgets } = await shared({ locked_filters: [{ dimension: "country", values: ["DE"] }] })
  expect((await open(share.slug)).body).toEqual({
    password_required: false,
    name: "For Ann",
    title: "Board",
    timezone: "Europe/Berlin",
    range: { period: "today" },
    refresh_s: 0,
    theme: "auto",
    allow_range: true,
    allow_filters: true,
    allow_export: false,
    filtered: true,
    widgets: [
      { id: widgets[0], type: "metric", title: "", x: 0, y: 0, w: 4, h: 2, config: { metric: "visitors" } },
      { id: widgets[1], type: "breakdown", title: "", x: 4, y: 0, w: 4, h: 2, config: { dimension: "country", metrics: ["visitors"] } },
    ],
  })
  const answer = await ask(share.slug)
  expect(JSON.stringify(answer.body)).not.toContain("site_id")
  expect(answer.headers.get("x-robots-tag")).toBe("noindex")
})

test("viewers receive of a configuration only how its figures are drawn", async () => {
  const filters = [{ dimension: "page", values: ["/secret"] }]
  const steps = [
    { type: "page", value: "/secret" },
    { type: "page", value: "/secret/2" },
  ]
  const { share } = await shared(
    { locked_filters: [{ dimension: "country", values: ["DE"] }] },
    {
      widgets: [
        widget("metric", { metric: "visits", sparkline: false, filters, range: { period: "7d" } }),
        widget("timeseries", { metrics: ["visits", "pageviews"], chart: "bars", interval: "day", filters }, { x: 4 }),
        widget("breakdown", { dimension: "property", property: "plan", metrics: ["events"], bars: false, limit: 5 }, { x: 8, h: 4 }),
        widget("map", { level: "region", metric: "visits" }, { y: 4, h: 4 }),
        widget("funnel", { steps }, { x: 4, y: 4, h: 4 }),
        text("# secret", { y: 8 }),
        widget(
          "comparison",
          {
            metric: "visits",
            rows: [
              { label: "secret", filters },
              { label: "b", filters },
            ],
          },
          { x: 4, y: 8, h: 4 },
        ),
      ],
    },
  )
  const { body } = await open(share.slug)
  expect((body as { widgets: { config: object }[] }).widgets.map(({ config }) => config)).toEqual([
    { metric: "visits", sparkline: false },
    { metrics: ["visits", "pageviews"], chart: "bars" },
    { dimension: "property", property: "plan", metrics: ["events"], bars: false },
    { level: "region", metric: "visits" },
    {},
    {},
    { metric: "visits" },
  ])
  expect(JSON.stringify(body)).not.toContain("secret")
})

test("data comes in one call, or as one line for each widget", async () => {
  const { share, widgets } = await shared()
  const whole = await ask(share.slug)
  expect(whole.status).toBe(200)
  const lines = await ask(share.slug, {}, { accept: "application/x-ndjson" })
  const parts = String(lines.body)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(Object.assign({}, ...parts.flatMap(({ results = [] }) => results))).toEqual(resultsOf(whole))
  const [, second] = widgets
  expect(Object.keys(resultsOf(await ask(share.slug, { widgets: [second] })))).toEqual([String(second)])
})

describe("locked filters", () => {
  const LOCKED = { locked_filters: [{ dimension: "country", values: ["FR"] }] }

  test("are part of every answer, whatever the viewer asks", async () => {
    const { share } = await shared({ ...LOCKED, allow_export: true })
    expect(await visitorsOf(share.slug)).toBe(1)
    expect(await rows(share.slug)).toEqual([["FR", 1]])
    expect(await visitorsOf(share.slug, { filters: [{ dimension: "country", values: ["DE"] }] })).toBe(0)
    expect(await visitorsOf(share.slug, { range: { period: "all" } })).toBe(1)
    expect(await visitorsOf(share.slug, { compare: "previous_period" })).toBe(1)
  })

  test("make a widget unavailable that can't keep them", async () => {
    const widgets = [
      visitors,
      widget("annotations", {}, { x: 4 }),
      text("Hello", { y: 2 }),
      widget("orders", {}, { x: 4, y: 2 }),
      widget("tickets", {}, { x: 8, y: 2 }),
    ]
    const statuses = async (fields: object) => {
      const { share } = await shared(fields, { widgets })
      return Object.values(resultsOf(await ask(share.slug))).map(({ status }) => status)
    }
    expect(await statuses({})).toEqual(["ok", "ok", "ok", "ok", "unavailable"])
    expect(await statuses(LOCKED)).toEqual(["ok", "ok", "ok", "unavailable", "unavailable"])
    expect(await statuses({ locked_filters: [{ dimension: "channel", values: ["Direct"] }] })).toEqual([
      "ok",
      "ok",
      "ok",
      "ok",
      "unavailable",
    ])
  })

  test("apply to exports", async () => {
    const { share, widgets } = await shared({ ...LOCKED, allow_export: true })
    const csv = await open(share.slug, `/widgets/${widgets[1]}.csv`)
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8")
    expect(String(csv.body)).toContain('"FR"')
    expect(String(csv.body)).not.toContain("DE")
    expect(refusal(await open(share.slug, "/widgets/99.csv")).code).toBe("widget_not_found")
  })

  test("name segments by name on other sites, and a widget without a match is unavailable", async () => {
    const { sites } = stage.instance.app.instance
    const other = await sites.create(1, { name: "Other", hosts: ["other.example"] })
    const segment = (await stage.post("/segments", { name: "French", scope: "site", filters: [{ dimension: "country", values: ["FR"] }] }))
      .body as Made
    const { share } = await shared(
      { locked_filters: [{ dimension: "segment", values: [segment.id] }], site_ids: [other.id] },
      { widgets: [visitors, { ...countries, source_site_id: other.id }] },
    )
    const [own, foreign] = Object.values(resultsOf(await ask(share.slug)))
    expect([own!.data.metrics.visitors, foreign!.status]).toEqual([1, "unavailable"])
    expect(Object.values(resultsOf(await ask(share.slug, { site: 1 }))).map(({ status }) => status)).toEqual(["unavailable", "unavailable"])
    await stage.post(`/api/private/sites/${other.id}/segments`, {
      name: "French",
      scope: "site",
      filters: [{ dimension: "country", values: ["FR"] }],
    })
    expect(Object.values(resultsOf(await ask(share.slug))).map(({ status }) => status)).toEqual(["ok", "ok"])
    expect(await stage.send("DELETE", `/segments/${segment.id}`)).toMatchObject({ status: 409, body: { code: "segment_in_use" } })
    expect((await stage.send("DELETE", `/segments/${segment.id}?force=true`)).status).toBe(204)
    expect(Object.values(resultsOf(await ask(share.slug))).map(({ status }) => status)).toEqual(["unavailable", "unavailable"])
    await sites.remove(other.id)
  })
})

const filtered = (dimension: string, values: unknown[] = ["x"], more: object = {}) => ({ filters: [{ dimension, values, ...more }] })

test.each<[string, object, object, string]>([
  ["another range", { allow_range: false }, { range: { period: "7d" } }, "not_allowed"],
  ["the range of all time", { allow_range: false }, { range: { period: "all" } }, "not_allowed"],
  ["a comparison", { allow_range: false }, { compare: "previous_period" }, "not_allowed"],
  ["filters", { allow_filters: false }, { filters: [] }, "not_allowed"],
  ["a filter by a dimension that it doesn't list", {}, filtered("page", ["/"]), "not_allowed"],
  ["a filter by a property that it doesn't list", {}, filtered("property", ["pro"], { property: "plan" }), "not_allowed"],
  ["a filter by a segment", {}, filtered("segment", [1]), "not_allowed"],
  ["a filter by a cohort", {}, filtered("cohort", [1]), "not_allowed"],
  ["a filter by a goal", {}, filtered("goal", ["Sign-up"]), "not_allowed"],
  [
    "a second filter by a hidden dimension",
    {},
    { filters: [...filtered("country", ["DE"]).filters, ...filtered("city").filters] },
    "not_allowed",
  ],
  ["a filter whose dimension is a list", {}, { filters: [{ dimension: ["country"], values: ["DE"] }] }, "not_allowed"],
  ["the configuration of a widget", {}, { config: { dimension: "page" } }, "validation_failed"],
  ["the site of a widget", {}, { source_site_id: 1 }, "validation_failed"],
  ["a segment outside the filters", {}, { segment_id: 1 }, "validation_failed"],
  ["a site that it doesn't have", {}, { site: 1 }, "validation_failed"],
  ["an id as a site", {}, { site: "1" }, "validation_failed"],
  ["a widget of another dashboard", {}, { widgets: [999_999] }, "validation_failed"],
])("a share refuses %s", async (_, fields, body, code) => {
  const { share } = await shared(fields)
  expect(await ask(share.slug, body)).toMatchObject({ status: 422, body: { code } })
})

test("viewers can add filters by the dimensions that the share lists, on every site that it shows", async () => {
  const { sites } = stage.instance.app.instance
  const other = await sites.create(1, { name: "Second", hosts: ["second.example"] })
  const { share } = await shared()
  const german = filtered("country", ["DE"])
  expect(await visitorsOf(share.slug, german)).toBe(3)
  const wider = await shared({}, { widgets: [visitors, countries, { ...visitors, x: 8, source_site_id: other.id }] })
  // The other site's countries are not listed, so its visitors by country must not be found out one by one.
  expect(await visitorsOf(wider.share.slug, german)).toBe("not_allowed")
  await sites.remove(other.id)
})

test("an export needs permission, and takes the same fields", async () => {
  const closed = await shared()
  expect(refusal(await open(closed.share.slug, `/widgets/${closed.widgets[0]}.csv`)).code).toBe("not_allowed")
  const { share, widgets } = await shared({ allow_export: true })
  const csv = (query: string) => open(share.slug, `/widgets/${widgets[1]}.csv${query}`)
  const german = encodeURIComponent(JSON.stringify([{ dimension: "country", values: ["DE"] }]))
  expect(String((await csv(`?filters=${german}`)).body)).not.toContain("FR")
  const page = encodeURIComponent(JSON.stringify([{ dimension: "page", values: ["/"] }]))
  expect(refusal(await csv(`?filters=${page}`)).code).toBe("not_allowed")
  expect(refusal(await csv("?colour=1")).code).toBe("invalid_query")
  expect(refusal(await csv("?site=3")).code).toBe("invalid_query")
})

test("the site selector shows further sites under numbers, as long as the creator sees them", async () => {
  const { sites } = stage.instance.app.instance
  const other = await sites.create(1, { name: "Third", hosts: ["third.example"] })
  const sharer = await stage.signIn({ role: "editor" })
  const board = await stage.make({ name: "Board", range: { period: "today" }, widgets: [visitors], visibility: "site" })
  const { slug } = (await stage.post(`/dashboards/${board}/shares`, { name: "x", site_ids: [other.id] }, sharer)).body as Made
  expect((await open(slug)).body).toMatchObject({
    sites: [
      { site: 0, name: "Shop" },
      { site: 1, name: "Third" },
    ],
  })
  expect(await visitorsOf(slug, { site: 0 })).toBe(4)
  expect(await visitorsOf(slug, { site: 1 })).toBe(0)
  await sites.remove(other.id)
  expect((await open(slug)).body).toMatchObject({ sites: [{ site: 0, name: "Shop" }] })
  expect(await visitorsOf(slug, { site: 1 })).toBe("validation_failed")
})

test("a share shows what its creator may see at that moment", async () => {
  const board = await stage.make({ name: "Board", range: { period: "today" }, widgets: [visitors], visibility: "site" })
  const sharer = await stage.signIn({ role: "editor" })
  const { slug } = (await stage.post(`/dashboards/${board}/shares`, { name: "x" }, sharer)).body as Made
  expect(await visitorsOf(slug)).toBe(4)
  const { user } = (await stage.get("/api/private/me", sharer)).body as { user: { id: number } }
  const member = `/api/private/organizations/1/members/${user.id}`
  expect((await stage.send("PATCH", member, { denies: ["site:read"] })).status).toBe(200)
  expect(Object.values(resultsOf(await ask(slug))).map(({ status }) => status)).toEqual(["unavailable"])
  await stage.send("PATCH", member, { denies: [] })
  expect(await visitorsOf(slug)).toBe(4)
  // Who removes the creator takes over the share.
  expect((await stage.send("DELETE", member)).status).toBe(204)
  expect(await visitorsOf(slug)).toBe(4)
})

test("revenue is shown only while every viewer of the site sees it", async () => {
  const { share } = await shared({}, { widgets: [widget("metric", { metric: "revenue" }), { ...visitors, x: 4 }] })
  const statuses = async () => Object.values(resultsOf(await ask(share.slug))).map(({ status }) => status)
  expect(await statuses()).toEqual(["ok", "ok"])
  await stage.send("PATCH", "/settings", { read_role: "editor" })
  expect(await statuses()).toEqual(["unavailable", "ok"])
  expect((await open(share.slug)).body).toMatchObject({ widgets: [{ config: {} }, { config: { metric: "visitors" } }] })
  await stage.send("PATCH", "/settings", { read_role: "viewer" })
})

test("a password protects everything, and unlocks the share for an hour", async () => {
  const { share, board } = await shared({ password: "correct horse" })
  expect((await open(share.slug)).body).toEqual({ password_required: true })
  for (const answer of [await ask(share.slug), await open(share.slug, "/widgets/1.csv")])
    expect(answer).toMatchObject({ status: 401, body: { code: "share_locked" } })
  const unlock = (password: string, headers: Record<string, string> = {}) =>
    stage.instance.api.post(`/api/share/d/${share.slug}/unlock`, { password }, undefined, headers)
  expect(await unlock("wrong horse")).toMatchObject({ status: 401, body: { code: "invalid_credentials" } })
  expect(await unlock("correct horse", { "sec-fetch-site": "cross-site" })).toMatchObject({ status: 403 })
  const { status, headers } = await unlock("correct horse")
  expect(status).toBe(204)
  const [cookie, ...attributes] = headers.get("set-cookie")!.split("; ")
  expect(cookie).toStartWith(`unlock-d-${share.id}=`)
  expect(attributes).toEqual(["Path=/", "Max-Age=3600", "HttpOnly", "SameSite=Lax"])
  expect((await ask(share.slug, {}, { cookie: cookie! })).status).toBe(200)
  await stage.send("PATCH", `/dashboards/${board}/shares/${share.id}`, { password: "another horse" })
  expect((await ask(share.slug, {}, { cookie: cookie! })).status).toBe(401)
  for (let i = 0; i < 4; i++) expect((await unlock("wrong horse")).status).toBe(401)
  expect(refusal(await unlock("another horse")).code).toBe("rate_limited")
  const guesses = await Promise.all(
    Array.from({ length: 6 }, () => stage.instance.api.post(`/api/share/d/${"a".repeat(22)}/unlock`, { password: "wrong horse" })),
  )
  expect(guesses.map((guess) => guess.status).sort()).toEqual([404, 404, 404, 404, 404, 429])
})

test("unknown, expired, revoked, deleted, forbidden and disabled shares give the same answer", async () => {
  const { clock, app } = stage.instance
  const expiring = await shared({ expires_at: new Date(clock.now() + 60_000).toISOString() })
  const [revoked, deleted, last] = [await shared(), await shared(), await shared()]
  clock.advance(60_000)
  await stage.send("DELETE", `/dashboards/${revoked.board}/shares/${revoked.share.id}`)
  await stage.send("DELETE", `/dashboards/${deleted.board}`)
  const answers = async (slug: string) => {
    const body = { range: { period: "7d" } }
    const page = await stage.instance.api.get(`/share/d/${slug}`)
    const card = await stage.instance.api.get(`/share/d/${slug}/widgets/1`)
    return [await open(slug), await ask(slug, body), await open(slug, "/widgets/1.csv"), page, card].map(withoutRequest)
  }
  const unknown = await answers("a".repeat(22))
  expect(unknown.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
  for (const { share } of [expiring, revoked, deleted]) expect(await answers(share.slug)).toEqual(unknown)
  await stage.post(`/dashboards/${deleted.board}/restore`)
  expect((await open(deleted.share.slug)).status).toBe(200)
  await stage.send("PATCH", "/api/private/organizations/1", { policy: { public_links: "off" } })
  expect(await answers(last.share.slug)).toEqual(unknown)
  expect(refusal(await stage.post(`/dashboards/${last.board}/shares`, { name: "x" })).code).toBe("sharing_disabled")
  await stage.send("PATCH", "/api/private/organizations/1", { policy: { public_links: "password_required" } })
  expect(await answers(last.share.slug)).toEqual(unknown)
  expect(refusal(await stage.post(`/dashboards/${last.board}/shares`, { name: "x" })).code).toBe("password_required")
  await stage.send("PATCH", "/api/private/organizations/1", { policy: { public_links: "allowed" } })
  await app.instance.plugins.turn("dashboards", false, null)
  expect(await answers(last.share.slug)).toEqual(unknown)
  await app.instance.plugins.turn("dashboards", true, null)
  expect((await open(last.share.slug)).status).toBe(200)
})

test("the page is not indexed, can be embedded by the chosen origins only, and counts its loads once a minute", async () => {
  const { share, board } = await shared({ embed_origins: ["https://a.example", "https://b.example"] })
  for (const path of ["", "/widgets/1"]) {
    const page = await stage.instance.api.get(`/share/d/${share.slug}${path}`)
    expect(page.status).toBe(200)
    expect(page.headers.get("x-robots-tag")).toBe("noindex")
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors https://a.example https://b.example")
  }
  await stage.instance.runJobs()
  const views = async () => ((await stage.get(`/dashboards/${board}/shares`)).body as { data: { views: number }[] }).data[0]!.views
  expect(await views()).toBe(0)
  stage.instance.clock.advance(60_000)
  await stage.instance.runJobs()
  expect(await views()).toBe(2)
  const { share: plain } = await shared()
  const page = await stage.instance.api.get(`/share/d/${plain.slug}`)
  expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'")
  const both = { name: "x", password: "correct horse", embed_origins: ["https://x.example"] }
  expect(refusal(await stage.post(`/dashboards/${board}/shares`, both)).code).toBe("embed_needs_no_password")
})

test("a dashboard has at most twenty shares, revoked ones not counted", async () => {
  const id = await stage.make({ name: "Board" })
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => stage.post(`/dashboards/${id}/shares`, { name: `${i}` })))
  expect(made.map(({ status }) => status)).toEqual(Array(20).fill(201))
  expect((await stage.post(`/dashboards/${id}/shares`, { name: "x" })).body).toMatchObject({
    code: "limit_reached",
    limit: 20,
    resource: "shares",
  })
  await stage.send("DELETE", `/dashboards/${id}/shares/${(made[0]!.body as Made).id}`)
  expect((await stage.post(`/dashboards/${id}/shares`, { name: "x" })).status).toBe(201)
})

describe("many viewers", () => {
  /** Counts the queries of the engine during some work. */
  async function queriesDuring(work: () => Promise<unknown>): Promise<{ all: number; atOnce: number }> {
    const { engine } = stage.instance.app
    const { aggregate } = engine
    const counted = { all: 0, running: 0, atOnce: 0 }
    engine.aggregate = async (...given) => {
      counted.all++
      counted.atOnce = Math.max(counted.atOnce, ++counted.running)
      return aggregate(...given).finally(() => counted.running--)
    }
    await work().finally(() => {
      engine.aggregate = aggregate
    })
    return counted
  }

  test("of one share run its queries once, and leave places of the pool to members", async () => {
    const { share } = await shared()
    const answers: Answer[] = []
    const { all, atOnce } = await queriesDuring(async () => {
      const viewers = Array.from({ length: 200 }, () => ask(share.slug))
      const member = await stage.get("/stats/summary?period=today", stage.viewer)
      expect(member.status).toBe(200)
      answers.push(...(await Promise.all(viewers)))
    })
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const [first, ...others] = answers.map(resultsOf)
    for (const each of others) expect(each).toEqual(first!)
    // One of the share at a time, and one of the member.
    expect(atOnce).toBeLessThanOrEqual(2)
    expect(all).toBeGreaterThan(1)
    expect(all).toBeLessThan(20)
  })

  test("with different requests wait for each other, and too many are refused", async () => {
    const { share } = await shared()
    let statuses: number[] = []
    const { atOnce } = await queriesDuring(async () => {
      const days = Array.from({ length: 60 }, (_, i) => new Date(Date.parse("2026-09-01") + i * 86_400_000).toISOString().slice(0, 10))
      const viewers = days.map((day) => ask(share.slug, { range: { from: day, to: day } }))
      expect((await stage.get("/stats/summary?period=today", stage.viewer)).status).toBe(200)
      statuses = (await Promise.all(viewers)).map(({ status }) => status)
    })
    expect(atOnce).toBeLessThanOrEqual(2)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(33)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect((await ask(share.slug)).status).toBe(200)
  })
})
