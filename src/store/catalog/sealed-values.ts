import type { Statements } from "./catalog.ts"
import { Sql, type Value } from "./sql.ts"

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
