import { type Dimension, FLAT_DIMENSIONS } from "../domain/dimension.ts"
import type { Condition, Filter } from "../domain/filter.ts"
import { QUERY } from "../domain/limits.ts"
import { ArgumentReader, type Form, refuseArguments } from "./arguments.ts"

/** Which values of a dimension are to be proposed. */
export interface WantedValues {
  dimension: Dimension
  property?: string
  /** "" for those with most visitors. */
  q: string
  limit: number
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

/** In any case; of countries by their names as well as by their codes. */
export function suggestionFilter({ dimension, property, q }: WantedValues): Filter | undefined {
  if (q === "") return undefined
  const holds: Condition = {
    op: "contains",
    dimension,
    ...(property !== undefined && { property }),
    values: [q],
    missing: false,
    caseSensitive: false,
  }
  return dimension === "country" ? { op: "or", filters: [holds, { ...holds, named: true }] } : holds
}
