import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../../domain/dimension.ts"
import { lanesOf } from "../bytes/lanes.ts"
import { ColumnCache } from "../cache.ts"
import type { Journal } from "../journal.ts"
import { inTurns } from "../steps.ts"
import { openTotals } from "../totals.ts"
import { readState, writeState } from "../tail/tails.ts"
import { References } from "./references.ts"
import { openSegments } from "./upkeep.ts"

/** Rows that are looked at, and blanked where need be, in one transaction. */
const SLICE = 2_000
/** Each column is read once. */
const CACHE_BYTES = 1 << 20

/** In the transaction that removes visits, or one before: from now on the site needs a sweep, over any crash, until one is done. */
export function oweSweep(db: Database, siteId: number): void {
  writeState(db, `sweep ${siteId}`, 1)
}

/** No sweep is needed: nothing was removed. */
export function forgiveSweep(db: Database, siteId: number): void {
  db.query("delete from state where key = ?").run(`sweep ${siteId}`)
}

export const owesSweep = (db: Database, siteId: number): boolean => readState(db, `sweep ${siteId}`) === 1

/** Sites whose sweep a stop or a fault has cut off. */
export function owedSweeps(db: Database): number[] {
  const rows = db.query<{ key: string }, []>("select key from state where key glob 'sweep [0-9]*'").all()
  return rows.map(({ key }) => Number(key.slice("sweep ".length)))
}

/**
 * Once visits were removed, blanks the texts that nothing refers to any more, keeping their numbers, and forgets the person
 * keys. Slice by slice, with events coming in between: what they refer to is noted while the sweep runs. A sweep that is cut
 * off is still owed, and begins anew.
 */
export async function sweep(journal: Journal, siteId: number): Promise<void> {
  const { db, memory } = journal
  const used = memory.uses.watch(siteId)
  try {
    const references = new References()
    for (const { segment } of openSegments(db, siteId)) await inTurns(references.add(segment))
    const property = (key: string) => memory.interner.find(siteId, "property", key) ?? 0
    for (const totals of openTotals(db, siteId, new ColumnCache(CACHE_BYTES))) await inTurns(references.addTotals(totals, property))
    for (const lane of lanesOf(siteId)) {
      const tail = memory.tails.find(lane)
      if (tail) await inTurns(references.add(tail))
    }
    const change = (work: () => boolean): boolean => {
      if (journal.memory !== memory) throw new Error("Memory was read anew during a sweep")
      return journal.change(work)
    }
    const texts = new Texts(db, siteId)
    while (change(() => texts.blank((name, id) => references.has(name, id) || used.has(name, id), memory.interner))) await Bun.sleep(0)
    const persons = new Persons(db, siteId)
    while (change(() => persons.forget((ordinal) => references.hasVisitor(ordinal) || used.hasPerson(ordinal)))) await Bun.sleep(0)
    change(() => {
      writeState(db, "dictionary_epoch", readState(db, "dictionary_epoch") + 1)
      forgiveSweep(db, siteId)
      return true
    })
  } finally {
    memory.uses.end()
  }
}

/** Goes through the dictionaries of a site, slice by slice, each in the transaction of the caller. */
class Texts {
  #name = ""
  #id = -1

  constructor(
    readonly db: Database,
    readonly siteId: number,
  ) {}

  /** False when there are no more. */
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
      // The text gets a new number when it comes again.
      interner.forget(this.siteId, name, value)
    }
    const last = rows.at(-1)
    if (last) [this.#name, this.#id] = [last.name, last.id]
    return last !== undefined
  }
}

/** The same with the person keys of a site. */
class Persons {
  #key = new Uint8Array(0)

  constructor(
    readonly db: Database,
    readonly siteId: number,
  ) {}

  forget(isUsed: (ordinal: number) => boolean): boolean {
    const sql = `select person_key as key, ordinal from identities where site_id = ? and person_key > ? order by person_key limit ${SLICE}`
    const rows = this.db.query<{ key: Uint8Array<ArrayBuffer>; ordinal: number }, [number, Uint8Array]>(sql).all(this.siteId, this.#key)
    const forget = this.db.query("delete from identities where site_id = ? and person_key = ?")
    for (const { key, ordinal } of rows) if (!isUsed(ordinal)) forget.run(this.siteId, key)
    this.#key = rows.at(-1)?.key ?? this.#key
    return rows.length > 0
  }
}
