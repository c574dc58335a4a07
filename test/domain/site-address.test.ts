import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type Dimension, FLAT_DIMENSIONS } from "../../src/domain/dimension.ts"
import { OPERATORS } from "../../src/domain/filter.ts"
import { QUERY } from "../../src/domain/limits.ts"
import { FLAT_METRICS } from "../../src/domain/metric.ts"
import { PERIODS } from "../../src/domain/period.ts"
import {
  ADDRESS_INTERVALS,
  type AddressFilter,
  DEFAULT_ADDRESS,
  MAX_FILTERS,
  MAX_KEY_CHARACTERS,
  MAX_VALUE_CHARACTERS,
  MAX_VALUES,
  rangeArguments,
  readSiteAddress,
  type SiteAddress,
  writeFilter,
  writeSiteAddress,
} from "../../src/domain/site-address.ts"

const text = (maxLength: number) => fc.string({ minLength: 1, maxLength, unit: "binary" }).filter((value) => value.isWellFormed())
const day = fc
  .date({ min: new Date("2015-01-01"), max: new Date("2035-12-31"), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10))
const days = fc.tuple(day, day).map((pair) => pair.toSorted() as [string, string])

const filter: fc.Arbitrary<AddressFilter> = fc
  .record({
    dimension: fc.constantFrom(...FLAT_DIMENSIONS),
    key: text(12),
    operator: fc.constantFrom(...OPERATORS),
    goalOperator: fc.constantFrom("is" as const, "contains" as const),
    values: fc.array(text(12), { minLength: 1, maxLength: 3 }),
  })
  .map(({ dimension, key, operator, goalOperator, values }) => ({
    dimension,
    ...(dimension === "property" && { property: key }),
    operator: dimension === "goal" ? goalOperator : operator,
    values,
  }))

const address: fc.Arbitrary<SiteAddress> = fc
  .record({
    period: fc.constantFrom<SiteAddress["period"]>(...PERIODS, "custom"),
    days,
    compare: fc.constantFrom<SiteAddress["compare"]>("none", "previous_period", "previous_year", "custom"),
    compared: days,
    match: fc.constantFrom<SiteAddress["match"]>("weekday", "date"),
    metric: fc.constantFrom(...FLAT_METRICS),
    interval: fc.constantFrom(...ADDRESS_INTERVALS),
    filters: fc.array(filter, { maxLength: 4 }),
    // A single alternative is read as an ordinary filter.
    any: fc.oneof(fc.constant<AddressFilter[]>([]), fc.array(filter, { minLength: 2, maxLength: 4 })),
    segment: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
    cohort: fc.option(fc.integer({ min: 1 }), { nil: undefined }),
    imports: fc.boolean(),
    cards: fc.dictionary(fc.constantFrom("sources", "pages", "locations"), fc.stringMatching(/^[a-z_-]{1,12}$/)),
  })
  .map(({ days: [from, to], compared: [compareFrom, compareTo], segment, cohort, cards, ...rest }) => ({
    ...rest,
    cards: { ...cards },
    ...(rest.period === "custom" && { from, to }),
    ...(rest.compare === "custom" && { compareFrom, compareTo }),
    ...(segment !== undefined && { segment }),
    ...(cohort !== undefined && { cohort }),
  }))

test("reads back every URL that it writes", () => {
  fc.assert(
    fc.property(address, (given) => {
      const search = writeSiteAddress(given)
      fc.pre(search.length <= 4_096)
      expect(readSiteAddress(search)).toEqual({ address: given, leftOut: [], namesPeriod: true })
    }),
    { seed: 20_261_121, numRuns: 1_000 },
  )
})

test("accepts any URL without an error", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200, unit: "binary" }), (search) => {
      const { address: read } = readSiteAddress(`f=${search}&${search}`)
      // The parsed address can be written and read again.
      const again = readSiteAddress(writeSiteAddress(read))
      expect(again.leftOut).toEqual([])
      expect(again.address).toEqual(read)
    }),
    { seed: 20_261_121, numRuns: 1_000 },
  )
})

test("reads the example of the specification", () => {
  const search =
    "?period=28d&compare=previous_period&match=weekday&metric=visitors&interval=day&f=page:is:/pricing|/plans&f=country:is_not:DE&cards=sources:campaign"
  expect(readSiteAddress(search)).toEqual({
    address: {
      ...DEFAULT_ADDRESS,
      interval: "day",
      filters: [
        { dimension: "page", operator: "is", values: ["/pricing", "/plans"] },
        { dimension: "country", operator: "is_not", values: ["DE"] },
      ],
      cards: { sources: "campaign" },
    },
    leftOut: [],
    namesPeriod: true,
  })
})

