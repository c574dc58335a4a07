import type { Database } from "bun:sqlite"
import type { DictionaryName } from "../../../domain/dimension.ts"
import { lanesOf } from "../bytes/lanes.ts"
import { ColumnCache } from "../cache.ts"
import { deletePerson } from "../dictionary/identities.ts"
import { numberOf, textOf } from "../dictionary/texts.ts"
import type { Journal } from "../journal.ts"
import type { ElsewhereOf } from "../spool/dropped.ts"
import { runStepsYielding } from "../steps.ts"
import { readState, writeState } from "../tail/tails.ts"
import { openTotals } from "../totals.ts"
import { Candidates, NumberSet } from "./candidates.ts"
import { openSegments } from "./segments.ts"

/** Number of rows that are read, and that are changed, per step: a few milliseconds of work. Changed rows are overwritten in several places. */
const SLICE = 500
const CHANGED_SLICE = 100
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
 * Blanks the texts that no row refers to after visits were removed, and deletes such person keys. The numbers of texts stay assigned. Rows of
 * a second engine count: `elsewhere` asks for them. `removed` are the texts and visitors of the removed visits; without it, all of the site are examined. It works in slices with events
 * arriving in between, whose references are tracked while it runs. The caller waits for the disk. An interrupted sweep stays due and
 * starts from the beginning, without `removed`.
 */
export async function sweep(
  journal: Journal,
  siteId: number,
  { removed, elsewhere }: { removed?: Candidates | undefined; elsewhere?: ElsewhereOf | undefined } = {},
): Promise<void> {
  const { db, memory } = journal
  const used = memory.uses.watch(siteId)
  const change = async (work: () => void): Promise<void> => {
    await journal.free()
    if (journal.memory !== memory) throw new Error("Memory was reloaded during a sweep")
    journal.change(work, true)
  }
  try {
    const candidates = removed ?? (await everyText(db, siteId))
    candidates.visitors = await personsAmong(db, siteId, removed?.visitors)
    await keepUnused(journal, siteId, candidates)
    if (elsewhere && !candidates.isEmpty) await keepUnusedElsewhere(db, siteId, candidates, elsewhere)
    let isBegun = false
    for (const slice of slicesOf(candidates.texts())) {
      await change(() => {
        // Reports that began before refer to texts that are blanked now, and begin again.
        if (!isBegun) startEpoch(db)
        for (const [name, id] of slice) if (!used.has(name, id)) blank(journal, siteId, name, id)
      })
      isBegun = true
      await Bun.sleep(0)
    }
    for (const slice of slicesOf(candidates.visitors)) {
      await change(() => {
        for (const ordinal of slice) if (!used.hasPerson(ordinal)) deletePerson(db, siteId, ordinal)
      })
      await Bun.sleep(0)
    }
    await change(() => {
      // Readers forget the texts that they have read meanwhile.
      if (isBegun) startEpoch(db)
      clearSweepDue(db, siteId)
    })
  } finally {
    memory.uses.end()
  }
}

function startEpoch(db: Database): void {
  writeState(db, "dictionary_epoch", readState(db, "dictionary_epoch") + 1)
}

/** Removes the candidates that the rows of the site refer to. */
async function keepUnused({ db, memory }: Journal, siteId: number, candidates: Candidates): Promise<void> {
  for (const { part } of openSegments(db, siteId)) {
    if (candidates.isEmpty) return
    await runStepsYielding(candidates.keepUnusedBy(part))
  }
  const property = (key: string) => numberOf(db, siteId, "property", key) ?? 0
  for (const totals of openTotals(db, siteId, new ColumnCache(CACHE_BYTES, false)))
    await runStepsYielding(candidates.keepUnusedByTotals(totals, property))
  for (const lane of lanesOf(siteId)) {
    const tail = memory.tails.find(lane)
    if (tail) await runStepsYielding(candidates.keepUnusedBy(tail))
  }
}

/** Removes the candidates that visits of the engine refer to. */
async function keepUnusedElsewhere(db: Database, siteId: number, candidates: Candidates, elsewhere: ElsewhereOf): Promise<void> {
  for (const [name, numbers] of candidates.byDictionary()) {
    const key = name.startsWith("property:") ? textOf(db, siteId, "property", Number(name.slice("property:".length))) : undefined
    if (numbers.size === 0 || key === "") continue
    const isUsed = await elsewhere.texts(siteId, name, key)
    for (const number of [...numbers]) if (isUsed(textOf(db, siteId, name, number))) numbers.delete(number)
  }
  for (const ordinal of await elsewhere.visitors(siteId, [...candidates.visitors])) candidates.visitors.delete(ordinal)
}

function blank({ db, memory }: Journal, siteId: number, name: DictionaryName, id: number): void {
  const find = db.query<{ value: string }, [number, string, number]>(
    "select value from dictionary where site_id = ? and name = ? and id = ?",
  )
  const text = find.get(siteId, name, id)?.value
  // The missing value and the fixed texts are not in the table.
  if (text === undefined || text === "") return
  db.query("update dictionary set value = '' where site_id = ? and name = ? and id = ?").run(siteId, name, id)
  // If the text comes again, it gets a new number.
  memory.interner.forget(siteId, name, text)
}

/** Returns all texts of a site as candidates. */
async function everyText(db: Database, siteId: number): Promise<Candidates> {
  const candidates = new Candidates()
  const sql = `select name, id from dictionary where site_id = ? and (name, id) > (?, ?) and value <> '' order by name, id limit ${SLICE}`
  const next = db.query<{ name: DictionaryName; id: number }, [number, string, number]>(sql)
  for (let rows = next.all(siteId, "", -1); rows.length > 0; rows = next.all(siteId, rows.at(-1)!.name, rows.at(-1)!.id)) {
    for (const { name, id } of rows) candidates.addText(name, id)
    await Bun.sleep(0)
  }
  return candidates
}

/** Returns those of some visitors, or of all of a site, who have a person key. */
async function personsAmong(db: Database, siteId: number, visitors: NumberSet | undefined): Promise<NumberSet> {
  const persons = new NumberSet()
  const sql = `select ordinal from identities where site_id = ? and ordinal > ? order by ordinal limit ${SLICE}`
  const next = db.query<{ ordinal: number }, [number, number]>(sql)
  for (let rows = next.all(siteId, -1); rows.length > 0; rows = next.all(siteId, rows.at(-1)!.ordinal)) {
    for (const { ordinal } of rows) if (visitors === undefined || visitors.has(ordinal)) persons.add(ordinal)
    await Bun.sleep(0)
  }
  return persons
}

function* slicesOf<Item>(items: Iterable<Item>): Generator<Item[]> {
  let slice: Item[] = []
  for (const item of items) {
    slice.push(item)
    if (slice.length < CHANGED_SLICE) continue
    yield slice
    slice = []
  }
  if (slice.length > 0) yield slice
}
