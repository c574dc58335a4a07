import { MAX_ROWS } from "../../store/events/bytes/items.ts"
import { bytesOf, packValues, unpackValues } from "../../store/events/bytes/packed-values.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { ALWAYS } from "./visitor-bits.ts"

/** A month whose sums are kept: with the results of the worker, and in the store if it takes long to compute them. */
interface KeptMonth {
  /** Differs for other segments. */
  name: string
  parts: readonly Part[]
  /** Differs for other crossing visitors. Default: the sums do not depend on them. */
  version?: string
}

/** Returns what was kept of a month under a name, if it is known. */
export function findKept(snapshot: Snapshot, month: KeptMonth, name: string): unknown {
  const { name: of, version = ALWAYS } = month
  const known = snapshot.results.get(`${name} ${of}`, version)
  if (known || !isStored(month)) return known
  const data = snapshot.sums?.find({ month: of, name, crossing: version })
  return data && keepInMemory(snapshot, month, name, unpackValues(data))
}

/** Keeps a value of `packValues` and returns it. */
export function keep<Value>(snapshot: Snapshot, month: KeptMonth, name: string, value: Value): Value {
  if (isStored(month)) {
    const { name: of, parts, version: crossing = ALWAYS } = month
    const segments = parts.flatMap(({ id }) => id ?? [])
    snapshot.sums?.set({ siteId: snapshot.siteId, month: of, segments, events: eventsIn(month), name, crossing, data: packValues(value) })
  }
  return keepInMemory(snapshot, month, name, value)
}

/** The same without the store. */
export function keepInMemory<Value>({ results }: Snapshot, { name: of, version = ALWAYS }: KeptMonth, name: string, value: Value): Value {
  results.set(`${name} ${of}`, version, value, bytesOf(value))
  return value
}

const eventsIn = ({ parts }: KeptMonth): number => parts.reduce((sum, { events }) => sum + events, 0)

/** Number of events of a month from which reading them takes so much longer than reading its sums that these are stored. */
const MIN_STORED_EVENTS = MAX_ROWS / 4

const isStored = (month: KeptMonth): boolean => eventsIn(month) >= MIN_STORED_EVENTS
