import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Type as t } from "@sinclair/typebox"
import { type AnyPlugin, AppError, definePlugin, defineWidget, type Host } from "#plugin"
import { refusal, text, widget } from "./kit.ts"
import { type DataStage, type Results, startVisits } from "./visits.ts"

/** A plugin whose widget waits until it is told to answer, and a view of the slow queries. */
const probe: { host?: Host; answer?: (() => void) | undefined } = {}
const waiting: AnyPlugin = definePlugin({
  id: "waiting",
  title: "Waiting",
  setup(host) {
    probe.host = host
    return {
      widgets: {
        waiting_card: defineWidget({
          ...{ title: "Waiting", description: "Waits.", size: { min_w: 1, min_h: 1, w: 1, h: 1 } },
          ...{ config: t.Object({ fails: t.Optional(t.Boolean()) }, { additionalProperties: false }), answer: t.Object({}) },
          ...{ needs: "site:read", filter_dimensions: ["country"], shareable: () => true },
          async resolve({ given }, { fails }) {
            if (fails === true) throw new AppError("identity_insufficient", "The mode is too short.", { needed_days: 7 })
            if (fails === false) throw new Error("a secret cause")
            await new Promise<void>((resolve) => {
              probe.answer = resolve
            })
            return { data: { given } }
          },
        }),
      },
    }
  },
})

/** Waits until the widget is asked, and returns what lets it answer. */
async function asked(): Promise<() => void> {
  while (!probe.answer) await Bun.sleep(1)
  const { answer } = probe
  probe.answer = undefined
  return answer
}

let stage: DataStage
beforeAll(async () => {
  stage = await startVisits([waiting])
})
afterAll(() => stage[Symbol.asyncDispose]())

describe("a widget fails alone", () => {
  test("when its goal was deleted, and works again once another one was chosen", async () => {
    const made = async (name: string) => ((await stage.post("/goals", { kind: "event", value: name, name })).body as { id: number }).id
    const [old, replacement] = [await made("old_goal"), await made("new_goal")]
    const id = await stage.board([widget("metric", { metric: "visitors", goal_id: old }), text()])
    await stage.send("DELETE", `/goals/${old}`)
    expect(await stage.dataOf(id)).toMatchObject([{ status: "error", error: { code: "broken_reference", kind: "goal" } }, { status: "ok" }])
    const { body } = (await stage.get(`/dashboards/${id}`)) as { body: { widgets: { config: object }[] } }
    const [broken, other] = body.widgets
    await stage.send("PUT", `/dashboards/${id}`, {
      ...body,
      widgets: [{ ...broken, config: { metric: "visitors", goal_id: replacement } }, other],
    })
    expect((await stage.dataOf(id))[0]).toMatchObject({ status: "ok", data: { metrics: { visitors: 0 } } })
  })

  test.each<[string, Record<string, unknown>, object, object]>([
    [
      "identity_insufficient, with its members",
      widget("waiting_card", { fails: true }),
      {},
      { code: "identity_insufficient", needed_days: 7 },
    ],
    [
      "internal_error, without its cause",
      widget("waiting_card", { fails: false }),
      {},
      { code: "internal_error", detail: "Something went wrong. Try again." },
    ],
    [
      "unsupported_combination for a filter that it can't have",
      widget("waiting_card"),
      { filters: [{ dimension: "page", values: ["/"] }] },
      { code: "unsupported_combination" },
    ],
    [
      "unsupported_combination for a metric without its dimension",
      widget("metric", { metric: "exit_rate" }),
      {},
      { code: "unsupported_combination" },
    ],
    [
      "unsupported_combination for too many points",
      widget("timeseries", { metrics: ["visits"], interval: "hour", range: { from: "2026-01-01", to: "2026-11-01" } }),
      {},
      { code: "unsupported_combination" },
    ],
  ])("with %s", async (_, failing, request, error) => {
    const id = await stage.board([failing, text()])
    expect(await stage.dataOf(id, request)).toMatchObject([{ status: "error", error }, { status: "ok" }])
    expect(JSON.stringify(await stage.dataOf(id, request))).not.toContain("secret cause")
  })

  test("with forbidden when the viewer lacks its permission", async () => {
    const id = await stage.board([widget("metric", { metric: "revenue" }), widget("power_users", {}, { h: 3 })], { visibility: "site" })
    const { body } = (await stage.get("/api/private/organizations/1/members")) as { body: { data: { user: { id: number } }[] } }
    const member = await stage.signIn({ role: "viewer" })
    const { user } = (await stage.get("/api/private/me", member)).body as { user: { id: number } }
    expect(body.data.length).toBeGreaterThan(0)
    const denied = await stage.send("PATCH", `/api/private/organizations/1/members/${user.id}`, {
      denies: ["revenue:read", "cohorts:read"],
    })
    expect(denied.status).toBe(200)
    const again = { cookie: member.cookie }
    const answer = await stage.post(`/dashboards/${id}/data`, {}, again)
    // A change of permissions renews the token of a session.
    const as = answer.status === 401 ? undefined : again
    if (as)
      expect(Object.values((answer.body as { results: Results }).results)).toMatchObject([
        { status: "error", error: { code: "forbidden", required_permission: "revenue:read" } },
        { status: "error", error: { code: "forbidden", required_permission: "cohorts:read" } },
      ])
    expect(as).toBeDefined()
  })

  test("with site_not_found on a site that the viewer can't see, and on one that is gone", async () => {
    const { sites } = stage.instance.app.instance
    const { id: other } = await sites.create(1, { name: "Blog", hosts: [`blog${Date.now() % 1000}.example`] })
    const id = await stage.board([widget("metric", { metric: "visitors", sparkline: false }, { source_site_id: other }), text()], {
      visibility: "site",
    })
    const guest = await stage.signIn({ role: "guest", siteRole: "viewer" })
    expect((await stage.dataOf(id))[0]).toMatchObject({ status: "ok", data: { site_id: other } })
    const [hidden] = await stage.dataOf(id, {}, guest)
    expect(hidden).toMatchObject({ status: "error", error: { code: "site_not_found" } })
    await sites.remove(other)
    expect((await stage.dataOf(id))[0]).toEqual(hidden!)
    // Saving the unchanged widget is possible for people who don't see the site, using it again is not.
    expect(
      refusal(
        await stage.post("/dashboards", { name: "a", widgets: [widget("text", { markdown: "a" }, { source_site_id: other })] }, guest),
      ).errors,
    ).toEqual(["/widgets/0/source_site_id site_not_found"])
  })

  test("as unavailable when its plugin is off, also if it is turned off while the widget loads, and works again", async () => {
    const { plugins } = stage.instance.app.instance
    const id = await stage.board([widget("waiting_card"), text()])
    const turn = (enabled: boolean) => plugins.turn("waiting", enabled, null)
    const loading = stage.dataOf(id)
    const answer = await asked()
    await turn(false)
    answer()
    expect(await loading).toMatchObject([{ status: "unavailable" }, { status: "ok" }])
    expect(await stage.dataOf(id)).toMatchObject([{ status: "unavailable" }, { status: "ok" }])
    expect((await stage.get(`/dashboards/${id}`)).body).toMatchObject({
      widgets: [{ type: "waiting_card", available: false }, { available: true }],
    })
    await turn(true)
    probe.answer = undefined
    const again = stage.dataOf(id)
    ;(await asked())()
    expect(await again).toMatchObject([{ status: "ok", data: { given: { from: "2026-11-15", to: "2026-11-21" } } }, { status: "ok" }])
  })
})

