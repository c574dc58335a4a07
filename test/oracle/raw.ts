import type { NewEvent } from "../../src/domain/event.ts"
import type { VisitorKind, VisitTraits } from "../../src/domain/visit.ts"

/** A visit with all its events in order of (time, sequence), from which the oracle recomputes results. */
export interface RawVisit {
  /** Any text that distinguishes the visitors of a site. */
  visitor: string
  kind: VisitorKind
  /** Sequence of the first event; orders visits with equal times. */
  sequence: number
  importId: number
  traits: VisitTraits
  events: readonly NewEvent[]
}

export const startOf = ({ events }: RawVisit): number => events[0]!.at
export const isCounted = ({ name }: NewEvent): boolean => name !== "engagement" && name !== "vitals"
export const counted = ({ events }: RawVisit): NewEvent[] => events.filter(isCounted)
export const pageviews = ({ events }: RawVisit): NewEvent[] => events.filter(({ name }) => name === "pageview")
/** Returns the interactive custom events. */
export const interactions = (visit: RawVisit): NewEvent[] =>
  counted(visit).filter(({ name, interactive }) => name !== "pageview" && interactive)
/** `last_at` − `started_at`. */
export const durationOf = (visit: RawVisit): number => Math.max(...counted(visit).map(({ at }) => at)) - startOf(visit)
export const engagedMs = ({ events }: RawVisit): number => events.reduce((sum, { engagement }) => sum + (engagement?.engagedMs ?? 0), 0)

/** `entry` and `exit` return the page or host of the first and of the latest pageview; "" without one. */
export const entry = (visit: RawVisit, what: "page" | "hostname"): string => pageviews(visit)[0]?.[what] ?? ""
export const exit = (visit: RawVisit, what: "page" | "hostname"): string => pageviews(visit).at(-1)?.[what] ?? ""

/** Reports a bounce: at most one pageview, no interactive custom event, and less engaged time than the site requires. */
export function isBounce(visit: RawVisit, bounceEngagedSeconds: number): boolean {
  const engaged = bounceEngagedSeconds > 0 && engagedMs(visit) >= bounceEngagedSeconds * 1000
  return pageviews(visit).length <= 1 && interactions(visit).length === 0 && !engaged
}
