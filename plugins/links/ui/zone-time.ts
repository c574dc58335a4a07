/** Moments as people type them, in the zone of the site. */

/** How far a zone is ahead of UTC at a moment; milliseconds. */
function ahead(at: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" },
  } as const).formatToParts(at)
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value)
  return Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second")) - Math.floor(at / 1_000) * 1_000
}

/** `2026-11-21T12:00` in a zone as an instant in UTC. Of an hour that clocks skip, the one after it. Undefined for anything else. */
export function instantOf(local: string, timeZone: string): string | undefined {
  const asUtc = Date.parse(`${local}Z`)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(local) || Number.isNaN(asUtc)) return undefined
  const first = asUtc - ahead(asUtc, timeZone)
  return new Date(asUtc - ahead(first, timeZone)).toISOString()
}

/** An instant as `2026-11-21T12:00` in a zone; empty for none. */
export function localOf(instant: string | null, timeZone: string): string {
  if (instant === null) return ""
  const at = Date.parse(instant)
  return new Date(at + ahead(at, timeZone)).toISOString().slice(0, 16)
}
