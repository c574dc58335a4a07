import type { LinkFields, Utm } from "./link.ts"
import { UTM_KEYS } from "./link.ts"

/** Parts of a request that a link may forward. */
interface Forwarded {
  /** Path after the slug, with or without a leading slash. */
  path: string
  /** Without the question mark. */
  query: string
}

/** Parameters for Footfall itself, which are not forwarded. */
const INTERNAL: ReadonlySet<string> = new Set(["qr"])

/**
 * Returns the URL to redirect to: the destination, unchanged, with the forwarded path, the forwarded parameters and the campaign tags
 * appended. Text of a request comes only after the path of the destination, so it cannot change the scheme, host, port or credentials.
 */
export function builtUrl(
  destination: string,
  { forward_path, forward_query, utm, utm_mode }: Pick<LinkFields, "forward_path" | "forward_query" | "utm" | "utm_mode">,
  { path, query }: Forwarded,
): string {
  const segments = forward_path && path !== "" ? segmentsOf(path) : NONE
  const incoming = forward_query && query !== "" ? pairsOf(query).filter(([key]) => !INTERNAL.has(key)) : NONE
  const campaign = campaignOf(utm)
  if (segments.length === 0 && incoming.length === 0 && campaign.length === 0) return destination
  if (!/^https?:/i.test(destination)) return destination
  const { front, text, fragment } = splitDestination(destination)
  return withPath(front, segments) + withQuery(text, { incoming, campaign, utm_mode }) + fragment
}

type Pair = readonly [key: string, value: string]
const NONE: readonly never[] = []

/** Returns the campaign tags. Most links have none, and for them nothing is allocated. */
function campaignOf(utm: Utm): readonly Pair[] {
  for (const _ in utm) return UTM_KEYS.flatMap((key): Pair[] => (utm[key] ? [[key, utm[key]]] : []))
  return NONE
}
const pairsOf = (query: string): Pair[] => [...new URLSearchParams(query)]

function splitDestination(destination: string) {
  const hash = destination.indexOf("#")
  const [rest, fragment] = hash === -1 ? [destination, ""] : [destination.slice(0, hash), destination.slice(hash)]
  const mark = rest.indexOf("?")
  return mark === -1 ? { front: rest, text: undefined, fragment } : { front: rest.slice(0, mark), text: rest.slice(mark + 1), fragment }
}

/** Returns the escaped segments of a forwarded path, without empty ones, `..` and encoded slashes or control characters. */
const segmentsOf = (path: string): string[] =>
  path
    .split("/")
    .filter((segment) => segment !== "" && !/^(\.|%2e){1,2}$/i.test(segment) && !/%2f|%5c|%00|%0[ad]|\\/i.test(segment))
    .map((segment) => segment.replace(/[^!-~]+|["#<>?`{}|^]/gu, encodeURIComponent))

const withPath = (front: string, segments: readonly string[]): string =>
  segments.length === 0 ? front : `${front.replace(/\/$/, "")}/${segments.join("/")}`

/** Returns the query of the destination with the forwarded and the campaign parameters, which replace its parameters of the same name. */
function withQuery(
  text: string | undefined,
  { incoming, campaign, utm_mode }: { incoming: readonly Pair[]; campaign: readonly Pair[]; utm_mode: LinkFields["utm_mode"] },
): string {
  const pieces = text === undefined || text === "" ? [] : text.split("&")
  const present = new Set(pieces.map(keyOf))
  const forwarded = new Set(incoming.map(([key]) => key))
  const added = campaign.filter(([key]) => !forwarded.has(key) && (utm_mode === "override" || !present.has(key)))
  const replaced = new Set([...forwarded, ...added.map(([key]) => key)])
  const remaining = pieces.filter((piece) => !replaced.has(keyOf(piece)))
  const pairs = [...added, ...incoming]
  if (pairs.length === 0) return text === undefined ? "" : `?${text}`
  const appended = new URLSearchParams(pairs.map(([key, value]) => [key, value])).toString()
  return `?${[...remaining, appended].join("&")}`
}

const keyOf = (piece: string): string => [...new URLSearchParams(piece).keys()][0] ?? ""

/** Returns the campaign tags that are not empty. */
export const withoutEmpty = (utm: Utm): Utm => Object.fromEntries(Object.entries(utm).filter(([, value]) => value !== "")) as Utm
