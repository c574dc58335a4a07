import { afterAll, beforeAll, expect, test } from "bun:test"
import { AppError } from "../../../src/domain/error.ts"
import { failedCall } from "../../../src/http/mcp/failures.ts"
import type { Failure, McpInstance } from "./client.ts"
import { openFilled } from "./filled.ts"

let mcp: McpInstance
beforeAll(async () => {
  mcp = await openFilled()
})
afterAll(() => mcp[Symbol.asyncDispose]())

const steps = [
  { type: "page", value: "/" },
  { type: "page", value: "/pricing" },
]
const on = (more: object) => ({ site_id: 1, ...more })

test.each<[tool: string, given: object, code: string, errors: [field: string, code: string][]]>([
  ["get_summary", {}, "invalid_argument", [["site_id", "required"]]],
  ["get_summary", { site_id: null }, "invalid_argument", [["site_id", "invalid_type"]]],
  ["get_summary", { site_id: "" }, "invalid_argument", [["site_id", "invalid_type"]]],
  ["get_summary", { site_id: "abc" }, "invalid_argument", [["site_id", "invalid_type"]]],
  ["get_summary", { site_id: "01" }, "invalid_argument", [["site_id", "invalid_type"]]],
  ["get_summary", { site_id: "1.0" }, "invalid_argument", [["site_id", "invalid_type"]]],
  ["get_summary", { site_id: " 1" }, "invalid_argument", [["site_id", "invalid_type"]]],
  ["get_summary", { site_id: 1.5 }, "invalid_argument", [["site_id", "invalid_type"]]],
  ["get_summary", { site_id: 0 }, "invalid_argument", [["site_id", "out_of_range"]]],
  ["get_summary", { site_id: -1 }, "invalid_argument", [["site_id", "out_of_range"]]],
  ["get_summary", { site_id: 1e300 }, "invalid_argument", [["site_id", "invalid_type"]]],
  ["get_summary", { site_id: [1] }, "invalid_argument", [["site_id", "invalid_type"]]],
  ["get_summary", { site_id: true }, "invalid_argument", [["site_id", "invalid_type"]]],
  ["get_summary", on({ colour: "red" }), "invalid_argument", [["colour", "unknown_field"]]],
  ["get_summary", on({ toString: 1 }), "invalid_argument", [["toString", "unknown_field"]]],
  ["get_summary", on({ limit: 5 }), "invalid_argument", [["limit", "unknown_field"]]],
  ["get_summary", on({ period: "8w" }), "invalid_argument", [["period", "invalid_choice"]]],
  ["get_summary", on({ period: null }), "invalid_argument", [["period", "invalid_choice"]]],
  ["get_summary", on({ metrics: [] }), "invalid_argument", [["metrics", "too_few"]]],
  ["get_summary", on({ metrics: "visitors" }), "invalid_argument", [["metrics", "invalid_type"]]],
  ["get_summary", on({ metrics: ["visitors", "visitors"] }), "invalid_argument", [["metrics", "not_unique"]]],
  ["get_summary", on({ imports: "true" }), "invalid_argument", [["imports", "invalid_type"]]],
  ["get_summary", on({ match_weekday: 1 }), "invalid_argument", [["match_weekday", "invalid_type"]]],
  ["get_summary", on({ filters: {} }), "invalid_argument", [["filters", "invalid_type"]]],
  ["get_summary", on({ filters: [{ values: ["DE"] }] }), "invalid_argument", [["filters[0].dimension", "required"]]],
  [
    "get_summary",
    on({ filters: [{ dimension: "page", values: ["/"], operator: "matches" }] }),
    "invalid_argument",
    [["filters[0].operator", "regex_not_supported"]],
  ],
  [
    "get_summary",
    on({ filters: [{ dimension: "segment", values: ["1"] }] }),
    "invalid_argument",
    [["filters[0].values", "invalid_choice"]],
  ],
  [
    "get_summary",
    on({ filters: [{ dimension: "page", values: ["/", 5] }] }),
    "invalid_argument",
    [["filters[0].values[1]", "invalid_type"]],
  ],
  ["get_summary", on({ from: "2026-11-01" }), "invalid_range", [["to", "invalid_range"]]],
  ["get_summary", on({ from: "2026-11-20", to: "2026-11-01" }), "invalid_range", [["from", "invalid_range"]]],
  ["get_summary", on({ from: "2027-01-01", to: "2027-01-02" }), "invalid_range", [["from", "invalid_range"]]],
  ["get_summary", on({ from: "2010-01-01", to: "2026-01-01" }), "invalid_range", [["from", "invalid_range"]]],
  ["get_summary", on({ from: "2026-02-30", to: "2026-03-01" }), "invalid_argument", [["from", "invalid_date"]]],
  [
    "get_summary",
    on({ compare: "custom" }),
    "invalid_range",
    [
      ["compare_from", "invalid_range"],
      ["compare_to", "invalid_range"],
    ],
  ],
  ["get_summary", on({ compare_from: "2026-01-01" }), "unsupported_combination", [["compare_from", "unsupported_combination"]]],
  ["get_summary", on({ timezone: "Europe/Atlantis" }), "invalid_timezone", [["timezone", "invalid_timezone"]]],
  ["get_summary", on({ timezone: "+02:00" }), "invalid_timezone", [["timezone", "invalid_timezone"]]],
  ["get_summary", on({ metrics: ["exit_rate"] }), "unsupported_combination", [["metrics", "unsupported_combination"]]],
  [
    "get_summary",
    on({ filters: [{ dimension: "goal", operator: "is_not", values: ["a"] }] }),
    "unsupported_combination",
    [["filters[0].operator", "unsupported_combination"]],
  ],
  ["get_timeseries", on({ period: "90d", interval: "hour" }), "too_many_points", [["interval", "too_many_points"]]],
  ["get_timeseries", on({ interval: "minute" }), "invalid_argument", [["interval", "invalid_choice"]]],
  ["get_breakdown", on({}), "invalid_argument", [["dimension", "required"]]],
  ["get_breakdown", on({ dimension: "property" }), "invalid_argument", [["property", "required"]]],
  ["get_breakdown", on({ dimension: "page", property: "plan" }), "unsupported_combination", [["property", "unsupported_combination"]]],
  [
    "get_breakdown",
    on({ dimension: "event", metrics: ["bounce_rate"] }),
    "unsupported_combination",
    [["metrics", "unsupported_combination"]],
  ],
  ["get_breakdown", on({ dimension: "page", sort: "visits" }), "invalid_argument", [["sort", "invalid_choice"]]],
  ["get_breakdown", on({ dimension: "page", limit: 0 }), "invalid_argument", [["limit", "out_of_range"]]],
  ["get_breakdown", on({ dimension: "page", limit: "1001" }), "invalid_argument", [["limit", "out_of_range"]]],
  ["get_breakdown", on({ dimension: "page", limit: 5.5 }), "invalid_argument", [["limit", "invalid_type"]]],
  ["get_breakdown", on({ dimension: "page", limit: "ten" }), "invalid_argument", [["limit", "invalid_type"]]],
  ["get_breakdown", on({ dimension: "page", offset: -1 }), "invalid_argument", [["offset", "out_of_range"]]],
  ["get_realtime", on({ limit: 51 }), "invalid_argument", [["limit", "out_of_range"]]],
  ["get_realtime", on({ period: "today" }), "invalid_argument", [["period", "unknown_field"]]],
  ["list_goals", on({ metrics: ["visitors"] }), "invalid_argument", [["metrics", "unknown_field"]]],
  ["run_funnel", on({}), "invalid_argument", [["steps", "required"]]],
  ["run_funnel", on({ funnel_id: 1, steps }), "invalid_argument", [["steps", "unsupported_combination"]]],
  [
    "run_funnel",
    on({ funnel_id: 1, order: "strict", window_hours: 2 }),
    "invalid_argument",
    [
      ["order", "unsupported_combination"],
      ["window_hours", "unsupported_combination"],
    ],
  ],
  ["run_funnel", on({ funnel_id: 0 }), "invalid_argument", [["funnel_id", "out_of_range"]]],
  ["run_funnel", on({ funnel_id: "abc" }), "invalid_argument", [["funnel_id", "invalid_type"]]],
  ["run_funnel", on({ funnel_id: 1.5 }), "invalid_argument", [["funnel_id", "invalid_type"]]],
  ["run_funnel", on({ funnel_id: null }), "invalid_argument", [["funnel_id", "invalid_type"]]],
  ["run_funnel", on({ steps: steps.slice(1) }), "invalid_argument", [["steps", "too_few_steps"]]],
  ["run_funnel", on({ steps: "page" }), "invalid_argument", [["steps", "invalid_type"]]],
  [
    "run_funnel",
    on({ steps: [...steps, { type: "click", value: "a", colour: 1 }] }),
    "invalid_argument",
    [
      ["steps[2].type", "invalid_choice"],
      ["steps[2].colour", "unknown_field"],
    ],
  ],
  ["run_funnel", on({ steps, window_hours: 0 }), "invalid_argument", [["window_hours", "out_of_range"]]],
  ["run_funnel", on({ steps, window_hours: "1.5" }), "invalid_argument", [["window_hours", "invalid_type"]]],
  ["run_funnel", on({ steps, window_hours: null }), "invalid_argument", [["window_hours", "invalid_type"]]],
  ["run_funnel", on({ steps, order: "any" }), "invalid_argument", [["order", "invalid_choice"]]],
  ["run_funnel", on({ steps, name: "Mine" }), "invalid_argument", [["name", "unknown_field"]]],
  ["list_sites", { limit: 101 }, "invalid_argument", [["limit", "out_of_range"]]],
  ["list_sites", { search: 5 }, "invalid_argument", [["search", "invalid_type"]]],
  ["list_sites", { search: "x".repeat(201) }, "invalid_argument", [["search", "too_long"]]],
  ["list_sites", { cursor: "nonsense" }, "invalid_argument", [["cursor", "invalid_cursor"]]],
  ["list_sites", { site_id: 1 }, "invalid_argument", [["site_id", "unknown_field"]]],
])("rejects %s of %j as %s", async (tool, given, code, errors) => {
  const failure = await mcp.failure(tool, given)
  expect({ code: failure.code, errors: failure.errors?.map(({ field, code }) => [field, code]) }).toEqual({ code, errors })
  expect(failure.message).toBe(failure.errors!.map(({ message }) => message).join(" "))
  for (const { field, message } of failure.errors!) expect(message).toStartWith(field)
})

