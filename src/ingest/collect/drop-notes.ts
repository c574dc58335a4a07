import type { DropReason } from "../../domain/event.ts"
import type { HostDispute } from "../../domain/host.ts"
import type { Site } from "../../domain/site.ts"
import type { DropNote } from "../commit/outcomes.ts"
import type { Outcome } from "../draft.ts"
import { agentOf } from "../request/agent.ts"
import { oneLine } from "../request/text.ts"
import type { Intake } from "./intake.ts"
import type { Target } from "./which-site.ts"

const SENT_CHARS = 200
/** Returns the UTC day, by which counts without a site are kept, because the instance has no zone. */
const utcDay = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Returns the note of an event of an unknown site. It is counted for the instance, under the name that was sent. */
export const noteWithoutSite = (reason: "unknown_site" | "invalid", sent: string, now: number): DropNote => ({
  siteId: 0,
  day: utcDay(now),
  reason,
  entry: oneLine(sent, SENT_CHARS) || "(none)",
})

/** Returns the outcome of an event of an unknown site, or of a host in dispute. */
export function notesWithoutSite(
  intake: Pick<Intake, "calendar">,
  { sent, dispute }: Target,
  { now, hostname }: { now: number; hostname: string },
): Outcome {
  if (dispute) return notesOfDispute(intake, dispute, now)
  return { reason: "unknown_site", notes: [{ ...noteWithoutSite("unknown_site", sent, now), hostname }] }
}

/**
 * Returns the outcome of an event from a host that several organizations claim. It is counted for the instance and for one site of
 * each organization. The samples contain only the host, because the page may belong to another organization.
 */
function notesOfDispute({ calendar }: Pick<Intake, "calendar">, { host, claims }: HostDispute, now: number): Outcome {
  const reason = "host_disputed"
  const sites = [...Map.groupBy(claims, ({ site }) => site.organization_id).values()].map(([first]) => first!.site)
  const note: DropNote = { siteId: 0, day: utcDay(now), reason, entry: host }
  const others = sites.map((site): DropNote => {
    const sample = { at: now, reason, hostname: host, page: "", browser: "", country: "" } as const
    return { siteId: site.id, day: calendar.day(site, now), reason, entry: host, sample }
  })
  return { reason, notes: [note, ...others] }
}

/** Returns the note of an event that was refused before the pipeline. */
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

/** Returns the note of an invalid event, for the first named site that exists, otherwise for the instance. */
export function noteInvalid({ calendar }: Pick<Intake, "calendar">, targets: readonly Target[], userAgent: string, now: number): DropNote {
  const site = targets.find((target) => target.site)?.site
  if (!site) return noteWithoutSite("invalid", targets.map(({ sent }) => sent).join(","), now)
  return noteEarly("invalid", site, { day: calendar.day(site, now), at: now, hostname: "", userAgent })
}
