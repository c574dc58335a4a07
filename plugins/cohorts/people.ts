import { Zip, ZipDeflate } from "fflate"
import {
  currencyDecimals,
  cursorOf,
  hasLongKeys,
  instantText,
  missingPermission,
  type PersonFacts,
  readPlace,
  readSortedPaging,
  revenueProperties,
  type Site,
} from "#plugin"
import { ACTIVITY_ARGUMENTS, readActivity } from "./activity.ts"
import { dayEdges, daysOf, engineCaller, type ReportCaller, todayOf } from "./caller.ts"
import type { Cohort, CohortsHost } from "./cohort.ts"
import { cohortError } from "./errors.ts"
import type { Evaluation } from "./evaluation.ts"
import type { Reports } from "./report.ts"
import type { LeaderResponse, MemberResponse, PersonResponse } from "./responses.ts"

export const LEADER_SORTS = ["active_days", "events", "visits", "revenue", "last_seen"] as const
export const MEMBER_SORTS = ["last_seen", "first_seen", "visits"] as const
const VISITS_PER_PAGE = 50
/** Visits that an export reads at once. */
const VISITS_PER_SLICE = 500
const DAY_MS = 86_400_000

interface PeopleParts {
  reports: Reports
  evaluation: Evaluation
}

export interface PeoplePage<Row> {
  data: Row[]
  has_more: boolean
  next_cursor: string | null
  total?: number
}