test("each widget is a line of a stream as soon as it is known, and the last line has the rest", async () => {
  probe.answer = undefined
  const id = await stage.board([widget("waiting_card"), text("first")])
  const request = new Request(`http://localhost/api/private/sites/1/dashboards/${id}/data`, {
    method: "POST",
    headers: { ...stage.owner, accept: "application/x-ndjson", "content-type": "application/json" },
    body: "{}",
  })
  const response = await stage.instance.fetch(request)
  expect(response.headers.get("content-type")).toBe("application/x-ndjson")
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => JSON.parse((await reader.read()).value!) as { results?: Results; range?: object }
  expect(Object.values((await next()).results!)).toEqual([{ status: "ok", data: { markdown: "first" }, meta: {} }])
  ;(await asked())()
  expect(Object.values((await next()).results!)).toMatchObject([{ status: "ok" }])
  expect(await next()).toEqual({
    range: { from: "2026-11-15", to: "2026-11-21", timezone: "Europe/Berlin", includes_today: true },
    generated_at: "2026-11-21T12:00:00Z",
  } as object)
  expect((await reader.read()).done).toBe(true)
})

describe("equal queries", () => {
  /**
   * Counts the queries of the engine. With a clock that runs fast they are in the list of slow queries, except for those that begin and end
   * between two ticks. So a run may count too few and never too many.
   */
  async function queriesOf(work: () => Promise<unknown>): Promise<number> {
    const { slowQueries } = probe.host!.services.console
    const before = new Set(slowQueries.list())
    let isOver = false
    const ended = work().finally(() => {
      isOver = true
    })
    const tickUntilOver = async (next: () => Promise<unknown>) => {
      while (!isOver) {
        stage.instance.clock.advance(1_000)
        await next()
      }
    }
    await Promise.all([ended, tickUntilOver(() => new Promise((resolve) => setImmediate(resolve))), tickUntilOver(() => Bun.sleep(0))])
    return slowQueries.list().filter((query) => !before.has(query)).length
  }

  test("of 30 widgets run once, and different ones once each", async () => {
    const equal = await stage.make({
      ...{ name: "Equal", range: { period: "7d" } },
      widgets: Array.from({ length: 30 }, (_, i) =>
        widget("breakdown", { dimension: "page", bars: i % 2 === 0 }, { y: i * 2, title: `Tile ${i}` }),
      ),
    })
    const different = await stage.board([
      ...["page", "source", "device"].map((dimension) => widget("breakdown", { dimension })),
      ...["visitors", "visits"].map((metric) => widget("metric", { metric, sparkline: false })),
      widget("comparison", {
        metric: "visitors",
        rows: [
          { label: "All", filters: [] },
          { label: "Home", filters: [{ dimension: "page", values: ["/"] }] },
        ],
      }),
    ])
    const most = async (id: number, wanted: number) => {
      let count = 0
      for (let run = 0; run < 30 && count < wanted; run++)
        count = Math.max(count, await queriesOf(() => stage.post(`/dashboards/${id}/data`)))
      return count
    }
    expect(await most(equal, 1)).toBe(1)
    // The figures are one query, with the first row of the comparison.
    expect(await most(different, 5)).toBe(5)
  })
})
