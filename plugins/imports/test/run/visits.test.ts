import { expect, test } from "bun:test"
import { type ImportedVisit, TRAITS, type VisitTraits } from "#plugin"
import { numberedByVisit } from "../../run/stage/visits.ts"

const NO_TRAITS = Object.fromEntries(TRAITS.map((trait) => [trait, ""])) as VisitTraits // every trait is named

const visit = (visitor: number, day: string): ImportedVisit => ({ visitor, traits: NO_TRAITS, events: [], day })

test("visitors are numbered by their first visit, and visits stay as they are otherwise", () => {
  const sorted = [visit(7, "a"), visit(2, "b"), visit(7, "c"), visit(0, "d"), visit(2, "e")]
  expect([...numberedByVisit(sorted, 8)]).toEqual([visit(0, "a"), visit(1, "b"), visit(0, "c"), visit(2, "d"), visit(1, "e")])
  expect([...numberedByVisit([visit(5, "a")], 6)]).toEqual([visit(0, "a")])
})