export function createPeople(host: CohortsHost, { reports, evaluation }: PeopleParts) {
  const { people } = host.services

  /** Returns the label of a person: the user id if the site stores it, otherwise the first digits of the token. */
  async function labelsOf(site: Site, facts: readonly PersonFacts[]): Promise<(person: PersonFacts) => string> {
    const ids = await people.userIds(
      site,
      facts.map(({ visitor }) => visitor),
    )
    return ({ visitor, pseudonym }) => ids.get(visitor) ?? pseudonym.slice(0, 8)
  }

  /** Finds the visitor of a token. The visits of a person are known whatever the identity mode. */
  async function open(site: Site, token: string | undefined) {
    const visitor = await people.numberOf(site.id, token ?? "")
    if (visitor === undefined) throw personNotFound()
    const today = todayOf(site, host.now())
    return { visitor, counted: await people.resolve({ site, range: daysOf(today, today, site.timezone) }) }
  }

  const shown = (person: PersonFacts, label: string, hidesRevenue: boolean): LeaderResponse => ({
    person: person.pseudonym,
    label,
    kind: person.kind,
    first_seen: instantText(person.first_seen),
    last_seen: instantText(person.last_seen),
    active_days: person.active_days,
    streak: person.streak,
    visits: person.visits,
    events: person.events,
    pageviews: person.pageviews,
    ...(!hidesRevenue && { revenue: person.revenue.map(moneyOf) }),
    top_pages: [...person.top_pages],
  })

  return {
    open,

    /** Lists the most active people of a window. */
    async leaders(caller: ReportCaller, given: Record<string, unknown>): Promise<PeoplePage<LeaderResponse>> {
      const { site } = caller
      const hidesRevenue = !caller.seesRevenue
      const paging = await reports.read(caller, (saved) =>
        readSortedPaging(`people of ${site.id}`, given, ["sort", ...ACTIVITY_ARGUMENTS], (reader) => ({
          ...readActivity(reader, { site, now: host.now(), saved }),
          sort: reader.choice("sort", LEADER_SORTS) ?? "active_days",
        })),
      )
      const { sort, window, asOf } = paging.filters
      if (sort === "revenue" && hidesRevenue) throw missingPermission("revenue:read")
      const first = asOf.subtract({ days: window - 1 })
      const { query } = await reports.open(caller, paging.filters, { range: daysOf(first, asOf, site.timezone) })
      const after = paging.cursor === undefined ? undefined : placeIn(paging.list, paging.cursor)
      const days = dayEdges(first, asOf, site.timezone)
      const result = await host.engine.peopleList(
        { ...query, days, sort, currency: site.revenue_currency, limit: paging.limit, ...(after && { after }) },
        engineCaller(caller),
      )
      const labelOf = await labelsOf(site, result.people)
      return pageOf(
        paging,
        result,
        (person) => shown(person, labelOf(person), hidesRevenue),
        (person) => sortValue(person, sort, site),
      )
    },

    /** Lists the people of a cohort. Throws `identity_insufficient` where nobody is recognized for longer than a month. */
    async members(caller: ReportCaller, cohort: Cohort, given: Record<string, unknown>): Promise<PeoplePage<MemberResponse>> {
      const { site } = caller
      const paging = readSortedPaging(
        `members of ${cohort.id}`,
        given,
        ["sort"],
        (reader) => reader.choice("sort", MEMBER_SORTS) ?? "last_seen",
      )
      const today = todayOf(site, host.now())
      const range = daysOf(today, today, site.timezone)
      const { windows, set } = await evaluation.setFor(caller, cohort)
      // Longer than any rotating id lasts: in the other modes a list of people would name visitors of a day, a week or a month.
      const long = { from: range.from - LONG_DAYS * DAY_MS, to: range.to }
      const isLong = hasLongKeys(site.settings.identity_mode)
      const { scope } = await people.resolve({
        site,
        range: isLong ? range : long,
        windows,
        ...(isLong && { restrict: "identified" as const }),
      })
      const after = paging.cursor === undefined ? undefined : placeIn(paging.list, paging.cursor)
      const result = await host.engine.peopleList(
        {
          site: scope.site,
          scope,
          among: set(scope),
          days: [0, range.to],
          sort: paging.filters,
          currency: site.revenue_currency,
          limit: paging.limit,
          ...(after && { after }),
        },
        engineCaller(caller),
      )
      const labelOf = await labelsOf(site, result.people)
      const member = (person: PersonFacts): MemberResponse => ({
        person: person.pseudonym,
        label: labelOf(person),
        kind: person.kind,
        first_seen: instantText(person.first_seen),
        last_seen: instantText(person.last_seen),
        visits: person.visits,
      })
      return pageOf(paging, result, member, (person) => sortValue(person, paging.filters, site))
    },

    /** Reports on one person: activity in a window, and visits with their events, newest first. */
    async person(caller: ReportCaller, token: string | undefined, given: Record<string, unknown>): Promise<PersonResponse> {
      const { site } = caller
      const paging = readSortedPaging(`visits of ${token}`, given, ["window", "as_of"], (reader) =>
        readActivity(reader, { site, now: host.now(), saved: () => undefined }),
      )
      const { window, asOf } = paging.filters
      const { counted, visitor } = await open(site, token)
      const first = asOf.subtract({ days: window - 1 })
      const [start, sequence] = paging.cursor === undefined ? [] : numbersIn(paging.list, paging.cursor)
      const limit = given.limit === undefined ? VISITS_PER_PAGE : paging.limit
      const { person, visits, hasMore } = await host.engine.person(
        {
          site: counted.scope.site,
          scope: counted.scope,
          visitor,
          days: dayEdges(first, asOf, site.timezone),
          limit,
          ...(start !== undefined && sequence !== undefined && { before: { start, sequence } }),
        },
        engineCaller(caller),
      )
      if (!person) throw personNotFound()
      const labelOf = await labelsOf(site, [person])
      const hidesRevenue = !caller.seesRevenue
      const hidden = hidesRevenue ? revenueProperties(site) : undefined
      const last = visits.at(-1)
      return {
        ...shown(person, labelOf(person), hidesRevenue),
        identity: counted.identity({ visits: 1, recognized: 1 }),
        recent: {
          data: visits.map((visit) => formatVisit(visit, hidden)),
          has_more: hasMore,
          next_cursor: hasMore && last ? cursorOf(paging.list, [last.start, last.sequence]) : null,
        },
        meta: { range: { from: first.toString(), to: asOf.toString(), timezone: site.timezone } },
      }
    },

    /** Streams everything about a person as a zip archive of NDJSON files. */
    async archive(caller: ReportCaller, token: string | undefined): Promise<ReadableStream<Uint8Array>> {
      const { site } = caller
      const { counted, visitor } = await open(site, token)
      const hidesRevenue = !caller.seesRevenue
      const hidden = hidesRevenue ? revenueProperties(site) : undefined
      const read = (before: { start: number; sequence: number } | undefined) =>
        host.engine.person(
          {
            site: counted.scope.site,
            scope: counted.scope,
            visitor,
            days: [0, host.now()],
            limit: VISITS_PER_SLICE,
            ...(before && { before }),
          },
          engineCaller(caller),
        )
      const first = await read(undefined)
      if (!first.person) throw personNotFound()
      const { person } = first
      const labelOf = await labelsOf(site, [person])
      const facts = JSON.stringify(shown(person, labelOf(person), hidesRevenue))
      async function* visits(): AsyncIterable<string> {
        for (let page = first; ; ) {
          for (const visit of page.visits) yield JSON.stringify(formatVisit(visit, hidden))
          const last = page.visits.at(-1)
          if (!page.hasMore || !last) return
          page = await read({ start: last.start, sequence: last.sequence })
        }
      }
      return zipped({ "person.ndjson": [facts], "visits.ndjson": visits() })
    },
  }
}
export type People = ReturnType<typeof createPeople>

