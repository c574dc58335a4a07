import { readAddress } from "../ingest/address/client-address.ts"
import type { ClientFacts } from "../ingest/collect/clients.ts"
import type { Call } from "../web/guard.ts"

/** Finds out who sent a request, behind trusted proxies. */
export interface Clients {
  /** Returns the address of the client, or undefined if the connection has ended. */
  addressOf(call: Pick<Call, "request" | "server">): string | undefined
  /** Returns the key of the client's network for limits: the /24 of an IPv4 address, the /64 of an IPv6 address. */
  networkOf(call: Pick<Call, "request" | "server">): string
  /** Returns the country code and the city of the client. Unknown ones are empty. */
  placeOf(call: Pick<Call, "request" | "server">): { country: string; city: string }
}

export function createClients({ clientAddress, clientPlace }: Pick<ClientFacts, "clientAddress" | "clientPlace">): Clients {
  const addressOf: Clients["addressOf"] = ({ request, server }) => clientAddress(server?.requestIP(request)?.address, request.headers)
  return {
    addressOf,
    networkOf: (call) => networkName(addressOf(call)),
    placeOf: ({ request, server }) => clientPlace(server?.requestIP(request)?.address, request.headers),
  }
}

/** Returns the /24 of an IPv4 address or the /48 of an IPv6 address, or "" without an address. Only this prefix of a signed-in user is stored. */
export function addressPrefix(address: string | undefined): string {
  const bytes = readAddress(address ?? "")?.bytes
  if (!bytes) return ""
  if (bytes.length === 4) return `${bytes.slice(0, 3).join(".")}.0/24`
  const groups = [0, 2, 4].map((at) => ((bytes[at]! << 8) | bytes[at + 1]!).toString(16))
  return `${groups.join(":")}::/48`
}

/** Returns the key for limits of a client known only by its address. For IPv6 the first 64 bits, because a client controls the rest. */
export function callerName(address: string | undefined): string {
  const bytes = readAddress(address ?? "")?.bytes
  return bytes ? bytes.slice(0, bytes.length === 4 ? 4 : 8).join(".") : "unknown"
}

/** Returns the key for limits per network: the /24 of an IPv4 address, the /64 of an IPv6 address. */
export function networkName(address: string | undefined): string {
  const bytes = readAddress(address ?? "")?.bytes
  return bytes ? bytes.slice(0, bytes.length === 4 ? 3 : 8).join(".") : "unknown"
}