test.each<[string, object, Failure]>([
  [
    "an unknown argument",
    on({ colour: "red" }),
    {
      code: "invalid_argument",
      message:
        'colour: get_breakdown has no such argument. Allowed: site_id, dimension, property, period, from, to, timezone, filters, imports, metrics, sort, order, limit, offset. Example: {"site_id":1,"dimension":"page"}.',
    },
  ],
  [
    "an invalid choice",
    on({ period: "8w" }),
    {
      code: "invalid_argument",
      message:
        'period must be one of: today, yesterday, 24h, last_week, month, last_month, year, all, or a number of days or months, such as 14d or 3mo. Example: {"period":"7d"}.',
    },
  ],
  ["a value out of range", on({ limit: 5000 }), { code: "invalid_argument", message: 'limit must be 1 to 1000. Example: {"limit":10}.' }],
  [
    "a choice that depends on other arguments",
    on({ metrics: ["visits"], sort: "visitors" }),
    { code: "invalid_argument", message: 'sort must be one of: visits. Example: {"sort":"visits"}.' },
  ],
  [
    "an incomplete range",
    on({ from: "2026-11-01" }),
    { code: "invalid_range", message: 'to: Give from and to together. Example: {"from":"2025-01-01","to":"2025-01-31"}.' },
  ],
])("rejects %s with a message that tells a model what to send", async (_, given, { code, message }) => {
  const failure = await mcp.failure("get_breakdown", { dimension: "page", ...given })
  expect({ code: failure.code, message: failure.message }).toEqual({ code, message })
})

