import { type Filter, type Site, siteFacts } from "#plugin"
import type { LinksHost } from "../link.ts"

/** A goal with the visits that completed it after a click. */
export interface Conversion {
  goal_id: number
  name: string
  visits: number
  visitors: number
}

interface ConversionOptions {
  site: Site
  goals: ReturnType<LinksHost["services"]["goals"]["rules"]>
  /** Selects the clicks of people on the link. */
  filter: Filter
  range: { from: number; to: number }
  signal: AbortSignal
}

/** Time after a click in which a visit of a visitor with a rotating identity counts. */
const AFTER_CLICK_MS = 30 * 60_000

/**
 * Counts the visits that complete a goal and start within 30 minutes after a click of the same visitor; for visitors with a longer
 * identity, within the range. Reads only visits that complete a goal.
 */
export async function conversionsOf(
  { engine }: LinksHost,
  { site, goals, filter, range, signal }: ConversionOptions,
): Promise<Conversion[]> {
  const facts = siteFacts(site, goals)
  const caller = { organizationId: site.organization_id, signal }
  const clicks = new Map<number, number[]>()
  for await (const batch of engine.rows({ site: facts, records: "clicks", range, filter }, caller))
    for (const { visitor, started_at } of batch) clicks.set(visitor, [...(clicks.get(visitor) ?? []), started_at])
  const found: Conversion[] = []
  for (const { id, name } of goals) {
    const visitors = new Set<number>()
    let visits = 0
    const completes: Filter = { op: "is", dimension: "goal", values: [name], missing: false, caseSensitive: true }
    const query = { site: facts, range: { from: range.from, to: range.to + AFTER_CLICK_MS }, filter: completes }
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
