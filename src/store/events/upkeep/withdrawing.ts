/**
 * Events that another node has stored too, because their sender repeated them there after a crash of this one. They are taken out of the log
 * before it is shipped.
 */
import type { Database } from "bun:sqlite"
import { siteOfLane } from "../bytes/lanes.ts"
import type { Journal } from "../journal.ts"
import { type IdentifiedEvent, identifiedEvents, LogRecord, visitsOfRecord, withoutEvents } from "../log.ts"
import { sharedSequence } from "../spool/sequences.ts"
import { shippedRecord } from "../spool/spool.ts"
import { moveSales } from "../tables/sale-rows.ts"
import { dropSales } from "../tables/sales.ts"
import { readState, writeState } from "../tail/tails.ts"
import type { Hash64 } from "../writer.ts"

interface LogRow {
  id: number
  arrived_at: number
  record: Uint8Array
}

/** Returns the records of the log that the second engine has not confirmed. */
const unconfirmed = (db: Database): LogRow[] =>
  db.query<LogRow, [number]>("select id, arrived_at, record from log where id > ? order by id").all(shippedRecord(db) ?? 0)

/** Returns the ids of the events that are in the log and that the second engine has not confirmed. */
export const unconfirmedIds = (db: Database): Hash64[] =>
  unconfirmed(db).flatMap(({ record }) => identifiedEvents(record).map(({ id }) => id))

/** The former first event of a visit, by which the second engine may know the visit. Outside the store. */
export interface FormerVisit {
  siteId: number
  sequence: number
}

/**
 * Takes the events with some ids out of the log, and the visits that have no other event. The other visits count as changed, because the
 * second engine may have stored them without a confirmation. Returns the visits that it may know by an event that was taken out.
 */
export function withdraw(journal: Journal, isChosen: (id: Hash64) => boolean): FormerVisit[] {
  const { db } = journal
  const rows = unconfirmed(db)
  const chosen = rows.flatMap(({ record }) => identifiedEvents(record)).filter(({ id }) => isChosen(id))
  if (chosen.length === 0) return []
  const removed = new Set(chosen.map(({ sequence }) => sequence))
  const emptied = emptiedVisits(rows, removed)
  const changed = [...Map.groupBy(chosen, ({ visitId }) => visitId).values()]
    .map(([first]) => first!)
    .filter(({ visitId }) => !emptied.has(visitId))
  const former = changed.map(({ lane, visitId }) => ({ lane, visitId, sequence: firstOf(journal, lane, visitId) }))
  journal.rewrite(() => {
    const update = db.query("update log set record = ? where id = ?")
    for (const { id, record } of rows)
      if (identifiedEvents(record).some(({ sequence }) => removed.has(sequence))) update.run(withoutEvents(record, removed, emptied), id)
    touch(journal, changed, rows.at(-1)!.arrived_at) // events were chosen from them
    dropSales(db, [...removed])
    // Otherwise the last event that is taken out would lend its number to another one.
    writeState(db, "sequence", journal.memory.sequence)
  })
  const moved = former.filter(({ sequence }) => removed.has(sequence))
  journal.commit(() => {
    for (const { lane, visitId, sequence } of moved) moveSales(db, siteOfLane(lane), sequence, firstOf(journal, lane, visitId))
  })
  const node = readState(db, "node")
  return chosen.map(({ lane, sequence }) => ({ siteId: siteOfLane(lane), sequence: sharedSequence(sequence, node) }))
}

const firstOf = ({ memory }: Journal, lane: number, visitId: number): number => memory.tails.tail(lane).firstSequence(visitId)

/** Returns the visits that have no event but removed ones. */
function emptiedVisits(rows: readonly LogRow[], removed: ReadonlySet<number>): Set<number> {
  const visits = rows.map(({ record }) => visitsOfRecord(record))
  const emptied = new Set(visits.flatMap(({ opened }) => opened))
  for (const { visitId, sequence } of visits.flatMap(({ events }) => events)) if (!removed.has(sequence)) emptied.delete(visitId)
  return emptied
}

/** Writes a record that concerns visits and leaves them as they are. */
function touch({ db, memory }: Journal, visits: readonly IdentifiedEvent[], arrivedAt: number): void {
  if (visits.length === 0) return
  const record = new LogRecord()
  for (const { lane, visitId } of visits) {
    const { visitor, kind } = memory.tails.tail(lane).visitOf(visitId)
    record.identify(lane, visitId, visitor, kind)
  }
  const insert = db.query("insert into log (id, arrived_at, first_sequence, record) values (?, ?, ?, ?)")
  insert.run(memory.tails.lastRecord + 1, arrivedAt, memory.sequence, record.seal())
}
