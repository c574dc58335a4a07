import type { Client } from "./client-address.ts"
import type { RequestFacts } from "./draft.ts"
import { type Place, type PlaceFile, placeOf } from "./places.ts"

/** Who sent a request that an area answers. Where that is costs more than all headers together, and is found out when it is wanted. */
export class Requester {
  readonly client: Client
  readonly facts: RequestFacts
  readonly #placeFile: PlaceFile | undefined
  #place: Place | undefined

  constructor({ client, facts }: { client: Client; facts: RequestFacts }, placeFile: PlaceFile | undefined) {
    this.client = client
    this.facts = facts
    this.#placeFile = placeFile
  }
  /** What the client's address and the headers say; the browser's time zone is in none of them. */
  get place(): Place {
    this.#place ??= placeOf(this.#placeFile, this.client.address, this.facts.country)
    return this.#place
  }
}
