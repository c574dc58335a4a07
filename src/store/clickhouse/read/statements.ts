/** The statements of the reader. All of them name the site, and all except for those that only look for changes read `final`. */
import type { ImportedKind } from "../../../domain/imported.ts"
import type { SegmentKind } from "../../events/bytes/lanes.ts"
import { OutdatedSnapshot } from "../../events/dictionary/read-dictionary.ts"
import { ARRIVAL_UNIT_MS } from "../../events/part.ts"
import type { Settings } from "../client.ts"
import type { Channel, SentQuery } from "./channel.ts"
import { columnsOf, ORDER_COLUMNS } from "./columns.ts"
import type { SlicesAnswer } from "./layout.ts"
import { type NativeBlock, readBlocks, type Texts, type Wide, wideNumbers } from "./native.ts"
import type { Bucket, Slice } from "./slices.ts"
import type { ListedTotals } from "./totals.ts"

/** The visits that a statement may read. */
export interface Source {
  siteId: number
  kind: SegmentKind
}

/** Limits of each query. The time is that of a report. */
const LIMITS: Settings = { max_execution_time: 15, max_memory_usage: 4 * 2 ** 30, skip_unavailable_shards: 0, max_threads: 2 }
/** All versions of a visit are in one partition. Each block of an answer repeats the texts that occur in it. */
const READING: Settings = { do_not_merge_across_partitions_select_final: 1, max_block_size: 1 << 17, preferred_block_size_bytes: 1 << 26 }
/** The server merges rows without arrays of events in order. By itself it would answer part by part, because arrays take long to copy. */
const MERGING_IN_ORDER: Settings = { enable_vertical_final: 0 }
const TIMEOUT_MS = 20_000

/** The tables that are read. */
const TABLES = ["visits", "totals"]

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** For how long the visits of an hour are listed apart from those of other hours: longer than a visit can change. */
const HOURLY_MS = 2 * DAY_MS
const ALL_TIME = { from: Number.MIN_SAFE_INTEGER, to: Number.MAX_SAFE_INTEGER }

const SOURCE = "site_id = {site:UInt32} and kind = {kind:String}"
const MONTH = "toYYYYMM(fromUnixTimestamp64Milli(opened_at, 'UTC'))"
const FROM = "from visits final"

/** Lists the parts on disk of each month. Parts never change: an insertion, a merge or a deletion leads to others. */
const PARTS = `select toUInt32(partition) as month, arrayStringConcat(arraySort(groupArray(name)), ' ') as names
  from system.parts where active and database = currentDatabase() and table = 'visits' group by month`

/** The first and the last opening in parts that are not known yet. One of them can contain former parts, too. */
const ADDITIONS = `select ${MONTH} as month, min(opened_at) as first, max(opened_at) as last
  from visits where ${SOURCE} and month in {months:Array(UInt32)} and not has(splitByChar(' ', {known:String}), _part) group by month`

const BUCKETS = `select ${MONTH} as month, import_id, run,
    if(opened_at >= {hourly:Int64}, ${HOUR_MS}, ${DAY_MS}) as step, intDiv(opened_at, step) * step as since,
    since + step as until, count() as visits, sum(length(e.offset)) as events, sum(cityHash64(visit, version)) as mark,
    min(started_at) as min_start, max(started_at) as max_start, max(started_at + length) as max_at,
    max(started_at + (arrival + 1) * ${ARRIVAL_UNIT_MS}) as last_arrival
  ${FROM} where ${SOURCE} and month in {months:Array(UInt32)} and opened_at >= {from:Int64} and opened_at < {to:Int64}
  group by month, import_id, run, step, since order by since, import_id, run`

const TOTALS = `select node, segment, import_id, run, kind, rows, first_day, last_day from totals final where site_id = {site:UInt32}
  order by import_id, segment, node`
const CONTENT = "select content from totals final where site_id = {site:UInt32} and node = {node:UInt8} and segment = {segment:UInt32}"

/** Columns that tell what a slice is. */
const FACTS = ["length", "arrival"]

/** Asks ClickHouse on behalf of one query. `check` throws when it was cancelled. */
export class Lister {
  readonly #channel: Channel
  readonly #source: Source
  readonly #check: () => void

  constructor(channel: Channel, source: Source, check: () => void) {
    this.#channel = channel
    this.#source = source
    this.#check = check
  }

  /** Returns the names of the parts on disk of each month, of all sites and kinds. */
  parts(): Map<number, string[]> {
    const months = new Map<number, string[]>()
    for (const block of this.#read(PARTS)) {
      const [month, names] = [numbers(block, "month"), texts(block, "names")]
      for (let row = 0; row < block.rows; row++) months.set(month[row]!, names[row]!.split(" "))
    }
    return months
  }

