import type { Clock } from "../../domain/clock.ts"
import { dayNumber, type VisibleImport } from "../../domain/imported.ts"
import { THINGS } from "../../domain/limits.ts"
import { instantText } from "../../domain/moment.ts"
import type { Site } from "../../domain/site.ts"
import type { RetentionPreview } from "../../domain/site-response.ts"
import type { Engine } from "../../query/engine/engine.ts"
import { ArgumentReader, refuseArguments } from "../../query/parse/arguments.ts"
import { dayStart, today } from "../../query/parse/period.ts"
import type { Goals } from "../definitions/goals.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import { callerOf, siteFacts } from "../stats/open-report.ts"

export interface RetentionPreviews {
  /** Computes a preview for `days`, an argument of a query string. Throws `invalid_query`. */
  of(site: Site, given: Record<string, unknown>, signal?: AbortSignal): Promise<RetentionPreview>
}

interface RetentionPreviewsOptions {
  engine: Pick<Engine, "visitsWeight">
  goals: Pick<Goals, "rules">
  imports: Pick<VisibleImports, "of">
  clock: Pick<Clock, "now">
}

export const createRetentionPreviews = ({ engine, goals, imports, clock }: RetentionPreviewsOptions): RetentionPreviews => ({
  async of(site, given, signal) {
    const days = readDays(given)
    const now = clock.now()
    const day = today({ now, timezone: site.timezone })
    const cutoff = day.subtract({ days })
    const range = { from: 0, to: dayStart(cutoff, site.timezone) }
    const facts = siteFacts(site, goals.rules(site.id))
    const weight = await engine.visitsWeight({ site: facts, range }, callerOf(site, signal ? { signal } : {}))
    // Retention runs once per local day, after midnight. For a site that kept everything so far it has not run today.
    const first = site.retention_days === null ? now : dayStart(day.add({ days: 1 }), site.timezone)
    const importedDays = daysBefore(imports.of(site.id), dayNumber(cutoff.toString()))
    return {
      cutoff_day: cutoff.toString(),
      ...weight,
      ...(importedDays > 0 && { imported_days: importedDays }),
      first_run_at: instantText(first),
    }
  },
})

/** Counts the effective days of imports before a day, each once. */
function daysBefore(imports: readonly VisibleImport[], cutoff: number): number {
  const spans = imports.flatMap(({ days }) => days).sort((a, b) => a.first - b.first)
  let [count, next] = [0, 0]
  for (const { first, last } of spans) {
    const [from, to] = [Math.max(first, next), Math.min(last + 1, cutoff)]
    if (from >= to) continue
    count += to - from
    next = to
  }
  return count
}

function readDays(given: Record<string, unknown>): number {
  const reader = new ArgumentReader(given, ["days"])
  const days = reader.integer("days", THINGS.retentionDays)
  if (!reader.has("days")) reader.refuse({ pointer: "/days", code: "required", detail: "The number of days is required." })
  refuseArguments(reader, "text")
  return days! // undefined only when there are faults, which were thrown above
}
