/** Transactions after a move of the instance's events to another engine, which knows visitors and events by other names. */
import { type MovedNames, type RenameRows, type RowStatements, sql } from "#plugin"
import { EVENT } from "./orders/aliases.ts"
import { Book } from "./orders/book.ts"
import { touchesOf, touchesText } from "./orders/frozen.ts"
import type { TransactionRow } from "./orders/transaction.ts"
import { packTransactions } from "./packed/chunks.ts"

/** Number of transactions that are read at once. */
const SLICE = 512

export const renameTransactions: RenameRows = (rows, namesOf) => {
  const sites = rows.all<{ site_id: number }>(sql`select site_id from revenue_transactions union select site_id from revenue_cursor`)
  for (const { site_id } of sites) {
    const names = namesOf(site_id)
    if (names) renameSite(rows, site_id, names)
  }
}

function renameSite(rows: RowStatements, siteId: number, names: MovedNames): void {
  const ids: number[] = []
  for (let after = 0; ; after = ids.at(-1)!) {
    const found = rows.all<Renamed>(sql`select id, provider, external_id, visitor, person, sale_sequence, visit_sequence, touches_json
      from revenue_transactions where site_id = ${siteId} and id > ${after} order by id limit ${SLICE}`)
    if (found.length === 0) break
    renameSlice(rows, found, names)
    for (const { id } of found) ids.push(id)
  }
  renameAliases(rows, siteId, names)
  rows.run(sql`update revenue_transactions set external_id = substr(external_id, 2)
    where site_id = ${siteId} and external_id glob ${`${RENAMED}event:*`}`)
  const cursor = rows.get<{ position: number }>(sql`select position from revenue_cursor where site_id = ${siteId}`)
  if (cursor) rows.run(sql`update revenue_cursor set position = ${names.sequence(cursor.position)} where site_id = ${siteId}`)
  rows.run(sql`delete from revenue_chunks where site_id = ${siteId}`)
  rows.run(sql`delete from revenue_unpacked where site_id = ${siteId}`)
  for (let at = 0; at < ids.length; at += SLICE)
    packTransactions(rows, siteId, ids.slice(at, at + SLICE), names.numbers, new Book(rows, siteId))
}

type Renamed = Pick<
  TransactionRow,
  "id" | "provider" | "external_id" | "visitor" | "person" | "sale_sequence" | "visit_sequence" | "touches_json"
>

/** Begins an ID that has its new name already, which could be the former one of another transaction. */
const RENAMED = "~"

function renameSlice(rows: RowStatements, found: readonly Renamed[], names: MovedNames): void {
  const former = [...new Set(found.flatMap(({ visitor, person }) => [visitor ?? [], person ?? []].flat()))]
  const renamed = new Map(names.pseudonyms(former).map((name, at) => [former[at]!, name]))
  const visitorOf = (name: string | null) => (name === null ? null : renamed.get(name)!)
  const sequenceOf = (sequence: number | null) => (sequence === null ? null : names.sequence(sequence))
  rows.runEach(
    "update revenue_transactions set external_id = ?, visitor = ?, person = ?, sale_sequence = ?, visit_sequence = ?, touches_json = ? where id = ?",
    found.map((row) => [
      externalId(row, names),
      visitorOf(row.visitor),
      visitorOf(row.person),
      sequenceOf(row.sale_sequence),
      sequenceOf(row.visit_sequence),
      touchesText(touchesOf(row).map((touch) => ({ ...touch, sequence: names.sequence(touch.sequence) }))),
      row.id,
    ]),
  )
}

const isTracked = (provider: string): boolean => provider === "tracker" || provider === "import"

/** Returns the ID of a sale, which is made of its event if it has no order. Other providers have IDs of their own. */
const externalId = ({ provider, external_id }: Pick<Renamed, "provider" | "external_id">, names: MovedNames): string => {
  const renamed = isTracked(provider) ? eventId(external_id, names) : external_id
  return renamed === external_id ? external_id : RENAMED + renamed
}

function eventId(id: string, names: MovedNames): string {
  const sequence = /^event:(\d+)$/.exec(id)?.[1]
  return sequence === undefined ? id : `event:${names.sequence(Number(sequence))}`
}

interface Alias {
  provider: string
  alias: string
  external_id: string
  transaction_id: number
}

function renameAliases(rows: RowStatements, siteId: number, names: MovedNames): void {
  const named = sql`from revenue_aliases where site_id = ${siteId} and provider in (${EVENT}, 'tracker', 'import')`
  const found = rows.all<Alias>(sql`select provider, alias, external_id, transaction_id ${named}`)
  rows.run(sql`delete ${named}`)
  const aliasOf = ({ provider, alias }: Alias) => (provider === EVENT ? String(names.sequence(Number(alias))) : eventId(alias, names))
  rows.runEach(
    "insert into revenue_aliases (site_id, provider, alias, external_id, transaction_id) values (?, ?, ?, ?, ?)",
    found.map((row) => [siteId, row.provider, aliasOf(row), eventId(row.external_id, names), row.transaction_id]),
  )
}
