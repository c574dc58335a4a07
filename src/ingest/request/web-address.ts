import { withoutWww } from "../../domain/site.ts"

/** The parts of a URL or of a path alone, as sent. "" is a missing part; `host` has neither user info nor port. */
export interface WebAddress {
  scheme: string
  host: string
  path: string
  /** Without its `?`. */
  query: string
  /** Without its `#`. */
  fragment: string
}

const SCHEME = /^[a-z][a-z0-9+.-]*$/i
const PLAIN_HOST = /^[a-z0-9._-]{1,253}$/

/**
 * Splits a URL or path without validating it and without resolving `..`, which the platform's `URL` would hide from the probe rule.
 * Searches for delimiters instead of parsing, because it runs for every event.
 */
export function splitAddress(text: string): WebAddress {
  const fragmentAt = placeOf(text, "#", text.length)
  const queryAt = placeOf(text, "?", fragmentAt)
  const scheme = schemeOf(text, queryAt)
  const start = scheme === "" ? 0 : scheme.length + 1
  const hasAuthority = text.startsWith("//", start) && start + 2 <= queryAt
  const pathAt = hasAuthority ? authorityEnd(text, start + 2, queryAt) : start
  const authority = hasAuthority ? text.slice(start + 2, pathAt) : ""
  const path = text.slice(pathAt, queryAt)
  return {
    scheme: scheme.toLowerCase(),
    host: withoutPort(authority.slice(authority.lastIndexOf("@") + 1)),
    path: path.startsWith("/") ? path : `/${path}`,
    query: text.slice(queryAt + 1, fragmentAt),
    fragment: text.slice(fragmentAt + 1),
  }
}

/** Returns the position of a delimiter before `end`, or `end` without one. */
function placeOf(text: string, mark: string, end: number, from = 0): number {
  const at = text.indexOf(mark, from)
  return at < 0 || at > end ? end : at
}

function schemeOf(text: string, end: number): string {
  const colon = placeOf(text, ":", end)
  const scheme = colon === end ? "" : text.slice(0, colon)
  return scheme === "https" || scheme === "http" || SCHEME.test(scheme) ? scheme : ""
}

/** Returns the position at which the path begins. A backslash also ends the authority, because browsers read it as a slash. */
const authorityEnd = (text: string, from: number, end: number): number => placeOf(text, "\\", placeOf(text, "/", end, from), from)

function withoutPort(authority: string): string {
  if (authority.startsWith("[")) return authority.slice(0, authority.indexOf("]") + 1)
  const colon = authority.indexOf(":")
  return colon < 0 ? authority : authority.slice(0, colon)
}

/** Returns a host as stored: lower case, Punycode, without `www.` and trailing dot. Undefined when the text is not a host. */
export function hostnameOf(host: string): string | undefined {
  const lower = host.endsWith(".") ? host.slice(0, -1).toLowerCase() : host.toLowerCase()
  if (PLAIN_HOST.test(lower)) return withoutWww(lower)
  const parsed = URL.parse(`http://${lower}/`)
  return parsed && parsed.host === parsed.hostname && parsed.hostname !== "" && parsed.username === "" && parsed.hostname.length <= 253
    ? withoutWww(parsed.hostname)
    : undefined
}
