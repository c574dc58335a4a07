import { expect, test } from "bun:test"
import type { CampaignMatrix } from "../../src/domain/insight.ts"
import { readSiteAddress, writeSiteAddress } from "../../src/domain/site-address.ts"
import { taggedUrl } from "../../src/ui/screens/campaigns/link-builder.tsx"
import { allCampaigns } from "../../src/ui/screens/campaigns/matrix.tsx"
import { countedInput, emptyDraft, moved, newStep, reasonAgainst } from "../../src/ui/screens/funnels/funnel-draft.ts"
import { inputOf, readJourneyQuery, withPin, writeJourneyQuery } from "../../src/ui/screens/journeys/journey-query.ts"

test.each([
  ["shop.example/sale", { utm_source: "mail" }, "https://shop.example/sale?utm_source=mail"],
  ["http://shop.example/?a=1&utm_source=old#top", { utm_source: "new one" }, "http://shop.example/?a=1&utm_source=new+one#top"],
  [
    "https://shop.example/?utm_medium=x",
    { utm_source: "s", utm_campaign: " c&d " },
    "https://shop.example/?utm_source=s&utm_campaign=c%26d",
  ],
  ["", { utm_source: "mail" }, undefined],
  ["javascript:alert(1)", {}, undefined],
  ["not a page", {}, undefined],
])("adds campaign tags to %s", (page, tags, expected) => {
  expect(taggedUrl(page, tags)).toBe(expected as string)
})

test.each([
  [0, 2, ["b", "c", "a"]],
  [2, 0, ["c", "a", "b"]],
  [1, 1, ["a", "b", "c"]],
  [1, 3, ["a", "b", "c"]],
  [0, -1, ["a", "b", "c"]],
])("moves a step from position %i to %i", (from, to, expected) => {
  expect(moved(["a", "b", "c"], from, to)).toEqual(expected)
})

test("explains why a funnel cannot be saved yet", () => {
  const draft = emptyDraft()
  const [a, b] = [newStep({ value: "/" }), newStep({ value: "/b" })]
  expect(reasonAgainst(draft)).toBe("Fill in at least two steps.")
  expect(reasonAgainst({ ...draft, steps: [a, newStep()] })).toBe("Fill in at least two steps.")
  expect(reasonAgainst({ ...draft, steps: [a, b, newStep()] })).toBe("Fill in or remove the empty step.")
  expect(reasonAgainst({ ...draft, steps: [a, b] })).toBe("Enter a name for the funnel.")
  expect(reasonAgainst({ ...draft, steps: [a, b], name: "Buy" })).toBeUndefined()
})

test("previews the steps before the first empty one", () => {
  const draft = emptyDraft()
  const home = { type: "page", match: "exact", value: "/" } as const
  expect(countedInput(draft)).toBeUndefined()
  expect(countedInput({ ...draft, steps: [newStep(home), newStep(), newStep({ value: "/b" })], windowHours: "24" })).toEqual({
    steps: [home, home],
    order: "sequential",
    window_hours: 24,
  })
})

/** Writes to the address and reads it back, as a reloaded page does. */
function throughAddress(written: Record<string, string | undefined>) {
  const cards = Object.fromEntries(
    Object.entries(written).flatMap(([name, value]) => (value === undefined ? [] : [[name, encodeURIComponent(value)]])),
  )
  const { address, leftOut } = readSiteAddress(writeSiteAddress({ ...readSiteAddress("").address, cards }))
  expect(leftOut).toEqual([])
  return readJourneyQuery({ of: (name) => (address.cards[name] === undefined ? undefined : decodeURIComponent(address.cards[name])) })
}

test("a journey survives a round trip through the address, regardless of its pages' names", () => {
  const hostile = { page: "/a,b:c?d=%2F|é" }
  const first = readJourneyQuery({ of: () => undefined })
  const asked = withPin({ ...first, mode: "end", anchor: { event: "Sign up, now" }, steps: 5, events: true }, { column: 2, ...hostile })
  expect(throughAddress(writeJourneyQuery(asked))).toEqual(asked)
  expect(inputOf(asked)).toEqual({ end: { event: "Sign up, now" }, steps: 5, events: true, pins: [{ column: 2, ...hostile }] })
  expect(withPin(asked, { column: 2, ...hostile }).pins).toEqual([])
  expect(Object.values(writeJourneyQuery(first)).filter(Boolean)).toEqual([])
})

test("replaces a malformed journey by the default one", () => {
  const of = (name: string) => ({ steps: "99", group: "x", pin1: "" })[name]
  expect(readJourneyQuery({ of })).toEqual(readJourneyQuery({ of: () => undefined }))
})

test("the campaigns file contains the rows of all pages in order", async () => {
  const row = (campaign: string) => ({ source: "mail", medium: "email", campaign, visitors: 1, conversions: 0, conversion_rate: 0 })
  const rows = ["a", "b", "c", "d", "e"].map(row)
  const asked: number[] = []
  const found = await allCampaigns(async ({ offset }) => {
    asked.push(offset)
    const page = rows.slice(offset, offset + 2)
    return { rows: page, total_rows: rows.length, has_more: offset + page.length < rows.length } as CampaignMatrix // the other fields are not read
  })
  expect(found).toEqual(rows)
  expect(asked).toEqual([0, 2, 4])
})
