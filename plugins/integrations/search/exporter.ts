import { dayText, packedObjects, type Site, sql, unpackRows } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { COLUMNS, type Detail } from "./storage.ts"

interface Stored {
  engine: string
  property: string
  search_type: string
  detail: Detail
  day: number
  rows: Uint8Array
  place: number
}

/** Exports the rows of search results, one for each day and detail, with texts instead of ids. Slices are those of a few days. */
export async function* exportedDays(host: IntegrationsHost, site: Site): AsyncGenerator<object> {
  for (let after = 0; ; ) {
    // Few at a time, because each has thousands of rows.
    const stored = await host.rows.write((rows) =>
      rows.all<Stored>(sql`select rowid as place, engine, property, search_type, detail, day, rows from integrations_search_rows
        where site_id = ${site.id} and rowid > ${after} order by rowid limit 5`),
    )
    if (stored.length === 0) return
    after = stored.at(-1)!.place
    for (const { engine, property, search_type, detail, day, rows } of stored) {
      const packed = packedObjects(unpackRows(rows), COLUMNS[detail])
      const texts = await textsOf(
        host,
        packed.flatMap(({ query_id, page_id }) => [query_id, page_id]).filter((id) => typeof id === "number"),
      )
      yield* packed.map(({ query_id, page_id, position_sum, ...row }) => ({
        ...{ engine, property, search_type, day: dayText(day), detail },
        ...(typeof query_id === "number" && { query: texts.get(query_id) ?? "" }),
        ...(typeof page_id === "number" && page_id !== 0 && { page: texts.get(page_id) ?? "" }),
        ...row,
        position_sum: Number(position_sum) / 1_000,
      }))
      await Bun.sleep(0)
    }
  }
}

const SLICE = 2_000

async function textsOf(host: IntegrationsHost, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const wanted = [...new Set(ids)]
  const texts = new Map<number, string>()
  for (let at = 0; at < wanted.length; at += SLICE) {
    const found = await host.rows.write((rows) =>
      rows.all<{ id: number; value: string }>(sql`select id, value from integrations_search_terms
        where id in (select value from json_each(${JSON.stringify(wanted.slice(at, at + SLICE))}))`),
    )
    for (const { id, value } of found) texts.set(id, value)
  }
  return texts
}
