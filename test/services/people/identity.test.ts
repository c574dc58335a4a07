import { describe, expect, test } from "bun:test"
import { AppError } from "../../../src/domain/error.ts"
import type { Range } from "../../../src/domain/query.ts"
import type { IdentityPhase, Site } from "../../../src/domain/site.ts"
import type { IdentityMode } from "../../../src/domain/visit.ts"
import { daysRange } from "../../../src/query/parse/period.ts"
import { createIdentityRule, type PeopleRequest } from "../../../src/services/people/identity.ts"
import { SITE } from "../../query/traffic.ts"
import { openServices } from "../instance.ts"

const NOW = "2026-11-21T12:00:00Z"

interface Given {
  mode?: IdentityMode
  timezone?: string
  history?: IdentityPhase[]
  /** Whether someone was identified on the site. */
  identified?: boolean
}

/** Opens a site that has data since 1 September 2026, and its identity rule on real stores. */
async function openRule({ mode = "daily", timezone = "Europe/Berlin", history = [], identified = false }: Given = {}) {
  const services = await openServices({ now: NOW })
  const organization = await services.organizations.create({ name: "Shops" })
  const created = await services.sites.create(organization.id, { name: "Shop", hosts: ["shop.example"], timezone })
  const site: Site = { ...created, identity_history: history, settings: { ...created.settings, identity_mode: mode } }
  if (identified) services.events.write(services.clock.now(), (writer) => writer.person(site.id, { high: 1, low: 2 }, "user"))
  const rule = createIdentityRule({
    ...services,
    imports: { firstAt: () => Date.parse("2026-09-01T10:00:00Z") },
    factsOf: ({ id }) => ({ ...SITE, id }),
  })
  return {
    rule,
    site,
    range: (from: string, to = from): Range => days(from, to, timezone),
    resolve: (request: Omit<PeopleRequest, "site">) => rule.resolve({ site, ...request }),
    [Symbol.asyncDispose]: () => services[Symbol.asyncDispose](),
  }
}

const days = (from: string, to: string, timezone: string): Range =>
  daysRange(Temporal.PlainDate.from(from), Temporal.PlainDate.from(to), timezone).range

const failureOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => undefined,
    (error) => (error instanceof AppError ? { code: error.code, ...error.members } : error),
  )

describe("in a rotating mode", () => {
  test.each<[IdentityMode, string, string]>([
    ["daily", "2026-11-20", "2026-11-20"],
    ["weekly", "2026-11-16", "2026-11-22"],
    ["monthly", "2026-10-01", "2026-10-31"],
  ])("everyone counts within one salt period of %s", async (mode, from, to) => {
    await using opened = await openRule({ mode })
    const counted = await opened.resolve({ range: opened.range(from, to) })
    expect(counted.scope.identifiedOnly).toBe(false)
    expect(counted.identity({ visits: 4, recognized: 4 })).toMatchObject({ mode, coverage: 100, restricted: false })
  })

  test.each<[IdentityMode, string, string, object]>([
    ["daily", "2026-11-20", "2026-11-21", { needed_days: 2, horizon_days: 1 }],
    ["weekly", "2026-11-15", "2026-11-16", { needed_days: 2, horizon_days: 7 }],
    ["monthly", "2026-10-30", "2026-11-02", { needed_days: 4, horizon_days: 31 }],
  ])("a window across two salt periods of %s is refused", async (mode, from, to, members) => {
    await using opened = await openRule({ mode })
    expect(await failureOf(opened.resolve({ range: opened.range(from, to) }))).toEqual({
      code: "identity_insufficient",
      mode,
      ...members,
      options: ["shorten_window", "switch_mode"],
    })
  })

  test("30 October and 2 November lie in two salt periods, however the request names them", async () => {
    await using opened = await openRule({ mode: "monthly" })
    const [october, november] = [opened.range("2026-10-30"), opened.range("2026-11-02")]
    const refused = { code: "identity_insufficient", needed_days: 4 }
    expect(await failureOf(opened.resolve({ range: november, windows: [october] }))).toMatchObject(refused)
    expect(await failureOf(opened.resolve({ range: october, windows: [november] }))).toMatchObject(refused)
    const { scope } = await opened.resolve({ range: november })
    const between = scope.saltEdges.filter((edge) => edge > october.from && edge < november.to)
    expect(between).toEqual([Date.parse("2026-10-31T23:00:00Z")])
  })

  test("an empty window needs no identity", async () => {
    await using opened = await openRule()
    const day = opened.range("2026-11-21")
    expect((await opened.resolve({ range: day, windows: [{ from: 0, to: 0 }] })).scope.identifiedOnly).toBe(false)
  })

  test("the days of another time zone touch two salt periods", async () => {
    await using opened = await openRule()
    const range = days("2026-11-20", "2026-11-20", "America/New_York")
    expect(await failureOf(opened.resolve({ range, timezone: "America/New_York" }))).toMatchObject({
      code: "identity_insufficient",
      needed_days: 2,
      options: ["shorten_window", "switch_mode"],
    })
  })

  test("with identified people of an earlier mode, the request can be restricted to them", async () => {
    await using opened = await openRule({ identified: true })
    const range = opened.range("2026-11-01", "2026-11-21")
    expect(await failureOf(opened.resolve({ range }))).toMatchObject({ options: ["shorten_window", "restrict_identified", "switch_mode"] })
    const counted = await opened.resolve({ range, restrict: "identified" })
    expect(counted.scope.identifiedOnly).toBe(true)
    expect(counted.identity({ visits: 8, recognized: 1 })).toEqual({
      mode: "daily",
      horizon_days: 1,
      coverage: 12.5,
      restricted: true,
      boundary_days: [],
    })
  })
})

