import type { DropReason } from "../domain/event.ts"
import type { Site } from "../domain/site.ts"
import { agentOf } from "./agent.ts"
import { sampleOf } from "./candidate.ts"
import type { Draft, Drop } from "./draft.ts"
import type { DropNote } from "./drop-tally.ts"
import type { Intake } from "./intake.ts"
import { setAgent, setPage } from "./steps/values.ts"
import { oneLine } from "./text.ts"
import type { Target } from "./which-site.ts"

const SENT_CHARS = 200
/** Counts that belong to no site go by UTC, as the instance has no zone. */
const utcDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** An event of no known site: counted for the instance, under what was sent to name one. */
export const noteWithoutSite = (reason: "unknown_site" | "invalid", sent: string, now: number): DropNote => ({
  siteId: 0,
  day: utcDay(now),
  reason,
  entry: oneLine(sent, SENT_CHARS) || "(none)",
})

/** An event that was refused before the pipeline. */
export const noteEarly = (
  reason: DropReason,
  site: Site,
  { day, at, hostname, userAgent }: { day: string; at: number; hostname: string; userAgent: string },
): DropNote => ({
  siteId: site.id,
  day,
  reason,
  sample: { at, reason, hostname, page: "", browser: agentOf(userAgent).browser, country: "" },
})

/** An event that was refused as invalid: for the first site that is named and known, else for the instance. */
export function noteInvalid({ calendar }: Pick<Intake, "calendar">, targets: readonly Target[], userAgent: string, now: number): DropNote {
  const site = targets.find((target) => target.site)?.site
  if (!site) return noteWithoutSite("invalid", targets.map(({ sent }) => sent).join(","), now)
  return noteEarly("invalid", site, { day: calendar.day(site, now), at: now, hostname: "", userAgent })
}

/** An event a step dropped. Its owner is shown the page and the browser also when the step came before they were set. */
export function noteFrom(draft: Draft, { dropped, entry }: Drop, day: string): DropNote {
  setAgent(draft)
  setPage(draft)
  const sample = sampleOf(dropped, draft)
  return { siteId: draft.site.id, day, reason: dropped, sample, ...(entry !== undefined && { entry }) }
}
