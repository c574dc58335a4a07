import { readAddress } from "../ingest/client-address.ts"

/** The name under which a client is counted that is known by its address alone; IPv6 by its first 64 bits, for one client has them all. */
export function callerName(address: string | undefined): string {
  const bytes = readAddress(address ?? "")?.bytes
  return bytes ? bytes.slice(0, bytes.length === 4 ? 4 : 8).join(".") : "unknown"
}
