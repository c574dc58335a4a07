import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../domain/dimension.ts"
import { VISITOR_KINDS } from "../../domain/visit.ts"
import type { SegmentKind } from "./bytes/lanes.ts"
import { DISCARDED, type Interner } from "./dictionary/interner.ts"
import { fixedTexts, propertyDictionary } from "./dictionary/texts.ts"
import { translateErrors } from "./fault.ts"
import { Group } from "./group.ts"
import type { PackedText, VisitBatch } from "./import-batch.ts"
import type { BuildBatch, NumberedBatch } from "./import-segments.ts"
import type { Journal } from "./journal.ts"
import { LogRecord } from "./log.ts"
import { type Memory, saveCounters } from "./memory.ts"
import type { Hash64 } from "./writer.ts"

/** The import and run that rows belong to. */
export interface ImportTarget {
  siteId: number
  importId: number
  /** 1, or for an import that grows the number of the run. Default: 1. */
  run?: number
}

/** Where imported visits are stored. */
export interface ImportPlace extends ImportTarget {
  /** Kind of records to store instead of visits, each as a visit of one event. */
  kind?: SegmentKind
  /** Ordinals of visitors that have names, from earlier calls. New visitors are added. */
  visitors?: Map<string, number>
  /** Ordinal of the visitor with the number 0. */
  firstOrdinal?: number
  /** Returns the person key of a user. Without it, visits of users belong to their own visitors. */
  personOf?: (userId: string) => Hash64
  /** Property with the order id of a sale. Default: that of a new site. */
  orderProperty?: string
  /** Builds the segments of a batch, such as in another thread. Default: in this one, in slices. */
  build?: BuildBatch
  /** Returns the position to store with the rows, in the same transaction. Called when all rows were read. */
  cursor?: () => ImportCursor
}

/** How far a run has come. The counts include the batch that the position is stored with. */
export interface ImportCursor {
  /** JSON of the caller's own. */
  position: string
  visits: number
  rows: number
  batches: number
}

/** Time for which the writer is held before other work gets a turn. */
const SLICE_MS = 2
/** Items between two looks at the clock. */
const UNTIMED = 16
/** Names of visitors that are looked up at once, in about the same time. */
const NAMES = 80

/**
 * Gives the texts and visitors of a batch numbers of the site, slice by slice. What is new becomes durable; without the segments it has no
 * effect.
 */
export async function numberBatch(journal: Journal, place: ImportPlace, batch: VisitBatch): Promise<NumberedBatch> {
  const numbers = new SiteNumbers(place)
  await inSlices(journal, batch.texts(), (memory, text) => numbers.add(memory.interner, text))
  const firstSequence = journal.change(() => reserveSequences(journal.memory, batch.events), true)
  return { bytes: batch.bytes, numbers: numbers.all, firstSequence, ...(await numberVisitors(journal, place, batch)) }
}

/** Works on items in transactions of a few milliseconds, with other work in between. None of them waits for the disk. */
async function inSlices<Item>(journal: Journal, items: Iterator<Item>, work: (memory: Memory, item: Item) => void): Promise<void> {
  let next = items.next()
  const workOn = () => {
    const until = performance.now() + SLICE_MS
    while (!next.done && performance.now() < until)
      for (let left = UNTIMED; left > 0 && !next.done; left--) {
        work(journal.memory, next.value)
        next = items.next()
      }
    saveCounters(journal.memory)
  }
  // The batch is complete when its segments are on the disk, and with them all commits before.
  for (; !next.done; await Bun.sleep(0)) journal.change(workOn, true)
}

/** The numbers that a site has for the texts of a batch. */
class SiteNumbers {
  readonly #siteId: number
  readonly #importId: number
  readonly all = new Map<DictionaryName, number[]>()
  /** The properties by their number in the batch. */
  readonly #properties: string[] = []

  constructor({ siteId, importId }: ImportTarget) {
    this.#siteId = siteId
    this.#importId = importId
  }

