import { unescaped } from "#plugin"
import { linkError } from "./errors.ts"
import { LIMITS } from "./link.ts"

/** Rules for destinations: the settings of the instance and the permissions of the user. */
export interface DestinationTerms {
  /** Schemes other than http and https. Only users who can change the site may use them. */
  schemes: readonly string[]
  maySetSchemes: boolean
  allowedHosts: readonly string[]
  deniedHosts: readonly string[]
}

/** Schemes that are rejected even if the operator lists them, because they run code or read files. */
const NEVER: ReadonlySet<string> = new Set(["javascript", "data", "vbscript", "file", "blob", "about"])
// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression searches for control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|%0[ad]/i
const SCHEME = /^([a-z][a-z0-9+.-]*):/i
const WEB = /^https?:\/\/([^/?#]*)/i

/**
 * Returns a destination as it is stored and sent: unchanged, except that characters that a header cannot contain are escaped. Throws
 * `invalid_destination` with a `reason`, and `destination_not_allowed`.
 */
export function acceptDestination(given: string, terms: DestinationTerms, pointer = "/destination"): string {
  const text = given.trim()
  const reason = faultOf(text, terms)
  if (reason) throw refusal(reason, pointer)
  const plain = asciiOf(text)
  if (plain.length > LIMITS.destinationChars) throw refusal("too_long", pointer)
  refuseHost(plain, terms, pointer)
  return plain
}

/** Messages by reason. */
const FAULTS = {
  too_long: `The URL has more than ${LIMITS.destinationChars} characters. Use a shorter URL.`,
  control_characters: "The URL contains invisible characters. Enter it again.",
  backslash: "The URL contains a backslash. Use slashes.",
  relative: "Enter a full URL, such as https://example.com/page.",
  scheme: "This scheme is not allowed. Use a URL that begins with https:// or http://.",
  userinfo: "The URL contains a user name or password before the @. Remove it.",
  empty_host: "The URL has no host.",
  invalid: "The URL is not valid. Check the host and the port.",
}
type Fault = keyof typeof FAULTS

const refusal = (reason: Fault, pointer: string) => linkError("invalid_destination", FAULTS[reason], { reason, pointer })

function faultOf(text: string, { schemes, maySetSchemes }: DestinationTerms): Fault | undefined {
  if (text.length > LIMITS.destinationChars) return "too_long"
  if (CONTROL.test(text) || !text.isWellFormed()) return "control_characters"
  if (text.includes("\\")) return "backslash"
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined) return "relative"
  if (scheme !== "http" && scheme !== "https") {
    const isListed = maySetSchemes && !NEVER.has(scheme) && schemes.some((listed) => listed.toLowerCase().split(":")[0] === scheme)
    return isListed && URL.canParse(text) ? undefined : "scheme"
  }
  const authority = WEB.exec(text)?.[1]
  if (authority === undefined) return "relative"
  if (authority.includes("@")) return "userinfo"
  if (authority === "" || authority.startsWith(":")) return "empty_host"
  return authority.includes("%") || !URL.canParse(text) ? "invalid" : undefined
}

/** Converts international host names to punycode and escapes other characters. ASCII text stays unchanged. */
function asciiOf(text: string): string {
  if (/^[!-~]*$/.test(text)) return text
  const authority = WEB.exec(text)?.[0]
  if (authority === undefined) return escapedText(text)
  const isPlainHost = /^[!-~]*$/.test(authority)
  return (isPlainHost ? authority : new URL(text).origin) + escapedText(text.slice(authority.length))
}
const escapedText = (text: string): string => text.replace(/[^!-~]+/gu, encodeURIComponent)

function refuseHost(text: string, { allowedHosts, deniedHosts }: DestinationTerms, pointer: string): void {
  const host = hostOf(text)
  if (host === undefined) return
  const isListed = (hosts: readonly string[]) => hosts.some((pattern) => matchesHost(pattern.toLowerCase(), host))
  if (isListed(deniedHosts) || (allowedHosts.length > 0 && !isListed(allowedHosts)))
    throw linkError("destination_not_allowed", "This instance doesn't allow links to this host.", { pointer })
}

/** Returns whether a pattern matches a host. `*.example.com` matches all subdomains. */
const matchesHost = (pattern: string, host: string): boolean =>
  pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1 : host === pattern

/** Returns the host of an http or https URL in lower case, without a trailing dot. */
export function hostOf(text: string): string | undefined {
  return WEB.test(text) ? URL.parse(text)?.hostname.replace(/\.$/, "") : undefined
}

/** The link that a destination refers to if its host serves short links. */
export interface Target {
  host: string
  /** Whether the path begins with the prefix, so that the slug belongs to the instance and not to a link domain. */
  isPrefixed: boolean
  /** Empty if the path has none. */
  slug: string
  /** Path after the slug. */
  path: string
}

/** Returns undefined for a URL that is not http or https. `prefix` is the first path segment of links, without slashes. */
export function targetOf(url: string, prefix: string): Target | undefined {
  const host = hostOf(url)
  if (host === undefined) return undefined
  // Proxies in front of the instance merge slashes, so `//l/spring` is a link, although the instance itself does not serve that path.
  const whole = unescaped(new URL(url).pathname).replace(/\/{2,}/g, "/")
  const base = `/${prefix}/`
  const isPrefixed = whole.startsWith(base)
  const rest = whole.slice(isPrefixed ? base.length : 1)
  const slug = rest.split("/")[0]!
  return { host, isPrefixed, slug, path: rest.slice(slug.length) }
}