test("the example of a complete call works", async () => {
  const { message } = await mcp.failure("run_funnel", { site_id: 1, colour: "red", steps })
  expect(message).toEndWith('Example: {"site_id":1,"steps":[{"type":"page","value":"/pricing"},{"type":"event","value":"signup"}]}.')
  const example = JSON.parse(/Example: (.*)\.$/.exec(message)![1]!)
  expect(await mcp.call("run_funnel", example)).toMatchObject({ structuredContent: { entered: 4, completed: 2 } })
})

test("the message about a limit lists only its bounds", async () => {
  expect((await mcp.failure("list_sites", { limit: 101 })).errors![0]!.allowed).toEqual({ min: 1, max: 100 })
})

test("too many points name an interval that fits", async () => {
  expect(await mcp.failure("get_timeseries", on({ from: "2020-01-01", to: "2025-12-31", interval: "day" }))).toEqual({
    code: "too_many_points",
    message: 'interval: At most 1000 points are allowed: use interval=week. Allowed: week, month. Example: {"interval":"week"}.',
    errors: [
      {
        field: "interval",
        code: "too_many_points",
        message: 'interval: At most 1000 points are allowed: use interval=week. Allowed: week, month. Example: {"interval":"week"}.',
        allowed: ["week", "month"],
      },
    ],
  })
})

