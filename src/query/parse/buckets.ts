import type { Interval, Range } from "../../domain/query.ts"

/**
 * The time buckets of a range in a zone (metrics.md section 9). Bucket i runs from `edges[i]` to before `edges[i + 1]`;
 * the first edge is the start of the range and the last one its end, so every instant of the range is in one bucket.
 */
export interface Buckets {
  interval: Interval
  timezone: string
  /** Boundaries: one more than the number of buckets. */
  edges: Float64Array
  /** Start of the first and end of the last bucket, had the range not cut them. */
  wholeFrom: number
  wholeTo: number
}

/** Returns the buckets of a range. */
export function bucketsOf(range: Range, interval: Interval, timezone: string): Buckets {
  const edges = interval === "minute" || interval === "hour" ? clockEdges(range, interval, timezone) : dateEdges(range, interval, timezone)
  const inside = edges.filter((edge) => edge > range.from && edge < range.to)
  return {
    interval,
    timezone,
    edges: Float64Array.from([range.from, ...inside, range.to]),
    wholeFrom: edges[0] ?? range.from,
    wholeTo: edges[edges.length - 1] ?? range.to,
  }
}

/** Returns the bucket of an instant, which must be between the first and the last edge. */
export function bucketAt(edges: Float64Array, at: number): number {
  let low = 0
  let high = edges.length - 2
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (edges[middle]! <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** Returns whether a bucket is unfinished at `now` or cut by an end of the range, so that a low number is not a decline. */
export function isPartial({ edges, wholeFrom, wholeTo }: Buckets, index: number, now: number): boolean {
  const count = edges.length - 1
  return edges[index + 1]! > now || (index === 0 && wholeFrom < edges[0]!) || (index === count - 1 && wholeTo > edges[count]!)
}

/**
 * Returns the `time` of a bucket in the flat form (api.md 6.4), by its first instant inside the range: the local day, or the
 * local hour or minute with its offset.
 */
export function flatLabel(at: number, interval: Interval, timezone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone)
  return isClock(interval) ? `${clockText(local, interval, "T")}${local.offset}` : local.toPlainDate().toString()
}

/**
 * Returns the label of a bucket in the array form (api.md 7.6). When clocks go back, the second run of the repeated hour has its
 * offset appended, so that the two can be distinguished.
 */
export function queryLabel(at: number, interval: Interval, timezone: string): string {
  const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone)
  if (!isClock(interval)) return local.toPlainDate().toString()
  const text = clockText(local, interval, " ")
  return isRepeated(local) ? `${text}${local.offset}` : text
}

const isClock = (interval: Interval): interval is "minute" | "hour" => interval === "minute" || interval === "hour"

/** Returns the wall clock at the start of the hour or minute, even if the range or a clock change cuts it. */
function clockText(local: Temporal.ZonedDateTime, interval: "minute" | "hour", between: string): string {
  const minute = interval === "hour" ? "00" : String(local.minute).padStart(2, "0")
  return `${local.toPlainDate()}${between}${String(local.hour).padStart(2, "0")}:${minute}:00`
}

/** Returns whether the local time of an instant occurred before, because the clocks went back. */
function isRepeated(local: Temporal.ZonedDateTime): boolean {
  const earlier = local.toPlainDateTime().toZonedDateTime(local.timeZoneId, { disambiguation: "earlier" })
  return earlier.epochMilliseconds < local.epochMilliseconds
}

/** Returns the first instants of days, weeks or months, from the one that contains the start of the range to the one after its end. */
function dateEdges(range: Range, interval: Interval, timezone: string): number[] {
  const local = Temporal.Instant.fromEpochMilliseconds(range.from).toZonedDateTimeISO(timezone).toPlainDate()
  const first = firstDate(local, interval)
  const edges: number[] = []
  for (let step = 0; edges.length === 0 || edges[edges.length - 1]! < range.to; step++) {
    const at = first.add(stepOf(interval, step)).toZonedDateTime(timezone).epochMilliseconds
    // A date that the zone skipped has no instants and therefore no bucket.
    if (at !== edges[edges.length - 1]) edges.push(at)
  }
  return edges
}

function firstDate(date: Temporal.PlainDate, interval: Interval): Temporal.PlainDate {
  if (interval === "week") return date.subtract({ days: date.dayOfWeek - 1 })
  return interval === "month" ? date.with({ day: 1 }) : date
}

function stepOf(interval: Interval, step: number): Temporal.DurationLike {
  if (interval === "week") return { weeks: step }
  return interval === "month" ? { months: step } : { days: step }
}

/**
 * Returns the starts of hours or minutes on the wall clock and the instants at which the offset changes: a run with the same
 * local date, hour and offset is one bucket. The offset is looked up once per stretch of time in which it is constant.
 */
function clockEdges(range: Range, interval: "minute" | "hour", timezone: string): number[] {
  const length = interval === "hour" ? 3_600_000 : 60_000
  const edges: number[] = []
  let at = range.from
  while (at < range.to) {
    const local = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone)
    const offset = local.offsetNanoseconds / 1e6
    const before = local.add({ nanoseconds: 1 }).getTimeZoneTransition("previous")?.epochMilliseconds ?? Number.NEGATIVE_INFINITY
    const change = local.getTimeZoneTransition("next")?.epochMilliseconds ?? Number.POSITIVE_INFINITY
    const start = at - modulo(at + offset, length)
    edges.push(Math.max(start, before))
    for (at = start + length; at < range.to && at < change; at += length) edges.push(at)
    at = Math.min(at, change)
  }
  edges.push(at)
  return edges
}

const modulo = (value: number, by: number): number => ((value % by) + by) % by
