import { Type as t } from "@sinclair/typebox"
import type { Fault } from "./error.ts"
import { COLLECT, QUERY, THINGS } from "./limits.ts"
import { fault } from "./shape.ts"
import { countCharacters } from "./text.ts"

/** Schema of the comparison between an event and the value of a goal or funnel step. */
export const Match = t.Union([t.Literal("exact"), t.Literal("prefix"), t.Literal("contains"), t.Literal("wildcard")], {
  description: "Comparison with the value. In a `wildcard` pattern, * matches any characters. Default: `exact`.",
})

/** Schema of the value of a goal or funnel step. */
export const MatchValue = t.String({ minLength: 1, maxLength: COLLECT.pageBytes, description: "Event name or page path to compare with." })
export const ThingName = t.String({
  minLength: 1,
  maxLength: THINGS.nameChars,
  description: "Display name. Default: derived from the value.",
})

export interface Matcher {
  /** The attribute that is compared with the value. */
  of: "event" | "page"
  match: "exact" | "prefix" | "contains" | "wildcard"
  value: string
}

/** The settings of a site that decide what its page values contain in addition to the path. */
export interface PageRules {
  allowed_query_params: readonly string[]
  hash_routing: boolean
}

/** Returns the faults of a value that could never match or that would be too expensive to match. */
export function matcherFaults(matcher: Matcher, rules: PageRules, pointer: string): Fault[] {
  const { of, match, value } = matcher
  if (match === "wildcard") {
    const stars = value.split("*").length - 1
    const isValid = stars >= 1 && stars <= QUERY.wildcardStars && countCharacters(value) <= QUERY.wildcardChars
    if (!isValid)
      return [
        fault(pointer, "invalid_pattern", `must contain 1 to ${QUERY.wildcardStars} * and have at most ${QUERY.wildcardChars} characters`),
      ]
  }
  if (of === "page")
    return isPage(matcher, rules)
      ? []
      : [
          fault(
            pointer,
            "invalid_path",
            "must be a path that pages of this site can have: check the leading slash, query parameters and fragment",
          ),
        ]
  return countCharacters(value) <= COLLECT.nameChars
    ? []
    : [fault(pointer, "too_long", `must have at most ${COLLECT.nameChars} characters`)]
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

/** Returns whether a query has only allowed parameters. `mayBeCut`: the last name may be incomplete, as at the end of a prefix. */
function hasAllowedNames(query: string, allowed: readonly string[], mayBeCut: boolean): boolean {
  const pieces = query.split("&")
  return pieces.every((piece, i) => {
    const name = piece.split("=")[0]!
    const isCut = mayBeCut && i === pieces.length - 1 && name === piece
    return isCut ? allowed.some((one) => one.startsWith(name)) : allowed.includes(name)
  })
}
