import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../../domain/dimension.ts"
import { lanesOf } from "../bytes/lanes.ts"
import { ColumnCache } from "../cache.ts"
import type { Journal } from "../journal.ts"
import { runStepsYielding } from "../steps.ts"
import { readState, writeState } from "../tail/tails.ts"
import { openTotals } from "../totals.ts"
import { References } from "./references.ts"
import { openSegments } from "./segments.ts"

/** Number of rows that are checked per transaction. */
const SLICE = 2_000
/** Size of the column cache. A sweep reads each column once. */
const CACHE_BYTES = 1 << 20

/** Records that a site needs a sweep. Call it in the transaction that removes visits or earlier, so that a crash cannot lose it. */
export function markSweepDue(db: Database, siteId: number): void {
  writeState(db, `sweep ${siteId}`, 1)
}

/** Records that no sweep is needed, because it is done or nothing was removed. */
export function clearSweepDue(db: Database, siteId: number): void {
  db.query("delete from state where key = ?").run(`sweep ${siteId}`)
}

export const isSweepDue = (db: Database, siteId: number): boolean => readState(db, `sweep ${siteId}`) === 1

/** Lists the sites whose sweep was interrupted by a stop or a failure. */
export function sitesDueForSweep(db: Database): number[] {
  const rows = db.query<{ key: string }, []>("select key from state where key glob 'sweep [0-9]*'").all()
  return rows.map(({ key }) => Number(key.slice("sweep ".length)))
}

/**
 * Blanks the texts that no row refers to after visits were removed, and deletes such person keys. The numbers of texts stay assigned.
 * It works in slices with events arriving in between, whose references are tracked while it runs. An interrupted sweep stays due and
 * starts from the beginning.
 */
export async function sweep(journal: Journal, siteId: number): Promise<void> {
  const { db, memory } = journal
  const used = memory.uses.watch(siteId)
  try {
    const references = new References()
    for (const { part } of openSegments(db, siteId)) await runStepsYielding(references.add(part))
    const property = (key: string) => memory.interner.find(siteId, "property", key) ?? 0
    for (const totals of openTotals(db, siteId, new ColumnCache(CACHE_BYTES, false)))
      await runStepsYielding(references.addTotals(totals, property))
    for (const lane of lanesOf(siteId)) {
      const tail = memory.tails.find(lane)
      if (tail) await runStepsYielding(references.add(tail))
    }
    const change = (work: () => boolean): boolean => {
      if (journal.memory !== memory) throw new Error("Memory was reloaded during a sweep")
      return journal.change(work)
    }
    const texts = new Texts(db, siteId)
    while (change(() => texts.blank((name, id) => references.has(name, id) || used.has(name, id), memory.interner))) await Bun.sleep(0)
    const persons = new Persons(db, siteId)
    while (change(() => persons.forget((ordinal) => references.hasVisitor(ordinal) || used.hasPerson(ordinal)))) await Bun.sleep(0)
    change(() => {
      writeState(db, "dictionary_epoch", readState(db, "dictionary_epoch") + 1)
      clearSweepDue(db, siteId)
      return true
    })
  } finally {
    memory.uses.end()
  }
}

/** Walks through the dictionaries of a site in slices, each in the caller's transaction. */
class Texts {
  #name = ""
  #id = -1

  constructor(
    readonly db: Database,
    readonly siteId: number,
  ) {}

  /** Blanks the unused texts of the next slice. Returns false when there are no more. */
  blank(
    isUsed: (name: DictionaryName, id: number) => boolean,
    interner: { forget(siteId: number, name: DictionaryName, text: string): void },
  ): boolean {
    const sql = `select name, id, value from dictionary where site_id = ? and (name, id) > (?, ?) order by name, id limit ${SLICE}`
    const rows = this.db
      .query<{ name: DictionaryName; id: number; value: string }, [number, string, number]>(sql)
      .all(this.siteId, this.#name, this.#id)
    const blank = this.db.query("update dictionary set value = '' where site_id = ? and name = ? and id = ?")
    for (const { name, id, value } of rows) {
      if (value === "" || isUsed(name, id)) continue
      blank.run(this.siteId, name, id)
      // If the text comes again, it gets a new number.
      interner.forget(this.siteId, name, value)
    }
    const last = rows.at(-1)
    if (last) [this.#name, this.#id] = [last.name, last.id]
    return last !== undefined
  }
}

/** Walks through the person keys of a site in slices, each in the caller's transaction. */
class Persons {
  #key = new Uint8Array(0)

  constructor(
    readonly db: Database,
    readonly siteId: number,
  ) {}

  /** Deletes the unused person keys of the next slice. Returns false when there are no more. */
  forget(isUsed: (ordinal: number) => boolean): boolean {
    const sql = `select person_key as key, ordinal from identities where site_id = ? and person_key > ? order by person_key limit ${SLICE}`
    const rows = this.db.query<{ key: Uint8Array<ArrayBuffer>; ordinal: number }, [number, Uint8Array]>(sql).all(this.siteId, this.#key)
    const forget = this.db.query("delete from identities where site_id = ? and person_key = ?")
    for (const { key, ordinal } of rows) if (!isUsed(ordinal)) forget.run(this.siteId, key)
    this.#key = rows.at(-1)?.key ?? this.#key
    return rows.length > 0
  }
}
