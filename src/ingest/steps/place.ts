import type { Setter } from "../draft.ts"
import { countryOfZone, NOWHERE, type PlaceFile, placeOf } from "../places.ts"

/** First that answers: the country a trusted proxy names, the operator's file, the browser's time zone. */
export function setPlace(file: PlaceFile | undefined): Setter {
  return (draft) => {
    const { request, address, incoming } = draft
    const found = placeOf(file, address, request.country)
    draft.place = found.country === "" ? { ...NOWHERE, country: countryOfZone(incoming.timezone) } : found
  }
}
