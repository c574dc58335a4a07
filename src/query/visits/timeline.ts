import { ENGAGEMENT, PAGEVIEW } from "../../domain/dimension.ts"
import type { TimelineEvent, VisitQuery, VisitTimeline } from "../../domain/visit-list.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { compileGoals } from "../filter/goals.ts"
import { isCounted } from "../filter/masks.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { type EventRow, eventReader, eventsOf, textsOf } from "../rows/rows.ts"
import { goalReader, listedVisitReader } from "./listed-visit.ts"
import { recordedParts } from "./visits.ts"

/** Returns a recorded visit with a page of its events, or undefined if there is no such visit. */
export function visitTimeline(snapshot: Snapshot, query: VisitQuery, check: () => void): VisitTimeline | undefined {
  for (const part of recordedParts(snapshot)) {
    check()
    const row = part.sequences().indexOf(query.sequence)
    if (row >= 0) return timelineOf(snapshot, query, orderedPart(part), row)
  }
  return undefined
}

function timelineOf(snapshot: Snapshot, { site, offset, limit }: VisitQuery, part: Part, row: number): VisitTimeline {
  const texts = textsOf(snapshot)
  const goals = compileGoals(snapshot, site.goals)
  const visit = listedVisitReader(texts, part, goals, snapshot.visitors)(row)
  const event = eventReader(texts, part)
  const goalsIn = goalReader(part, goals)
  const moments = momentsOf(part, row)
  const page = moments.slice(offset, offset + limit)
  return {
    visit,
    events: page.map(({ at, reports }) => {
      // A report that reaches a scroll goal completes it.
      const completed = [at, ...reports].flatMap((one) => goalsIn({ from: one, to: one + 1 }))
      return shownEvent(
        event(at),
        reports.map(event),
        [...new Set(completed)].sort((a, b) => a - b),
      )
    }),
    hasMore: offset + page.length < moments.length,
  }
}

/** A pageview or custom event by its row, with the engagement reports of its page. */
interface Moment {
  at: number
  page: number
  reports: number[]
}

/** Returns the counted events of a visit. An engagement report belongs to the last pageview of its page before it. */
function momentsOf(part: Part, row: number): Moment[] {
  const [name, pages] = [part.event("name"), part.event("page")]
  const { from, to } = eventsOf(part, row)
  const moments: Moment[] = []
  const viewed = new Map<number, Moment>()
  for (let at = from; at < to; at++) {
    const page = pages[at]!
    if (name[at] === ENGAGEMENT) viewed.get(page)?.reports.push(at)
    else if (isCounted(name[at]!) === 1) {
      const moment = { at, page, reports: [] }
      moments.push(moment)
      if (name[at] === PAGEVIEW) viewed.set(page, moment)
    }
  }
  return moments
}

function shownEvent({ at, name, page, hostname, title, props, revenue }: EventRow, reports: EventRow[], goals: number[]): TimelineEvent {
  const engagement = reports.flatMap((report) => report.engagement ?? [])
  const depths = engagement.flatMap(({ scrollDepth }) => scrollDepth ?? [])
  return {
    at,
    name,
    page,
    hostname,
    title,
    props,
    ...(revenue && { revenue: { currency: revenue.currency, minor: revenue.amount } }),
    goals,
    ...(engagement.length > 0 && { engagedMs: engagement.reduce((sum, { engagedMs }) => sum + engagedMs, 0) }),
    ...(depths.length > 0 && { scrollDepth: Math.max(...depths) }),
  }
}
