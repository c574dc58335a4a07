import type { Clock } from "../domain/clock.ts"
import { AppError, type Fault, refuseFaults } from "../domain/error.ts"
import type { Filter } from "../domain/filter.ts"
import { THINGS } from "../domain/limits.ts"
import { type KeptFilter, type Segment, type SegmentFields, SegmentInput, segmentNotFound } from "../domain/segment.ts"
import { fault, inDocumentOrder, inspect, isObject, mergedWith } from "../domain/shape.ts"
import type { Site } from "../domain/site.ts"
import { readFilterList } from "../query/flat-filters.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import {
  countSegments,
  deleteSegment,
  insertSegment,
  listAllSegments,
  listSegments,
  segmentById,
  updateSegment,
} from "../store/catalog/segments.ts"
import type { SavedOf } from "./open-report.ts"
import { createSiteLists } from "./site-lists.ts"
import type { SiteThings, Terms } from "./site-things.ts"
import { inSlices } from "./slices.ts"
import { createViewedThings, type ViewedKind, type Viewer } from "./viewed-things.ts"

/** Something that filters by a segment, as a refusal names it. */
export interface SegmentUse {
  type: string
  id: number
  name: string
}
export type SegmentUses = (site: Site, segmentId: number) => Promise<SegmentUse[]>

/** Saved filters of a site as one person sees them. */
export interface ViewedSegments extends Omit<SiteThings<Segment>, "remove"> {
  /** Throws `segment_in_use` with `used_by`, unless it is forced: what filters by it then shows nothing. */
  remove(site: Site, id: string | number | undefined, terms?: Terms<Segment> & { force?: boolean }): Promise<void>
}

export interface Segments {
  of(viewer: Viewer): ViewedSegments
  /** For the parsers of questions: from memory, always exact. */
  saved: SavedOf
  /** Asks for users of segments elsewhere, too. */
  askAlso(uses: SegmentUses): void
}

export async function createSegments({ catalog, clock }: { catalog: Catalog; clock: Pick<Clock, "now"> }): Promise<Segments> {
  const kept = createSiteLists(await inSlices((slice) => listAllSegments(catalog, slice)))
  const viewed = createViewedThings(SEGMENTS, { catalog, clock, kept })
  const asked: SegmentUses[] = []

  return {
    askAlso: (uses) => void asked.push(uses),
    saved: (site, userId) => (kind, id) => {
      const segment = kind === "segment" ? kept.of(site.id).find((each) => each.id === id) : undefined
      const isVisible = segment && (segment.scope === "site" || segment.owner_user_id === userId)
      return isVisible ? filterOf(segment) : undefined
    },
    of(viewer) {
      const things = viewed(viewer)
      return {
        ...things,
        async remove(site, id, { force = false, ...terms } = {}) {
          const segment = await things.get(site, id)
          const used = force ? [] : (await Promise.all(asked.map((uses) => uses(site, segment.id)))).flat()
          if (used.length > 0) throw new AppError("segment_in_use", "Other things filter by this segment.", { used_by: used })
          await things.remove(site, id, terms)
        },
      }
    },
  }
}

const made = new WeakMap<Segment, Filter>()

/** The tree that a segment stands for. Its filters were judged when they were saved. */
function filterOf(segment: Segment): Filter {
  const known = made.get(segment)
  if (known) return known
  const filter: Filter = readFilterList(segment.filters, "", nothingSaved).filter ?? { op: "and", filters: [] }
  made.set(segment, filter)
  return filter
}

/** A segment holds no other one: then none can hold itself. */
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

/** Throws `validation_failed` with all faults at once. */
function parseSegment(body: unknown): SegmentFields {
  const { fields, faults } = inspect(SegmentInput, withoutOwner(body))
  const filters = isObject(body) ? body.filters : undefined
  refuseFaults(inDocumentOrder([...faults, ...(fields.filters ? filterFaults(filters) : [])], body))
  // Kept as they were sent, not tidied: they are compared with what events hold.
  return { name: fields.name!, scope: fields.scope ?? "personal", filters: filters as KeptFilter[] }
}

/** What is wrong with filters that are about to be kept. */
function filterFaults(filters: unknown): Fault[] {
  const sets = Array.isArray(filters) ? filters.flatMap((filter, i) => (isOfSet(filter) ? [`/filters/${i}/dimension`] : [])) : []
  if (sets.length > 0) return sets.map((pointer) => fault(pointer, "unsupported_combination", "cannot be a segment or a cohort here"))
  return readFilterList(filters, "/filters", nothingSaved).faults
}

const isOfSet = (filter: unknown): boolean => isObject(filter) && (filter.dimension === "segment" || filter.dimension === "cohort")

/** Set by the server; sent back by who got it from us. */
function withoutOwner(body: unknown): unknown {
  if (!isObject(body)) return body
  const { owner: _, ...rest } = body
  return rest
}
