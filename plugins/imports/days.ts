import { dayNumber, dayText } from "#plugin/worker"

/**
 * Decides which days of an import count (areas/02 section 4). Pure: the days of an import with rows, the rules that were fixed when its run
 * started, and the other imports of the site go in; the state of each day comes out.
 */

export const OVERLAPS = ["native_wins", "fill_gaps", "import_wins_over_imports", "allow"] as const
export type Overlap = (typeof OVERLAPS)[number]

export type DaySkip = "native" | "beyond_retention" | "in_future"

/** What excludes days from an import. Fixed when the run starts. */
export interface DayRules {
  overlap: Overlap
  /** Local day of the first native visit in the zone of the import. Absent without native visits. */
  nativeFrom?: string
  /** Local days with native visits. Only for `fill_gaps`. */
  nativeDays?: readonly string[]
  /** First day that the retention of the site keeps. */
  cutoff?: string
  today: string
}

/** Returns the function that tells why a day is not stored, or undefined for a day that is. */
export function daySkips({ overlap, nativeFrom, nativeDays = [], cutoff, today }: DayRules): (day: string) => DaySkip | undefined {
  const native = new Set(nativeDays)
  const isNative = (day: string): boolean => {
    if (overlap === "allow") return false
    return overlap === "fill_gaps" ? native.has(day) : nativeFrom !== undefined && day >= nativeFrom
  }
  return (day) => {
    if (day > today) return "in_future"
    if (cutoff !== undefined && day < cutoff) return "beyond_retention"
    return isNative(day) ? "native" : undefined
  }
}

/** A completed and enabled import, or one that is about to be completed. */
export interface HeldImport {
  id: number
  overlap: Overlap
  timezone: string
  /** Time of its completion. Imports are processed in this order, then by id. */
  finishedAt: number
  /** Its stored days. */
  days: readonly string[]
}

/** The days of an import that are hidden, with the import that holds each of them. All other stored days are effective. */
export type MaskedDays = ReadonlyMap<string, number>

/**
 * Returns the masked days of each import. An import with `allow` is always effective and holds the days that are free; one with
 * `import_wins_over_imports` takes its days from any holder; every other one takes days that no import holds.
 */
export function maskedDays(imports: readonly HeldImport[]): Map<number, MaskedDays> {
  const inOrder = imports.toSorted((a, b) => a.finishedAt - b.finishedAt || a.id - b.id)
  const zones = new Set(imports.map(({ timezone }) => timezone))
  const holders = zones.size > 1 ? new SpanHolders() : new DayHolders()
  const masked = new Map<number, Map<string, number>>(imports.map(({ id }) => [id, new Map()]))
  for (const one of inOrder) {
    for (const day of one.days) {
      const held = holders.over(day, one.timezone)
      if (held.length === 0) {
        holders.take(one, day)
        continue
      }
      if (one.overlap === "allow") continue
      if (one.overlap !== "import_wins_over_imports") {
        masked.get(one.id)!.set(day, held[0]!.by.id) // every import has an entry
        continue
      }
      for (const { by, day: lost } of held) {
        holders.release(by, lost)
        if (by.overlap !== "allow") masked.get(by.id)!.set(lost, one.id)
      }
      holders.take(one, day)
    }
  }
  // A holder may have lost the day to a later import.
  for (const { id, timezone } of imports) {
    const days = masked.get(id)! // every import has an entry
    for (const day of days.keys()) {
      const [now] = holders.over(day, timezone)
      if (now) days.set(day, now.by.id)
    }
  }
  return masked
}

interface Held {
  by: HeldImport
  day: string
}

interface Holders {
  /** Returns the held days that share an instant with a day. */
  over(day: string, timezone: string): Held[]
  take(by: HeldImport, day: string): void
  release(by: HeldImport, day: string): void
}

/** Days of one zone share an instant only if they are the same. */
class DayHolders implements Holders {
  readonly #held = new Map<string, Held>()

  over(day: string): Held[] {
    const held = this.#held.get(day)
    return held ? [held] : []
  }
  take(by: HeldImport, day: string): void {
    this.#held.set(day, { by, day })
  }
  release(_by: HeldImport, day: string): void {
    this.#held.delete(day)
  }
}

/** Days of several zones. A day is at most 15 hours from UTC, so it can only meet those of the UTC days around it. */
class SpanHolders implements Holders {
  readonly #held = new Map<number, (Held & { from: number; to: number })[]>()

  over(day: string, timezone: string): Held[] {
    const { from, to } = daySpan(day, timezone)
    const number = dayNumber(day)
    return [number - 2, number - 1, number, number + 1, number + 2]
      .flatMap((near) => (this.#held.get(near) ?? []).filter((held) => held.from < to && from < held.to))
      .toSorted((a, b) => a.from - b.from)
  }
  take(by: HeldImport, day: string): void {
    const number = dayNumber(day)
    this.#held.set(number, [...(this.#held.get(number) ?? []), { by, day, ...daySpan(day, by.timezone) }])
  }
  release(by: HeldImport, day: string): void {
    const number = dayNumber(day)
    this.#held.set(
      number,
      (this.#held.get(number) ?? []).filter((held) => held.by !== by),
    )
  }
}

/** Returns the instants of a local day, which has 23 to 25 hours. */
export function daySpan(day: string, timezone: string): { from: number; to: number } {
  const date = Temporal.PlainDate.from(day)
  const start = (of: Temporal.PlainDate) => of.toZonedDateTime(timezone).epochMilliseconds
  return { from: start(date), to: start(date.add({ days: 1 })) }
}

/** Returns the local day of an instant. */
export const localDay = (at: number, timezone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).toPlainDate().toString()

/** Returns the first day that a retention keeps, by the same rule as the nightly job of the core. */
export const retentionCutoff = (today: string, retentionDays: number | null): string | undefined =>
  retentionDays === null ? undefined : dayText(dayNumber(today) - retentionDays)

export interface DayRange {
  from: string
  to: string
}

/** Groups ascending days into ranges of consecutive days with the same value. */
export function rangesOf<Value>(days: readonly (readonly [day: string, value: Value])[]): (DayRange & { value: Value })[] {
  const ranges: (DayRange & { value: Value })[] = []
  for (const [day, value] of days) {
    const last = ranges.at(-1)
    if (last && dayNumber(day) === dayNumber(last.to) + 1 && Bun.deepEquals(last.value, value)) last.to = day
    else ranges.push({ from: day, to: day, value })
  }
  return ranges
}