/** More days than any rotating id lasts. */
const LONG_DAYS = 32

export const personNotFound = () =>
  cohortError("person_not_found", "This person doesn't exist on the site, or all visits of the person were removed.")

function sortValue(person: PersonFacts, sort: (typeof LEADER_SORTS)[number] | (typeof MEMBER_SORTS)[number], site: Site): number {
  if (sort === "revenue") return person.revenue.find(({ currency }) => currency === site.revenue_currency)?.amount_minor ?? 0
  return person[sort]
}

function placeIn(list: string, cursor: string): { value: number; pseudonym: string } {
  const [value, pseudonym] = readPlace(list, cursor)
  return { value: Number(value), pseudonym: String(pseudonym) }
}
const numbersIn = (list: string, cursor: string): number[] => readPlace(list, cursor).map(Number)

function pageOf<Row>(
  { list, count }: { list: string; count: boolean },
  { people, hasMore, total }: { people: readonly PersonFacts[]; hasMore: boolean; total: number },
  show: (person: PersonFacts) => Row,
  sortValueOf: (person: PersonFacts) => number,
): PeoplePage<Row> {
  const last = people.at(-1)
  return {
    data: people.map(show),
    has_more: hasMore,
    next_cursor: hasMore && last ? cursorOf(list, [sortValueOf(last), last.pseudonym]) : null,
    ...(count && { total }),
  }
}

const moneyOf = ({ currency, amount_minor }: { currency: string; amount_minor: number }) => ({
  currency,
  amount_minor: Number.isSafeInteger(amount_minor) ? amount_minor : null,
  amount: decimalText(amount_minor, currencyDecimals(currency) ?? 2),
})

/** Returns an amount of minor units as a decimal number, such as `-12.05`. */
function decimalText(minor: number, decimals: number): string {
  const digits = BigInt(Math.abs(minor))
    .toString()
    .padStart(decimals + 1, "0")
  const cut = digits.length - decimals
  return `${minor < 0 ? "-" : ""}${digits.slice(0, cut)}${decimals === 0 ? "" : `.${digits.slice(cut)}`}`
}

type EngineVisit = Awaited<ReturnType<CohortsHost["engine"]["person"]>>["visits"][number]

function formatVisit(
  { start, durationMs, pageviews, values, events }: EngineVisit,
  /** Properties that reveal revenue, for those who may not see it. */
  hidden: ReadonlySet<string> | undefined,
): PersonResponse["recent"]["data"][number] {
  const text = (name: keyof typeof values): string | null => {
    const value = values[name]
    return typeof value === "string" ? value : null
  }
  return {
    started_at: instantText(start),
    duration: Math.round(durationMs / 1000),
    pageviews,
    entry_page: text("entry_page"),
    source: text("source"),
    country: text("country"),
    device: text("device"),
    browser: text("browser"),
    os: text("os"),
    events: events.map(({ at, name, page, properties, revenue }) => ({
      at: instantText(at),
      name,
      page,
      properties: hidden ? Object.fromEntries(Object.entries(properties).filter(([key]) => !hidden.has(key))) : properties,
      ...(revenue && !hidden && { revenue: moneyOf(revenue) }),
    })),
  }
}

/** Streams a zip archive of files of lines. Only the lines that are being compressed are in memory. */
function zipped(files: Record<string, AsyncIterable<string> | Iterable<string>>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      const zip = new Zip((error, chunk, isLast) => {
        if (error) return controller.error(error)
        controller.enqueue(chunk)
        if (isLast) controller.close()
      })
      try {
        for (const [name, lines] of Object.entries(files)) {
          const file = new ZipDeflate(name)
          zip.add(file)
          for await (const line of lines) file.push(Buffer.from(`${line}\n`))
          file.push(new Uint8Array(), true)
        }
        zip.end()
      } catch (error) {
        controller.error(error)
      }
    },
  })
}
