import { RECORD_KINDS, type RecordKind } from "../../../domain/record.ts"

/** Kinds of segments whose rows are visits with their events; a record is a visit of one event. */
export type SegmentKind = "visits" | RecordKind
export const SEGMENT_KINDS: readonly SegmentKind[] = ["visits", ...RECORD_KINDS]

/** Above every id of a site. */
const STEP = 2 ** 44

// One entry a kind, which the type of `fromEntries` cannot tell.
const OFFSETS = Object.fromEntries(SEGMENT_KINDS.map((kind, index) => [kind, STEP * index])) as Record<SegmentKind, number>

/**
 * The log and the tails know one number of whatever they keep apart: a lane. That of a site's visits is the site's id, those of
 * its records lie beyond all ids. Dictionaries, visitors and event ids are the site's own in every lane.
 */
export const laneOf = (siteId: number, kind: SegmentKind): number => siteId + OFFSETS[kind]

export const siteOfLane = (lane: number): number => lane % STEP

export const kindOfLane = (lane: number): SegmentKind => SEGMENT_KINDS[Math.floor(lane / STEP)]!

export const lanesOf = (siteId: number): number[] => SEGMENT_KINDS.map((kind) => laneOf(siteId, kind))
