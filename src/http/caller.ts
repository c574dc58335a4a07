import { type AddressRanges, clientOf } from "../ingest/client-address.ts"
import type { Call } from "../plugin/guard.ts"

/**
 * The name under which a client is counted that is not known otherwise: its address behind trusted proxies; of IPv6 the
 * first 64 bits, because one client has them all.
 */
export function callerName({ request, server }: Pick<Call, "request" | "server">, trusted: AddressRanges): string {
  const peer = server?.requestIP(request)?.address
  const { address } = clientOf(peer, request.headers.get("x-forwarded-for"), trusted)
  return address ? address.bytes.slice(0, address.bytes.length === 4 ? 4 : 8).join(".") : "unknown"
}
