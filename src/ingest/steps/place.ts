import type { Draft, Setter } from "../draft.ts"
import { countryOfZone, NOWHERE, type Place, type PlaceFile } from "../places.ts"

/** First that answers: the country a trusted proxy names, the operator's file, the browser's time zone. */
export function setPlace(file: PlaceFile | undefined): Setter {
  return (draft) => {
    draft.place = placeOf(draft, file)
  }
}

function placeOf({ request, address, incoming }: Draft, file: PlaceFile | undefined): Place {
  if (request.country !== "") return { ...NOWHERE, country: request.country }
  const found = file && address ? file.find(address) : NOWHERE
  return found.country === "" ? { ...NOWHERE, country: countryOfZone(incoming.timezone) } : found
}
