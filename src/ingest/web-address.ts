import { withoutWww } from "../domain/site.ts"

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
 * Splits without judging and without resolving `..`, which the platform's URL would hide from the probe rule. By `indexOf`:
 * it runs for every event, for some twice.
 */
export function splitAddress(text: string): WebAddress {
  const [beforeFragment, fragment] = cutAt(text, "#")
  const [place, query] = cutAt(beforeFragment, "?")
  const scheme = schemeOf(place)
  const rest = scheme === "" ? place : place.slice(scheme.length + 1)
  const end = rest.startsWith("//") ? authorityEnd(rest) : 0
  const authority = rest.slice(2, end)
  const path = rest.slice(end)
  return {
    scheme: scheme.toLowerCase(),
    host: withoutPort(authority.slice(authority.lastIndexOf("@") + 1)),
    path: path.startsWith("/") ? path : `/${path}`,
    query,
    fragment,
  }
}

function schemeOf(place: string): string {
  const colon = place.indexOf(":")
  const scheme = colon < 0 ? "" : place.slice(0, colon)
  return scheme === "https" || scheme === "http" || SCHEME.test(scheme) ? scheme : ""
}

/** Where the path begins, in `//authority/path`. A backslash ends the authority as well: browsers read it as a slash. */
function authorityEnd(rest: string): number {
  const slash = rest.indexOf("/", 2)
  const end = slash < 0 ? rest.length : slash
  const backslash = rest.indexOf("\\", 2)
  return backslash < 0 ? end : Math.min(end, backslash)
}

function withoutPort(authority: string): string {
  if (authority.startsWith("[")) return authority.slice(0, authority.indexOf("]") + 1)
  const colon = authority.indexOf(":")
  return colon < 0 ? authority : authority.slice(0, colon)
}

function cutAt(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)]
}

/** A host as it is stored: lower case, punycode, without `www.` and a closing dot; undefined when it is no host. */
export function hostnameOf(host: string): string | undefined {
  const lower = host.endsWith(".") ? host.slice(0, -1).toLowerCase() : host.toLowerCase()
  if (PLAIN_HOST.test(lower)) return withoutWww(lower)
  const parsed = URL.parse(`http://${lower}/`)
  return parsed && parsed.host === parsed.hostname && parsed.hostname !== "" && parsed.username === "" && parsed.hostname.length <= 253
    ? withoutWww(parsed.hostname)
    : undefined
}