test("reads filters of which one must match, and a single one as an ordinary filter", () => {
  const [country, source] = [
    { dimension: "country", operator: "is", values: ["DE"] },
    { dimension: "source", operator: "is", values: ["Google"] },
  ] as const
  const read = readSiteAddress("?any=country:is:DE&any=source:is:Google").address
  expect(read).toMatchObject({ filters: [], any: [country, source] })
  expect(rangeArguments(read)).toMatchObject({ filters: [{ any: [country, source] }] })
  expect(readSiteAddress("?any=country:is:DE").address).toMatchObject({ filters: [country], any: [] })
})

test.each([
  ["an unknown period", "period=tomorrow", "period tomorrow"],
  ["a custom period without days", "period=custom", "period custom"],
  ["a day that does not exist", "period=custom&from=2026-02-30&to=2026-03-01", "from 2026-02-30 to 2026-03-01"],
  ["days in the wrong order", "period=custom&from=2026-03-02&to=2026-03-01", "from 2026-03-02 to 2026-03-01"],
  ["a custom comparison without days", "compare=custom", "compare custom"],
  ["an unknown metric", "metric=happiness", "metric happiness"],
  ["an unknown interval", "interval=minute", "interval minute"],
  ["a segment that is not a number", "segment=mine", "segment mine"],
  ["a cohort of number 0", "cohort=0", "cohort 0"],
  ["an unknown dimension", "f=mood:is:good", "mood:is:good"],
  ["an unknown operator", "f=page:equals:/", "page:equals:/"],
  ["a filter without a value", "f=page:is:", "page:is:"],
  ["a filter with an empty value", "f=page:is:/a||/b", "page:is:/a||/b"],
  ["a property without a key", "f=property::is:x", "property::is:x"],
  ["a value with an invalid encoding", "f=page:is:%2541%25", "page:is:%41%"],
  ["an operator that goals do not support", "f=goal:starts_with:sign", "goal:starts_with:sign"],
  ["a value that is too long", `f=page:contains:${"a".repeat(2_001)}`, `page:contains:${"a".repeat(2_001)}`],
  ["an invalid value for imports", "imports=perhaps", "imports perhaps"],
  ["a card without a tab", "cards=sources", "cards sources"],
])("ignores %s and keeps the rest", (_, part, named) => {
  const { address: read, leftOut } = readSiteAddress(`${part}&f=country:is:DE`)
  expect(leftOut).toContain(named)
  expect(read).toEqual({ ...DEFAULT_ADDRESS, filters: [{ dimension: "country", operator: "is", values: ["DE"] }] })
})

describe("limits", () => {
  test("are equal to those of reports", () => {
    expect([MAX_FILTERS, MAX_VALUES, MAX_VALUE_CHARACTERS, MAX_KEY_CHARACTERS]).toEqual([
      QUERY.flatFilters,
      QUERY.flatValues,
      QUERY.valueChars,
      QUERY.propertyChars,
    ])
  })

  test("ignore the eleventh filter", () => {
    const search = Array.from({ length: 11 }, (_, index) => `f=page:is:/${index}`).join("&")
    const { address: read, leftOut } = readSiteAddress(search)
    expect(read.filters).toHaveLength(10)
    expect(leftOut).toEqual(["page:is:/10"])
  })

  test("accept 50 values per filter, not 51", () => {
    const of = (count: number) => `f=page:is:${Array.from({ length: count }, (_, index) => index).join("|")}`
    expect(readSiteAddress(of(50)).address.filters[0]?.values).toHaveLength(50)
    expect(readSiteAddress(of(51)).address.filters).toEqual([])
  })

  test("ignore a URL of more than 4 kB", () => {
    const { address: read, leftOut } = readSiteAddress(`f=page:is:/${"a".repeat(4_100)}`)
    expect(read).toEqual(DEFAULT_ADDRESS)
    expect(leftOut).toEqual(["the URL is too long"])
  })
})

test("escapes percent signs, colons and bars in values", () => {
  const filterOf = (dimension: Dimension, value: string): AddressFilter => ({ dimension, operator: "is", values: [value] })
  expect(writeFilter(filterOf("page", "/a|b:c%d"))).toBe("page:is:/a%7Cb%3Ac%25d")
  expect(writeFilter({ ...filterOf("property", "x"), property: "a:b" })).toBe("property:a%3Ab:is:x")
})
