import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { definePlugin, type Host } from "#plugin"
import type { Board, BoardFilter, StoredWidget } from "../board.ts"
import { createData } from "../data/data.ts"
import type { Viewer } from "../data/viewer.ts"
import { overviewOf } from "../templates.ts"
import { type DataStage, startVisits } from "./visits.ts"

/** What viewers of a public link get, whose creator may do everything on site 1 and sees no other site. */
let host: Host
let stage: DataStage
const ids = { personal: 0 }
beforeAll(async () => {
  stage = await startVisits([
    definePlugin({
      id: "onlooker",
      title: "Onlooker",
      setup(given) {
        host = given
        return {}
      },
    }),
  ])
  const filters = [{ dimension: "page", values: ["/"] }]
  ids.personal = ((await stage.post("/segments", { name: "Mine", scope: "personal", filters })).body as { id: number }).id
  await stage.send("PATCH", "/settings", { min_group: 1 })
  await stage.post("/funnels", {
    name: "Buy",
    steps: [
      { type: "page", value: "/" },
      { type: "page", value: "/pricing" },
    ],
  })
})
afterAll(() => stage[Symbol.asyncDispose]())

const NEWS: BoardFilter = { dimension: "utm_source", operator: "is", values: ["news"] }

async function shown(type: string, config: object, locked: BoardFilter[] = [NEWS], { minGroup = 1, lacks = "" } = {}) {
  const site = stage.instance.app.instance.sites.directory.byId(1)!
  const permissions = new Set(
    ["site:read", "revenue:read", "cohorts:read", "dashboards:read", "people:read"].filter((name) => name !== lacks),
  )
  const viewer: Viewer = {
    accessTo: async (id) => (id === 1 ? { site, permissions } : undefined),
    share: { lockedFilters: locked, minGroup },
  }
  const board: Board = { ...overviewOf(site), id: 7, range: { period: "7d" } }
  const { source_site_id = null, ...own } = config as { source_site_id?: number }
  const widget: StoredWidget = {
    id: 1,
    type,
    title: "",
    x: 0,
    y: 0,
    w: 1,
    h: 1,
    source_site_id,
    source_site_name: null,
    config: { ...own },
  }
  const { results } = await createData(host).collect({ board, site, viewer, request: {}, widgets: [widget] })
  return results["1"]!
}

describe("locked filters", () => {
  test("are part of figures, comparisons, funnels and goals", async () => {
    expect(await shown("metric", { metric: "visitors" }, [])).toMatchObject({ data: { metrics: { visitors: 3 } } })
    expect(await shown("metric", { metric: "visitors", compare: { from: "2026-11-20", to: "2026-11-20" } })).toMatchObject({
      data: { metrics: { visitors: 1 }, comparison: { metrics: { visitors: 1 } } },
      meta: { sparkline: { points: { length: 7 } } },
    })
    const rows = [
      { label: "All", filters: [] },
      { label: "Home", filters: [{ dimension: "page", values: ["/"] }] },
    ]
    expect(await shown("comparison", { metric: "visitors", rows })).toMatchObject({
      data: { rows: [{ data: { metrics: { visitors: 1 } } }, { data: { metrics: { visitors: 1 } } }] },
    })
    const steps = [
      { type: "page", value: "/" },
      { type: "page", value: "/pricing" },
    ]
    expect(await shown("funnel", { steps })).toMatchObject({ data: { entered: 1, completed: 1 } })
    expect(await shown("funnel", { steps }, [])).toMatchObject({ data: { entered: 2, completed: 1 } })
    expect(await shown("goals", {})).toMatchObject({ status: "ok", data: { funnels: [] } })
  })

  test("make widgets unavailable that can't keep them, or whose segment is gone", async () => {
    expect(await shown("retention", { grain: "day", periods: 1 })).toEqual({ status: "unavailable" })
    expect(await shown("metric", { metric: "visitors" }, [{ dimension: "segment", values: [999] }])).toEqual({ status: "unavailable" })
  })
})

test.each<[string, string, object, object]>([
  ["an unknown type", "pie", {}, {}],
  ["a personal segment", "metric", { metric: "visitors", segment_id: -1 }, {}],
  ["a site that the creator can't see", "metric", { metric: "visitors", source_site_id: 99 }, {}],
  ["a permission that the creator lost", "metric", { metric: "visitors" }, { lacks: "site:read" }],
  ["revenue that the creator may not see", "metric", { metric: "revenue" }, { lacks: "revenue:read" }],
])("is unavailable with %s", async (_, type, config, options) => {
  const named = "segment_id" in config ? { ...config, segment_id: ids.personal } : config
  expect(await shown(type, named, [], options)).toEqual({ status: "unavailable" })
})

test("leaves out small groups, and single events of current visitors", async () => {
  expect(await shown("breakdown", { dimension: "utm_source" }, [], { minGroup: 2 })).toMatchObject({
    data: { rows: [{ value: "(none)", visitors: 2 }] },
    meta: { notes: ["Groups of fewer than 2 visitors are not shown."] },
  })
  expect(await shown("realtime", {})).toMatchObject({ status: "ok", data: { events: [] } })
})
