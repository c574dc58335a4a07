import type { Site } from "../domain/site.ts"
import type { InstanceSettings } from "./instance-settings.ts"

/** For how long events of a site are kept; null: for ever. */
export const keptDays = (site: Pick<Site, "retention_days">, settings: Pick<InstanceSettings, "get">): number | null =>
  site.retention_days ?? settings.get("default_retention_days")

/** The first local day that is kept whole. */
export function cutoffDay(site: Pick<Site, "timezone">, days: number, at: number): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(site.timezone).toPlainDate().subtract({ days })
}
