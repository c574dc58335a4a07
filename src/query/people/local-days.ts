/**
 * The local days of a zone as numbers: day i runs from `edges[i]` to before `edges[i + 1]`. A date that the zone skipped is a day without
 * an instant, so that a number of days later is the date that many days later.
 */
export interface LocalDays {
  edges: Float64Array
  /** By day, the number of earlier days that have an instant. */
  existing: Uint32Array
}

const DAY_MS = 86_400_000
/** Number of zones whose days are kept. */
const ZONES = 8

const known = new Map<string, LocalDays>()

/** Returns the days of a zone, at least from the one of `from` until after `to`. */
export function localDays(timezone: string, from: number, to: number): LocalDays {
  const found = known.get(timezone)
  const covers = found && found.edges[0]! <= from && found.edges.at(-1)! > to
  if (covers) return found
  const days = datesBetween(timezone, Math.min(from, found?.edges[0] ?? from), Math.max(to, found?.edges.at(-1) ?? to))
  known.delete(timezone)
  if (known.size === ZONES) known.delete(known.keys().next().value!)
  known.set(timezone, days)
  return days
}

function datesBetween(timezone: string, from: number, to: number): LocalDays {
  const first = Temporal.Instant.fromEpochMilliseconds(from).toZonedDateTimeISO(timezone).toPlainDate()
  const edges: number[] = []
  for (let day = 0; edges.length === 0 || edges[day - 1]! <= to; day++) {
    edges.push(first.add({ days: day }).toZonedDateTime(timezone).epochMilliseconds)
  }
  let existing = 0
  const isSkipped = (day: number) => edges[day] === edges[day + 1]
  return { edges: Float64Array.from(edges), existing: Uint32Array.from(edges, (_, day) => (isSkipped(day) ? existing : existing++)) }
}

/** Returns the number of days from one to another, both included, without dates that the zone skipped. */
export const daysBetween = ({ existing }: LocalDays, from: number, to: number): number => existing[to + 1]! - existing[from]!

/** Returns the day of an instant, which must be covered. */
export function dayOf({ edges }: LocalDays, at: number): number {
  let day = Math.min(edges.length - 2, Math.max(0, Math.floor((at - edges[0]!) / DAY_MS)))
  while (at < edges[day]!) day--
  while (at >= edges[day + 1]!) day++
  return day
}
