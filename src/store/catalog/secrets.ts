import { Sql, sql, type Value } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** A sealed value and the row it belongs to. */
export interface SecretRow {
  id: number
  /** `core`, or a plugin. */
  owner: string
  place_table: string
  place_row: string
  purpose: string
  sealed: Uint8Array
  /** The end of a long one, which may be shown. */
  hint: string | null
  created_at: number
  rotated_at: number | null
}

const COLUMNS = sql`id, owner, place_table, place_row, purpose, sealed, hint, created_at, rotated_at`

/** Undefined for one of another owner. */
export const secretById = (catalog: Statements, owner: string, id: number): Promise<SecretRow | undefined> =>
  catalog.get(sql`select ${COLUMNS} from secrets where id = ${id} and owner = ${owner}`)

export async function insertSecret(catalog: Statements, row: Omit<SecretRow, "id" | "rotated_at">): Promise<number> {
  const made = await catalog.get<{ id: number }>(sql`
    insert into secrets (owner, place_table, place_row, purpose, sealed, hint, created_at)
    values (${row.owner}, ${row.place_table}, ${row.place_row}, ${row.purpose}, ${row.sealed}, ${row.hint}, ${row.created_at})
    returning id`)
  return made!.id // an insert that returns has a row
}

export const updateSecret = (
  catalog: Statements,
  id: number,
  { sealed, hint, at }: { sealed: Uint8Array; hint: string | null; at: number },
): Promise<void> => catalog.run(sql`update secrets set sealed = ${sealed}, hint = ${hint}, rotated_at = ${at} where id = ${id}`)

export const deleteSecret = (catalog: Statements, owner: string, id: number): Promise<void> =>
  catalog.run(sql`delete from secrets where id = ${id} and owner = ${owner}`)

/** A column whose values are sealed. All names are literals of ours. */
export interface SealedColumn {
  table: string
  /** The primary key, in its order. */
  keys: readonly string[]
  column: string
  /** What else of a row says for which place it was sealed. */
  beside?: readonly string[]
}

/** One sealed value with the key of its row, and what stands beside it. */
export type SealedRow = Readonly<Record<string, Value>>

/** Rows that have a value, in the order of their keys, behind the row of `after`. */
export function listSealedRows(
  catalog: Statements,
  { table, keys, column, beside = [] }: SealedColumn,
  after: SealedRow | undefined,
  limit: number,
): Promise<SealedRow[]> {
  const names = [...keys, column, ...beside].join(", ")
  const last = after ? keys.map((key) => after[key] ?? null) : []
  const behind = after ? ` and (${keys.join(", ")}) > (${keys.map(() => "?").join(", ")})` : ""
  return catalog.all(
    new Sql(`select ${names} from ${table} where ${column} is not null${behind} order by ${keys.join(", ")} limit ?`, [...last, limit]),
  )
}

export const replaceSealedValue = (
  catalog: Statements,
  { table, keys, column }: SealedColumn,
  row: SealedRow,
  value: Value,
): Promise<void> =>
  catalog.run(
    new Sql(`update ${table} set ${column} = ? where ${keys.map((key) => `${key} = ?`).join(" and ")}`, [
      value,
      ...keys.map((key) => row[key] ?? null),
    ]),
  )