  /** Adds the next text of a dictionary. */
  add(interner: Interner, { name, property, text, day }: PackedText): void {
    const numbers = this.#of(name)
    // New values of an import are counted apart from those that the site itself collects on that day.
    const counted = `${day} import ${this.#importId}`
    const number = (of: DictionaryName, key?: string) => interner.number(this.#siteId, of, text, counted, ignoreLimit, key)
    if (property === undefined) {
      if (name === "property") this.#properties[numbers.length] = text
      numbers.push(number(name))
      return
    }
    const key = this.#of("property")[property]!
    numbers.push(key === DISCARDED ? DISCARDED : number(propertyDictionary(key), this.#properties[property]))
  }

  #of(name: DictionaryName): number[] {
    let numbers = this.all.get(name)
    if (!numbers) {
      numbers = fixedTexts(name).map((_, number) => number)
      this.all.set(name, numbers)
    }
    return numbers
  }
}

/** Values over the limit of a day are stored as `(other)`. An import does not report how many it had. */
const ignoreLimit = (): void => {}

/** Returns the first of a number of sequences, which are reserved. In the transaction of the caller. */
function reserveSequences(memory: Memory, count: number): number {
  const first = memory.sequence
  memory.sequence += count
  saveCounters(memory)
  return first
}

/** Returns the ordinals of the visitors of a batch. */
async function numberVisitors(
  journal: Journal,
  place: ImportPlace,
  batch: VisitBatch,
): Promise<Pick<NumberedBatch, "firstOrdinal" | "ordinals" | "people">> {
  const { siteId, visitors = new Map<string, number>(), firstOrdinal = 0, personOf } = place
  const ordinals: number[] = []
  await inSlices(journal, batch.names().values(), (memory, name) => void ordinals.push(ordinalOf(memory, siteId, visitors, name)))
  const people: NumberedBatch["people"] = []
  if (!personOf) return { firstOrdinal, ordinals, people }
  const record = new LogRecord()
  const [kinds, starts] = [batch.column("visitor_kind"), batch.starts()]
  await inSlices(journal, batch.people(), (memory, { visit, userId }) => {
    const kind = VISITOR_KINDS[kinds[visit]!] === "device" ? "device" : "user"
    // The visitor was identified at the start of the visit. Imports are not logged.
    const group = new Group(memory, { record: 0, arrivedAt: 0 }, record)
    people.push({ visit, ordinal: group.identified(siteId, { key: personOf(userId), kind, userId: "", at: starts[visit]! }) })
  })
  return { firstOrdinal, ordinals, people }
}

function ordinalOf(memory: Memory, siteId: number, ordinals: Map<string, number>, name: string): number {
  const known = ordinals.get(name)
  if (known !== undefined) return known
  const ordinal = memory.visitors.nextOrdinal(siteId)
  memory.visitors.reserve(siteId, ordinal)
  ordinals.set(name, ordinal)
  return ordinal
}

/** Reserves ordinals for visitors that are numbered from 0. Returns the first one. In the transaction of the caller. */
export function reserveVisitors(memory: Memory, siteId: number, count: number): number {
  const first = memory.visitors.nextOrdinal(siteId)
  if (count > 0) memory.visitors.reserve(siteId, first + count - 1)
  saveCounters(memory)
  return first
}

/** Stores how far a run has come. In the transaction of the caller. */
export function writeCursor(
  db: Database,
  { siteId, importId, run = 1 }: ImportTarget,
  { position, visits, rows, batches }: ImportCursor,
): void {
  const sql = `insert into import_cursors (import_id, run, site_id, position, visits, rows, batches) values (?, ?, ?, ?, ?, ?, ?)
    on conflict do update set position = excluded.position, visits = excluded.visits, rows = excluded.rows, batches = excluded.batches`
  db.query(sql).run(importId, run, siteId, position, visits, rows, batches)
}

export function readCursor(db: Database, importId: number, run: number): ImportCursor | undefined {
  const sql = "select position, visits, rows, batches from import_cursors where import_id = ? and run = ?"
  return db.query<ImportCursor, [number, number]>(sql).get(importId, run) ?? undefined
}

/**
 * Returns the ordinals of visitors of an import that grows. Their names are hashes in hex. New ones get the next ordinals and are stored
 * with the run, a slice at a time.
 */
export async function nameVisitors(
  journal: Journal,
  { siteId, importId, run = 1 }: ImportTarget,
  names: readonly string[],
): Promise<Map<string, number>> {
  const ordinals = new Map<string, number>()
  for (let at = 0; at < names.length; at += NAMES) {
    const slice = names.slice(at, at + NAMES)
    const unknown = translateErrors(() => slice.filter((name) => !readVisitor(journal.db, importId, name, ordinals)))
    if (unknown.length > 0)
      journal.change(() => {
        const first = reserveVisitors(journal.memory, siteId, unknown.length)
        const insert = journal.db.query("insert into import_visitors (import_id, key, ordinal, run) values (?, ?, ?, ?)")
        for (const [index, name] of unknown.entries()) {
          insert.run(importId, Buffer.from(name, "hex"), first + index, run)
          ordinals.set(name, first + index)
        }
      })
    await Bun.sleep(0)
  }
  return ordinals
}

/** Adds the ordinal of a stored visitor. Returns false for a new one. */
function readVisitor(db: Database, importId: number, name: string, ordinals: Map<string, number>): boolean {
  const find = db.query<{ ordinal: number }, [number, Buffer]>("select ordinal from import_visitors where import_id = ? and key = ?")
  const found = find.get(importId, Buffer.from(name, "hex"))
  if (found) ordinals.set(name, found.ordinal)
  return found !== null
}

/** Returns the number of visitors that a run of an import was the first to have. */
export const countVisitors = (db: Database, importId: number, run: number): number =>
  db.query<{ n: number }, [number, number]>("select count(*) as n from import_visitors where import_id = ? and run = ?").get(importId, run)!
    .n
