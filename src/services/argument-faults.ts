import { AppError, type Fault } from "../domain/error.ts"
import { DEFAULT_SETTINGS } from "../domain/site.ts"
import { parseQuestion, parseRealtime } from "../query/parse.ts"
import { funnelAsked, splitFunnel } from "./funnel-report.ts"
import type { Stats } from "./stats.ts"

/**
 * What is wrong with the arguments of a report whatever its site, in JSON form: for callers that could not name one. It is
 * judged as for a site with the usual settings, in UTC.
 */
export function argumentFaults(report: keyof Stats, given: Record<string, unknown>, now: number): readonly Fault[] {
  if (report === "realtime") return faultsOf(() => parseRealtime(given, "json"))
  const moment = { now, timezone: "UTC" }
  if (report !== "funnel") return faultsOf(() => parseQuestion(report, given, moment, "json", ANY_SAVED))
  const { asked, ranged } = splitFunnel(given)
  const parsers = [
    () => funnelAsked(asked, { settings: DEFAULT_SETTINGS }, []),
    () => parseQuestion(report, ranged, moment, "json", ANY_SAVED),
  ]
  return parsers.flatMap(faultsOf)
}

/** Which segments there are hangs on the site. */
const ANY_SAVED = { saved: () => ({ op: "and", filters: [] }) as const }

function faultsOf(parse: () => unknown): readonly Fault[] {
  try {
    parse()
    return []
  } catch (error) {
    // A saved funnel cannot be found without its site; that is no fault of form.
    if (error instanceof AppError) return error.members.errors ?? []
    throw error
  }
}
