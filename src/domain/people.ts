import type { Dimension } from "./dimension.ts"
import type { Filter } from "./filter.ts"
import type { FunnelStep, Key, Range, SiteFacts } from "./query.ts"

/**
 * Queries that follow people over days. A person is a visitor as the identity mode of the site recognizes them (metrics.md section 2):
 * everyone with a user id or device id, and visitors with a rotating id for as long as its salt period lasts.
 */

/** Who counts as a person in a query, and for how long visitors are recognized. */
export interface PeopleScope {
  site: SiteFacts
  /** IANA time zone of the local days. */
  timezone: string
  /** Time of the query, epoch ms. */
  now: number
  /** Whether only visitors with a user id or device id count. */
  identifiedOnly: boolean
  /** Edges of the salt periods, ascending, from the site's first data until after `now`. A rotating id is known between two neighbours. */
  saltEdges: readonly number[]
  /** Time after its first identification for which a device id is known, in ms. */
  deviceMs: number
  /** Key of the pseudonyms of visitors. Scopes are made by the core, so areas need not handle it. */
  siteKey: Uint8Array
}

/** A number of times, days or minor units. Whole numbers. */
export interface Count {
  op: "gt" | "gte" | "eq" | "lte" | "lt"
  n: number
}

/**
 * What a condition looks at. `events`: events that satisfy the filter, in which a completed scroll goal counts. `visits`: visits that
 * satisfy it, at their start. `active_days`: distinct local days on which visits start. `first_seen`: the first visit in all stored
 * data, which satisfies the filter. `revenue`: the sum of event revenue in one currency, which needs an event with revenue. `funnel`:
 * reaching the step, counted from 1; the filter applies to the first step. `set`: belonging to a set, whatever the window.
 */
export type PeopleTest =
  | { of: "events"; filter: Filter }
  | { of: "visits"; filter?: Filter }
  | { of: "active_days"; filter?: Filter }
  | { of: "first_seen"; filter?: Filter }
  | { of: "revenue"; currency: string; filter?: Filter }
  | { of: "funnel"; steps: readonly FunnelStep[]; order: "sequential" | "strict"; windowMs?: number; step: number; filter?: Filter }
  | { of: "set"; set: PeopleSet }

/**
 * The time in which a condition looks. `range` is absolute. The other two begin when the person was first seen, or when an earlier
 * condition of the same group (its index) was first met, and end with the local day that is `days` days later. Negated conditions, those
 * that a number of 0 satisfies, `eq`, `lte`, `lt` and `set` are never first met.
 */
export type PeopleWindow = { range: Range } | { afterFirstSeen: number } | { after: number; days: number }

export interface PeopleCondition {
  test: PeopleTest
  /** Whether the person must not have met the condition, and must have been observable throughout the window. */
  negate: boolean
  /** For events and visits the number of times, for active days their number, for revenue the sum. Default: at least 1. Otherwise ignored. */
  count?: Count
  /** Absent means all stored data. */
  window?: PeopleWindow
}

/** Conditions of which all or any must hold. Groups are at most one level deep. */
export interface PeopleGroup {
  match: "all" | "any"
  conditions: readonly (PeopleCondition | PeopleGroup)[]
}

/**
 * A set of people. `group` is evaluated over the stored data up to `until`; `stored` are pseudonyms that an area keeps in its row tables, as rows
 * with one column `visitors` (ascending 8-byte pseudonyms, big-endian); `visitors` names them by number.
 */
export interface PeopleSet {
  /** Distinguishes definitions that are equal otherwise, such as those of stored rows that were replaced. */
  key: string
  scope: PeopleScope
  /** End of the last local day that the set looks at. People without a visit before it do not belong to the set. */
  until: number
  members:
    | { by: "group"; group: PeopleGroup }
    | { by: "stored"; text: string; values: readonly (string | number)[] }
    | { by: "visitors"; visitors: readonly number[] | Float64Array }
}

/** How many visits of a range belong to visitors who are recognized for the whole of it. */
export interface Coverage {
  visits: number
  recognized: number
}

/** A query for the coverage of a range. */
export interface CoverageQuery {
  site: SiteFacts
  scope: PeopleScope
  range: Range
}

/** A query for the size of a set, and of what its people have in common. */
export interface EvaluateQuery {
  site: SiteFacts
  set: PeopleSet
  /** Whose visits `coverage` is the share of. */
  range: Range
  comparedTo?: PeopleSet
  /** Dimensions of the last visit of each person. */
  breakdown: readonly Dimension[]
  /** The same set as of earlier days, oldest first. */
  earlier: readonly PeopleSet[]
}

export interface EvaluateResult {
  size: number
  /** People with an undecided condition. They are neither in the set nor outside. */
  pending: number
  /** People of the same scope with a visit before the set's end. */
  total: number
  coverage: Coverage
  earlier: number[]
  /** `people` are both in the set and in the compared one. */
  compared?: { size: number; people: number }
  /** By dimension, the people of the set and of the scope by value of their last visit, largest first. At most 1,000 values. */
  breakdown: { value: string | null; people: number; total: number }[][]
}

/** A query for the people of a set, in batches by number, for freezing it. */
export interface MembersQuery {
  site: SiteFacts
  set: PeopleSet
  /** Only numbers after this one; -1 for the first batch. */
  after: number
  limit: number
}

export interface MembersResult {
  count: number
  /** Ordinal after which the next batch begins. */
  last: number
  /** Pseudonyms of 8 bytes, big-endian and ascending. */
  visitors: Uint8Array
}

