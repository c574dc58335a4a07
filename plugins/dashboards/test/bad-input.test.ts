import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { refusal, type Stage, startStage, text, widget } from "./kit.ts"

let stage: Stage
const ids = { goal: 0, segment: 0, personal: 0, foreignSite: 0, foreignGoal: 0 }
beforeAll(async () => {
  stage = await startStage()
  const { instance } = stage
  const made = async (path: string, body: object, as = stage.owner) => ((await stage.post(path, body, as)).body as { id: number }).id
  ids.goal = await made("/goals", { kind: "event", value: "signup", name: "Signed up" })
  ids.segment = await made("/segments", { name: "Mobile", scope: "site", filters: [{ dimension: "device", values: ["Mobile"] }] })
  ids.personal = await made("/segments", { name: "Mine", scope: "personal", filters: [{ dimension: "device", values: ["Mobile"] }] })
  const other = await instance.app.instance.organizations.create({ name: "Others" })
  const site = await instance.app.instance.sites.create(other.id, { name: "Other", hosts: ["other.example"] })
  ids.foreignSite = site.id
  ids.foreignGoal = (await instance.app.instance.goals.create(site, { kind: "event", value: "x", name: "Foreign" })).id
})
afterAll(() => stage[Symbol.asyncDispose]())

const metric = (more: object = {}, place: object = {}) => widget("metric", { metric: "visitors", ...more }, place)
const filter = { dimension: "country", values: ["DE"] }
const long = "x".repeat(101)
const many = (count: number) => Array.from({ length: count }, (_, i) => text("a", { y: i * 2 }))

