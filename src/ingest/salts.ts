import type { IdentityMode } from "../domain/visit.ts"

/** Random salts by site and period, kept sealed in the catalog and destroyed when their time is over (metrics.md 2.2). */
export interface Salts {
  /** 32 bytes, at once when they are in memory; made at first use. */
  get(siteId: number, period: string): Uint8Array | Promise<Uint8Array>
}

/** The sites' identity keys, sealed in the catalog: the key of person keys (metrics.md 2.3). */
export interface IdentityKeys {
  identityKey(siteId: number): Uint8Array | Promise<Uint8Array>
}

/** A site's local day, ISO week or month: as long as a rotating id lives. Half-open, epoch ms. */
export interface Period {
  /** `2026-11-21`, `2026-W47` or `2026-11`. */
  name: string
  from: number
  to: number
  /** When its salt is destroyed. */
  expiresAt: number
}

const HOUR = 3_600_000

/** The period of a moment, by the site's zone and not by UTC. */
export function periodOf(mode: IdentityMode, timezone: string, at: number): Period {
  const day = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).toPlainDate()
  if (mode === "weekly") return weekOf(day, timezone)
  if (mode === "monthly") return monthOf(day, timezone)
  const from = startOf(day, timezone)
  return { name: day.toString(), from, to: startOf(day.add({ days: 1 }), timezone), expiresAt: from + 48 * HOUR }
}

function weekOf(day: Temporal.PlainDate, timezone: string): Period {
  const monday = day.subtract({ days: day.dayOfWeek - 1 })
  const to = startOf(monday.add({ days: 7 }), timezone)
  const name = `${day.yearOfWeek}-W${String(day.weekOfYear).padStart(2, "0")}`
  return { name, from: startOf(monday, timezone), to, expiresAt: to + 24 * HOUR }
}

function monthOf(day: Temporal.PlainDate, timezone: string): Period {
  const first = day.with({ day: 1 })
  const to = startOf(first.add({ months: 1 }), timezone)
  return { name: first.toString().slice(0, 7), from: startOf(first, timezone), to, expiresAt: to + 24 * HOUR }
}

/** The first instant of a local day, also where midnight does not exist. */
const startOf = (day: Temporal.PlainDate, timezone: string): number => day.toZonedDateTime(timezone).epochMilliseconds
