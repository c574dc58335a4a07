import ipaddr from "ipaddr.js"

/** The IANA special-purpose registry of IPv4, and multicast: nothing of it is an address in the outside world. */
const NOT_GLOBAL_V4 = ranges(`0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
  224.0.0.0/4 240.0.0.0/4`)
const GLOBAL_V6 = ranges("2000::/3")
const NOT_GLOBAL_V6 = ranges("2001::/23 2001:db8::/32 2002::/16 3fff::/20")

type Range = ReturnType<typeof ipaddr.parseCIDR>

function ranges(list: string): Range[] {
  return list.split(/\s+/).map((range) => ipaddr.parseCIDR(range))
}

/** Reads CIDR ranges that the configuration has checked. */
export const openedRanges = (list: readonly string[]): Range[] => list.map((range) => ipaddr.parseCIDR(range))

/**
 * Whether a request may go to this address: a global unicast one, or one the operator has opened. An IPv4 address in the
 * clothes of IPv6 (`::ffff:10.0.0.1`) is none of either.
 */
export function mayReach(address: string, opened: readonly Range[]): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  const lies = (among: readonly Range[]) => among.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
  if (lies(opened)) return true
  return parsed.kind() === "ipv4" ? !lies(NOT_GLOBAL_V4) : lies(GLOBAL_V6) && !lies(NOT_GLOBAL_V6)
}

/** The address that a host name of a URL is, without its brackets; undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  const plain = hostname.replace(/^\[(.*)\]$/, "$1")
  return ipaddr.isValid(plain) ? plain : undefined
}
