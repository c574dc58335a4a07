import type { VisitTraits } from "#plugin"
import { instantText, memoize } from "#plugin/worker"
import type { ReadOptions, Sink } from "../../source.ts"
import { doubled, HashIndex, TextTable } from "../hash-index.ts"
import { parseTime } from "../times.ts"
import { browserTraits, deviceOf, languageTag, placeTraits, sizeOf, stated, systemTraits } from "../traits.ts"
import { cellAt, cellOf, type TableRows, umamiRows } from "./tables.ts"

/**
 * What Umami stores apart from its events: the visitor of a session, the properties and the revenue of an event. It is read in a first pass
 * into compact tables: about 30 bytes per session, 45 per property and 30 per revenue, and each different text once. So 2 GB hold the
 * properties of 40 million events. The events are then read in a second pass.
 */
export interface UmamiJoins {
  /** Whether the export has a table of sessions. */
  hasSessions: boolean
  session(id: string): Session | undefined
  properties(eventId: string): readonly (readonly [key: string, value: string])[]
  revenue(eventId: string): { amount: string; currency: string } | undefined
  /** Number of properties that were left out because they are lists. */
  lists: number
}

export interface Session {
  traits: Partial<VisitTraits>
  hostname: string
  userId: string
}

const SEPARATOR = "\u001f"
const CACHED_TRAITS = 20_000
const FIRST_PROPERTIES = 1_024
const NONE = 0xffffffff

const VISITOR_COLUMNS = ["browser", "os", "device", "screen", "language", "country", "region", "city"] as const

/** Returns the places of the columns that `visitorText` reads. */
export const visitorPlaces = (row: Row): number[] => {
  const places = row.places(VISITOR_COLUMNS)
  return VISITOR_COLUMNS.map((column) => places[column])
}

/** Returns the columns of the visitor as one text, by which its traits are remembered. "" if all are empty. */
export function visitorText(row: Row, places: readonly number[]): string {
  let text = ""
  for (const place of places) text += cellAt(row, place) + SEPARATOR
  return text.length === places.length ? "" : text
}

/** Returns the traits of a `visitorText`. */
export const visitorTraits = memoize(CACHED_TRAITS, (text: string): Partial<VisitTraits> => {
  const [browser = "", os = "", device = "", screen = "", language = "", country = "", region = "", city = ""] = text.split(SEPARATOR)
  return stated({
    ...browserTraits(browser),
    ...systemTraits(os),
    device: deviceOf(device),
    size: sizeOf(screen),
    language: languageTag(language),
    ...placeTraits({ country, region, city }),
  })
})

/** Reads sessions, properties and revenue of one website, or of all. Lines are counted only if they are faulty. */
export async function readJoins(
  files: Parameters<typeof umamiRows>[0],
  options: ReadOptions,
  website: string | undefined,
  sink: Sink,
): Promise<UmamiJoins> {
  const sessions = new Sessions()
  const properties = new Properties()
  const revenues = new Revenues()
  const joined = joinedSink(sink)
  let hasSessions = false
  for await (const { table, file, rows } of umamiRows(files, ["session", "event_data", "revenue"], options, joined)) {
    hasSessions ||= table === "session"
    const [first] = rows
    const places = first ? visitorPlaces(first) : []
    for (const row of rows) {
      const rowWebsite = cellOf(row, "website_id").toLowerCase()
      if (website !== undefined && rowWebsite !== "" && rowWebsite !== website) continue
      if (table === "session") sessions.add(row, places)
      else if (table === "revenue") revenues.add(row)
      else if (!properties.add(row)) joined.reject(file, row.line, "bad_number", cellOf(row, "number_value") || cellOf(row, "data_type"))
    }
  }
  return {
    hasSessions,
    session: (id) => sessions.find(id),
    properties: (id) => properties.find(id),
    revenue: (id) => revenues.find(id),
    lists: properties.lists,
  }
}

/** Returns a sink that does not count rows as read: only rows of events are rows of the import. Rejected ones are counted all the same. */
const joinedSink = (sink: Sink): Sink => ({
  event: (event) => sink.event(event),
  totals: (kind, row) => sink.totals(kind, row),
  refund: (refund) => sink.refund(refund),
  read: () => {},
  reject(...fault) {
    sink.read(1)
    sink.reject(...fault)
  },
  skip: (reason, rows) => sink.skip(reason, rows),
  warn: (...warning) => sink.warn(...warning),
  unsupported: (what) => sink.unsupported(what),
  choices: (...choices) => sink.choices(...choices),
  mapping: (mapping) => sink.mapping(mapping),
  check: () => sink.check(),
})

type Row = TableRows["rows"][number]

class Sessions {
  readonly #texts = new TextTable()
  /** Number of the text with the traits. */
  readonly #traits = new HashIndex()
  readonly #hostnames = new HashIndex()
  readonly #userIds = new HashIndex()

