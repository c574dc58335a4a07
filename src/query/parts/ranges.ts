import type { Range } from "../../domain/query.ts"
import type { Part } from "../../store/events/part.ts"

/** The instant that decides whether a row is in a range, and its time bucket: its own, or the start of its visit (metrics.md 5.1). */
export type Clock = "event" | "visit"

/** Returns whether a part can contain data of a range. A visit that starts in the range has its first event there. */
export const touches = ({ events, minAt, maxAt }: Part, { from, to }: Range): boolean => events > 0 && maxAt >= from && minAt < to

/** Returns parts of which as many as possible are inside a range as a whole. They have all visits of the given ones that it touches. */
export const cutToRange = (parts: readonly Part[], range: Range): Part[] =>
  parts.flatMap((part) => (part.within && !(isInside(part, range, "event") && isInside(part, range, "visit")) ? part.within(range) : part))

/** Returns whether all rows of a part are in a range. */
export function isInside({ minAt, maxAt, minStart, maxStart }: Part, { from, to }: Range, clock: Clock): boolean {
  return clock === "event" ? minAt >= from && maxAt < to : minStart >= from && maxStart < to
}
