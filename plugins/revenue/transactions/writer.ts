/** The state of a transaction of the event store's writer in which revenue transactions are written. */
import { dayStart, localDay, type RowStatements, type Site, Sql, sql, type TransactionType } from "#plugin"
import type { RateLookup } from "../rates/rate.ts"
import type { RevenueSettings } from "../settings.ts"
import { COLUMNS, type TransactionRow } from "./transaction.ts"

export interface RevenueWriter {
  rows: RowStatements
  site: Site
  settings: RevenueSettings
  lookup: RateLookup
  now: number
  /** Returns the local day of the site at an instant. */
  dayOf(at: number): string
  /** Ids of rows that were written, and of rows that were deleted, in this transaction. */
  written: Set<number>
  deleted: Set<number>
}

/** Creates the function that returns the local day of an instant. Neighbouring instants usually share their day, so it is remembered. */
export function createDayOf(timezone: string): (at: number) => string {
  let [from, to, text] = [0, 0, ""]
  return (at) => {
    if (at >= from && at < to) return text
    const day = localDay(at, timezone)
    from = dayStart(day, timezone)
    to = dayStart(day.add({ days: 1 }), timezone)
    text = day.toString()
    return text
  }
}

export const rowById = (rows: RowStatements, siteId: number, id: number): TransactionRow | undefined =>
  rows.get(sql`select ${COLUMNS} from revenue_transactions where id = ${id} and site_id = ${siteId}`)

export const rowsById = (rows: RowStatements, siteId: number, ids: readonly number[]): TransactionRow[] =>
  rows.all(sql`select ${COLUMNS} from revenue_transactions
    where id in (select value from json_each(${JSON.stringify(ids)})) and site_id = ${siteId} order by id`)

export const rowByKey = (
  rows: RowStatements,
  siteId: number,
  { provider, external_id, type }: Pick<TransactionRow, "provider" | "external_id" | "type">,
): TransactionRow | undefined =>
  rows.get(sql`select ${COLUMNS} from revenue_transactions
    where site_id = ${siteId} and provider = ${provider} and external_id = ${external_id} and type = ${type}`)

/** Returns the refunds, disputes and adjustments that are linked to a sale. */
export const linkedTo = (rows: RowStatements, saleId: number): TransactionRow[] =>
  rows.all(sql`select ${COLUMNS} from revenue_transactions where parent_id = ${saleId} order by id`)

/** Values of columns to write. */
export type Values = Partial<Omit<TransactionRow, "id">>

/** Inserts a row, which gets an id unless it has one, and returns the id. */
export function insertRow({ rows, written }: RevenueWriter, values: Values & { id?: number }): number {
  const names = Object.keys(values)
  const holes = names.map((name) => (name === "base_minor" ? "cast(? as integer)" : "?"))
  const statement = `insert into revenue_transactions (${names.join(", ")}) values (${holes.join(", ")}) returning id`
  const { id } = rows.get<{ id: number }>(new Sql(statement, Object.values(values)))! // an insert returns its row
  written.add(id)
  return id
}

export function updateRow({ rows, written }: RevenueWriter, id: number, values: Values): void {
  const names = Object.keys(values)
  if (names.length === 0) return
  const sets = names.map((name) => (name === "base_minor" ? `${name} = cast(? as integer)` : `${name} = ?`))
  rows.run(new Sql(`update revenue_transactions set ${sets.join(", ")} where id = ?`, [...Object.values(values), id]))
  written.add(id)
}

/** Updates a row unless it has the values already. */
export function changeRow(writer: RevenueWriter, row: TransactionRow, values: Values): void {
  const names = Object.keys(values) as (keyof Values)[]
  if (names.some((name) => values[name] !== row[name])) updateRow(writer, row.id, values)
}

/** Stores the converted amount of a row. The row does not count as written, because reports convert by themselves. */
export const storeConversion = (
  { rows }: RevenueWriter,
  id: number,
  { base_minor, base_currency, rate, rate_day }: Pick<TransactionRow, "base_minor" | "base_currency" | "rate" | "rate_day">,
): void =>
  rows.run(sql`update revenue_transactions set base_minor = cast(${base_minor} as integer), base_currency = ${base_currency}, rate = ${rate},
    rate_day = ${rate_day} where id = ${id}`)

export function deleteRow({ rows, written, deleted }: RevenueWriter, id: number): void {
  rows.run(sql`delete from revenue_transactions where id = ${id}`)
  written.delete(id)
  deleted.add(id)
}

/** Marks an ID as voided by its provider. */
export const mark = (rows: RowStatements, siteId: number, provider: string, externalId: string, type: TransactionType): void =>
  rows.run(sql`insert into revenue_voided (site_id, provider, external_id, type)
    values (${siteId}, ${provider}, ${externalId}, ${type}) on conflict do nothing`)

export const isMarked = (rows: RowStatements, siteId: number, provider: string, externalId: string, type: TransactionType): boolean =>
  rows.get(sql`select 1 as one from revenue_voided
    where site_id = ${siteId} and provider = ${provider} and external_id = ${externalId} and type = ${type}`) !== undefined