  /** Returns the first and the last opening of the visits in the parts of months that are not known. Months without any are left out. */
  additions(months: readonly number[], known: readonly string[]): Map<number, { first: number; last: number }> {
    const spans = new Map<number, { first: number; last: number }>()
    for (const block of this.#read(ADDITIONS, { months, known: known.join(" ") })) {
      const [month, first, last] = [numbers(block, "month"), numbers(block, "first"), numbers(block, "last")]
      for (let row = 0; row < block.rows; row++) spans.set(month[row]!, { first: first[row]!, last: last[row]! })
    }
    return spans
  }

  /** Lists what there is in months, as far as it was opened in a range, half-open. */
  buckets(months: readonly number[], { from, to } = ALL_TIME): Bucket[] {
    const hourly = Math.floor((Date.now() - HOURLY_MS) / DAY_MS) * DAY_MS
    return this.#read(BUCKETS, { months, hourly, from, to }).flatMap((block) => {
      const column = (name: string) => numbers(block, name)
      const [month, importId, run, from, to] = [column("month"), column("import_id"), column("run"), column("since"), column("until")]
      const [visits, events, minStart, maxStart] = [column("visits"), column("events"), column("min_start"), column("max_start")]
      const [maxAt, lastArrival] = [column("max_at"), column("last_arrival")]
      const marks = wides(block, "mark")
      return Array.from({ length: block.rows }, (_, row) => ({
        ...{ month: month[row]!, importId: importId[row]!, run: run[row]!, from: from[row]!, to: to[row]! },
        ...{ visits: visits[row]!, events: events[row]!, mark: marks[row]!, minStart: minStart[row]!, maxStart: maxStart[row]! },
        ...{ maxAt: maxAt[row]!, lastArrival: lastArrival[row]! },
      }))
    })
  }

  /** Asks for columns of adjacent slices of an import and run. */
  ask(slices: readonly Slice[], units: readonly string[]): SentQuery {
    return this.#send(...columnsStatement(slices, columnsOf(units)))
  }

  /** Returns columns that were asked for, or the slices that have changed since they were listed. */
  receive(sent: SentQuery, slices: readonly Slice[]): SlicesAnswer | { changed: Slice[] } {
    const answer = answerOf(readBlocks(sent.receive(this.#check)), slices)
    const marks = marksOf(answer)
    const changed = slices.filter(({ mark }, place) => marks[place] !== mark)
    return changed.length === 0 ? answer : { changed }
  }

  /** Reads columns of a slice that changes all the time, and what it is at the same moment. */
  current(slice: Slice, units: readonly string[]): { answer: SlicesAnswer; slice: Omit<Slice, "id"> } {
    const blocks = this.#read(...columnsStatement([slice], [...FACTS, ...columnsOf(units)]))
    const answer = answerOf(blocks, [slice])
    const facts = { ...slice, visits: 0, events: 0, mark: marksOf(answer)[0]! }
    for (const block of blocks) {
      const column = (name: string) => numbers(block, name)
      const [starts, sizes, lengths, arrivals] = [column("started_at"), column("sizes"), column("length"), column("arrival")]
      facts.visits += block.rows
      for (let row = 0; row < block.rows; row++) {
        const start = starts[row]!
        facts.events += sizes[row]!
        facts.minStart = Math.min(facts.minStart, start)
        facts.maxStart = Math.max(facts.maxStart, start)
        facts.maxAt = Math.max(facts.maxAt, start + lengths[row]!)
        facts.lastArrival = Math.max(facts.lastArrival, start + (arrivals[row]! + 1) * ARRIVAL_UNIT_MS)
      }
    }
    return { answer, slice: facts }
  }

  /** Lists the segments of imported totals of the site. */
  totals(): ListedTotals[] {
    return this.#read(TOTALS).flatMap((block) => {
      const column = (name: string) => numbers(block, name)
      const [node, segment, importId, run] = [column("node"), column("segment"), column("import_id"), column("run")]
      const [rows, firstDay, lastDay, kind] = [column("rows"), column("first_day"), column("last_day"), texts(block, "kind")]
      return Array.from({ length: block.rows }, (_, row) => ({
        ...{ node: node[row]!, segment: segment[row]!, importId: importId[row]!, run: run[row]!, kind: kind[row] as ImportedKind }, // as inserted
        ...{ rows: rows[row]!, firstDay: firstDay[row]!, lastDay: lastDay[row]! },
      }))
    })
  }

  /** Returns the content of a segment of totals. Throws `OutdatedSnapshot` when it was removed. */
  totalsContent({ node, segment }: ListedTotals): string {
    const [content] = this.#read(CONTENT, { node, segment }).flatMap((block) => texts(block, "content"))
    if (content === undefined) throw new OutdatedSnapshot("Totals were removed since the snapshot")
    return content
  }

  /** Returns the different texts of columns between two openings, among them those of former versions of visits. */
  texts(columns: readonly string[], from: number, to: number): string[] {
    const lists = columns.map((name) => (name.includes(".") ? `groupUniqArrayArray(\`${name}\`)` : `groupUniqArray(\`${name}\`)`))
    return this.#texts(`arrayConcat(${lists.join(", ")})`, from, to)
  }

  /** The same for the values of a property. */
  propertyValues(key: string, from: number, to: number): string[] {
    const values = "groupUniqArrayArray(arrayFilter((value, key) -> key = {key:String}, `p.value`, `p.key`))"
    return this.#texts(values, from, to, { key })
  }

  #texts(list: string, from: number, to: number, parameters: Readonly<Record<string, string>> = {}): string[] {
    const sql = `select arrayJoin(${list}) as text
      from visits where ${SOURCE} and opened_at >= {from:Int64} and opened_at < {to:Int64}`
    return this.#read(sql, { from, to, ...parameters }).flatMap((block) => texts(block, "text"))
  }

  #read(sql: string, parameters: StatementParameters = {}, settings: Settings = {}): NativeBlock[] {
    return readBlocks(this.#send(sql, parameters, settings).receive(this.#check))
  }

  #send(sql: string, parameters: StatementParameters, settings: Settings = {}): SentQuery {
    const { siteId, kind } = this.#source
    const own = { site: siteId, kind, ...parameters }
    const all = { ...LIMITS, ...READING, ...settings, additional_table_filters: ofSite(siteId) }
    return this.#channel.send(sql, { parameters: own, settings: all, timeoutMs: TIMEOUT_MS })
  }
}

