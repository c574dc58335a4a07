import { Sql, sql, type Value } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** A sealed value and the row it belongs to. */
export interface SecretRow {
  id: number
  /** `core`, or the id of a plugin. */
  owner: string
  place_table: string
  place_row: string
  purpose: string
  sealed: Uint8Array
  /** The last characters of a long secret, which may be shown. */
  hint: string | null
  created_at: number
  rotated_at: number | null
}

const COLUMNS = sql`id, owner, place_table, place_row, purpose, sealed, hint, created_at, rotated_at`

/** Returns a secret of an owner. Returns undefined for a secret of another owner. */
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

/** A column whose values are sealed. Its names are inserted into SQL as text, so they must be literals of the source code. */
export interface SealedColumn {
  table: string
  /** Columns of the primary key, in order. */
  keys: readonly string[]
  column: string
  /** Other columns that are part of the name for which a value is sealed. */
  context?: readonly string[]
}

/** A sealed value with the primary key of its row and the `context` columns. */
export type SealedRow = Readonly<Record<string, Value>>

/** Lists the rows after `after` that have a sealed value, by primary key. */
export function listSealedRows(
  catalog: Statements,
  { table, keys, column, context = [] }: SealedColumn,
  after: SealedRow | undefined,
  limit: number,
): Promise<SealedRow[]> {
  const names = [...keys, column, ...context].join(", ")
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
