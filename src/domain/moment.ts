const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

/** Parses an RFC 3339 time with an offset. Returns epoch milliseconds, or undefined for anything else, including times that do not exist. */
export function parseInstant(text: string): number | undefined {
  if (!RFC_3339.test(text)) return undefined
  try {
    return Temporal.Instant.from(text.toUpperCase()).epochMilliseconds
  } catch {
    return undefined
  }
}

const LOCAL_TIME = /^\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/i

/**
 * Parses a local time such as `2026-11-20T08:00`. Returns epoch milliseconds, or undefined for anything else. Of a time that occurs
 * twice the first one counts, and a time that was skipped moves forward by the skipped hour.
 */
export function parseLocalTime(text: string, timezone: string): number | undefined {
  if (!LOCAL_TIME.test(text) || !parseDay(text.slice(0, 10))) return undefined
  return Temporal.PlainDateTime.from(text).toZonedDateTime(timezone).epochMilliseconds
}

/** Formats epoch milliseconds as RFC 3339 in UTC, in whole seconds. */
export const instantText = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z")

/** Formats a time in the same way, or returns null. Matches the schema `orNull(Instant)`. */
export const instantOrNull = (at: number | null): string | null => (at === null ? null : instantText(at))

const SPANS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const

/** Formats a duration in the largest unit of which it contains at least two: `51 hours`, `3 days`, `1 second`. */
export function spanText(ms: number): string {
  const [unit, length] = SPANS.find(([, length]) => ms >= 2 * length) ?? SPANS.at(-1)!
  const count = Math.floor(ms / length)
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

/** Formats the distance by which a clock was changed: `61 minutes forward`. */
export const jumpText = (ms: number): string => `${spanText(Math.abs(ms))} ${ms < 0 ? "back" : "forward"}`

/** Parses a calendar day such as `2026-11-21`. Returns undefined for anything else. */
export function parseDay(text: string): Temporal.PlainDate | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))]
  if (month < 1 || day < 1) return undefined
  const date = Temporal.PlainDate.from({ year, month, day }, { overflow: "constrain" })
  return date.toString() === text ? date : undefined
}

/** The format of a time zone name. `Intl` also accepts offsets, and other runtimes accept still more. */
const ZONE = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/

/** Parses an IANA time zone. Returns it in canonical case without resolving aliases (`europe/kiev` is `Europe/Kiev`), or undefined. */
export function parseTimezone(text: string): string | undefined {
  if (!ZONE.test(text)) return undefined
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}
