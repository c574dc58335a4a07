import { type Dimension, FLAT_DIMENSIONS } from "../domain/dimension.ts"
import { QUERY } from "../domain/limits.ts"
import { ArgumentReader, type Form, refuseArguments } from "./arguments.ts"
import type { TextTest } from "./value-mask.ts"

/** Which values of a dimension are to be proposed. */
export interface WantedValues {
  dimension: Dimension
  property?: string
  /** "" for those with most visitors. */
  q: string
  limit: number
  /** Values whose names hold the text, where the engine does not know names. */
  named?: readonly string[]
}

export function readSuggestions(given: Record<string, unknown>, form: Form): WantedValues {
  const reader = new ArgumentReader(given, ["dimension", "property", "q", "limit"])
  const dimension = reader.choice("dimension", FLAT_DIMENSIONS)
  const property = reader.text("property", { min: 1, max: QUERY.propertyChars })
  const q = reader.text("q", { min: 0, max: QUERY.wildcardChars }) ?? ""
  const limit = reader.integer("limit", QUERY.suggestions) ?? QUERY.suggestions.default
  if (!reader.has("dimension"))
    reader.refuse({ pointer: "/dimension", code: "required", detail: "Name the dimension.", allowed: FLAT_DIMENSIONS })
  if (dimension === "property" && !reader.has("property"))
    reader.refuse({ pointer: "/property", code: "required", detail: "Name the key of the property." })
  if (dimension !== undefined && dimension !== "property" && reader.has("property"))
    reader.refuse({ pointer: "/property", code: "unsupported_combination", detail: "property goes with dimension=property only." })
  refuseArguments(reader, form)
  return { dimension: dimension!, q, limit, ...(property !== undefined && { property }) } // only faults leave it undefined
}

/** What a value must pass one of: it holds the text in any case, or is a code whose name does. None: all pass. */
export function suggestionTests({ dimension, q, named = [] }: WantedValues): TextTest[] {
  if (q === "") return []
  const holds: TextTest = { op: "contains", values: [q], missing: false, caseSensitive: false }
  if (dimension === "country") return [holds, { ...holds, named: true }]
  return named.length > 0 ? [holds, { op: "is", values: named, missing: false, caseSensitive: true }] : [holds]
}
