import { cutAgent } from "./agent.ts"
import { type AddressRanges, type Client, clientOf } from "./client-address.ts"
import type { RequestFacts } from "./draft.ts"
import { countryOfHeader } from "./places.ts"

/** A request as the door hands it over. */
export interface CollectRequest {
  method: string
  url: string
  headers: Headers
  body: Uint8Array
  /** Address of the other end of the connection. */
  peer: string | undefined
}

/** Reads what the headers tell: once, for every kind of payload. */
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
      purpose: `${header("sec-purpose")} ${header("purpose")} ${header("x-moz")}`,
      fetchDestination: header("sec-fetch-dest"),
      objects: header("sec-gpc") === "1" || header("dnt") === "1",
      country: client.viaProxy && geoHeader !== undefined ? countryOfHeader(header(geoHeader)) : "",
    },
  }
}

/** Whether a purpose says that nobody has asked for the page yet: a browser or a mail program only prepares it. */
export const isPreparing = (purpose: string): boolean => /prefetch|prerender|preview/i.test(purpose)

/** What is known of the visitor behind a server's event, which no header tells. */
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