describe("a dashboard is refused", () => {
  test.each<[string, object | string, string[]]>([
    ["without a name", {}, ["/name required"]],
    ["with an empty name", { name: "  " }, ["/name too_short"]],
    ["with a long name", { name: long }, ["/name too_long"]],
    ["with a long description", { name: "a", description: "x".repeat(501) }, ["/description too_long"]],
    ["with control characters in its name", { name: "a\u0000b" }, ["/name invalid_characters"]],
    ["with an unknown visibility", { name: "a", visibility: "public" }, ["/visibility invalid_choice"]],
    ["with another refresh", { name: "a", refresh_s: 5 }, ["/refresh_s invalid_choice"]],
    ["with a refresh as text", { name: "a", refresh_s: "30" }, ["/refresh_s invalid_type"]],
    ["with an unknown field", { name: "a", colour: "red" }, ["/colour unknown_field"]],
    ["with an unknown template", { name: "a", template: "sales" }, ["/template invalid_choice"]],
    ["with a template and widgets", { name: "a", template: "product", widgets: [] }, ["/template unsupported_combination"]],
    ["with an empty range", { name: "a", range: {} }, ["/range/period required"]],
    ["with an unknown period", { name: "a", range: { period: "5d" } }, ["/range/period invalid_choice"]],
    [
      "with a period and days",
      { name: "a", range: { period: "7d", from: "2026-01-01", to: "2026-01-02" } },
      ["/range/period unsupported_combination"],
    ],
    ["with one day of a range", { name: "a", range: { from: "2026-01-01" } }, ["/range/to required"]],
    ["with a day that does not exist", { name: "a", range: { from: "2026-02-30", to: "2026-03-01" } }, ["/range/from invalid_date"]],
    ["with a reversed range", { name: "a", range: { from: "2026-02-02", to: "2026-02-01" } }, ["/range/from invalid_range"]],
    ["with a range in the future", { name: "a", range: { from: "2027-02-01", to: "2027-02-02" } }, ["/range/from invalid_range"]],
    ["with a range of eleven years", { name: "a", range: { from: "2010-01-01", to: "2021-01-01" } }, ["/range/from invalid_range"]],
    ["with an unknown comparison", { name: "a", range: { period: "7d", compare: "last_week" } }, ["/range/compare invalid_choice"]],
    ["with an unknown interval", { name: "a", range: { period: "7d", interval: "minute" } }, ["/range/interval invalid_choice"]],
    ["with filters that are no list", { name: "a", filters: filter }, ["/filters invalid_type"]],
    ["with eleven filters", { name: "a", filters: new Array(11).fill(filter) }, ["/filters too_many"]],
    [
      "with a regular expression",
      { name: "a", filters: [{ ...filter, operator: "matches" }] },
      ["/filters/0/operator regex_not_supported"],
    ],
    [
      "with an unknown dimension",
      { name: "a", filters: [{ dimension: "colour", values: ["red"] }] },
      ["/filters/0/dimension invalid_choice"],
    ],
    [
      "with several faults, all of which are named",
      { range: {}, refresh_s: 1 },
      ["/name required", "/range/period required", "/refresh_s invalid_choice"],
    ],
    ["with widgets that are no list", { name: "a", widgets: {} }, ["/widgets invalid_type"]],
    ["with 31 widgets", { name: "a", widgets: many(31) }, ["/widgets too_many"]],
    ["with a widget that is no object", { name: "a", widgets: [5] }, ["/widgets/0 invalid_type"]],
    [
      "with a widget without a type and place",
      { name: "a", widgets: [{ config: {} }] },
      ["/widgets/0/type required", "/widgets/0/x required", "/widgets/0/y required", "/widgets/0/w required", "/widgets/0/h required"],
    ],
    ["with a widget beyond the last column", { name: "a", widgets: [text("a", { x: 9, w: 4 })] }, ["/widgets/0/w out_of_range"]],
    ["with a widget in a negative row", { name: "a", widgets: [text("a", { y: -1 })] }, ["/widgets/0/y out_of_range"]],
    ["with a widget far below", { name: "a", widgets: [text("a", { y: 501 })] }, ["/widgets/0/y out_of_range"]],
    ["with a widget that is too high", { name: "a", widgets: [text("a", { h: 13 })] }, ["/widgets/0/h out_of_range"]],
    ["with a widget without width", { name: "a", widgets: [text("a", { w: 0 })] }, ["/widgets/0/w out_of_range"]],
    ["with a fractional place", { name: "a", widgets: [text("a", { x: 0.5 })] }, ["/widgets/0/x invalid_type"]],
    ["with a long title", { name: "a", widgets: [text("a", { title: long })] }, ["/widgets/0/title too_long"]],
    [
      "with two widgets of one id",
      { name: "a", widgets: [text("a", { id: 5 }), text("b", { id: 5, y: 2 })] },
      ["/widgets/1/id not_unique"],
    ],
    ["with a configuration that is no object", { name: "a", widgets: [widget("text", [] as object)] }, ["/widgets/0/config invalid_type"]],
    ["with a configuration over 8 KiB", { name: "a", widgets: [metric({ note: "x".repeat(8_200) })] }, ["/widgets/0/config too_long"]],
    [
      "with a site that does not exist",
      { name: "a", widgets: [metric({}, { source_site_id: 999 })] },
      ["/widgets/0/source_site_id site_not_found"],
    ],
  ])("%s", async (_, body, errors) => {
    expect(refusal(await stage.post("/dashboards", body as object))).toEqual({ status: 422, code: "validation_failed", errors })
  })

  test("with a site of another organization, like with one that does not exist", async () => {
    const answers = [999, ids.foreignSite].map((source_site_id) =>
      stage.post("/dashboards", { name: "a", widgets: [metric({}, { source_site_id })] }),
    )
    const [unknown, foreign] = (await Promise.all(answers)).map(({ body }) => ({ ...(body as object), request_id: "" }))
    expect(foreign).toEqual(unknown)
  })

  test.each<[string, object[], string, string[]]>([
    [
      "overlapping widgets",
      [text(), text("b", { x: 3, y: 1 })],
      "layout_overlap",
      ["/widgets/0 layout_overlap", "/widgets/1 layout_overlap"],
    ],
    ["an unknown type", [widget("pie")], "unknown_widget_type", ["/widgets/0/type unknown_widget_type"]],
    ["an unknown metric", [metric({ metric: "clicks" })], "invalid_widget_config", ["/widgets/0/config/metric invalid_choice"]],
    ["no metric", [widget("metric")], "invalid_widget_config", ["/widgets/0/config/metric required"]],
    ["an unknown field", [metric({ colour: "red" })], "invalid_widget_config", ["/widgets/0/config/colour unknown_field"]],
    [
      "four metrics in a chart",
      [widget("timeseries", { metrics: ["visitors", "visits", "pageviews", "events"] })],
      "invalid_widget_config",
      ["/widgets/0/config/metrics too_many"],
    ],
    [
      "the same metric twice",
      [widget("timeseries", { metrics: ["visits", "visits"] })],
      "invalid_widget_config",
      ["/widgets/0/config/metrics not_unique"],
    ],
    [
      "a list of 51 rows",
      [widget("breakdown", { dimension: "page", limit: 51 })],
      "invalid_widget_config",
      ["/widgets/0/config/limit out_of_range"],
    ],
    [
      "a list of a property without its key",
      [widget("breakdown", { dimension: "property" })],
      "invalid_widget_config",
      ["/widgets/0/config/property required"],
    ],
    [
      "a list of pages with a property",
      [widget("breakdown", { dimension: "page", property: "plan" })],
      "invalid_widget_config",
      ["/widgets/0/config/property unsupported_combination"],
    ],
    ["a map of cities", [widget("map", { level: "city" })], "invalid_widget_config", ["/widgets/0/config/level invalid_choice"]],
    [
      "one row of a comparison",
      [widget("comparison", { metric: "visits", rows: [{ label: "a", filters: [] }] })],
      "invalid_widget_config",
      ["/widgets/0/config/rows too_few"],
    ],
    [
      "a wrong filter of a row",
      [
        widget("comparison", {
          metric: "visits",
          rows: [
            { label: "a", filters: [] },
            { label: "b", filters: [{ dimension: "x", values: ["y"] }] },
          ],
        }),
      ],
      "invalid_widget_config",
      ["/widgets/0/config/rows/1/filters/0/dimension invalid_choice"],
    ],
    ["a funnel without steps", [widget("funnel")], "invalid_widget_config", ["/widgets/0/config/funnel_id required"]],
    [
      "a funnel with one step",
      [widget("funnel", { steps: [{ type: "page", value: "/" }] })],
      "invalid_widget_config",
      ["/widgets/0/config/steps too_few"],
    ],
    ["four minutes", [widget("realtime", { minutes: 4 })], "invalid_widget_config", ["/widgets/0/config/minutes out_of_range"]],
    [
      "another percentile",
      [widget("web_vitals", { percentile: 90 })],
      "invalid_widget_config",
      ["/widgets/0/config/percentile out_of_range"],
    ],
    ["no text", [widget("text")], "invalid_widget_config", ["/widgets/0/config/markdown required"]],
    ["a text over 10 KiB", [text("x".repeat(10_241))], "invalid_widget_config", ["/widgets/0/config/markdown too_long"]],
    ["a text with control characters", [text("a\u0007b")], "invalid_widget_config", ["/widgets/0/config/markdown invalid_characters"]],
    ["a text that is a number", [widget("text", { markdown: 5 })], "invalid_widget_config", ["/widgets/0/config/markdown invalid_type"]],
    [
      "a wrong range of its own",
      [metric({ range: { period: "x" } })],
      "invalid_widget_config",
      ["/widgets/0/config/range/period invalid_choice"],
    ],
    [
      "a wrong comparison of its own",
      [metric({ compare: { from: "2026-01-01" } })],
      "invalid_widget_config",
      ["/widgets/0/config/compare/to required"],
    ],
    [
      "wrong filters of its own",
      [metric({ filters: [{ dimension: "country", values: [] }] })],
      "invalid_widget_config",
      ["/widgets/0/config/filters/0/values too_few"],
    ],
    ["a segment as text", [metric({ segment_id: "one" })], "invalid_widget_config", ["/widgets/0/config/segment_id invalid_type"]],
    ["an unknown goal", [metric({ goal_id: 999 })], "broken_reference", ["/widgets/0/config/goal_id broken_reference"]],
    [
      "an unknown goal of several",
      [widget("goals", { goal_ids: [999, 998] })],
      "broken_reference",
      ["/widgets/0/config/goal_ids/0 broken_reference", "/widgets/0/config/goal_ids/1 broken_reference"],
    ],
    ["an unknown funnel", [widget("funnel", { funnel_id: 999 })], "broken_reference", ["/widgets/0/config/funnel_id broken_reference"]],
    ["an unknown segment", [metric({ segment_id: 999 })], "broken_reference", ["/widgets/0/config/segment_id broken_reference"]],
    ["a cohort, without cohorts", [metric({ cohort_id: 1 })], "broken_reference", ["/widgets/0/config/cohort_id broken_reference"]],
    [
      "an unknown segment in a filter",
      [metric({ filters: [{ dimension: "segment", values: [999] }] })],
      "broken_reference",
      ["/widgets/0/config/filters/0/values/0 broken_reference"],
    ],
  ])("with %s", async (_, widgets, code, errors) => {
    expect(refusal(await stage.post("/dashboards", { name: "a", widgets }))).toEqual({ status: 422, code, errors })
  })

  test("with a goal of another site, like with one that does not exist", async () => {
    const { code, errors } = refusal(await stage.post("/dashboards", { name: "a", widgets: [metric({ goal_id: ids.foreignGoal })] }))
    expect({ code, errors }).toEqual({ code: "broken_reference", errors: ["/widgets/0/config/goal_id broken_reference"] })
  })

  test("with faults of several kinds, all of which are named at once", async () => {
    const widgets = [widget("pie"), metric({ metric: "x" }, { y: 1 }), metric({ goal_id: 999 }, { y: 3 })]
    expect(refusal(await stage.post("/dashboards", { name: "a", widgets }))).toEqual({
      status: 422,
      code: "validation_failed",
      errors: [
        ...["/widgets/0 layout_overlap", "/widgets/1 layout_overlap", "/widgets/0/type unknown_widget_type"],
        ...["/widgets/1/config/metric invalid_choice", "/widgets/2/config/goal_id broken_reference"],
      ],
    })
  })

  test.each([
    ["as segment", { segment_id: 0 }, "/widgets/0/config/segment_id invalid_choice"],
    ["in a filter", { filters: [{ dimension: "segment", values: [0] }] }, "/widgets/0/config/filters/0/values/0 invalid_choice"],
  ])("with a personal segment %s, unless it is private", async (_, config, error) => {
    const named = JSON.parse(JSON.stringify(config).replace(/\b0\b/g, String(ids.personal)).replace('"filters/0', '"filters/0')) as object
    const body = { name: "a", widgets: [metric(named)] }
    expect(refusal(await stage.post("/dashboards", { ...body, visibility: "site" }))).toEqual({
      status: 422,
      code: "validation_failed",
      errors: [error],
    })
    const id = await stage.make(body)
    expect(refusal(await stage.send("PATCH", `/dashboards/${id}`, { visibility: "site" })).errors).toEqual([error])
    // For everyone else the segment does not exist.
    expect(refusal(await stage.post("/dashboards", body, stage.viewer)).code).toBe("broken_reference")
  })

  test.each([
    [
      "a replacement without a version",
      "PUT",
      { name: "a", description: "", visibility: "private", range: { period: "7d" }, filters: [], refresh_s: 0, widgets: [] },
      ["/version required"],
    ],
    [
      "a replacement without its fields",
      "PUT",
      { version: 1 },
      [
        "/name required",
        "/description required",
        "/visibility required",
        "/range required",
        "/filters required",
        "/refresh_s required",
        "/widgets required",
      ],
    ],
    ["a change of widgets by a patch", "PATCH", { widgets: [] }, ["/widgets unknown_field"]],
    ["a name that is null", "PATCH", { name: null }, ["/name invalid_type"]],
    ["a version that is a text", "PATCH", { version: "1" }, ["/version invalid_type"]],
  ])("as %s", async (_, method, body, errors) => {
    const id = await stage.make({ name: "Board" })
    expect(refusal(await stage.send(method, `/dashboards/${id}`, body))).toEqual({ status: 422, code: "validation_failed", errors })
  })

  test.each([
    ["no list of ids", "PUT", "/dashboards/order", { ids: 5 }, ["/ids invalid_type"]],
    ["an id twice", "PUT", "/dashboards/order", { ids: [0, 0] }, ["/ids not_unique"]],
    ["no scope of a default", "PUT", "/dashboards/default", { dashboard_id: 0 }, ["/scope required"]],
    [
      "51 targets",
      "POST",
      "/dashboards/0/duplicate",
      { target_site_ids: Array.from({ length: 51 }, (_, i) => i + 1) },
      ["/target_site_ids too_many"],
    ],
    ["no target", "POST", "/dashboards/0/duplicate", { target_site_ids: [] }, ["/target_site_ids too_few"]],
    ["an unknown field of data", "POST", "/dashboards/0/data", { config: {} }, ["/config unknown_field"]],
    [
      "another site for data",
      "POST",
      "/dashboards/0/data",
      { source_site_id: 1, site: 2 },
      ["/source_site_id unknown_field", "/site unknown_field"],
    ],
    ["unknown widgets for data", "POST", "/dashboards/0/data", { widgets: [1, 99] }, ["/widgets/1 invalid_choice"]],
    [
      "an unknown segment for data",
      "POST",
      "/dashboards/0/data",
      { filters: [{ dimension: "segment", values: [999] }] },
      ["/filters/0/values/0 invalid_choice"],
    ],
    [
      "a wrong range for data",
      "POST",
      "/dashboards/0/data",
      { range: { from: "x", to: "y" } },
      ["/range/from invalid_date", "/range/to invalid_date"],
    ],
  ])("answers 422 to %s", async (_, method, path, body, errors) => {
    expect(refusal(await stage.send(method, path, body))).toEqual({ status: 422, code: "validation_failed", errors })
  })
})

test("what a save does not change is not checked again", async () => {
  const goal = ((await stage.post("/goals", { kind: "event", value: "trial", name: "Trial" })).body as { id: number }).id
  const id = await stage.make({ name: "Board", widgets: [metric({ goal_id: goal })] })
  await stage.send("DELETE", `/goals/${goal}`)
  const { body } = (await stage.get(`/dashboards/${id}`)) as { body: { widgets: object[] } }
  const moved = await stage.send("PUT", `/dashboards/${id}`, { ...body, widgets: [{ ...body.widgets[0], x: 5 }, text("new", { y: 2 })] })
  expect(moved).toMatchObject({ status: 200, body: { widgets: [{ x: 5, config: { goal_id: goal } }, { type: "text" }] } })
  const changed = await stage.send("PUT", `/dashboards/${id}`, {
    ...body,
    version: 2,
    widgets: [{ ...body.widgets[0], config: { metric: "visits", goal_id: goal } }],
  })
  expect(refusal(changed)).toMatchObject({ status: 422, code: "broken_reference" })
})
