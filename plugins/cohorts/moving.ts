/** Members of frozen cohorts after a move of the instance's events to another engine, which knows visitors by other numbers. */
import { type OwnStatements, type RenameRows, sql } from "#plugin"

const SLICE = 1_000
const PSEUDONYM_BYTES = 8

/** Returns the function that renames the members of all frozen cohorts. */
export async function renameMembers(tables: OwnStatements): Promise<RenameRows> {
  const cohorts: { id: number; site_id: number }[] = []
  for (let after = 0; ; after = cohorts.at(-1)!.id) {
    const found = await tables.all<{ id: number; site_id: number }>(
      sql`select id, site_id from cohorts_cohorts where kind = 'static' and id > ${after} order by id limit ${SLICE}`,
    )
    if (found.length === 0) break
    cohorts.push(...found)
  }
  return (rows, namesOf) => {
    for (const { id, site_id } of cohorts) {
      const names = namesOf(site_id)
      if (!names) continue
      const chunks = rows.all<{ chunk: number; visitors: Uint8Array }>(
        sql`select chunk, visitors from cohorts_members where cohort_id = ${id} order by chunk`,
      )
      for (const { chunk, visitors } of chunks) {
        const renamed = bytesOf(names.pseudonyms(pseudonymsIn(visitors)))
        rows.run(sql`update cohorts_members set visitors = ${renamed} where cohort_id = ${id} and chunk = ${chunk}`)
      }
    }
  }
}

function pseudonymsIn(bytes: Uint8Array): string[] {
  const hex = bytes.toHex()
  return Array.from({ length: bytes.length / PSEUDONYM_BYTES }, (_, at) => hex.slice(16 * at, 16 * (at + 1)))
}

/** Returns pseudonyms as they are stored, in ascending order. */
const bytesOf = (names: readonly string[]): Uint8Array => Uint8Array.fromHex(names.toSorted().join(""))
