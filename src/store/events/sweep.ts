import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../domain/dimension.ts"
import { TRAITS } from "../../domain/visit.ts"
import type { Part } from "./part.ts"
import type { Tails } from "./tails.ts"
import { readState, writeState } from "./tails.ts"
import { openSegments } from "./upkeep.ts"

/** What the remaining visits of a site still refer to. */
class References {
  readonly #numbers = new Map<DictionaryName, Set<number>>()
  readonly visitors = new Set<number>()

  has(name: DictionaryName, id: number): boolean {
    return this.#numbers.get(name)?.has(id) ?? false
  }

  add(part: Part): void {
    for (const ordinal of part.visit("visitor")) this.visitors.add(ordinal)
    for (const trait of TRAITS) this.#all(trait, part.visit(trait))
    for (const column of ["entry_page", "exit_page"] as const) this.#all("page", part.visit(column))
    for (const column of ["entry_page_hostname", "exit_page_hostname"] as const) this.#all("hostname", part.visit(column))
    for (const column of ["name", "page", "hostname", "title"] as const) this.#all(column, part.event(column))
    this.#all("currency", part.revenue().currency)
    const { key, value } = part.props()
    this.#all("property", key)
    for (let row = 0; row < key.length; row++) this.#set(`property:${key[row]!}`).add(value[row]!)
  }

  #all(name: DictionaryName, numbers: Uint32Array): void {
    const set = this.#set(name)
    for (const number of numbers) set.add(number)
  }

  #set(name: DictionaryName): Set<number> {
    let set = this.#numbers.get(name)
    if (!set) {
      set = new Set()
      this.#numbers.set(name, set)
    }
    return set
  }
}

/**
 * Finds what nothing refers to any more once visits were removed. Segments are read with the loop turning between them;
 * the tail is read last, by `blank`, in one go with the change, so that no event can come in between.
 */
export async function findReferences(db: Database, siteId: number): Promise<References> {
  const references = new References()
  for (const { segment } of openSegments(db, siteId)) {
    references.add(segment)
    await Bun.sleep(0)
  }
  return references
}

/** Blanks texts, keeping their numbers, and forgets person keys. In the transaction of the caller. */
export function blankUnreferenced(db: Database, tails: Tails, siteId: number, references: References): void {
  const tail = tails.find(siteId)
  if (tail) references.add(tail)
  const rows = db.query<{ name: DictionaryName; id: number }, [number]>("select name, id from dictionary where site_id = ? and value <> ''")
  const blank = db.query("update dictionary set value = '' where site_id = ? and name = ? and id = ?")
  for (const { name, id } of rows.all(siteId)) if (!references.has(name, id)) blank.run(siteId, name, id)
  const identities = db.query<{ person_key: Uint8Array; ordinal: number }, [number]>(
    "select person_key, ordinal from identities where site_id = ?",
  )
  const forget = db.query("delete from identities where site_id = ? and person_key = ?")
  for (const { person_key, ordinal } of identities.all(siteId)) if (!references.visitors.has(ordinal)) forget.run(siteId, person_key)
  writeState(db, "dictionary_epoch", readState(db, "dictionary_epoch") + 1)
}
