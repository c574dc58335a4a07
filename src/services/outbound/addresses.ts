/** The rules about the addresses that requests may reach (areas/00 section 16, rules 1 to 3). */

import ipaddr from "ipaddr.js"
import { AppError } from "../../domain/error.ts"

/** Which addresses that people enter may be requested, beyond public ones on the usual ports. */
export interface AddressRules {
  allowHttp: boolean
  ports: readonly number[]
  /** CIDR ranges of private networks that are allowed in addition to public addresses. */
  privateRanges: readonly string[]
}

const LOCAL_NAME = /(^|\.)localhost$|\.local$|\.internal$/

/** Rules 1 and 2: checks the scheme, credentials, port and host name of a URL. Throws `blocked_address`. */
export function checkUrl(url: URL | null, { allowHttp, ports }: AddressRules): void {
  if (!url || !(url.protocol === "https:" || (allowHttp && url.protocol === "http:"))) throw blocked()
  if (url.username !== "" || url.password !== "" || url.hostname === "") throw blocked()
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
  if (!ports.includes(port)) throw blocked()
  if (LOCAL_NAME.test(url.hostname.toLowerCase().replace(/\.$/, ""))) throw blocked()
}

/** Returns the error for a refused address. It names neither the rule nor the address, which would map the network behind this server. */
export const blocked = () => new AppError("blocked_address", "Requests to this address are not allowed.")

/** IPv4 ranges that are not public: the IANA special-purpose registry and multicast. */
const NOT_GLOBAL_V4 = ranges(`0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
  192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
  224.0.0.0/4 240.0.0.0/4`)
const GLOBAL_V6 = ranges("2000::/3")
const NOT_GLOBAL_V6 = ranges("2001::/23 2001:db8::/32 2002::/16 3fff::/20")

type Range = ReturnType<typeof ipaddr.parseCIDR>

function ranges(list: string): Range[] {
  return list.split(/\s+/).map((range) => ipaddr.parseCIDR(range))
}

/** Parses CIDR ranges, which the configuration has validated. */
export const parseRanges = (list: readonly string[]): Range[] => list.map((range) => ipaddr.parseCIDR(range))

/**
 * Whether a request may be sent to an IP address: it must be public or in a range that the operator allows. IPv4 addresses in IPv6
 * notation (`::ffff:10.0.0.1`) are never allowed.
 */
export function mayReach(address: string, allowedRanges: readonly Range[]): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.parse(address)
  const lies = (among: readonly Range[]) => among.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
  if (lies(allowedRanges)) return true
  return parsed.kind() === "ipv4" ? !lies(NOT_GLOBAL_V4) : lies(GLOBAL_V6) && !lies(NOT_GLOBAL_V6)
}

/** Returns the IP address in the host part of a URL, without brackets; undefined for a name. */
export function literalAddress(hostname: string): string | undefined {
  const plain = hostname.replace(/^\[(.*)\]$/, "$1")
  return ipaddr.isValid(plain) ? plain : undefined
}
