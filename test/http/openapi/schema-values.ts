import fc from "fast-check"
import type { OpenApiDocument } from "../../../src/http/openapi/document.ts"
import type { JsonSchema } from "./document.ts"

/** Strings whose format a schema cannot express, by member name. */
const SENSIBLE: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ...Object.fromEntries(
    ["from", "to", "compare_from", "compare_to"].map((name) => [
      name,
      fc.constantFrom("2026-11-01", "2026-11-20", "2026-11-20T08:00", "2026-11-20T17:59:59Z"),
    ]),
  ),
  timezone: fc.constantFrom("UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York"),
  hosts: fc.constantFrom("shop.example", "*.shop.example", "a.b.example", "localhost", "münchen.de"),
  site: fc.constantFrom("shop.example", "1"),
  hits: fc.constantFrom([{ path: "/", session: "a" }], [{ path: "signup", event: true, session: "b" }]),
  segment: fc.constantFrom(1),
  domain: fc.constantFrom("shop.example", "docs.example", "a.b.example"),
  event_name: fc.constantFrom("signup", "purchase"),
  page_path: fc.constantFrom("/pricing", "/blog/**"),
  startAt: fc.constantFrom(1_763_000_000_000, 1_763_600_000_000),
  endAt: fc.constantFrom(1_763_640_000_000, 1_763_679_600_000),
  date: fc.constantFrom("2026-11-20", "2026-11-01,2026-11-20"),
  revenue_currency: fc.constantFrom("EUR", "usd", "JPY"),
  currency: fc.constantFrom("EUR", "USD"),
  amount: fc.constantFrom(9.5, "49.90", -3),
  at: fc.constantFrom("2026-11-20", "2026-10-31T23:30:00Z", "2026-03-29T02:30:00+02:00"),
  value: fc.constantFrom("/pricing", "/", "/a/*", "signup", "purchase", "*x*"),
  url: fc.constantFrom("https://shop.example/pricing?utm_source=x", "/thanks", "app://screen/1"),
  cursor: fc.constantFrom("c2l0ZXM6MQ", "Z29hbHMvMTox"),
  property: fc.constantFrom("plan", "author", "visit:source", "event:page"),
  ip: fc.constantFrom("198.51.100.7", "2001:db8::1"),
  language: fc.constantFrom("de", "en-GB"),
  site_id: fc.constantFrom<unknown>(1, "1", 2, "shop.example"),
  order_by: fc.constantFrom(["visitors", "desc"], ["event:page", "asc"]),
  method: fc.constantFrom("initialize", "ping", "tools/list", "tools/call", "notifications/initialized"),
  params: fc.constantFrom<unknown>(
    {},
    { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    { name: "get_summary", arguments: { site_id: 1 } },
    {
      name: "run_funnel",
      arguments: {
        site_id: 1,
        steps: [
          { type: "page", value: "/" },
          { type: "event", value: "signup" },
        ],
      },
    },
  ),
}
const leaf = fc.tuple(
  fc.constantFrom("is", "is_not", "contains", "starts_with", "matches_wildcard"),
  fc.constantFrom("event:page", "visit:country", "visit:source", "event:props:plan", "event:goal"),
  fc.array(fc.constantFrom("/pricing", "DE", "Direct / None", "(none)", "sign*"), { minLength: 1, maxLength: 2 }),
)
const TREE = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.tuple(fc.constantFrom("and", "or"), fc.array(tie("tree"), { minLength: 1, maxLength: 2 })),
    fc.tuple(fc.constantFrom("not", "has_done"), tie("tree")),
  ),
})).tree

const day = fc.constantFrom("2026-11-01", "2026-11-15", "2026-11-20", "2025-02-28")
const FORMATS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  date: day,
  "date-time": fc.constantFrom("2026-11-20T10:00:00Z", "2026-11-19T23:59:59+01:00"),
}

/** Generates values that conform to a schema of the document. */
export function valuesOf(document: OpenApiDocument) {
  return function values(schema: JsonSchema, name = ""): fc.Arbitrary<unknown> {
    const { $ref, anyOf, type, items } = schema as { $ref?: string; anyOf?: JsonSchema[]; type?: string | string[]; items?: JsonSchema }
    if ($ref?.endsWith("/QueryFilter")) return TREE
    if ($ref) return values(document.components.schemas[$ref.split("/").at(-1)!]!, name)
    if (Object.hasOwn(SENSIBLE, name) && (type !== "array" || name === "hits")) return SENSIBLE[name]!
    if (schema.enum) return fc.constantFrom(...(schema.enum as unknown[]))
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (anyOf) return fc.oneof(...anyOf.map((choice) => values(choice, name)))
    if (Array.isArray(type)) return fc.oneof(...type.map((one) => values({ ...schema, type: one }, name)))
    if (type === "array") {
      const { minItems: minLength = 0, maxItems = 4, uniqueItems } = schema as Record<string, number>
      const item = values(items ?? { type: "string" }, name)
      const size = { minLength, maxLength: Math.max(minLength, Math.min(maxItems, 4)) }
      return uniqueItems ? fc.uniqueArray(item, size) : fc.array(item, size)
    }
    if (type === "object") return objects(schema, values)
    return scalars(schema)
  }
}

function objects(schema: JsonSchema, values: (schema: JsonSchema, name: string) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const { properties = {}, additionalProperties } = schema as {
    properties?: Record<string, JsonSchema>
    additionalProperties?: JsonSchema | boolean
  }
  if (typeof additionalProperties === "object")
    return fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), values(additionalProperties, ""), { maxKeys: 3 })
  const members = Object.entries(properties).map(([name, member]) => [name, values(member, name)] as const)
  return fc.record(Object.fromEntries(members), { requiredKeys: ((schema.required as string[]) ?? []) as never[] })
}

function scalars(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { type, minimum = 0, maximum = 50, minLength = 0, maxLength = 40, format, pattern } = schema as Record<string, never>
  if (type === "integer") return fc.integer({ min: minimum, max: Math.min(maximum, Number(minimum) + 100) })
  if (type === "number") return fc.double({ min: 0, max: 1_000, noNaN: true })
  if (type === "boolean") return fc.boolean()
  if (type === "null") return fc.constant(null)
  if (format && FORMATS[format]) return FORMATS[format]
  if (pattern) return fc.stringMatching(new RegExp(String(pattern).replace("{1,255}", "{1,20}")))
  return fc.string({ unit: fc.constantFrom(..."abcdefghij"), minLength: Math.max(minLength, 1), maxLength: Math.min(maxLength, 20) })
}
