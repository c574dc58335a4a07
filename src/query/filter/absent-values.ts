import { dimensionFacts } from "../../domain/dimension.ts"
import { type Condition, type Filter, missingTexts } from "../../domain/filter.ts"
import type { AbsentValue, SiteFacts } from "../../domain/query.ts"
import { storedName } from "../../domain/value-aliases.ts"
import type { Snapshot } from "../../store/events/part.ts"
import { valueMask } from "./masks.ts"

/**
 * Returns the values of a filter that no data of the site has, at any time, so that a report without rows explains itself. Values of
 * `is` are looked up one by one; other operators are named when none of their values matches anything.
 */
export function absentValues(snapshot: Snapshot, filter: Filter | undefined, site: SiteFacts): AbsentValue[] {
  if (!filter) return []
  const found = conditionsOf(filter).flatMap((condition) => absentIn(snapshot, condition, site))
  return [...new Map(found.map((value) => [JSON.stringify(value), value])).values()]
}

function conditionsOf(filter: Filter): Condition[] {
  switch (filter.op) {
    case "and":
    case "or":
      return filter.filters.flatMap(conditionsOf)
    case "not":
    case "has_done":
      return conditionsOf(filter.filter)
    case "people":
      return []
    default:
      return [filter]
  }
}

function absentIn(snapshot: Snapshot, condition: Condition, site: SiteFacts): AbsentValue[] {
  const { op, dimension, property, named, values } = condition
  const missing = missingTexts(dimension)
  const sent = values.filter((value, i) => value !== "" && !missing.includes(value) && !isStoredNameOf(condition, values[i - 1], value))
  const occurs = occurrence(snapshot, condition, site)
  const isAbsent = (value: string) => !occurs([value, storedName(dimension, value) ?? []].flat())
  // Without case, and as names of countries, each value is compared with all stored ones.
  const looked = condition.caseSensitive && !condition.named ? sent : sent.slice(0, MAX_COMPARED)
  const absent = op === "is" ? looked.filter(isAbsent) : occurs(sent) ? [] : sent
  return absent.map((value) => ({ dimension, ...(property !== undefined && { property }), ...(named && { named }), value }))
}

const MAX_COMPARED = 10

/** Returns whether a value was added by the parser as the stored name of the value in front of it. */
const isStoredNameOf = ({ op, dimension }: Condition, before: string | undefined, value: string): boolean =>
  op === "is" && before !== undefined && storedName(dimension, before) === value

/** Returns the test of whether any of some values matches anything that is stored. */
function occurrence(snapshot: Snapshot, condition: Condition, site: SiteFacts): (values: readonly string[]) => boolean {
  const { dimension, property = "" } = condition
  if (dimension === "goal") return (values) => site.goals.some(({ name }) => values.some((value) => name.includes(value)))
  const key = dimension === "property" ? snapshot.dictionary("property").find(property) : undefined
  if (dimension === "property" && !key) return () => false
  const dictionary = snapshot.dictionary(key ? `property:${key}` : dimensionFacts(dimension).dictionary!) // only goals have none
  const isExact = condition.op === "is" && condition.caseSensitive && !condition.named
  // A mask is as long as the dictionary, and a filter can have thousands of values.
  if (isExact) return (values) => values.some((value) => (dictionary.find(value) ?? dictionary.size) < dictionary.size)
  return (values) => valueMask(dictionary, { ...condition, values, missing: false }).includes(1)
}
