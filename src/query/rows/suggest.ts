import { type Dimension, dimensionFacts, ENGAGEMENT, FLAT_DIMENSIONS, VITALS } from "../../domain/dimension.ts"
import { QUERY } from "../../domain/limits.ts"
import type { Key, Range } from "../../domain/query.ts"
import { fault } from "../../domain/shape.ts"
import { compareCodePoints } from "../../domain/text.ts"
import type { Dictionary, EventColumn, Part, Snapshot, VisitColumn } from "../../store/events/part.ts"
import { type CompiledFilter, compileFilter } from "../filter/filters.ts"
import { isCounted, type TextTest, valueMask } from "../filter/masks.ts"
import { type ImportedLookup, importedVisitors } from "../imported/lookups.ts"
import { propertyColumn } from "../measure/codes.ts"
import { firstInOrder } from "../measure/first-in-order.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { ValueVisitors } from "../measure/value-visitors.ts"
import { ArgumentReader, type Form, refuseArguments } from "../parse/arguments.ts"
import { HIDDEN, type Hiding } from "../parse/array-dimensions.ts"
import { returningVisitors } from "../parts/visitor-bits.ts"

/** The arguments of a query for suggested values. */
export interface SuggestionArguments {
  dimension: Dimension
  property?: string
  /** Text that the values contain. "" for all values. */
  q: string
  limit: number
  /** Codes whose names contain the text, for dimensions whose names the engine does not know. */
  named?: readonly string[]
}

export function readSuggestions(given: Record<string, unknown>, form: Form, { hides }: Hiding): SuggestionArguments {
  const reader = new ArgumentReader(given, ["dimension", "property", "q", "limit"])
  const dimension = reader.choice("dimension", FLAT_DIMENSIONS)
  const property = reader.text("property", { min: 1, max: QUERY.propertyChars })
  const q = reader.text("q", { min: 0, max: QUERY.wildcardChars }) ?? ""
  const limit = reader.integer("limit", QUERY.suggestions) ?? QUERY.suggestions.default
  if (!reader.has("dimension"))
    reader.refuse({ pointer: "/dimension", code: "required", detail: "A dimension is required.", allowed: FLAT_DIMENSIONS })
  if (dimension === "property" && !reader.has("property"))
    reader.refuse({ pointer: "/property", code: "required", detail: "The property key is required." })
  if (dimension !== undefined && dimension !== "property" && reader.has("property"))
    reader.refuse({ pointer: "/property", code: "unsupported_combination", detail: "property is only allowed with dimension=property." })
  if (property !== undefined && hides?.(property)) reader.refuse(fault("/property", HIDDEN.code, HIDDEN.detail))
  refuseArguments(reader, form)
  return { dimension: dimension!, q, limit, ...(property !== undefined && { property }) } // undefined only when there are faults, which were thrown above
}

/** Returns the tests of which a value must pass one: it contains the text in any case, or is a code whose name does. Without tests all pass. */
export function suggestionTests({ dimension, q, named = [] }: SuggestionArguments): TextTest[] {
  if (q === "") return []
  const contains: TextTest = { op: "contains", values: [q], missing: false, caseSensitive: false }
  if (dimension === "country") return [contains, { ...contains, named: true }]
  return named.length > 0 ? [contains, { op: "is", values: named, missing: false, caseSensitive: true }] : [contains]
}

/** A query of the values that a dimension has in events of the range. Supports every dimension except `goal`. */
export interface SuggestQuery extends SuggestionArguments, ImportedLookup {}

export interface SuggestedValue {
  /** null for the missing value. */
  key: Key
  visitors: number
}

/**
 * Returns the values with the most visitors among the events of the range that satisfy the filter, ties in the order of their texts.
 * Imported totals are added where they fit. Equal to a breakdown, but faster, because only visitors are counted and text is compared only
 * with the dictionary.
 */
export function suggest(snapshot: Snapshot, query: SuggestQuery, check: () => void): SuggestedValue[] {
  const { dictionary, missing, columnOf, isOfVisits } = valuesOf(snapshot, query)
  const wanted = wantedCodes(dictionary, query)
  const { range } = query
  const parts = snapshot.parts.filter(({ events, minAt, maxAt }) => events > 0 && maxAt >= range.from && minAt < range.to)
  const filter = compileFilter(snapshot, query.filter, query.site)
  const visitors = new ValueVisitors(wanted, returningVisitors(snapshot, parts))
  const byVisit = isOfVisits && !filter.hasEventConditions()
  for (const stored of parts) {
    check()
    const part = orderedPart(stored)
    const columns = { codes: columnOf(part), visitor: part.visit("visitor") }
    if (byVisit && isInside(part, range)) {
      const mask = filter.visits(part)
      visitors.addVisits(part, columns, mask === "all" ? undefined : mask)
      continue
    }
    const [visit, name] = [part.event("visit"), part.event("name")]
    const codes = isOfVisits ? byEvent(columns.codes, visit) : columns.codes
    visitors.addEvents(part, { codes, visitor: columns.visitor, visit, name, mask: maskOf(part, filter, range) })
  }
  const counts = withImported(snapshot, query, visitors.counts(), wanted)
  return topCodes(counts, query.limit, (code) => dictionary?.text(code) || missing).map((code) => ({
    key: dictionary?.text(code) || null,
    visitors: counts[code]!,
  }))
}

