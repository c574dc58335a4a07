import type { AddressList } from "../address/address-list.ts"
import { type AddressRanges, type Client, clientOf } from "../address/client-address.ts"
import type { RequestFacts } from "../draft.ts"
import { type PlaceFile, placeOf } from "../place/place.ts"
import { type CollectRequest, Requester, readRequest } from "../request/request.ts"

/** Facts about the client of a request. No address is stored. */
export interface ClientFacts {
  /** Returns whether the client's address, behind trusted proxies, is in a list. */
  comesFrom(list: AddressList, request: CollectRequest): boolean
  /** Returns the client's address behind trusted proxies, for rate limits elsewhere. It must never be stored. */
  clientAddress(peer: string | undefined, headers: Headers): string | undefined
  /** Returns where the client is, determined like the place of a visitor but without the browser's time zone. "" is missing. */
  clientPlace(peer: string | undefined, headers: Headers): { country: string; city: string }
}

interface ClientOptions {
  trusted: AddressRanges
  geoHeader: string | undefined
  placeFile: PlaceFile | undefined
  requesterOf(request: CollectRequest): Requester
}

export function createClientFacts({ trusted, geoHeader, placeFile, requesterOf }: ClientOptions): ClientFacts {
  return {
    comesFrom(list, request) {
      const { address } = requesterOf(request).client
      return address !== undefined && list.has(address)
    },
    clientAddress: (peer, headers) => clientOf(peer, headers.get("x-forwarded-for"), trusted).address?.text,
    clientPlace(peer, headers) {
      const { client, facts } = readRequest({ peer, headers }, { trusted, geoHeader })
      const { country } = placeOf(placeFile, client.address, facts.country)
      // A proxy names no city, and the file may have the address in another country than the proxy.
      const city = facts.country === "" && client.address && placeFile?.cityName(client.address)
      return { country, city: city || "" }
    },
  }
}

/** Reads the client and the headers of a request. */
export type ReadSender = (request: CollectRequest) => { client: Client; facts: RequestFacts }

interface SenderOptions {
  geoHeader?: string | undefined
  onForwardedIgnored?(peer: string): void
}

/** Creates the reader of clients and headers: the one place that decides which address counts. */
export function senderReader({ geoHeader, onForwardedIgnored }: SenderOptions, trusted: AddressRanges): ReadSender {
  return (request) => {
    const read = readRequest(request, { trusted, geoHeader })
    if (!read.client.viaProxy && request.peer !== undefined && request.headers.has("x-forwarded-for")) onForwardedIgnored?.(request.peer)
    return read
  }
}

/** Creates a reader for areas, which ask for facts of a request and then record it. Headers are read and the place is looked up once. */
export const readOnce =
  (readSender: ReadSender, placeFile: PlaceFile | undefined) =>
  (request: CollectRequest): Requester => {
    request.requester ??= new Requester(readSender(request), placeFile)
    return request.requester
  }
