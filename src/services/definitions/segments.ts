import type { Clock } from "../../domain/clock.ts"
import { AppError, type Fault, refuseFaults } from "../../domain/error.ts"
import type { Filter } from "../../domain/filter.ts"
import { THINGS } from "../../domain/limits.ts"
import { type Segment, type SegmentFields, type SegmentFilter, SegmentInput, segmentNotFound } from "../../domain/segment.ts"
import { fault, inDocumentOrder, inspect, isObject, mergedWith } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import type { SavedOf } from "../../query/parse/array-filters.ts"
import { readFilterList } from "../../query/parse/flat-filters.ts"
import type { Catalog, Transactions } from "../../store/catalog/catalog.ts"
import {
  countSegments,
  deleteSegment,
  insertSegment,
  listAllSegments,
  listSegments,
  listSegmentsOf,
  segmentById,
  updateSegment,
} from "../../store/catalog/scoped-definitions.ts"
import type { Reload } from "../changes/changes.ts"
import { inSlices } from "../lists/paging.ts"
import { createSiteLists, createViewedThings, type SiteThings, type Terms, type ViewedKind, type Viewer } from "./site-things.ts"

/** Something that filters by a segment, as listed in `segment_in_use`. */
export interface SegmentUse {
  type: string
  id: number
  name: string
}
export type SegmentUses = (site: Site, segmentId: number) => Promise<SegmentUse[]>

/** Segments of a site as one user sees them. */
export interface ViewedSegments extends Omit<SiteThings<Segment>, "remove"> {
  /**
   * Deletes a segment. Throws `segment_in_use` with `used_by` unless forced. Whatever still filters by the deleted segment then
   * shows no data.
   */
  remove(site: Site, id: string | number | undefined, terms?: Terms<Segment> & { force?: boolean }): Promise<void>
  /** Throws `segment_in_use` with `used_by`. */
  refuseUsed(site: Site, id: number): Promise<void>
  /** Returns the same segments, within a transaction of several services. There, `remove` ignores uses: call `refuseUsed` before. */
  within(joined: Transactions): SiteThings<Segment>
}

export interface Segments {
  of(viewer: Viewer): ViewedSegments
  /** Filters of saved segments, for the query parsers. Read from memory, always exact. */
  saved: SavedOf
  /** Reads the segments of some sites again, after another node changed them. */
  reload: Reload
  /** Registers another source of segment uses. */
  registerUses(source: SegmentUses): void
}

export async function createSegments({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Promise<Segments> {
  const lists = createSiteLists(await inSlices((slice) => listAllSegments(catalog, slice)))
  const viewed = createViewedThings(SEGMENTS, { catalog, clock, lists })
  const uses: SegmentUses[] = []
  async function refuseUsed(site: Site, id: number): Promise<void> {
    const used = (await Promise.all(uses.map((source) => source(site, id)))).flat()
    if (used.length > 0)
      throw new AppError("segment_in_use", "This segment is in use by other definitions, which filter by it.", { used_by: used })
  }

  return {
    reload: lists.reloadBy(listSegmentsOf),
    registerUses: (source) => void uses.push(source),
    saved: (site, userId) => (kind, id) => {
      const segment = kind === "segment" ? lists.of(site.id).find((each) => each.id === id) : undefined
      const isVisible = segment && (segment.scope === "site" || segment.owner_user_id === userId)
      return isVisible ? filterOf(segment) : undefined
    },
    of(viewer) {
      const things = viewed(viewer)
      return {
        ...things,
        async remove(site, id, { force = false, ...terms } = {}) {
          const segment = await things.get(site, id)
          if (!force) await refuseUsed(site, segment.id)
          await things.remove(site, id, terms)
        },
        refuseUsed,
      }
    },
  }
}

const filterCache = new WeakMap<Segment, Filter>()

/** Returns the filter tree of a segment. Its filters were validated when it was saved. */
function filterOf(segment: Segment): Filter {
  const known = filterCache.get(segment)
  if (known) return known
  const filter: Filter = readFilterList(segment.filters, "", nothingSaved, { groups: true }).filter ?? { op: "and", filters: [] }
  filterCache.set(segment, filter)
  return filter
}

/** Resolves no segments. A segment cannot contain another one, and therefore not itself. */
const nothingSaved = () => undefined

const SEGMENTS: ViewedKind<Segment, SegmentFields> = {
  resource: "segments",
  limit: THINGS.segments,
  permission: "segments:write",
  parse: parseSegment,
  patch: ({ name, scope, filters }, patch) => parseSegment(mergedWith({ name, scope, filters }, patch)),
  notFound: segmentNotFound,
  insert: insertSegment,
  byId: segmentById,
  list: listSegments,
  count: countSegments,
  update: updateSegment,
  delete: deleteSegment,
}

/** Reads the fields of a segment. Throws `validation_failed` with all faults at once. */
export function parseSegment(body: unknown): SegmentFields {
  const { fields, faults } = inspect(SegmentInput, withoutOwner(body))
  const filters = isObject(body) ? body.filters : undefined
  refuseFaults(inDocumentOrder([...faults, ...(fields.filters ? filterFaults(filters) : [])], body))
  // Filters are stored as sent, not normalized, because they are compared with the values of events.
  return { name: fields.name!, scope: fields.scope ?? "personal", filters: filters as SegmentFilter[] }
}

/**
 * Adds the scope to the body of a client that knows only segments of the site. Throws `validation_failed` for a body that has one.
 */
export function siteWide(body: unknown): unknown {
  if (!isObject(body)) return body
  if ("scope" in body) refuseFaults([fault("/scope", "unknown_field", "does not exist")])
  return { ...body, scope: "site" }
}

/** Returns the faults of filters that are to be saved. */
function filterFaults(filters: unknown): Fault[] {
  const sets = setsIn(filters, "/filters")
  if (sets.length > 0) return sets.map((pointer) => fault(pointer, "unsupported_combination", "cannot be a segment or a cohort here"))
  return readFilterList(filters, "/filters", nothingSaved, { groups: true }).faults
}

/** Returns the pointers of the filters, also of those in groups, that name a segment or a cohort. */
function setsIn(filters: unknown, pointer: string): string[] {
  if (!Array.isArray(filters)) return []
  return filters.flatMap((filter, i) => {
    if (!isObject(filter)) return []
    const isOfSet = filter.dimension === "segment" || filter.dimension === "cohort"
    return isOfSet ? [`${pointer}/${i}/dimension`] : setsIn(filter.any, `${pointer}/${i}/any`)
  })
}

/** Removes the owner, which the server sets and clients may send back. */
function withoutOwner(body: unknown): unknown {
  if (!isObject(body)) return body
  const { owner: _, ...rest } = body
  return rest
}
