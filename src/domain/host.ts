const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** What a host has not, and what the URL parser below would take out or decode. */
const NO_HOST = /[\s/:@%_?#\\[\]]/
const LENGTH = 253

/**
 * A host as sites list it: lower case, international names in punycode, without a trailing dot, `*.` in front for all
 * subdomains. Undefined for anything else. Labels are not looked up: `shop.invalid` is a host.
 */
export function parseHost(text: string): string | undefined {
  const lower = text.trim().toLowerCase().replace(/\.$/, "")
  const [star, name] = lower.startsWith("*.") ? ["*.", lower.slice(2)] : ["", lower]
  const host = NO_HOST.test(name) ? undefined : asciiName(name)
  if (host === undefined || host.length > LENGTH) return undefined
  const labels = host.split(".")
  if (!labels.every((label) => LABEL.test(label)) || (labels.length === 1 && host !== "localhost")) return undefined
  return star && isAddress(host) ? undefined : star + host
}

/** The host of an address that was given where a host was asked for. */
export function hostOfUrl(text: string): string | undefined {
  const address = text.includes("://") ? text : `http://${text}`
  return parseHost(URL.parse(address.trim())?.hostname ?? "")
}

/** The parser knows international names and refuses what only looks like an address of numbers (`1.2.3`, `01.2.3.4`). */
function asciiName(name: string): string | undefined {
  const host = URL.parse(`http://${name}`)?.hostname
  return isAscii(name) && host !== name ? undefined : host
}

const isAscii = (text: string): boolean => [...text].every((character) => character <= "\u007f")

/** Whether what `parseHost` took for a host is an IPv4 address; it takes none of IPv6. */
export const isAddress = (host: string): boolean => /^[0-9.]+$/.test(host)
