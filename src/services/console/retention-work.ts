import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { Audit } from "../audit.ts"
import type { DataHooks } from "../data-hooks.ts"
import type { Exclusive } from "../exclusive.ts"
import type { JobWork } from "../job-kinds.ts"
import type { Sites } from "../sites.ts"
import { type Cutoff, midnightOf } from "./retention-cutoffs.ts"

/** What a removal has before it and behind it. */
export interface RemovalPayload {
  cutoffs: Cutoff[]
  actor: Actor
  /** How many of them are done, and what went. */
  done?: number
  visits?: number
}
type Work = Pick<JobWork<RemovalPayload>, "payload" | "signal" | "progress" | "save">

interface RemovalTerms {
  events: Pick<EventStore, "retain" | "checkpoint">
  exclusive: Exclusive
  sites: Pick<Sites, "get">
  clock: Pick<Clock, "now">
  audit: Pick<Audit, "writeAlone">
  hooks(): DataHooks
}

/** Site after site; what was cut off goes on where it was. Each site leaves a row in the log before and after. */
export async function removeOld(
  { events, exclusive, sites, clock, audit, hooks }: RemovalTerms,
  { payload, signal, progress, save }: Work,
): Promise<number> {
  const { cutoffs, actor } = payload
  let { done = 0, visits = 0 } = payload
  for (; done < cutoffs.length; done++) {
    if (signal.aborted) return visits
    const { site_id, day } = cutoffs[done]!
    progress({ phase: "removing", done, total: cutoffs.length })
    const site = await sites.get(site_id).catch(() => undefined)
    if (site) {
      const about = { target: { type: "site", id: site_id, label: site.name }, organizationId: site.organization_id, siteId: site_id }
      await audit.writeAlone(actor, { action: "admin.retention.begin", ...about, changes: { cutoff: [null, day] } })
      const removed = await exclusive.run(async () => {
        const went = await events.retain(site_id, midnightOf(site, day), clock.now())
        if (went > 0) events.checkpoint("truncate")
        return { visits: went, ...(await hooks().onRetention(site_id, day)) }
      })
      visits += removed.visits
      const changes = Object.fromEntries(Object.entries(removed).map(([what, rows]) => [what, [rows, 0] as const]))
      await audit.writeAlone(actor, { action: "admin.retention.end", ...about, changes })
    }
    await save({ cutoffs, actor, done: done + 1, visits })
  }
  progress({ phase: "done", done: cutoffs.length, total: cutoffs.length })
  return visits
}
