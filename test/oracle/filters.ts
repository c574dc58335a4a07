import { DIMENSIONS, type Dimension, FLAT_DIMENSIONS } from "../../src/domain/dimension.ts"
import type { Condition, Filter } from "../../src/domain/filter.ts"
import type { SiteFacts } from "../../src/domain/query.ts"
import { TRAITS } from "../../src/domain/visit.ts"
import type { Random } from "./random.ts"
import { HOSTS, NAMES, PAGES, PROPERTIES, TITLES, TRAIT_VALUES, UNKNOWN_PROPERTY } from "./values.ts"

// The keys of a literal.
export const ALL_DIMENSIONS = Object.keys(DIMENSIONS) as Dimension[]
/** Half of the queries use these dimensions, because the others all behave alike. */
const FAVOURITES = ["page", "event", "goal", "property", "hostname", "title", "entry_page", "exit_page"] as const

export const somePropertyKey = (random: Random): string => random.pick([...Object.keys(PROPERTIES), UNKNOWN_PROPERTY])
export const someDimension = (random: Random): Dimension => random.pick(random.chance(0.5) ? FAVOURITES : ALL_DIMENSIONS)

interface FilterOptions {
  /** Dimensions of the conditions. Default: any. */
  of?: readonly Dimension[]
  /** Depth of this part of the tree. */
  depth?: number
  /** Whether it is below a `has_done`. */
  isInside?: boolean
}

export function someFilter(random: Random, site: SiteFacts, options: FilterOptions = {}): Filter {
  const { of, depth = 0, isInside = of !== undefined } = options
  const inner = () => someFilter(random, site, { ...options, depth: depth + 1, isInside })
  const kind = depth >= 3 ? "leaf" : random.pick(["leaf", "leaf", "leaf", "and", "and", "or", "not", "has_done"] as const)
  if (kind === "leaf" || (kind === "has_done" && isInside)) return someCondition(random, site, of)
  if (kind === "not") return { op: kind, filter: inner() }
  // `has_done` does not contain `has_done`.
  if (kind === "has_done") return { op: kind, filter: someFilter(random, site, { ...options, depth: depth + 1, isInside: true }) }
  return { op: kind, filters: Array.from({ length: random.whole(1, 3) }, inner) }
}

function someCondition(random: Random, site: SiteFacts, of?: readonly Dimension[]): Condition {
  const dimension = of ? random.pick(of) : someDimension(random)
  const property = somePropertyKey(random)
  const op =
    dimension === "goal"
      ? random.pick(["is", "contains"] as const)
      : random.pick(["is", "is", "contains", "starts_with", "matches_wildcard"] as const)
  const known = valuesOf(dimension, property, site)
  const values = Array.from({ length: random.pick([1, 1, 2, 3]) }, () => someValue(random, random.pick(known), op))
  const isMissing = op === "is" && random.chance(0.2)
  return {
    op,
    dimension,
    ...(dimension === "property" && { property }),
    values: isMissing ? [...values.slice(1), "(none)"] : values,
    missing: isMissing,
    caseSensitive: random.chance(0.6),
  }
}

function valuesOf(dimension: Dimension, property: string, site: SiteFacts): readonly string[] {
  if (dimension === "page" || dimension === "entry_page" || dimension === "exit_page") return PAGES
  if (dimension === "title") return TITLES
  if (dimension === "event") return [...NAMES, "pageview", "engagement"]
  if (dimension === "property") return PROPERTIES[property] ?? ["x"]
  if (dimension === "goal") return site.goals.length > 0 ? site.goals.map(({ name }) => name) : ["None"]
  const trait = TRAITS.find((each) => each === dimension)
  return trait ? TRAIT_VALUES[trait] : HOSTS
}

/** Returns an existing value, a part of it or a similar one; never empty, because parsers reject that. */
function someValue(random: Random, value: string, op: Condition["op"]): string {
  const letters = [...value]
  const from = op === "contains" || op === "matches_wildcard" ? random.whole(0, Math.max(0, letters.length - 1)) : 0
  const to = random.whole(from + 1, Math.max(from + 1, Math.min(letters.length, from + 8)))
  const part = op === "is" || random.chance(0.2) ? value : letters.slice(from, to).join("")
  const cased = random.pick([part, part, part.toUpperCase(), part.toLowerCase()])
  if (op !== "matches_wildcard") return cased || "none"
  return random.pick([`${cased}*`, `*${cased}*`, `*${cased}`, `${cased}**`, cased || "*", `*${cased}*${letters.at(-1) ?? ""}`, "*"])
}

export interface FlatFilter {
  dimension: Dimension
  property?: string
  operator: string
  values: readonly string[]
}

/** Returns filters of the flat form, fewer than the maximum because tests add some. */
export function someFlatFilters(random: Random, site: SiteFacts): FlatFilter[] {
  return Array.from({ length: random.pick([0, 0, 1, 1, 2]) }, () => {
    const { op, property, dimension, values } = someCondition(random, site)
    const negative = `${op}_not` as const
    const isNegative = dimension !== "goal" && random.chance(0.3) && op !== "starts_with"
    return { dimension, ...(property && { property }), operator: isNegative ? negative : op, values }
  }).filter(isFlat)
}

/** Reports whether the flat form has the dimension and accepts the patterns' length. */
const isFlat = ({ dimension, values }: FlatFilter) =>
  FLAT_DIMENSIONS.some((name) => name === dimension) && values.every(({ length }) => length <= 200)
