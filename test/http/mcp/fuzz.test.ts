import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv"
import fc from "fast-check"
import { FLAT_DIMENSIONS } from "../../../src/domain/dimension.ts"
import { FLAT_METRICS } from "../../../src/domain/metric.ts"
import { PERIODS } from "../../../src/domain/period.ts"
import { TOOLS } from "../../../src/http/mcp/tools.ts"
import type { Answer } from "../../kit.ts"
import { bySize, SEED } from "../../size.ts"
import { strangeText, strangeValue } from "../../strange.ts"
import type { McpInstance } from "./client.ts"
import { openFilled } from "./filled.ts"

let mcp: McpInstance
beforeAll(async () => {
  mcp = await openFilled()
})
afterAll(() => mcp[Symbol.asyncDispose]())
afterEach(() => expect(mcp.log.lines).toEqual([]))

/** Fraction of the requests of a full run. */
const SHARE = bySize({ check: 0.25, full: 1, release: 20 })
const NAMES = TOOLS.map(({ name }) => name)
const validator = new AjvJsonSchemaValidator()
const isValid = new Map(
  TOOLS.map(({ name, outputSchema }) => [name as string, validator.getValidator(structuredClone(outputSchema) as object)]),
)

const steps = fc.array(
  fc.record({
    type: fc.constantFrom("page", "event"),
    match: fc.constantFrom("exact", "prefix", "contains"),
    value: fc.constantFrom("/", "/pricing", "signup"),
  }),
  { minLength: 1, maxLength: 4 },
)
const filters = fc.array(
  fc.record({
    dimension: fc.oneof(fc.constantFrom(...FLAT_DIMENSIONS), strangeText),
    operator: fc.constantFrom("is", "is_not", "contains", "starts_with", "matches_wildcard"),
    values: fc.array(fc.oneof(strangeText, fc.constantFrom("/", "*", "(none)", "Direct")), { maxLength: 3 }),
  }),
  { maxLength: 2 },
)
/** Values that are valid for some tool. */
const right: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  site_id: fc.constantFrom(1, "1", 2),
  period: fc.constantFrom(...PERIODS),
  from: fc.constantFrom("2026-11-01", "2026-11-20"),
  to: fc.constantFrom("2026-11-20", "2026-11-25"),
  timezone: fc.constantFrom("UTC", "Asia/Kathmandu"),
  filters,
  imports: fc.boolean(),
  compare: fc.constantFrom("none", "previous_period", "previous_year", "custom"),
  compare_from: fc.constant("2026-11-01"),
  compare_to: fc.constant("2026-11-02"),
  match_weekday: fc.boolean(),
  metrics: fc.subarray([...FLAT_METRICS], { minLength: 1, maxLength: 5 }),
  interval: fc.constantFrom("auto", "hour", "day", "week", "month"),
  dimension: fc.constantFrom(...FLAT_DIMENSIONS),
  property: fc.constant("plan"),
  sort: fc.constantFrom("visitors", "events"),
  order: fc.constantFrom("asc", "desc", "strict", "sequential"),
  limit: fc.constantFrom(1, "5", 50),
  offset: fc.constantFrom(0, "3"),
  funnel_id: fc.constantFrom(1, "1", 2),
  steps,
  window_hours: fc.constantFrom(1, "24"),
  search: fc.constantFrom("shop", ""),
  cursor: fc.constant("c2l0ZXM6MQ"),
}

/** A call with mostly valid arguments of its tool, some of which are then mutated. */
const call = fc.constantFrom(...TOOLS).chain(({ name, inputSchema }) => {
  const names = Object.keys(inputSchema.properties)
  const chosen = fc
    .subarray(names, { maxLength: Math.min(4, names.length) })
    .map((some) => [...new Set([...(inputSchema.required ?? []), ...some])])
  const good = chosen.chain((some) => fc.record(Object.fromEntries(some.map((each) => [each, right[each]!]))))
  const odd = fc.dictionary(fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...Object.keys(right)) }, strangeText), strangeValue, {
    maxKeys: 2,
  })
  const given = fc.oneof(
    { weight: 3, arbitrary: good },
    fc.tuple(good, odd).map(([some, more]) => ({ ...some, ...more })),
    strangeValue,
  )
  return fc.record({ name: fc.oneof({ weight: 30, arbitrary: fc.constant(name as string) }, strangeText), arguments: given })
})
const request = fc.oneof(
  { weight: 10, arbitrary: call.map((params) => ({ jsonrpc: "2.0", id: 7, method: "tools/call", params }) as Record<string, unknown>) },
  fc.record({
    jsonrpc: fc.oneof({ weight: 8, arbitrary: fc.constant("2.0") }, strangeValue),
    id: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(0, 7, "a") }, strangeValue),
    method: fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom("initialize", "ping", "tools/list", "tools/call", "notifications/initialized", "resources/list"),
      },
      strangeText,
      strangeValue,
    ),
    params: fc.oneof(
      fc.constant({ protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a", version: "1" } }),
      fc.constant({ name: "list_sites", arguments: {} }),
      strangeValue,
    ),
  }),
)
/** A request with a member removed, duplicated or exchanged. */
const mutated = fc
  .tuple(request, fc.constantFrom("jsonrpc", "id", "method", "params"), strangeValue, fc.nat(2))
  .map(([good, name, value, how]) => {
    if (how === 0) return JSON.stringify({ ...good, [name]: undefined })
    if (how === 1) return JSON.stringify({ ...good, [name]: value })
    return JSON.stringify(good).replace("{", `{${JSON.stringify(name)}:${JSON.stringify(value ?? null)},`)
  })
