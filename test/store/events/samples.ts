import type { NewEvent } from "../../../src/domain/event.ts"
import { TRAITS, type VisitTraits } from "../../../src/domain/visit.ts"

/** The traits of a visit about which nothing is known. */
// The cast is safe because every trait has a value.
export const NO_TRAITS = Object.fromEntries(TRAITS.map((trait) => [trait, ""])) as Record<keyof VisitTraits, string>

/** Returns a pageview of `/` on example.com with the given changes. */
export const event = (given: Partial<NewEvent> & { at: number }): NewEvent => ({
  name: "pageview",
  page: "/",
  hostname: "example.com",
  title: "",
  interactive: true,
  props: [],
  ...given,
})
