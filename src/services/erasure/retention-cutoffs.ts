import { Type as t } from "@sinclair/typebox"
import type { Clock } from "../../domain/clock.ts"
import { type Fault, refuseFaults } from "../../domain/error.ts"
import { THINGS } from "../../domain/limits.ts"
import { parseDay, parseInstant } from "../../domain/moment.ts"
import { fault, inDocumentOrder, inspect } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { Sites } from "../sites/sites.ts"

const { min: minimum, max: maximum } = THINGS.retentionDays
/** Number of days that events are kept. */
export const Days = t.Integer({ minimum, maximum })
export const DaysOrNull = t.Union([Days, t.Null()])
export const SiteId = t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const RetentionRunInput = t.Object(
  {
    site_id: t.Optional(SiteId),
    retention_days: t.Optional(Days),
    at: t.Optional(t.String({ minLength: 20, maxLength: 40, description: "Value of `at` in a preview, for the same cutoffs." })),
  },
  { additionalProperties: false, title: "RetentionRunInput" },
)

const PurgeInput = t.Object(
  {
    before: t.String({ minLength: 10, maxLength: 10, description: "Day, not after today. Visits that started before it are removed." }),
    dry_run: t.Optional(t.Boolean()),
  },
  { additionalProperties: false, title: "PurgeInput" },
)

/** The local day of a site before which visits are removed. */
export interface Cutoff {
  site_id: number
  /** Such as `2026-11-21`. Visits that started before its midnight are removed. */
  day: string
}

export interface SiteCutoff extends Cutoff {
  site: Site
}

interface CutoffTerms {
  clock: Pick<Clock, "now">
  sites: Pick<Sites, "get">
  allSites(): Promise<readonly Site[]>
  settings: Pick<InstanceSettings, "get">
}

const DAY_MS = 86_400_000

/** Returns the start of a local day of the site. */
export const midnightOf = ({ timezone }: Pick<Site, "timezone">, day: string): number =>
  Temporal.PlainDate.from(day).toZonedDateTime(timezone).epochMilliseconds

/** Reads the cutoffs that a body requests. Without a number of days the retention of each site applies. */
export async function readCutoffs(terms: CutoffTerms, body: unknown): Promise<{ at: number; cutoffs: SiteCutoff[] }> {
  const { clock, sites, settings } = terms
  const { fields, faults } = inspect(RetentionRunInput, body, "", [])
  const at = fields.at === undefined ? clock.now() : parseInstant(fields.at)
  const isInvalid = at === undefined || at > clock.now() || at < clock.now() - DAY_MS
  const wrong = isInvalid ? [fault("/at", "out_of_range", "must be the time of a preview within the last day")] : []
  refuseFaults(inDocumentOrder([...faults, ...wrong], body))
  const chosen = fields.site_id === undefined ? await terms.allSites() : [await sites.get(fields.site_id)]
  const cutoffs = chosen.flatMap((site) => {
    const days = fields.retention_days ?? retentionDays(site, settings)
    return days === null ? [] : [{ site, site_id: site.id, day: cutoffDay(site, days, at!).toString() }] // checked above
  })
  return { at: at!, cutoffs }
}

/** Reads the cutoff at the day that a body names. */
export function cutoffOf(site: Site, body: unknown, now: number): SiteCutoff[] {
  const { fields, faults } = inspect(PurgeInput, body)
  const day = fields.before === undefined ? undefined : parseDay(fields.before)
  const wrong = fields.before === undefined ? [] : dayFaults(day, cutoffDay(site, 0, now))
  refuseFaults(inDocumentOrder([...faults, ...wrong], body))
  return [{ site, site_id: site.id, day: day!.toString() }] // checked above
}

/** Refuses invalid days and days in the future, which are typing mistakes and would remove current visits. */
function dayFaults(day: Temporal.PlainDate | undefined, today: Temporal.PlainDate): Fault[] {
  if (!day) return [fault("/before", "invalid_date", "must be a calendar date")]
  const isToCome = Temporal.PlainDate.compare(day, today) > 0
  return isToCome ? [fault("/before", "out_of_range", `must be ${today} or earlier`)] : []
}

/** Returns the number of days that events of a site are kept. Null means forever. */
export const retentionDays = (site: Pick<Site, "retention_days">, settings: Pick<InstanceSettings, "get">): number | null =>
  site.retention_days ?? settings.get("default_retention_days")

/** Returns the first local day that is kept. */
export function cutoffDay(site: Pick<Site, "timezone">, days: number, at: number): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(site.timezone).toPlainDate().subtract({ days })
}
