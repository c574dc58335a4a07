import { Type as t } from "@sinclair/typebox"
import type { Fault } from "./error.ts"
import { COLLECT, QUERY, THINGS } from "./limits.ts"
import { fault } from "./shape.ts"
import { characters } from "./text.ts"

/** How the value of a goal or a funnel step is compared. `*` of a wildcard is any run of characters. */
export const Match = t.Union([t.Literal("exact"), t.Literal("prefix"), t.Literal("contains"), t.Literal("wildcard")])

/** A value of a goal or step: an event name or a page. */
export const MatchValue = t.String({ minLength: 1, maxLength: COLLECT.pageBytes, description: "Event name, or page path" })
export const ThingName = t.String({ minLength: 1, maxLength: THINGS.nameChars })

export interface Matcher {
  /** What the value is compared with. */
  of: "event" | "page"
  match: "exact" | "prefix" | "contains" | "wildcard"
  value: string
}

/** What the pages of a site can hold besides their path. */
export interface PageRules {
  allowed_query_params: readonly string[]
  hash_routing: boolean
}

/** Faults of a value that could never match, or that costs too much to match. */
export function matcherFaults(matcher: Matcher, rules: PageRules, pointer: string): Fault[] {
  const { of, match, value } = matcher
  if (match === "wildcard") {
    const stars = value.split("*").length - 1
    const fits = stars >= 1 && stars <= QUERY.wildcardStars && characters(value) <= QUERY.wildcardChars
    if (!fits)
      return [fault(pointer, "invalid_pattern", `needs 1 to ${QUERY.wildcardStars} * in at most ${QUERY.wildcardChars} characters`)]
  }
  if (of === "page")
    return isPage(matcher, rules) ? [] : [fault(pointer, "invalid_path", "must be a path that pages of this site can have")]
  return characters(value) <= COLLECT.nameChars ? [] : [fault(pointer, "too_long", `may have ${COLLECT.nameChars} characters`)]
}

function isPage({ match, value }: Matcher, rules: PageRules): boolean {
  if (match === "contains") return true
  if (match === "wildcard") return value.startsWith("/") || value.startsWith("*")
  if (!value.startsWith("/")) return false
  const hash = value.indexOf("#")
  if (hash >= 0 && !rules.hash_routing) return false
  const [, query] = (hash >= 0 ? value.slice(0, hash) : value).split(/\?(.*)/s)
  return query === undefined || hasAllowedNames(query, rules.allowed_query_params, match === "prefix" && hash < 0)
}

/** A prefix may end in the middle of a name. */
function hasAllowedNames(query: string, allowed: readonly string[], mayBeCut: boolean): boolean {
  const pieces = query.split("&")
  return pieces.every((piece, i) => {
    const name = piece.split("=")[0]!
    const isCut = mayBeCut && i === pieces.length - 1 && name === piece
    return isCut ? allowed.some((one) => one.startsWith(name)) : allowed.includes(name)
  })
}
