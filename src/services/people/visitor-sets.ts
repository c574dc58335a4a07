import { AppError } from "../../domain/error.ts"
import type { Filter } from "../../domain/filter.ts"
import type { PeopleIdentity } from "../../domain/identity.ts"
import type { PeopleScope, PeopleSet } from "../../domain/people.ts"
import { revenueProperties } from "../../domain/permission.ts"
import type { Range } from "../../domain/query.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { Caller } from "../../query/engine/pool.ts"
import type { SavedFilters, SavedOf } from "../../query/parse/array-filters.ts"
import type { CountedPeople, IdentityRule } from "./identity.ts"

/** Sets of visitors that an area defines. Filters name them by id, as dimension `cohort` (areas/04 section 4). */
export interface VisitorSets {
  /**
   * Finds a set of a site. Returns `broken` if its definition refers to something that was deleted, and undefined if there is none with
   * this id.
   */
  find(site: Site, id: number, reader: SetReader): Promise<VisitorSet | "broken" | undefined>
}

/** Someone whose request names a set. */
export interface SetReader {
  /** Whether groups smaller than `min_group` are shown. */
  seesPeople: boolean
  /** Whether sets that are defined by revenue can be named. */
  seesRevenue: boolean
  caller: Caller
}

export interface VisitorSet {
  /** Windows in which the definition looks. They obey the identity rule together with the range of the request. */
  windows: readonly Range[]
  /** Whether the set consists of people with a user id or device id, in every mode. */
  restrict?: "identified"
  /** Returns the set of those who count. `hidden` if the reader must not learn how many they are: a filter would show it. */
  among(scope: PeopleScope): Promise<PeopleSet | "hidden">
}

/** A request whose filters can name segments and cohorts. */
export interface FilteredRequest<Parsed> {
  site: Site
  /** User whose personal segments can be named, and who learns that a cohort is broken. Absent for API keys and shared views. */
  userId: number | undefined
  seesPeople: boolean
  seesRevenue: boolean
  caller: Caller
  /** Parses the request. It can be called twice, and throws the faults of the request. */
  parse(saved: SavedFilters): Parsed
  /** Returns the range of the request, and further ranges such as the compared one. */
  ranges(parsed: Parsed): readonly [Range, ...Range[]]
  /** Returns the IANA time zone of the request's days. Default: that of the site. */
  timezone?(parsed: Parsed): string
}

/** A parsed request. `identity` is present if its filters name cohorts. */
export interface ReadRequest<Parsed> {
  parsed: Parsed
  identity?: PeopleIdentity
}

/**
 * Reads requests whose filters name segments and cohorts. An id that the caller may not use is `invalid_choice`, a broken cohort
 * `broken_reference` for users and `invalid_choice` for everyone else. Throws `identity_insufficient` if the site does not recognize
 * people over the range of the request and the windows of its cohorts.
 */
export interface SavedSets {
  read<Parsed>(request: FilteredRequest<Parsed>): Promise<ReadRequest<Parsed>>
}

/** The sets of visitors of areas. */
export interface VisitorSetSources {
  /** Registers the sets of an area. Only one area has sets. */
  register(sets: VisitorSets & { isOn(): boolean }): void
  /**
   * Returns the lookup for checking filters that are to be stored: it knows the shared segments and the cohorts that `parse` asks for. A
   * cohort may be one whose size is hidden, because that changes. Errors of `parse` are ignored.
   */
  lookup(site: Site, parse: (saved: SavedFilters) => unknown): Promise<SavedFilters>
  /** Returns the reader of requests, which asks the engine for `coverage`. */
  readingWith(engine: Pick<Engine, "coverage">, people: Pick<IdentityRule, "resolve">): SavedSets
}

type Found = ReadonlyMap<number, VisitorSet | "broken" | undefined>

