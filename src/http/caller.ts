import { readAddress } from "../ingest/client-address.ts"

/** The /24 of an IPv4 address, the /48 of an IPv6 one; empty for none. What may be kept of somebody who signs in. */
export function addressPrefix(address: string | undefined): string {
  const bytes = readAddress(address ?? "")?.bytes
  if (!bytes) return ""
  if (bytes.length === 4) return `${bytes.slice(0, 3).join(".")}.0/24`
  const groups = [0, 2, 4].map((at) => ((bytes[at]! << 8) | bytes[at + 1]!).toString(16))
  return `${groups.join(":")}::/48`
}

/** The name under which a client is counted that is known by its address alone; IPv6 by its first 64 bits, for one client has them all. */
export function callerName(address: string | undefined): string {
  const bytes = readAddress(address ?? "")?.bytes
  return bytes ? bytes.slice(0, bytes.length === 4 ? 4 : 8).join(".") : "unknown"
}

/** The neighbourhood a client is counted with: the /24 of an IPv4 address, the /64 of an IPv6 one. */
export function networkName(address: string | undefined): string {
  const bytes = readAddress(address ?? "")?.bytes
  return bytes ? bytes.slice(0, bytes.length === 4 ? 3 : 8).join(".") : "unknown"
}
