import type { Interval, Range } from "../../src/domain/query.ts"

/**
 * Computes local time by brute force: reads the local fields of every quarter of an hour and joins adjacent quarters with equal
 * fields into a bucket. All zones and years of these tests change their clocks on a quarter of an hour.
 */
const BLOCK_MS = 900_000
const MINUTE_MS = 60_000

interface Local {
  date: string
  hour: number
  minute: number
  offset: number
}

const memory = new Map<string, Local>()

function localBlock(block: number, zone: string): Local {
  const key = `${zone} ${block}`
  const known = memory.get(key)
  if (known) return known
  const local = new Temporal.ZonedDateTime(BigInt(block * BLOCK_MS) * 1_000_000n, zone)
  const fields = { date: local.toPlainDate().toString(), hour: local.hour, minute: local.minute, offset: local.offsetNanoseconds }
  memory.set(key, fields)
  return fields
}

export const localDate = (at: number, zone: string): string => localBlock(Math.floor(at / BLOCK_MS), zone).date

const utc = (date: string) => Date.parse(`${date}T00:00:00Z`)
const dateOf = (at: number) => new Date(at).toISOString().slice(0, 10)
export const plusDays = (date: string, days: number): string => dateOf(utc(date) + days * 86_400_000)
export const daysBetween = (from: string, to: string): number => Math.round((utc(to) - utc(from)) / 86_400_000)
/** Returns 1 for Monday to 7 for Sunday. */
export const weekday = (date: string): number => ((new Date(utc(date)).getUTCDay() + 6) % 7) + 1
export const yearBefore = (date: string): string => {
  const day = date.slice(5) === "02-29" ? "02-28" : date.slice(5)
  return `${String(Number(date.slice(0, 4)) - 1).padStart(4, "0")}-${day}`
}

/** Returns the first instant whose local date is this one or, if the day does not exist, a later one. */
export function dayStart(date: string, zone: string): number {
  let block = Math.floor((utc(date) - 15 * 3_600_000) / BLOCK_MS)
  while (localBlock(block, zone).date < date) block++
  return block * BLOCK_MS
}

/** Returns the range of whole local days from `from` to `to` inclusive. */
export const dayRange = (from: string, to: string, zone: string): Range => ({
  from: dayStart(from, zone),
  to: dayStart(plusDays(to, 1), zone),
})

function bucketKey(at: number, interval: Interval, zone: string): string {
  const block = Math.floor(at / BLOCK_MS)
  const { date, hour, minute, offset } = localBlock(block, zone)
  if (interval === "minute") return `${date} ${hour}:${minute + Math.floor((at - block * BLOCK_MS) / MINUTE_MS)} ${offset}`
  if (interval === "hour") return `${date} ${hour} ${offset}`
  if (interval === "day") return date
  return interval === "week" ? plusDays(date, 1 - weekday(date)) : date.slice(0, 7)
}

/** Returns the first instants of the buckets in a range; the first one is the start of the range. */
export function bucketStarts({ from, to }: Range, interval: Interval, zone: string): number[] {
  const step = interval === "minute" ? MINUTE_MS : BLOCK_MS
  const starts = [from]
  let key = bucketKey(from, interval, zone)
  for (let at = (Math.floor(from / step) + 1) * step; at < to; at += step) {
    const next = bucketKey(at, interval, zone)
    if (next !== key) starts.push(at)
    key = next
  }
  return starts
}

/** Returns the first instant whose local date and hour are these or, if the hour does not exist, the first one after it. */
export function hourStart(date: string, hour: number, zone: string): number {
  let block = dayStart(date, zone) / BLOCK_MS
  const isBefore = ({ date: of, hour: at }: Local) => of === date && at < hour
  while (isBefore(localBlock(block, zone))) block++
  return block * BLOCK_MS
}