export function createVisitorSets(saved: SavedOf): VisitorSetSources {
  let source: (VisitorSets & { isOn(): boolean }) | undefined

  async function findAll(site: Site, ids: ReadonlySet<number>, reader: SetReader): Promise<Found> {
    if (!source?.isOn()) return new Map()
    const { find } = source
    return new Map(await Promise.all([...ids].map(async (id) => [id, await find(site, id, reader)] as const)))
  }

  return {
    register(sets) {
      if (source) throw new Error("Two plugins contribute sets of visitors")
      source = sets
    },
    async lookup(site, parse) {
      const segments = saved(site)
      const { ids } = parseNaming((cohort) => parse(withCohorts(segments, cohort)))
      const found = await findAll(site, ids, { seesPeople: false, seesRevenue: true, caller: { organizationId: site.organization_id } })
      return withCohorts(segments, (id) => placeholder(found.get(id)))
    },
    readingWith: (engine, people) => ({
      async read({ site, userId, seesPeople, seesRevenue, caller, parse, ranges, timezone }) {
        const segments = filtersSeenBy(saved(site, userId), site, seesRevenue)
        const first = parseNaming((cohort) => parse(withCohorts(segments, cohort)))
        if (first.ids.size === 0) return { parsed: first.parsed() }
        const found = await findAll(site, first.ids, { seesPeople, seesRevenue, caller })
        const known = [...found].filter((entry): entry is [number, VisitorSet] => typeof entry[1] === "object")
        const isBroken = (id: number) => userId !== undefined && found.get(id) === "broken"
        const parseWith = (filters: ReadonlyMap<number, Filter>) =>
          withBrokenReference(() => parse(withCohorts(segments, (id) => (isBroken(id) ? "broken" : filters.get(id)))))
        // Faults of the request come before the question of identity, which needs the range.
        const checked = parseWith(new Map(known.map(([id]) => [id, EVERYONE])))
        if (known.length === 0) return { parsed: checked }
        const [range, ...others] = ranges(checked)
        const windows = [...others, ...known.flatMap(([, set]) => set.windows)]
        const restrict = known.find(([, set]) => set.restrict)?.[1].restrict
        const zone = timezone?.(checked)
        const counted = await people.resolve({ site, range, windows, ...(restrict && { restrict }), ...(zone && { timezone: zone }) })
        const filters = await filtersOf(known, counted)
        const parsed = parseWith(filters)
        if (filters.size === 0) return { parsed }
        return {
          parsed,
          identity: counted.identity(await engine.coverage({ site: counted.scope.site, scope: counted.scope, range }, caller)),
        }
      },
    }),
  }
}

/** Reads requests whose filters can name segments only. */
export const segmentsOnly = (saved: SavedOf): SavedSets => ({
  read: async ({ site, userId, seesRevenue, parse }) => ({ parsed: parse(filtersSeenBy(saved(site, userId), site, seesRevenue)) }),
})

/** Returns what a caller may name. Without revenue, neither properties that reveal it nor segments that look at such a property. */
export function filtersSeenBy(saved: SavedFilters, site: Site, seesRevenue: boolean): SavedFilters {
  if (seesRevenue) return saved
  const { hides } = hiddenProperties(site)
  const find: SavedFilters = (kind, id) => {
    const filter = saved(kind, id)
    return typeof filter === "object" && namesProperty(filter, hides) ? undefined : filter
  }
  return Object.assign(find, { hides })
}

/** Returns the test of the properties that reveal the revenue of a site. */
export function hiddenProperties(site: Site): { hides(property: string): boolean } {
  const hidden = revenueProperties(site)
  return { hides: (property) => hidden.has(property) }
}

/** Returns whether a filter has a condition on one of some properties. */
export function namesProperty(filter: Filter, isWanted: (property: string) => boolean): boolean {
  if ("filters" in filter) return filter.filters.some((each) => namesProperty(each, isWanted))
  if ("filter" in filter) return namesProperty(filter.filter, isWanted)
  return filter.op !== "people" && filter.property !== undefined && isWanted(filter.property)
}

/** Stands for a set while a request is only checked. */
const EVERYONE: Filter = { op: "and", filters: [] }

const placeholder = (set: VisitorSet | "broken" | undefined): ReturnType<SavedFilters> => (typeof set === "object" ? EVERYONE : set)

function withCohorts(segments: SavedFilters, cohort: (id: number) => ReturnType<SavedFilters>): SavedFilters {
  const find: SavedFilters = (kind, id) => (kind === "cohort" ? cohort(id) : segments(kind, id))
  return Object.assign(find, { hides: segments.hides })
}

/** Parses a request with any cohort, and returns the ids of those that it names. `parsed` throws the faults. */
export function parseNaming<Parsed>(parse: (cohort: (id: number) => ReturnType<SavedFilters>) => Parsed) {
  const ids = new Set<number>()
  const naming = (id: number) => {
    ids.add(id)
    return EVERYONE
  }
  let parsed: () => Parsed
  try {
    const value = parse(naming)
    parsed = () => value
  } catch (error) {
    parsed = () => {
      throw error
    }
  }
  return { ids, parsed: () => parsed() }
}

/** Returns the filters of the sets that are not hidden. */
async function filtersOf(known: readonly (readonly [number, VisitorSet])[], { scope }: CountedPeople): Promise<Map<number, Filter>> {
  const sets = await Promise.all(known.map(async ([id, set]) => [id, await set.among(scope)] as const))
  return new Map(sets.flatMap(([id, set]) => (set === "hidden" ? [] : [[id, { op: "people", set }] as const])))
}

/** Throws `broken_reference` instead of the fault of that code. */
export function withBrokenReference<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse()
  } catch (error) {
    const { errors = [] } = error instanceof AppError ? error.members : {}
    if (!errors.some(({ code }) => code === "broken_reference")) throw error
    throw new AppError("broken_reference", "A cohort refers to something that was deleted. Edit the cohort or remove it from the filter.", {
      errors,
    })
  }
}
