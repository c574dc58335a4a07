import { RECORD_KINDS, type RecordKind } from "../../../domain/record.ts"

/** The kinds of segments: visits with their events, or records of an area, each stored as a visit with one event. */
export type SegmentKind = "visits" | RecordKind
export const SEGMENT_KINDS: readonly SegmentKind[] = ["visits", ...RECORD_KINDS]

/** Distance between the lanes of a site, larger than any site id. */
const STEP = 2 ** 44

// The cast holds because every kind has an entry.
const OFFSETS = Object.fromEntries(SEGMENT_KINDS.map((kind, index) => [kind, STEP * index])) as Record<SegmentKind, number>

/**
 * Returns the lane of a site and kind: the number by which the log and the tails separate visits and records. The lane of visits is
 * the site's id; the others are larger than any id. Dictionaries, visitors and event ids belong to the site and are shared by its lanes.
 */
export const laneOf = (siteId: number, kind: SegmentKind): number => siteId + OFFSETS[kind]

export const siteOfLane = (lane: number): number => lane % STEP

export const kindOfLane = (lane: number): SegmentKind => SEGMENT_KINDS[Math.floor(lane / STEP)]!

export const lanesOf = (siteId: number): number[] => SEGMENT_KINDS.map((kind) => laneOf(siteId, kind))
