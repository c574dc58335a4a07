import { unescaped } from "#plugin"
import { linkError } from "./errors.ts"
import { LIMITS } from "./link.ts"

/** What of the instance and of who asks decides where links may lead. */
export interface DestinationTerms {
  /** Besides http and https, for whoever may change the site. */
  schemes: readonly string[]
  maySetSchemes: boolean
  allowedHosts: readonly string[]
  deniedHosts: readonly string[]
}

/** Whatever the operator lists: they run code or read files. */
const NEVER: ReadonlySet<string> = new Set(["javascript", "data", "vbscript", "file", "blob", "about"])
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|%0[ad]/i
const SCHEME = /^([a-z][a-z0-9+.-]*):/i
const WEB = /^https?:\/\/([^/?#]*)/i

/**
 * The address as it is kept and sent, byte for byte; only what no header can carry is escaped. Throws `invalid_destination`
 * with a `reason`, `destination_not_allowed`.
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

/** Why a link cannot lead to an address, as the one who typed it reads it. */
const FAULTS = {
  too_long: `The address has more than ${LIMITS.destinationChars} characters.`,
  control_characters: "The address has characters in it that nobody can see. Type it anew.",
  backslash: "The address has a backslash in it. Addresses have slashes.",
  relative: "The address must be a whole one, such as https://example.com/page.",
  scheme: "A link cannot lead there. Its address must begin with https:// or http://.",
  userinfo: "The address has a name or a password before the @. Leave it out.",
  empty_host: "The address names no host.",
  invalid: "This is not a valid address. Look for a mistake in the host or the port.",
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

/** International names in punycode, other signs escaped; what is ASCII already stays as it is. */
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

/** `*.example.com` stands for all below it. */
const matchesHost = (pattern: string, host: string): boolean =>
  pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1 : host === pattern

/** The host of a web address, lower case and without a dot at its end. */
export function hostOf(text: string): string | undefined {
  return WEB.test(text) ? URL.parse(text)?.hostname.replace(/\.$/, "") : undefined
}

/** What a destination means if its host is one that leads to links. */
export interface Target {
  host: string
  /** Whether the path begins with the prefix: the slug is then one of the instance and of no link domain. */
  isPrefixed: boolean
  /** "" for none. */
  slug: string
  /** What follows the slug. */
  path: string
}

/** Returns undefined for an address that is none of the web. `prefix` is the first part of the paths of links, without slashes. */
export function targetOf(url: string, prefix: string): Target | undefined {
  const host = hostOf(url)
  if (host === undefined) return undefined
  // Proxies in front of the instance join slashes: `//l/spring` leads to a link, though the instance itself answers nothing there.
  const whole = unescaped(new URL(url).pathname).replace(/\/{2,}/g, "/")
  const base = `/${prefix}/`
  const isPrefixed = whole.startsWith(base)
  const rest = whole.slice(isPrefixed ? base.length : 1)
  const slug = rest.split("/")[0]!
  return { host, isPrefixed, slug, path: rest.slice(slug.length) }
}
