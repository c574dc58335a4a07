import { afterAll, beforeAll, expect, test } from "bun:test"
import fc from "fast-check"
import { FLAT_DIMENSIONS } from "../../../src/domain/dimension.ts"
import { OPERATORS } from "../../../src/domain/filter.ts"
import { FLAT_METRICS } from "../../../src/domain/metric.ts"
import { COMPARISONS, PERIODS } from "../../../src/domain/period.ts"
import type { McpInstance } from "./client.ts"
import { openFilled } from "./filled.ts"

let mcp: McpInstance
beforeAll(async () => {
  mcp = await openFilled()
})
afterAll(() => mcp[Symbol.asyncDispose]())

const day = fc.constantFrom("2025-11-20", "2026-11-18", "2026-11-19", "2026-11-20", "2026-11-21", "2026-12-01")
const value = fc.constantFrom("/", "/pricing", "/p", "*ri*", "Google", "Direct", "(none)", "signup", "Windows", "xyz")
const filter = fc.record(
  {
    dimension: fc.constantFrom(...FLAT_DIMENSIONS.filter((name) => name !== "property")),
    operator: fc.constantFrom(...OPERATORS),
    values: fc.array(value, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ["dimension", "values"] },
)
const ranged = {
  period: fc.constantFrom(...PERIODS),
  from: day,
  to: day,
  timezone: fc.constantFrom("UTC", "Asia/Kathmandu", "America/New_York", "Mars/Base"),
  filters: fc.array(filter, { maxLength: 2 }),
  imports: fc.boolean(),
}
const compared = { compare: fc.constantFrom(...COMPARISONS), compare_from: day, compare_to: day, match_weekday: fc.boolean() }
const metrics = { metrics: fc.uniqueArray(fc.constantFrom(...FLAT_METRICS), { minLength: 1, maxLength: 4 }) }
const limit = fc.constantFrom(1, 2, 50, 60, 101)
const some = (members: Record<string, fc.Arbitrary<unknown>>, requiredKeys: string[] = []) =>
  fc
    .record(members, { requiredKeys })
    .chain((all) => fc.subarray(Object.keys(all)).map((names) => pick(all, [...requiredKeys, ...names.slice(0, 4)])))
const pick = (all: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(all).filter(([name, value]) => names.includes(name) && value !== undefined))

/** Formats arguments as a query string. */
function queryOf(given: Record<string, unknown>): string {
  const text = (name: string, value: unknown) => (name === "filters" ? JSON.stringify(value) : String(value))
  return new URLSearchParams(Object.entries(given).map(([name, value]) => [name, text(name, value)])).toString()
}

test.each<[tool: string, path: string, given: fc.Arbitrary<Record<string, unknown>>, own: object]>([
  ["get_summary", "stats/summary", some({ ...ranged, ...compared, ...metrics }), {}],
  [
    "get_timeseries",
    "stats/timeseries",
    some({ ...ranged, ...compared, ...metrics, interval: fc.constantFrom("auto", "hour", "day", "month") }),
    {},
  ],
  [
    "get_breakdown",
    "stats/breakdown",
    some(
      {
        dimension: fc.constantFrom(...FLAT_DIMENSIONS),
        ...{ ...ranged, ...metrics, limit, offset: fc.constantFrom(0, 1, 5) },
        ...{
          property: fc.constant("plan"),
          sort: fc.constantFrom("visitors", "pageviews", "visits"),
          order: fc.constantFrom("asc", "desc"),
        },
      },
      ["dimension"],
    ),
    {},
  ],
  ["get_realtime", "stats/realtime", some({ limit }), {}],
  ["list_goals", "stats/goals", some(ranged), {}],
  ["run_funnel", "funnels/1/report", some(ranged), { funnel_id: 1 }],
])("%s and %s return the same results and reject the same arguments for the same reasons", async (tool, path, given, own) => {
  const seen = { answered: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(given, async (args) => {
      const rest = await mcp.api.get(`/api/public/v1/sites/1/${path}?${queryOf(args)}`, mcp.statsKey)
      const { structuredContent, isError, content } = await mcp.call(tool, { site_id: 1, ...own, ...args })
      if (rest.status === 200) {
        seen.answered++
        return expect({ args, answer: structuredContent, isError }).toEqual({
          args,
          answer: rest.body as never,
          isError: undefined as never,
        })
      }
      seen.refused++
      const { errors } = rest.body as { errors: { pointer: string; code: string }[] }
      const failure = JSON.parse(content[0]!.text) as { errors: { field: string; code: string }[] }
      expect({ args, status: rest.status, isError, errors: failure.errors.map(({ field, code }) => [field, code]) }).toEqual({
        ...{ args, status: 400, isError: true },
        errors: errors.map(({ pointer, code }) => [
          pointer
            .slice(1)
            .replace(/\/(\d+)/g, "[$1]")
            .replaceAll("/", "."),
          code,
        ]),
      })
    }),
    { seed: 7, numRuns: 300 },
  )
  for (const [kind, count] of Object.entries(seen)) expect({ kind, isEnough: count >= 10 }).toEqual({ kind, isEnough: true })
})
