import type { ImportedKind, VisitTraits } from "#plugin"
import { createEnrichment, memoize, normalizeUnicode } from "#plugin/worker"
import type { Sink } from "../source.ts"
import { dateOf, localDays, parseTime } from "./times.ts"

/** Reads the values of totals: days, counts and texts, as the sources of aggregates have them. */

/** A faulty value, and the code by which its line is rejected. */
export class ValueFault extends Error {
  constructor(
    readonly code: "bad_date" | "bad_number" | "negative_count",
    readonly excerpt: string,
  ) {
    super(code)
  }
}

/** Calls `read` for a line. Rejects the line if one of its values is faulty, in which case nothing of it may have been passed on. */
export function readLine(sink: Sink, file: string, line: number, read: () => void): void {
  try {
    read()
  } catch (error) {
    if (!(error instanceof ValueFault)) throw error
    sink.reject(file, line, error.code, error.excerpt)
  }
}

const CACHED_DAYS = 5_000
const DAY = /^(\d{4})-?(\d\d)-?(\d\d)$/

/** Returns a day as `2026-11-21`, given like this or as `20261121`. Throws a `ValueFault` for anything else. */
export const dayOf = memoize(CACHED_DAYS, (text) => {
  const [, year, month, day] = DAY.exec(text.trim()) ?? []
  if (day === undefined || dateOf(Number(year), Number(month), Number(day)) === undefined) throw new ValueFault("bad_date", text)
  return `${year}-${month}-${day}`
})

/** A local day, and the hour if the totals are hourly. */
export interface DayAndHour {
  day: string
  hour?: number
}

/** Returns the function that shifts hours in UTC, such as `2026-11-21 10:00:00`, to local ones. It throws a `ValueFault` for anything else. */
export function hoursIn(timezone: string): (text: string) => DayAndHour {
  const localDay = localDays(timezone)
  const format = new Intl.DateTimeFormat("en", { timeZone: timezone, hour: "numeric", hourCycle: "h23" })
  return memoize(CACHED_HOURS, (text) => {
    const at = parseTime(text.trim(), (local) => local)
    if (at === undefined) throw new ValueFault("bad_date", text)
    return { day: localDay(at), hour: Number(format.format(at)) }
  })
}

const CACHED_HOURS = 20_000
const WHOLE = /^\+?\d{1,15}$/
const DECIMAL = /^[+-]?\d{1,15}(?:\.\d+)?$/

/** Returns a number that is not negative. An empty value is 0. Throws a `ValueFault` for anything else. */
export function amountOf(text: string): number {
  const trimmed = text.trim()
  if (trimmed === "") return 0
  if (!DECIMAL.test(trimmed)) throw new ValueFault("bad_number", text)
  const value = Number(trimmed)
  if (value < 0) throw new ValueFault("negative_count", text)
  return value
}

/** Returns the function that reads the counts of a file. Fractions are rounded, with one warning. */
export function countsOf(file: string, sink: Sink): (text: string) => number {
  return (text) => {
    if (WHOLE.test(text)) return Number(text)
    const value = amountOf(text)
    if (!Number.isInteger(value)) sink.warn("counts_rounded", `${file} has counts with fractions. They are rounded.`, file)
    return Math.round(value)
  }
}

/** Bytes of a text are at most four times as many. */
const MAX_TEXT = 2_000
const MISSING = new Set(["(none)", "(not set)", "(not provided)", "(data not available)", "(other)"])
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are removed
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f]/g

/** Returns a text as it is stored: without control characters and of limited length. Placeholders for a missing value become "". */
export function textOf(value: string): string {
  const text = normalizeUnicode(value.slice(0, MAX_TEXT).toWellFormed().replace(INVISIBLE, "")).trim()
  return text.startsWith("(") && MISSING.has(text.toLowerCase()) ? "" : text
}

/** Returns the path of a page, without host, query and fragment. */
export function pageOf(value: string): string {
  const text = textOf(value)
  const path = text.replace(/^https?:\/\/[^/?#]*/i, "").replace(/[?#].*$/s, "")
  return text === "" ? "" : path.startsWith("/") ? path : `/${path}`
}

/** Returns a host name without scheme and path. */
export const hostOf = (value: string): string =>
  textOf(value)
    .replace(/^[a-z]+:\/\//i, "")
    .replace(/[/?#].*$/s, "")
    .toLowerCase()

/** Where visits come from, as a source states it. */
export interface Origin {
  source?: string
  /** Host and path. */
  referrer?: string
  utm_source?: string
  utm_medium?: string
  utm_campaign?: string
  utm_content?: string
  utm_term?: string
}

const enrich = createEnrichment({ hosts: [], allowed_query_params: [], hash_routing: false, revenue_currency: "USD" })
const DIRECT = new Set(["(direct)", "direct", "direct / none"])
const CACHED_ORIGINS = 20_000
const TAGS = ["utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"] as const

/** Returns the columns of `imported_sources`. Source and channel are named as those of recorded visits. */
export const originTexts = (origin: Origin): Readonly<Record<string, string>> => textsOfOrigin(JSON.stringify(origin))

const textsOfOrigin = memoize(CACHED_ORIGINS, (json: string) => {
  const stated = JSON.parse(json) as Origin // the only caller writes it
  const isDirect = DIRECT.has((stated.source ?? "").trim().toLowerCase())
  const source = isDirect ? "" : textOf(stated.source ?? "")
  const utm = Object.fromEntries(TAGS.map((tag) => [tag, textOf(stated[tag] ?? "")]))
  const referrer = textOf(stated.referrer ?? "")
  const traits: Partial<VisitTraits> = source === "" ? {} : { source }
  const address = /^[a-z-]+:\/\//i.test(referrer) ? referrer : `https://${referrer}`
  const found = enrich({ at: 0, name: "pageview", utm, traits, ...(referrer !== "" && { referrer: address }) })
  if (found === "bad_url") return { source, ...utm }
  const { channel, source: name, referrer: text, ...tags } = found.traits
  return { source: name, channel, referrer: text, ...Object.fromEntries(TAGS.map((tag) => [tag, tags[tag]])) }
})

/** Adds up counts by kind, day, hour and texts, and passes them on once a group of them is complete. */
export class TotalsSums {
  #sums = new Map<string, Parameters<Sink["totals"]>>()

  constructor(private readonly sink: Pick<Sink, "totals">) {}

  /** Adds a row, whose counts are not changed. */
  add(kind: ImportedKind, row: Parameters<Sink["totals"]>[1]): void {
    const key = keyOf(kind, row)
    const sum = this.#sums.get(key)
    if (!sum) this.#sums.set(key, [kind, row])
    else {
      const counts: Record<string, number> = { ...sum[1].counts }
      for (const [name, count] of Object.entries(row.counts)) counts[name] = (counts[name] ?? 0) + count
      sum[1] = { ...sum[1], counts }
    }
    // The same key can follow later: then it has two rows, which answers add up.
    if (this.#sums.size >= MAX_SUMS) this.flush()
  }

  /** Passes on what was added. */
  flush(): void {
    for (const [kind, row] of this.#sums.values()) this.sink.totals(kind, row)
    this.#sums.clear()
  }
}

const MAX_SUMS = 8_000

/** Returns a text that differs for different texts, whatever characters they contain. */
function keyOf(kind: ImportedKind, { day, hour, texts }: Parameters<Sink["totals"]>[1]): string {
  let key = `${kind} ${day} ${hour}`
  for (const name in texts) key += ` ${name} ${texts[name]!.length} ${texts[name]}`
  return key
}