test("the first invalid argument determines the code, and all are listed", async () => {
  const codesOf = async (tool: string, given: object) => {
    const { code, errors } = await mcp.failure(tool, given)
    return [code, ...errors!.map(({ field, code }) => `${field} ${code}`)]
  }
  const zone = { timezone: "Mars/Base" }
  expect(await codesOf("get_summary", { site_id: 1, ...zone, period: "x" })).toEqual([
    "invalid_timezone",
    "timezone invalid_timezone",
    "period invalid_choice",
  ])
  expect(await codesOf("get_summary", { site_id: 1, period: "x", ...zone })).toEqual([
    "invalid_argument",
    "period invalid_choice",
    "timezone invalid_timezone",
  ])
  // Missing arguments come last, and the others are validated even without a site.
  expect(await codesOf("get_summary", { ...zone, period: "x" })).toEqual([
    "invalid_timezone",
    "timezone invalid_timezone",
    "period invalid_choice",
    "site_id required",
  ])
  expect(await codesOf("get_realtime", { site_id: "a", limit: 0 })).toEqual([
    "invalid_argument",
    "site_id invalid_type",
    "limit out_of_range",
  ])
  expect(await codesOf("run_funnel", { site_id: 0, funnel_id: "x", period: "x", steps })).toEqual([
    "invalid_argument",
    "site_id out_of_range",
    "funnel_id invalid_type",
    "period invalid_choice",
    "steps unsupported_combination",
  ])
})

test.each<[string, object, Failure]>([
  ["funnel", on({ funnel_id: 9 }), { code: "funnel_not_found", message: "Site 1 has no funnel 9. Call list_goals for the saved funnels." }],
  [
    "window longer than the identity",
    on({ steps, window_hours: 48 }),
    {
      code: "identity_insufficient",
      message:
        'This site recognizes visitors for 24 hours, but the window is 48 hours. Give a shorter window_hours, for example {"window_hours":24}, or leave it out.',
      needed_days: 2,
      mode: "daily",
      horizon_days: 1,
      options: ["shorten_window", "switch_mode"],
    },
  ],
])("run_funnel explains the requirements of a %s", async (_, given, expected) => {
  expect(await mcp.failure("run_funnel", given)).toEqual(expected)
})

test("a temporary failure says when to retry", () => {
  const full = new AppError("unavailable", "Too many reports are waiting.", { retry_after: 1.5 })
  expect(failedCall(full, "get_summary", on({}))).toEqual({
    code: "unavailable",
    message: "Too many reports are waiting. Try again in 2 s.",
  })
  const damaged = new AppError("storage_damaged", "A part of the stored data cannot be read.")
  expect(failedCall(damaged, "get_summary", on({}))).toEqual({
    code: "storage_damaged",
    message: "A part of the stored data cannot be read.",
  })
})
