import type { NewEvent } from "../../../src/domain/event.ts"
import { TRAITS, type VisitTraits } from "../../../src/domain/visit.ts"

/** A visit about which nothing is known. */
// The cast holds because every trait is given.
export const NO_TRAITS = Object.fromEntries(TRAITS.map((trait) => [trait, ""])) as Record<keyof VisitTraits, string>

/** A pageview of `/` on example.com, but for what is given. */
export const event = (given: Partial<NewEvent> & { at: number }): NewEvent => ({
  name: "pageview",
  page: "/",
  hostname: "example.com",
  title: "",
  interactive: true,
  props: [],
  ...given,
})