/** The text of a request with some of its bytes changed. */
const withChangedBytes = fc
  .tuple(request, fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { minLength: 1, maxLength: 4 }))
  .map(([good, turns]) => {
    const bytes = new TextEncoder().encode(JSON.stringify(good))
    for (const [at, byte] of turns) if (at < bytes.length) bytes[at] = byte
    return bytes
  })

const CODES = [
  ...["invalid_argument", "site_not_found", "funnel_not_found", "invalid_range", "invalid_timezone", "too_many_points"],
  ...["unsupported_combination", "unsupported_metric", "identity_insufficient"],
]

/** Returns which declared shape a response has. Throws for any other response. */
function shapeOf({ status, headers, body }: Answer, sent: unknown): string {
  if (status === 202) {
    expect({ body, type: headers.get("content-type") }).toEqual({ body: "", type: null })
    return "acknowledged"
  }
  expect(status).toBeOneOf([200, 400])
  expect(headers.get("content-type")).toBe("application/json")
  const { jsonrpc, id, result, error, ...more } = body as Record<string, unknown> // JSON, as its type says
  expect({ jsonrpc, more }).toEqual({ jsonrpc: "2.0", more: {} })
  expect(id === null || typeof id === "string" || Number.isSafeInteger(id)).toBe(true)
  if (error === undefined) return resultShape(result as Record<string, unknown>, sent)
  const { code, message, data: _, ...unknown } = error as Record<string, unknown>
  expect({ result, message, unknown }).toEqual({ result: undefined, message: expect.any(String), unknown: {} })
  expect(code as number).toBeOneOf(status === 200 ? [-32601, -32602] : [-32700, -32600, -32000])
  return status === 400 ? "refused" : "error"
}

function resultShape(result: Record<string, unknown>, sent: unknown): string {
  if (!("content" in result)) {
    expect(Object.keys(result)).toBeOneOf([[], ["tools"], ["protocolVersion", "capabilities", "serverInfo", "instructions"]])
    return "result"
  }
  const { content, structuredContent, ...rest } = result as { content: { type: string; text: string }[]; structuredContent?: object }
  expect(content).toHaveLength(1)
  const answer = JSON.parse(content[0]!.text)
  if (structuredContent) {
    expect({ answer, rest }).toEqual({ answer: structuredContent as never, rest: {} })
    const name = (sent as { params: { name: string } } | undefined)?.params.name
    if (name !== undefined) expect(isValid.get(name)!(structuredContent)).toMatchObject({ valid: true })
    return "answered"
  }
  const { code, message, errors, ...more } = answer
  expect({ rest, more, message }).toEqual({ rest: { isError: true }, more: {}, message: expect.any(String) })
  expect(code).toBeOneOf(CODES)
  for (const { field, code, message, allowed: _, ...unknown } of errors ?? [])
    expect({ texts: [typeof field, typeof code, typeof message], unknown }).toEqual({ texts: ["string", "string", "string"], unknown: {} })
  return "failed"
}

test.each<[string, fc.Arbitrary<unknown>, number, Readonly<Record<string, number>>]>([
  [
    "valid and mutated tool calls",
    call.map((params) => ({ jsonrpc: "2.0", id: 7, method: "tools/call", params })),
    2_000,
    { answered: 300, failed: 300, error: 20 },
  ],
  ["requests of every method", request, 1_000, { answered: 100, failed: 100, error: 50, refused: 15, result: 10, acknowledged: 1 }],
  ["requests with a member changed", mutated, 1_000, { answered: 50, refused: 100, acknowledged: 30, error: 30 }],
  ["requests with changed bytes", withChangedBytes, 1_000, { refused: 300, answered: 10 }],
  ["any JSON", fc.jsonValue({ maxDepth: 12 }).map((value) => JSON.stringify(value)), 500, { refused: 490 }],
  ["any bytes", fc.uint8Array({ maxLength: 100 }), 500, { refused: 490 }],
])("%s receive responses of declared shapes", async (_, bodies, numRuns, minimum) => {
  const seen: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const known = typeof body === "object" && body !== null && "params" in body && NAMES.includes((body.params as { name: never })?.name)
      const shape = shapeOf(await mcp.post(body, { "content-type": "application/json" }), known ? body : undefined)
      seen[shape] = (seen[shape] ?? 0) + 1
    }),
    { seed: SEED, numRuns: numRuns * SHARE },
  )
  for (const [shape, count] of Object.entries(minimum))
    expect({ shape, seen: seen[shape] ?? 0, isEnough: (seen[shape] ?? 0) >= Math.floor((count * SHARE) / 2) }).toMatchObject({
      shape,
      isEnough: true,
    })
})