describe.each<[IdentityMode, number | null]>([
  ["identified", null],
  ["persistent", 180],
])("in mode %s", (mode, horizon_days) => {
  test("several days count people with a user id or device id only", async () => {
    await using opened = await openRule({ mode })
    const counted = await opened.resolve({ range: opened.range("2026-11-01", "2026-11-21") })
    expect(counted.scope).toMatchObject({ identifiedOnly: true, deviceMs: 180 * 86_400_000 })
    expect(counted.identity({ visits: 3, recognized: 2 })).toMatchObject({ mode, horizon_days, coverage: 66.7, restricted: true })
  })

  test("one day counts everyone", async () => {
    await using opened = await openRule({ mode })
    const counted = await opened.resolve({ range: opened.range("2026-11-21") })
    expect(counted.scope.identifiedOnly).toBe(false)
    expect(counted.identity({ visits: 3, recognized: 3 })).toMatchObject({ coverage: 100, restricted: false })
  })

  test("several days without such people are refused, unless there is no visit at all", async () => {
    await using opened = await openRule({ mode })
    const counted = await opened.resolve({ range: opened.range("2026-11-20", "2026-11-21") })
    expect(await failureOf((async () => counted.identity({ visits: 3, recognized: 0 }))())).toEqual({
      code: "identity_insufficient",
      mode,
      horizon_days,
      needed_days: 2,
      options: ["shorten_window"],
    })
    expect(counted.identity({ visits: 0, recognized: 0 }).coverage).toBe(0)
  })
})

test("a retention report is answered if one of its cells can be recognized", async () => {
  await using opened = await openRule({ mode: "monthly" })
  const range = opened.range("2026-10-26", "2026-11-21")
  const cells = [opened.range("2026-10-26", "2026-11-08"), opened.range("2026-11-02", "2026-11-15")]
  const counted = await opened.resolve({ range, separate: cells })
  expect(cells.map(counted.recognizes)).toEqual([false, true])
  expect(await failureOf(opened.resolve({ range, separate: cells.slice(0, 1) }))).toMatchObject({ needed_days: 14 })
})

test("boundary days are the days on which a salt week or month starts, each by the mode of its time", async () => {
  const history: IdentityPhase[] = [
    { from: 0, timezone: "Europe/Berlin", identity_mode: "weekly" },
    { from: Date.parse("2026-10-25T23:00:00Z"), timezone: "Europe/Berlin", identity_mode: "monthly" },
  ]
  await using opened = await openRule({ mode: "monthly", history, identified: true })
  const range = opened.range("2026-10-12", "2026-11-21")
  const counted = await opened.resolve({ range, restrict: "identified" })
  expect(counted.identity({ visits: 1, recognized: 1 }).boundary_days).toEqual(["2026-10-12", "2026-10-19", "2026-10-26", "2026-11-01"])
})

test("a change of the mode or zone ends the salt period of its day", async () => {
  const history: IdentityPhase[] = [
    { from: 0, timezone: "Europe/Berlin", identity_mode: "daily" },
    { from: Date.parse("2026-11-17T23:00:00Z"), timezone: "Europe/Berlin", identity_mode: "monthly" },
  ]
  await using opened = await openRule({ mode: "monthly", history })
  expect((await opened.resolve({ range: opened.range("2026-11-18", "2026-11-30") })).scope.identifiedOnly).toBe(false)
  expect(await failureOf(opened.resolve({ range: opened.range("2026-11-17", "2026-11-18") }))).toMatchObject({
    mode: "monthly",
    needed_days: 2,
  })
})

test("the salt edges run from the period of the first data until after now", async () => {
  await using opened = await openRule({ mode: "monthly" })
  const { scope } = await opened.resolve({ range: opened.range("2026-11-21") })
  expect(scope.saltEdges.map((edge) => new Date(edge).toISOString())).toEqual([
    "2026-08-31T22:00:00.000Z",
    "2026-09-30T22:00:00.000Z",
    "2026-10-31T23:00:00.000Z",
    "2026-11-30T23:00:00.000Z",
  ])
})
