import { type Filter, siteFacts } from "#plugin"
import type { LinksHost, Site } from "../link.ts"

/** A goal, and the visits that met it after a click. */
export interface Conversion {
  goal_id: number
  name: string
  visits: number
  visitors: number
}

interface Asked {
  site: Site
  goals: ReturnType<LinksHost["services"]["goals"]["rules"]>
  /** Clicks of people on the link. */
  filter: Filter
  range: { from: number; to: number }
  signal: AbortSignal
}

/** Whoever is known for a day at most is followed for that long. */
const AFTER_CLICK_MS = 30 * 60_000

/**
 * Visits by the visitor of a click that start within half an hour after it and meet a goal; of visitors who are known for longer,
 * within the range. Only visits that meet a goal are read.
 */
export async function conversionsOf({ engine }: LinksHost, { site, goals, filter, range, signal }: Asked): Promise<Conversion[]> {
  const facts = siteFacts(site, goals)
  const caller = { organizationId: site.organization_id, signal }
  const clicks = new Map<number, number[]>()
  for await (const batch of engine.rows({ site: facts, records: "clicks", range, filter }, caller))
    for (const { visitor, started_at } of batch) clicks.set(visitor, [...(clicks.get(visitor) ?? []), started_at])
  const found: Conversion[] = []
  for (const { id, name } of goals) {
    const visitors = new Set<number>()
    let visits = 0
    const meets: Filter = { op: "is", dimension: "goal", values: [name], missing: false, caseSensitive: true }
    const query = { site: facts, range: { from: range.from, to: range.to + AFTER_CLICK_MS }, filter: meets }
    if (clicks.size > 0)
      for await (const batch of engine.rows(query, caller))
        for (const { visitor, visitor_kind, started_at } of batch) {
          const isLong = visitor_kind !== "rotating"
          const follows = (at: number) => at <= started_at && started_at <= (isLong ? range.to : at + AFTER_CLICK_MS)
          if (!(clicks.get(visitor) ?? []).some(follows)) continue
          visits++
          visitors.add(visitor)
        }
    found.push({ goal_id: id, name, visits, visitors: visitors.size })
  }
  return found
}
