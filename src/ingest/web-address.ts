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

const SCHEME = /^[a-z][a-z0-9+.-]*:/i
const AUTHORITY_END = /[/?#\\]/
const PLAIN_HOST = /^[a-z0-9._-]{1,253}$/

/** Splits without judging and without resolving `..`, which the platform's URL would hide from the probe rule. */
export function splitAddress(text: string): WebAddress {
  const scheme = SCHEME.exec(text)?.[0].slice(0, -1).toLowerCase() ?? ""
  let rest = scheme === "" ? text : text.slice(scheme.length + 1)
  let host = ""
  if (rest.startsWith("//")) {
    const end = rest.slice(2).search(AUTHORITY_END)
    const authority = end < 0 ? rest.slice(2) : rest.slice(2, end + 2)
    host = withoutPort(authority.slice(authority.lastIndexOf("@") + 1))
    rest = rest.slice(authority.length + 2)
  }
  const [beforeFragment, fragment] = cutAt(rest, "#")
  const [path, query] = cutAt(beforeFragment, "?")
  return { scheme, host, path: path.startsWith("/") ? path : `/${path}`, query, fragment }
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
  const lower = host.toLowerCase().replace(/\.$/, "")
  if (PLAIN_HOST.test(lower)) return withoutWww(lower)
  const parsed = URL.parse(`http://${lower}/`)
  return parsed && parsed.host === parsed.hostname && parsed.hostname !== "" && parsed.username === "" && parsed.hostname.length <= 253
    ? withoutWww(parsed.hostname)
    : undefined
}
