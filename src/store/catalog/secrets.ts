import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

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