/** Returns the condition that the server adds to every read of a table, so that a statement without its own shows nothing of other sites. */
const ofSite = (siteId: number): string => `{${TABLES.map((table) => `'${table}': 'site_id = ${siteId}'`).join(", ")}}`

type StatementParameters = Readonly<Record<string, string | number | readonly number[]>>

function columnsStatement(slices: readonly Slice[], columns: readonly string[]): [sql: string, StatementParameters, Settings] {
  const [{ importId, run, from }, { to }] = [slices[0]!, slices.at(-1)!]
  const names = [...new Set([...(slices.length > 1 ? ["opened_at"] : []), ...ORDER_COLUMNS, ...columns])].map((name) => `\`${name}\``)
  // The server would sort whole rows. Most answers are in order already.
  const selected = ["cityHash64(visit, version) as mark", "toUInt32(length(e.offset)) as sizes", ...names]
  const sql = `select ${selected.join(", ")} ${FROM}
    where ${SOURCE} and opened_at >= {from:Int64} and opened_at < {to:Int64} and import_id = {import:UInt32} and run = {run:UInt32}`
  return [sql, { from, to, import: importId, run }, columns.some((name) => name.includes(".")) ? {} : MERGING_IN_ORDER]
}

function numbers(block: NativeBlock, name: string): ArrayLike<number> {
  const { values } = block.columns.get(name)!
  return "halves" in values ? wideNumbers(values) : (values as Uint32Array) // the column is one of numbers
}

function texts(block: NativeBlock, name: string): string[] {
  const { list, places } = block.columns.get(name)!.values as Texts // the column is one of texts
  return Array.from(places, (place) => list[place]!)
}

function wides(block: NativeBlock, name: string): BigUint64Array {
  const { halves } = block.columns.get(name)!.values as Wide // the type of a hash
  return new BigUint64Array(halves.buffer, halves.byteOffset, halves.length / 2)
}

/** Finds the slice of each row. The rows are nearly in the order of their openings. */
function answerOf(blocks: readonly NativeBlock[], slices: readonly Slice[]): SlicesAnswer {
  const places = new Uint8Array(blocks.reduce((sum, { rows }) => sum + rows, 0))
  const last = slices.length - 1
  let [at, place] = [0, 0]
  for (const block of last > 0 ? blocks : []) {
    const opened = numbers(block, "opened_at")
    for (let row = 0; row < block.rows; row++) {
      while (place < last && opened[row]! >= slices[place]!.to) place++
      while (place > 0 && opened[row]! < slices[place]!.from) place--
      places[at++] = place
    }
  }
  return { blocks, places, slices: slices.length }
}

/** Returns the sum of the hashes of each slice. */
function marksOf({ blocks, places, slices }: SlicesAnswer): bigint[] {
  const [low, high] = [new Float64Array(slices), new Float64Array(slices)]
  let row = 0
  for (const block of blocks) {
    const { halves } = block.columns.get("mark")!.values as Wide // the type of a hash
    for (let at = 0; at < halves.length; at += 2) {
      const place = places[row++]!
      low[place]! += halves[at]!
      high[place]! += halves[at + 1]!
    }
  }
  return Array.from(low, (sum, place) => BigInt.asUintN(64, BigInt(sum) + (BigInt(high[place]!) << 32n)))
}
