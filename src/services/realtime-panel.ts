import type { RealtimePanel } from "../domain/insight.ts"
import { QUERY } from "../domain/limits.ts"
import { instantText } from "../domain/moment.ts"
import type { Site } from "../domain/site.ts"
import { parseRealtime } from "../query/parse.ts"
import { shownValue } from "../query/result.ts"
import { type Asking, askerOf } from "./open-report.ts"
import { siteFacts } from "./report-facts.ts"
import { realtimeOf, type StatsOptions } from "./stats.ts"

/** What realtime says, with the last 30 minutes one by one and the last events. */
export async function realtimePanel(
  { engine, goals, clock }: StatsOptions,
  site: Site,
  given: Record<string, unknown>,
  asking: Asking = {},
): Promise<RealtimePanel> {
  const { limit } = parseRealtime(given, asking.form ?? "json")
  const now = clock.now()
  const { locked } = asking
  const facts = siteFacts(site, goals.rules(site.id))
  const query = { site: facts, now, limit, latest: QUERY.realtimeEvents, ...(locked && { filter: locked }) }
  const found = await engine.realtime(query, askerOf(site, asking))
  return {
    ...realtimeOf(site, now, found),
    minutes: found.minutes.map(({ from, ...counts }) => ({ time: instantText(from), ...counts })),
    events: (found.events ?? []).map(({ at, page, name, source, ...event }) => ({
      at: instantText(at),
      name: shownValue("event", name).value,
      page: shownValue("page", page || null).value,
      source: shownValue("source", source || null).value,
      ...event,
    })),
  }
}
