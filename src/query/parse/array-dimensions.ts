import { DIMENSIONS, type Dimension, dimensionFacts } from "../../domain/dimension.ts"
import { QUERY } from "../../domain/limits.ts"
import { type DimensionGrouping, type Grouping, INTERVALS, type Interval } from "../../domain/query.ts"
import { countCharacters, isClean } from "../../domain/text.ts"
import { type Faults, readList } from "./faults.ts"
import { fittingInterval, type LocalRange } from "./period.ts"

/** A dimension as named in the array form (api.md 7.2). */
export type NamedDimension = Pick<DimensionGrouping, "dimension" | "property" | "named">

/** A dimension that rows are grouped by. `auto` stands for plain `time`, whose interval follows from the range. */
export type ArrayDimension = { name: string } & ({ interval: Interval | "auto" } | { of: NamedDimension })

const PROPERTY = "event:props:"
const TIMES: ReadonlyMap<unknown, Interval | "auto"> = new Map([
  ["time", "auto" as const],
  ...INTERVALS.map((interval) => [`time:${interval}`, interval] as const),
])
// The keys of a literal.
const NAMED: ReadonlyMap<unknown, NamedDimension> = new Map(
  (Object.keys(DIMENSIONS) as Dimension[])
    .filter((dimension) => dimension !== "property")
    .flatMap((dimension) => dimensionFacts(dimension).query.map((name) => [name, described(name, dimension)] as const)),
)
/** Returns a dimension as its name describes it. Only countries are grouped by name or by code; regions and cities are stored under a single text. */
function described(name: string, dimension: Dimension): NamedDimension {
  return name === "visit:country_name" ? { dimension, named: true } : { dimension }
}

const FILTERED_NAMES = [...NAMED.keys(), `${PROPERTY}<key>`].map(String)
const NAMES = [...FILTERED_NAMES, ...TIMES.keys()].map(String)

export const isTimeName = (name: unknown): boolean => TIMES.has(name)

/** What is hidden from callers who may not see revenue. */
export interface Hiding {
  /** Returns whether a property reveals revenue. Absent for callers who see revenue. */
  hides?: ((property: string) => boolean) | undefined
}

/** Fault of a metric or property that reveals revenue. */
export const HIDDEN = { code: "unsupported_metric", detail: "reveals the revenue of this site, which you can't see" }

/** Reads the dimension of a filter. */
export function readDimension(name: unknown, pointer: string, faults: Faults, { hides }: Hiding): NamedDimension | undefined {
  if (typeof name === "string" && name.startsWith(PROPERTY)) {
    const property = name.slice(PROPERTY.length)
    return hides?.(property) ? faults.refuse(pointer, HIDDEN.code, HIDDEN.detail) : readProperty(property, pointer, faults)
  }
  return NAMED.get(name) ?? refuseName(name, pointer, FILTERED_NAMES, faults)
}

/** Reads 0 to 3 dimensions, at most one of them time. Returns undefined when one is invalid. */
export function readDimensions(value: unknown, faults: Faults, hiding: Hiding): readonly ArrayDimension[] | undefined {
  if (value === undefined) return []
  const list = readList(value, "/dimensions", { min: 0, max: QUERY.groupings }, faults)
  const read = list?.map((name, i) => readGrouping(name, `/dimensions/${i}`, faults, hiding)).filter((dimension) => dimension !== undefined)
  if (!read || read.length < list!.length) return undefined
  if (new Set(read.map(({ name }) => name)).size < read.length) return faults.refuse("/dimensions", "not_unique", "contains a duplicate")
  const second = read.findIndex((dimension, i) => "interval" in dimension && read.slice(0, i).some((other) => "interval" in other))
  if (second === -1) return read
  return faults.refuse(`/dimensions/${second}`, "unsupported_combination", "is a second time dimension: a query can have one")
}

/** Returns the grouping of a dimension for the engine. A missing value is ordered by the text it is shown as. */
export function groupingOf(dimension: ArrayDimension, range: LocalRange): Grouping {
  if ("interval" in dimension) return { by: "time", interval: intervalOf(dimension.interval, range) }
  return { by: "dimension", ...dimension.of, missing: dimensionFacts(dimension.of.dimension).missing[1] }
}

export const intervalOf = (interval: Interval | "auto", range: LocalRange): Interval =>
  interval === "auto" ? fittingInterval(range) : interval

function readGrouping(name: unknown, pointer: string, faults: Faults, hiding: Hiding): ArrayDimension | undefined {
  const interval = TIMES.get(name)
  if (interval !== undefined) return { name: String(name), interval }
  if (typeof name !== "string" || !(NAMED.has(name) || name.startsWith(PROPERTY))) return refuseName(name, pointer, NAMES, faults)
  const of = readDimension(name, pointer, faults, hiding)
  return of && { name, of }
}

function readProperty(property: string, pointer: string, faults: Faults): NamedDimension | undefined {
  if (property === "") return faults.refuse(pointer, "too_short", `has no property key after ${PROPERTY}`)
  if (countCharacters(property) > QUERY.propertyChars) {
    return faults.refuse(pointer, "too_long", `has a property key of more than ${QUERY.propertyChars} characters`)
  }
  if (!isClean(property)) return faults.refuse(pointer, "invalid_characters", "has a property key with characters that are not allowed")
  return { dimension: "property", property }
}

function refuseName(name: unknown, pointer: string, allowed: readonly string[], faults: Faults): undefined {
  if (typeof name !== "string") return faults.refuse(pointer, "invalid_type", "must be the name of a dimension")
  return faults.refuse(pointer, "invalid_choice", `must be one of: ${allowed.join(", ")}`, allowed)
}
