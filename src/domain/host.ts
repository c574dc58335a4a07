const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** Characters that a host cannot contain and that the URL parser below would remove or decode. */
const INVALID_CHARACTERS = /[\s/:@%_?#\\[\]]/
const LENGTH = 253

/**
 * Parses a host of a site's list. Returns it in lower case, with international names in punycode, without a trailing dot; a
 * leading `*.` means all subdomains. Returns undefined for anything else. Does not query the DNS: `shop.invalid` is a host.
 */
export function parseHost(text: string): string | undefined {
  const lower = text.trim().toLowerCase().replace(/\.$/, "")
  const [star, name] = lower.startsWith("*.") ? ["*.", lower.slice(2)] : ["", lower]
  const host = INVALID_CHARACTERS.test(name) ? undefined : asciiName(name)
  if (host === undefined || host.length > LENGTH) return undefined
  const labels = host.split(".")
  if (!labels.every((label) => LABEL.test(label)) || (labels.length === 1 && host !== "localhost")) return undefined
  return star && isAddress(host) ? undefined : star + host
}

/** Returns the host of a URL that was entered instead of a host, or undefined. */
export function hostOfUrl(text: string): string | undefined {
  const address = text.includes("://") ? text : `http://${text}`
  return parseHost(URL.parse(address.trim())?.hostname ?? "")
}

/** Returns the host that a person typed or pasted, without the scheme, port and path of a URL. Returns any other text unchanged. */
export const hostFromInput = (text: string): string => (text.includes("@") ? text : (parseHost(text) ?? hostOfUrl(text) ?? text))

/** Converts a name to ASCII with the URL parser, which knows international names and rejects malformed IP addresses (`1.2.3`, `01.2.3.4`). */
function asciiName(name: string): string | undefined {
  const host = URL.parse(`http://${name}`)?.hostname
  return isAscii(name) && host !== name ? undefined : host
}

const isAscii = (text: string): boolean => [...text].every((character) => character <= "\u007f")

/** Returns whether a host accepted by `parseHost` is an IPv4 address. `parseHost` rejects IPv6 addresses. */
export const isAddress = (host: string): boolean => /^[0-9.]+$/.test(host)