  add(row: Row, places: readonly number[]): void {
    const id = cellOf(row, "session_id")
    if (!this.#traits.add(id, this.#texts.add(visitorText(row, places)))) return
    const [hostname, userId] = [cellOf(row, "hostname"), cellOf(row, "distinct_id")]
    if (hostname !== "") this.#hostnames.add(id, this.#texts.add(hostname))
    if (userId !== "") this.#userIds.add(id, this.#texts.add(userId))
  }

  find(id: string): Session | undefined {
    const traits = this.#traits.get(id)
    if (traits === undefined) return undefined
    const text = (number: number | undefined) => (number === undefined ? "" : this.#texts.text(number))
    return { traits: visitorTraits(text(traits)), hostname: text(this.#hostnames.get(id)), userId: text(this.#userIds.get(id)) }
  }
}

/** Types of values in `data_type`. */
const [TEXT, NUMBER, BOOLEAN, DATE, LIST] = [1, 2, 3, 4, 5]

const NO_PROPERTIES: readonly (readonly [key: string, value: string])[] = []

class Properties {
  lists = 0
  readonly #texts = new TextTable()
  /** Number of the latest property of an event. */
  readonly #latest = new HashIndex()
  #count = 0
  #keys = new Uint32Array(FIRST_PROPERTIES)
  #values = new Uint32Array(FIRST_PROPERTIES)
  /** Number of the property of the same event before each. */
  #previous = new Uint32Array(FIRST_PROPERTIES)

  /** Returns false if the value is not of its type. Lists are left out. */
  add(row: Row): boolean {
    const type = Number(cellOf(row, "data_type"))
    if (type === LIST) {
      this.lists++
      return true
    }
    const value = scalarOf(row, type)
    if (value === undefined) return false
    const [id, key] = [cellOf(row, "event_id"), cellOf(row, "data_key")]
    if (value === "" || key === "") return true
    if (this.#count === this.#keys.length) {
      this.#keys = doubled(this.#keys, Uint32Array)
      this.#values = doubled(this.#values, Uint32Array)
      this.#previous = doubled(this.#previous, Uint32Array)
    }
    this.#keys[this.#count] = this.#texts.add(key)
    this.#values[this.#count] = this.#texts.add(value)
    this.#previous[this.#count] = this.#latest.get(id) ?? NONE
    this.#latest.set(id, this.#count++)
    return true
  }

  /** Returns the properties of an event in the order of the file. Overlapping exports repeat them. */
  find(eventId: string): readonly (readonly [key: string, value: string])[] {
    const latest = this.#latest.get(eventId)
    if (latest === undefined) return NO_PROPERTIES
    const found: [key: string, value: string][] = []
    const keys = new Set<number>()
    for (let at = latest; at !== NONE; at = this.#previous[at]!) {
      if (keys.has(this.#keys[at]!)) continue
      keys.add(this.#keys[at]!)
      found.push([this.#texts.text(this.#keys[at]!), this.#texts.text(this.#values[at]!)])
    }
    return found.reverse()
  }
}

const DECIMAL = /^[+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?$/i

/** Returns a value as text, or undefined if it is not of its type. */
function scalarOf(row: Row, type: number): string | undefined {
  const text = cellOf(row, "string_value")
  if (type === NUMBER) {
    const number = cellOf(row, "number_value") || text
    if (number === "") return ""
    return DECIMAL.test(number) ? plainNumber(number) : undefined
  }
  if (type === DATE) return dateText(cellOf(row, "date_value") || text)
  return type === TEXT || type === BOOLEAN ? text : undefined
}

/** Returns a number without the zeros that the database adds: `42.5000` is 42.5. */
function plainNumber(number: string): string {
  if (!/^[+-]?\d+\.\d*$/.test(number)) return number
  let end = number.length
  while (number[end - 1] === "0") end--
  return number.slice(0, number[end - 1] === "." ? end - 1 : end)
}

function dateText(text: string): string {
  const at = parseTime(text, (local) => local)
  return at === undefined ? text : instantText(at)
}

class Revenues {
  readonly #texts = new TextTable()
  readonly #byEvent = new HashIndex()

  add(row: Row): void {
    const amount = cellOf(row, "revenue").trim()
    if (amount === "") return
    this.#byEvent.add(cellOf(row, "event_id"), this.#texts.add(amount + SEPARATOR + cellOf(row, "currency").trim()))
  }

  find(eventId: string): { amount: string; currency: string } | undefined {
    const number = this.#byEvent.get(eventId)
    if (number === undefined) return undefined
    const [amount = "", currency = ""] = this.#texts.text(number).split(SEPARATOR)
    return { amount, currency }
  }
}
