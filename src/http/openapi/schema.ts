import type { TSchema } from "@sinclair/typebox"

/** A JSON Schema of the 2020-12 draft. */
export type Schema = { readonly [member: string]: unknown }

export interface SchemaCollection {
  /** Converts a schema for the document. A schema with a title becomes a component, and a reference is returned. */
  of(schema: TSchema | Schema): Schema
  /** Returns the component schemas by title. */
  components(): Record<string, Schema>
}

/** Creates a collection of component schemas. Throws if two different schemas have the same title. */
export function collectSchemas(): SchemaCollection {
  const byTitle = new Map<string, Schema>()

  function of(schema: Schema): Schema {
    const { title } = schema
    if (typeof title !== "string") return convert(schema)
    const whole = convert(schema)
    const known = byTitle.get(title)
    if (known && JSON.stringify(known) !== JSON.stringify(whole)) throw new Error(`Two schemas have the title ${title}`)
    byTitle.set(title, whole)
    return { $ref: `#/components/schemas/${title}` }
  }

  function convert(schema: Schema): Schema {
    const { "x-codes": _, ...plain } = simplified(schema)
    return Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, inside(name, value)]))
  }

  function inside(name: string, value: unknown): unknown {
    if (name === "properties") return Object.fromEntries(Object.entries(value as Schema).map(([key, inner]) => [key, of(inner as Schema)]))
    if (LISTS.has(name)) return (value as Schema[]).map(of)
    return SINGLE.has(name) && typeof value === "object" && value !== null ? of(value as Schema) : value
  }

  return { of, components: () => Object.fromEntries([...byTitle].sort(([a], [b]) => (a < b ? -1 : 1))) }
}

const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"])
const SINGLE = new Set(["items", "additionalProperties", "propertyNames", "contentSchema"])

/** Simplifies enums, nullable types, tuples and dictionaries, which TypeBox writes in a form that is hard to read. */
function simplified(schema: Schema): Schema {
  const { anyOf, patternProperties, items, ...rest } = schema
  if (Array.isArray(anyOf)) return { ...rest, ...simplifiedUnion(anyOf) }
  if (patternProperties) return { ...rest, additionalProperties: Object.values(patternProperties)[0] }
  if (Array.isArray(items)) {
    const { description } = rest
    const tuple = { type: "array", prefixItems: items, items: false, minItems: items.length, maxItems: items.length }
    return description === undefined ? tuple : { ...tuple, description }
  }
  return schema
}

function simplifiedUnion(anyOf: readonly Schema[]): Schema {
  if (anyOf.every((choice) => typeof choice.const === "string")) return { type: "string", enum: anyOf.map((choice) => choice.const) }
  const [first, second, ...others] = anyOf
  if (second?.type === "null" && others.length === 0 && typeof first!.type === "string") return { ...first, type: [first!.type, "null"] }
  return { anyOf }
}
