import type { Filter } from "../../src/domain/filter.ts"
import type { Count, PeopleCondition, PeopleGroup, PeopleScope, PeopleSet, PeopleTest, PeopleWindow } from "../../src/domain/people.ts"
import type { SiteFacts } from "../../src/domain/query.ts"
import type { Snapshot } from "../../src/store/events/part.ts"
import { dayStart, plusDays } from "./days.ts"
import { someFilter } from "./filters.ts"
import { someFunnel, someRange, someZone } from "./queries.ts"
import type { Random } from "./random.ts"
import type { RawVisit } from "./raw.ts"
import type { Time } from "./traffic.ts"
import { CURRENCIES, PAGES, PROPERTIES } from "./values.ts"

const DAY_MS = 86_400_000

export interface SetOptions {
  random: Random
  time: Time
  site: SiteFacts
  visits: readonly RawVisit[]
  snapshot: Pick<Snapshot, "visitorLimit" | "visitors">
}

/** Returns a set that no other has the key of, with windows around the visits and ids that end among them. */
export function someSet(options: SetOptions, scope = someScope(options), depth = 0): PeopleSet {
  const { random, time } = options
  const { visitors, visitorLimit } = options.snapshot
  const until = dayStart(plusDays(time.day, random.whole(-3, 6)), scope.timezone)
  const latest = Math.max(...options.visits.flatMap(({ events }) => events.map(({ at }) => at)))
  // Nothing is stored between the time of the query and the end of the set, because it has not happened.
  const now = Math.max(latest + 1, until + random.pick([-1, 1]) * random.whole(1, 3 * DAY_MS))
  const members: PeopleSet["members"] = random.chance(0.1)
    ? { by: "visitors", visitors: Array.from({ length: 5 }, () => visitors.number(random.whole(0, visitorLimit - 1))) }
    : { by: "group", group: someGroup(options, scope, depth) }
  return { key: `set ${random.next()}`, scope: { ...scope, now }, until, members }
}

function someScope({ random, time, site }: SetOptions): PeopleScope {
  const timezone = someZone(random, time)
  const [first, step] = [random.whole(-9, -5), random.pick([1, 1, 2, 4, 30])]
  const edges = Array.from({ length: Math.ceil(20 / step) + 1 }, (_, i) => dayStart(plusDays(time.day, first + i * step), timezone))
  return {
    site,
    timezone,
    now: 0,
    identifiedOnly: random.chance(0.3),
    saltEdges: edges,
    deviceMs: random.pick([DAY_MS, 2 * DAY_MS, 3 * DAY_MS + 1, 180 * DAY_MS]),
    siteKey: new Uint8Array(32),
  }
}

function someGroup(options: SetOptions, scope: PeopleScope, depth: number, isInner = false): PeopleGroup {
  const { random } = options
  const conditions: (PeopleCondition | PeopleGroup)[] = []
  for (let left = random.pick([0, 1, 1, 2, 2, 3]); left > 0; left--) {
    const isGroup = !isInner && random.chance(0.15)
    conditions.push(isGroup ? someGroup(options, scope, depth, true) : someCondition(options, scope, depth, conditions.length))
  }
  return { match: random.pick(["all", "any"] as const), conditions }
}

function someCondition(options: SetOptions, scope: PeopleScope, depth: number, index: number): PeopleCondition {
  const { random } = options
  const test = someTest(options, scope, depth)
  const window = someWindow(options, scope, index)
  return {
    test,
    negate: random.chance(0.3),
    ...(random.chance(0.5) && { count: someCount(random, test) }),
    ...(window && { window }),
  }
}

function someTest(options: SetOptions, scope: PeopleScope, depth: number): PeopleTest {
  const { random, site, time, visits } = options
  const filter = random.chance(0.6) ? { filter: someFilter(random, site) } : {}
  const of = random.pick(["events", "events", "visits", "active_days", "first_seen", "revenue", "funnel", "set"] as const)
  if (of === "events") return { of, filter: random.chance(0.2) ? someComparison(random) : someFilter(random, site) }
  if (of === "revenue") return { of, currency: random.pick([...CURRENCIES, "SEK"]), ...filter }
  if (of === "set") return depth < 2 ? { of, set: someSet(options, scope, depth + 1) } : { of: "visits", ...filter }
  if (of !== "funnel") return { of, ...filter }
  const { steps, order, windowMs } = someFunnel(random, time, () => visits)
  return { of, steps, order, ...(windowMs !== undefined && { windowMs }), step: random.whole(1, steps.length), ...filter }
}

/** Returns a comparison of numbers, sometimes with what the conditions on events, pages and properties add. */
function someComparison(random: Random): Filter {
  const op = random.pick(["gt", "gte", "lt", "lte"] as const)
  const values = random.some(PROPERTIES.price!, 1, 2)
  const compared = { op, dimension: "property", property: "price", values, missing: false, caseSensitive: true } as const
  const isPageview = { op: "is", dimension: "event", values: ["pageview"], missing: false, caseSensitive: true } as const
  const others = random.some<Filter>(
    [isPageview, { op: "not", filter: isPageview }, { ...isPageview, dimension: "page", values: PAGES.slice(0, 4) }],
    0,
    2,
  )
  return { op: "and", filters: random.shuffled<Filter>([compared, ...others]) }
}

function someCount(random: Random, { of }: PeopleTest): Count {
  const op = random.pick(["gt", "gte", "gte", "gte", "eq", "lte", "lt"] as const)
  return { op, n: of === "revenue" ? random.pick([-500, 0, 1, 999, 12_345]) : random.pick([0, 1, 1, 2, 2, 3, 5]) }
}

function someWindow({ random, time, visits }: SetOptions, { timezone }: PeopleScope, index: number): PeopleWindow | undefined {
  const days = random.pick([1, 1, 2, 3, 7])
  const kind = random.pick(["all", "range", "first", "first", "after", "after", "after"] as const)
  if (kind === "all") return undefined
  if (kind === "range") return { range: someRange(random, time, timezone, visits) }
  // Seldom a condition that comes later, which is never met before.
  if (kind === "after" && index > 0) return { after: random.whole(0, index - 1), days }
  return { afterFirstSeen: days }
}