/** A query for cohorts of people and their return (areas/04-cohorts.md section 5). */
export interface RetentionQuery {
  site: SiteFacts
  scope: PeopleScope
  /** Events that start a cohort. Absent means every counted event. */
  start?: Filter
  /** Restricts start events and their visits, never return events. */
  filter?: Filter
  /** Events that count as a return. Absent means every counted event. */
  returning?: Filter
  /** Return events that one period needs. */
  returnCount: number
  /** Whether start and return are the same and one return suffices: period 0 is then the cohort itself. */
  isSame: boolean
  /** Edges of the calendar periods from the first cohort on, ascending, at least up to `now`. Cohort `i` begins at edge `i`. */
  edges: readonly number[]
  cohorts: number
  /** Number of cells of a row, period 0 included. */
  periods: number
  mode: "first_time" | "recurring"
  /** Whether people whose very first start event did not satisfy `filter` are left out. Only with `first_time`. */
  firstEver: boolean
  counting: "exact" | "unbounded"
  /** Whether periods are 24-hour days from the person's own start. Only for cohorts by day. */
  elapsed: boolean
  /** Only people of this set. */
  among?: PeopleSet
  /** Dimension of the start event's visit. The 20 largest values have rows of their own; the others share one. */
  breakdown?: Dimension
}

export interface RetentionResult {
  /** By cohort, with `breakdown` also by value, largest first. `value` is null for the missing value and absent for the others together. */
  rows: { cohort: number; value?: string | null; isOther?: boolean; size: number; counts: number[] }[]
  coverage: Coverage
}

/** What the reports on active people have in common. */
export interface ActivePeopleQuery {
  site: SiteFacts
  scope: PeopleScope
  /** Visits that satisfy it make a person active. */
  filter?: Filter
  among?: PeopleSet
}

/** A query for the distribution of active days. */
export interface ActiveDaysQuery extends ActivePeopleQuery {
  /** Starts of the local days of the window, and its end. */
  days: readonly number[]
  /** The same for the window before. */
  previous: readonly number[]
}

export interface ActiveDaysResult {
  /** People by number of active days, from 1. */
  people: number[]
  previous: number[]
  /** Events of each tenth of the people, the most active first; people are divided as evenly as possible. */
  tenths: number[]
  coverage: Coverage
}

export const PEOPLE_SORTS = ["active_days", "events", "visits", "revenue", "last_seen", "first_seen"] as const
export type PeopleSort = (typeof PEOPLE_SORTS)[number]

/** A query for people with their activity in a window, the most active first. Ties are ordered by pseudonym, ascending. */
export interface PeopleListQuery extends ActivePeopleQuery {
  /** Starts of the local days of the window, and its end. Two edges when days do not matter. */
  days: readonly number[]
  sort: PeopleSort
  /** Revenue is summed in this currency when it orders the list. */
  currency: string
  limit: number
  /** Value and pseudonym of the last person of the page before. */
  after?: { value: number; pseudonym: string }
}

/** A person with their activity. Times are epoch ms; `first_seen` and `last_seen` look at all stored data. */
export interface PersonFacts {
  /** Number of the visitor. */
  visitor: number
  /** 16 hex digits. */
  pseudonym: string
  kind: "rotating" | "device" | "user"
  active_days: number
  /** Consecutive active days up to the end of the window. They can begin before the window. */
  streak: number
  visits: number
  events: number
  pageviews: number
  revenue: { currency: string; amount_minor: number }[]
  first_seen: number
  last_seen: number
  top_pages: string[]
}

export interface PeopleListResult {
  people: PersonFacts[]
  /** People before paging. */
  total: number
  hasMore: boolean
  coverage: Coverage
}

/**
 * A query for one person: what the list says, and visits that make the person active, newest first. A page of visits ends early once it
 * has 20,000 events.
 */
export interface PersonQuery extends ActivePeopleQuery {
  /** Number of the visitor. */
  visitor: number
  /** As in the list. The visits do not depend on it. */
  days: readonly number[]
  limit: number
  /** Start and sequence of the last visit of the page before. */
  before?: { start: number; sequence: number }
}

export interface PersonVisit {
  sequence: number
  start: number
  durationMs: number
  pageviews: number
  /** Values of the dimensions of visits; null for the missing value. */
  values: Partial<Record<Dimension, Key>>
  /** Pageviews and custom events in order of time. `page` is null for the missing value. */
  events: {
    at: number
    name: string
    page: string | null
    properties: Record<string, string>
    revenue?: { currency: string; amount_minor: number }
  }[]
}

export interface PersonResult {
  /** Absent when the person has no visit. */
  person?: PersonFacts
  visits: PersonVisit[]
  hasMore: boolean
}

/** A query for active, new, returning, resurrected and dormant people by point. */
export interface EngagementQuery extends ActivePeopleQuery {
  /** Edges of the points. The point before the first one is needed as well: its edges are the first two. */
  edges: readonly number[]
  /** Starts of the local days from 28 days before the first point until after the last, ascending. */
  days: readonly number[]
  /** Whether only `dau` is needed. People must then be recognized for single days, so `coverage` looks at each day. */
  daysOnly?: boolean
}

export interface EngagementPoint {
  dau: number
  wau: number
  mau: number
  new: number
  returning: number
  resurrected: number
  dormant: number
}

export interface EngagementResult {
  points: EngagementPoint[]
  coverage: Coverage
}
