/** Conversion between typed local times and instants in the time zone of the site. */

/** Returns the offset of a time zone from UTC at an instant, in milliseconds. */
function ahead(at: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" },
  } as const).formatToParts(at)
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value)
  return Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second")) - Math.floor(at / 1_000) * 1_000
}

/** Converts `2026-11-21T12:00` in a zone to an instant in UTC. An hour that clocks skip becomes the next one. Undefined if malformed. */
export function instantOf(local: string, timeZone: string): string | undefined {
  const asUtc = Date.parse(`${local}Z`)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(local) || Number.isNaN(asUtc)) return undefined
  const first = asUtc - ahead(asUtc, timeZone)
  return new Date(asUtc - ahead(first, timeZone)).toISOString()
}

/** Formats an instant as `2026-11-21T12:00` in a zone. Empty for null. */
export function localOf(instant: string | null, timeZone: string): string {
  if (instant === null) return ""
  const at = Date.parse(instant)
  return new Date(at + ahead(at, timeZone)).toISOString().slice(0, 16)
}
