import { type Range, ROTATING_DAYS, type Site } from "#plugin"
import type { RevenueSettings } from "../settings.ts"
import type { ReportResponse } from "./responses.ts"

/**
 * Returns for how many days before a sale its visits can be credited, and why that is less than the settings ask for. A visitor is
 * recognized as long as their id allows, so the shortest kind among the transactions decides.
 */
export function lookbackOf(
  { settings, identity_history }: Site,
  { lookbackDays: asked }: RevenueSettings,
  visitorKinds: ReadonlySet<string>,
  { from, to }: Range,
): ReportResponse["attribution"]["lookback"] {
  const modes = identity_history
    .filter((change, i) => change.from < to && (identity_history[i + 1]?.from ?? Number.POSITIVE_INFINITY) > from)
    .map(({ identity_mode }) => identity_mode)
  const rotating = Math.min(
    ...[...new Set([...modes, ...(modes.length === 0 ? [settings.identity_mode] : [])])].map((mode) => ROTATING_DAYS[mode]),
  )
  const isRotating =
    visitorKinds.has("rotating") ||
    (visitorKinds.size === 0 && settings.identity_mode !== "identified" && settings.identity_mode !== "persistent")
  const isDevice = visitorKinds.has("device") || (visitorKinds.size === 0 && settings.identity_mode === "persistent")
  if (isRotating && rotating < asked) return { asked, effective: rotating, reason: "rotating_visitor_ids" }
  if (isDevice && settings.persistent_days < asked) return { asked, effective: settings.persistent_days, reason: "expiring_device_ids" }
  return { asked, effective: asked }
}
