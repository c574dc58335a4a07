import { type AddressRanges, type Client, clientOf } from "../address/client-address.ts"
import type { RequestFacts } from "../draft.ts"
import { countryOfHeader, type Place, type PlaceFile, placeOf } from "../place/place.ts"
import { type Agent, agentOf, cutAgent } from "./agent.ts"

/** A request as the HTTP route passes it on. */
export interface CollectRequest {
  method: string
  url: string
  headers: Headers
  body: Uint8Array
  /** Address of the other end of the connection. */
  peer: string | undefined
  /** The sender, once it was read for an area. */
  requester?: Requester | undefined
}

/** Reads the client and the facts of the headers, once for every kind of payload. */
export function readRequest(
  { headers, peer }: Pick<CollectRequest, "headers" | "peer">,
  { trusted, geoHeader }: { trusted: AddressRanges; geoHeader: string | undefined },
): { client: Client; facts: RequestFacts } {
  const header = (name: string) => headers.get(name) ?? ""
  const client = clientOf(peer, headers.get("x-forwarded-for"), trusted)
  return {
    client,
    facts: {
      userAgent: cutAgent(header("user-agent")),
      acceptLanguage: header("accept-language"),
      origin: header("origin"),
      referer: header("referer"),
      purpose: purposeOf(header("sec-purpose"), header("purpose"), header("x-moz")),
      fetchDestination: header("sec-fetch-dest"),
      objects: header("sec-gpc") === "1" || header("dnt") === "1",
      country: client.viaProxy && geoHeader !== undefined ? countryOfHeader(header(geoHeader)) : "",
    },
  }
}

/** Joins the purpose headers, of which nearly every request has none. */
const purposeOf = (sent: string, older: string, firefox: string): string =>
  sent === "" && older === "" && firefox === "" ? "" : `${sent} ${older} ${firefox}`

/** Returns whether the purpose headers mark a prefetch by a browser or mail program. */
export const isPreparing = (purpose: string): boolean => purpose !== "" && /prefetch|prerender|preview/i.test(purpose)

/** Returns the facts of the visitor of a server event, which the headers do not contain. */
export const serverFacts = (userAgent: string): RequestFacts => ({
  userAgent,
  acceptLanguage: "",
  origin: "",
  referer: "",
  purpose: "",
  fetchDestination: "",
  objects: false,
  country: "",
})

/** The sender of a request that an area answers. The place costs more than all headers together and is looked up at first use. */
export class Requester {
  readonly client: Client
  readonly facts: RequestFacts
  /** By the user agent. An empty one is that of a bot. */
  readonly agent: Agent
  readonly #placeFile: PlaceFile | undefined
  #place: Place | undefined

  constructor({ client, facts }: { client: Client; facts: RequestFacts }, placeFile: PlaceFile | undefined) {
    this.client = client
    this.facts = facts
    this.agent = agentOf(facts.userAgent)
    this.#placeFile = placeFile
  }
  /** The place by the address and the headers, without the browser's time zone. */
  get place(): Place {
    this.#place ??= placeOf(this.#placeFile, this.client.address, this.facts.country)
    return this.#place
  }
}
