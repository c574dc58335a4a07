const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i

/** Epoch milliseconds of an RFC 3339 time with an offset; undefined for anything else, times that do not exist included. */
export function parseInstant(text: string): number | undefined {
  if (!RFC_3339.test(text)) return undefined
  try {
    return Temporal.Instant.from(text.toUpperCase()).epochMilliseconds
  } catch {
    return undefined
  }
}

/** RFC 3339 in UTC, to the second. */
export const instantText = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, "Z")

const SPANS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const

/** A length of time in the largest unit of which it has two or more whole ones: `51 hours`, `3 days`, `1 second`. */
export function spanText(ms: number): string {
  const [unit, length] = SPANS.find(([, length]) => ms >= 2 * length) ?? SPANS.at(-1)!
  const count = Math.floor(ms / length)
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}

/** By how much a clock was moved: `61 minutes forward`. */
export const jumpText = (ms: number): string => `${spanText(Math.abs(ms))} ${ms < 0 ? "back" : "forward"}`

/** A calendar day written `2026-11-21`, or undefined for anything else. */
export function parseDay(text: string): Temporal.PlainDate | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))]
  if (month < 1 || day < 1) return undefined
  const date = Temporal.PlainDate.from({ year, month, day }, { overflow: "constrain" })
  return date.toString() === text ? date : undefined
}
