/** Reads times as exports write them, and converts between local times and instants. A local time is written as if it were UTC. */

/** Converts a local time into an instant. Both are epoch milliseconds. */
export type FromLocal = (local: number) => number

/** Offsets of time zones change at full quarters of an hour only. */
const QUARTER_MS = 900_000
const MAX_CACHED = 100_000

/**
 * Returns the conversion for a time zone. A local time that occurs twice is the earlier one, and one that is skipped is moved forward, as
 * `Temporal` does by default.
 */
export function fromLocal(timezone: string): FromLocal {
  if (timezone === "UTC") return (local) => local
  const offsets = new Map<number, number>()
  return (local) => {
    const quarter = Math.floor(local / QUARTER_MS)
    let offset = offsets.get(quarter)
    if (offset === undefined) {
      const text = new Date(quarter * QUARTER_MS).toISOString().slice(0, -1)
      offset = quarter * QUARTER_MS - Temporal.PlainDateTime.from(text).toZonedDateTime(timezone).epochMilliseconds
      if (offsets.size >= MAX_CACHED) offsets.clear()
      offsets.set(quarter, offset)
    }
    return local - offset
  }
}

/** Returns the function that names the local day of an instant in a time zone, such as `2026-11-21`. */
export function localDays(timezone: string): (at: number) => string {
  const days = new Map<number, string>()
  return (at) => {
    const quarter = Math.floor(at / QUARTER_MS)
    let day = days.get(quarter)
    if (day === undefined) {
      day = Temporal.Instant.fromEpochMilliseconds(quarter * QUARTER_MS)
        .toZonedDateTimeISO(timezone)
        .toPlainDate()
        .toString()
      if (days.size >= MAX_CACHED) days.clear()
      days.set(quarter, day)
    }
    return day
  }
}

/**
 * Parses a time such as `2026-11-21`, `2026-11-21 10:00:00`, `2026-11-21T10:00:00.502Z` or `2026-11-21 10:00:00.502+00`. Without an offset
 * it is local. Returns epoch milliseconds, or undefined for anything else. Reads characters, because it runs for every row.
 */
export function parseTime(text: string, local: FromLocal): number | undefined {
  if (text.charCodeAt(4) !== DASH || text.charCodeAt(7) !== DASH) return undefined
  const date = dateOf(two(text, 0) * 100 + two(text, 2), two(text, 5), two(text, 8))
  if (date === undefined) return undefined
  if (text.length === 10) return local(date)
  const separator = text.charCodeAt(10)
  if ((separator !== SPACE && separator !== UPPER_T && separator !== LOWER_T) || text.charCodeAt(13) !== COLON) return undefined
  const hasSeconds = text.charCodeAt(16) === COLON
  const clock = clockOf(two(text, 11), two(text, 14), hasSeconds ? two(text, 17) : 0)
  if (clock === undefined) return undefined
  let at = hasSeconds ? 19 : 16
  let ms = 0
  if (hasSeconds && (text.charCodeAt(at) === DOT || text.charCodeAt(at) === COMMA)) {
    const start = ++at
    while (isDigit(text.charCodeAt(at))) at++
    if (at === start) return undefined
    ms = Number(text.slice(start, Math.min(at, start + 3)).padEnd(3, "0"))
  }
  const time = date + clock + ms
  if (at === text.length) return local(time)
  const offset = offsetOf(text.slice(at).trimStart())
  return offset === undefined ? undefined : time - offset
}

const [SPACE, COMMA, DASH, DOT, COLON, UPPER_T, LOWER_T] = [32, 44, 45, 46, 58, 84, 116]
const OFFSET = /^([+-])(\d\d):?(\d\d)?$/

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** Returns the number that two digits write, or NaN. */
function two(text: string, at: number): number {
  const [tens, ones] = [text.charCodeAt(at), text.charCodeAt(at + 1)]
  return isDigit(tens) && isDigit(ones) ? (tens - 48) * 10 + ones - 48 : Number.NaN
}

/** Returns the start of a day as epoch milliseconds, or undefined for a day that does not exist or lies before 1900. */
export function dateOf(year: number, month: number, day: number): number | undefined {
  if (!(year >= 1900 && year <= 9999 && month >= 1 && month <= 12 && day >= 1)) return undefined
  if (day > 28 && new Date(Date.UTC(year, month - 1, day)).getUTCMonth() !== month - 1) return undefined
  return Date.UTC(year, month - 1, day)
}

/** Returns a time of day in milliseconds, or undefined for one that does not exist. */
export function clockOf(hour: number, minute: number, second: number): number | undefined {
  return hour <= 23 && minute <= 59 && second <= 59 ? ((hour * 60 + minute) * 60 + second) * 1_000 : undefined
}

function offsetOf(text: string): number | undefined {
  if (text === "Z" || text === "z" || text === "UTC" || text === "GMT") return 0
  const [, sign, hours, minutes = "0"] = OFFSET.exec(text) ?? []
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === "-" ? -offset : offset
}

/** Returns whether a text names a time zone of the IANA database. */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone })
    return true
  } catch {
    return false
  }
}