function valuesOf(snapshot: Snapshot, { dimension, property }: SuggestQuery) {
  const { level, dictionary, missing } = dimensionFacts(dimension)
  if (dimension === "property") {
    const key = snapshot.dictionary("property").find(property ?? "")
    return {
      dictionary: key === undefined ? undefined : snapshot.dictionary(`property:${key}`),
      missing: missing[0],
      columnOf: (part: Part) => propertyColumn(part, key),
      isOfVisits: false,
    }
  }
  // Every other dimension is a column under its own name, or `name` for the dimension `event`.
  const column = dimension === "event" ? "name" : dimension
  const isOfVisits = level === "visit"
  return {
    dictionary: snapshot.dictionary(dictionary!),
    missing: missing[0],
    columnOf: (part: Part) => (isOfVisits ? part.visit(column as VisitColumn) : part.event(column as EventColumn)),
    isOfVisits,
  }
}

/** Adds the visitors of imported totals to those of the wanted values. */
function withImported(snapshot: Snapshot, query: SuggestQuery, counts: Uint32Array, wanted: Uint8Array): Float64Array {
  const imported = importedVisitors(snapshot, query, query, counts.length)
  return Float64Array.from(counts, (count, code) => (wanted[code] === 1 ? count + imported(code) : 0))
}

/** Returns 1 for each value that passes a test. The internal names are not values of `event`. */
function wantedCodes(dictionary: Dictionary | undefined, query: SuggestionArguments): Uint8Array {
  const wanted = new Uint8Array(Math.max(1, dictionary?.size ?? 1))
  const tests = suggestionTests(query)
  if (tests.length === 0) wanted.fill(1)
  const masks = dictionary ? tests.map((test) => valueMask(dictionary, test)) : []
  for (const mask of masks) for (let code = 0; code < wanted.length; code++) wanted[code]! |= mask[code]!
  if (query.dimension === "event") for (const internal of [ENGAGEMENT, VITALS]) if (internal < wanted.length) wanted[internal] = 0
  return wanted
}

const isInside = ({ minAt, maxAt }: Part, { from, to }: Range): boolean => minAt >= from && maxAt < to

function byEvent(codes: Uint32Array, visit: Uint32Array): Uint32Array {
  const out = new Uint32Array(visit.length)
  for (let row = 0; row < out.length; row++) out[row] = codes[visit[row]!]!
  return out
}

/** Returns the events of a part that are counted, or undefined when all its counted events are. */
function maskOf(part: Part, filter: CompiledFilter, range: Range): Uint8Array | undefined {
  const isWhole = isInside(part, range)
  if (filter.rows(part) === "all" && isWhole) return undefined
  const chosen = filter.rows(part) === "all" ? countedMask(part.event("name")) : filter.events(part)
  return isWhole ? chosen : withinRange(part, chosen, range)
}

function countedMask(name: Uint32Array): Uint8Array {
  const mask = new Uint8Array(name.length)
  for (let row = 0; row < mask.length; row++) mask[row] = isCounted(name[row]!)
  return mask
}

function withinRange(part: Part, chosen: Uint8Array, { from, to }: Range): Uint8Array {
  const [visit, offset, starts] = [part.event("visit"), part.event("offset"), part.starts()]
  const mask = new Uint8Array(part.events)
  for (let row = 0; row < mask.length; row++) {
    const at = starts[visit[row]!]! + offset[row]!
    if (at >= from && at < to) mask[row] = chosen[row]!
  }
  return mask
}

/** Returns the values with visitors, those with the most first. */
function topCodes(counts: Float64Array, limit: number, textOf: (code: number) => string): number[] {
  const found = Uint32Array.from(counts.keys()).filter((code) => counts[code]! > 0)
  // Values that cannot be among the first are removed, so that few are compared by text.
  const minimum = found.length > limit ? found.map((code) => counts[code]!).sort()[found.length - limit]! : 0
  const candidates = found.filter((code) => counts[code]! >= minimum)
  return firstInOrder(candidates, (a, b) => counts[b]! - counts[a]! || compareCodePoints(textOf(a), textOf(b)), limit)
}
