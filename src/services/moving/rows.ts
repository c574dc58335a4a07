/**
 * Moves the row tables of plugins from the store of the only node to a libSQL server, which several nodes need. The rows in the store count
 * until the catalog names the database, which is one statement. A copy that was interrupted before it begins again.
 */
import type { Clock } from "../../domain/clock.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { migrate } from "../../store/catalog/schema.ts"
import { pluginRowSchemas } from "../../store/events/database.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { RowStatements } from "../../store/events/tables/row-tables.ts"
import type { RowServer } from "../../store/rows/reader.ts"
import { ROW_SCHEMA, storePlacedSales } from "../../store/rows/sales.ts"
import { Sql, sql, type Value } from "../../store/sql.ts"
import type { Report } from "../runtime/control.ts"
import { ExitFault } from "../runtime/exit.ts"
import type { PluginFacts } from "../runtime/plugins.ts"
import { openRemoteCatalog } from "../runtime/remote-catalog.ts"
import { areRowsOnServer, beginRowCopy, endRowCopy, isCopyingRows, nameRowServer } from "../runtime/row-server.ts"
import type { Random } from "../secrets/secrets.ts"

/** The server that gets the rows. */
export interface RowTarget {
  server: RowServer
  version: string
  random: Random
}

interface RowMove {
  catalog: Catalog
  events: Pick<EventStore, "rows" | "salesAfter" | "emptyLog">
  plugins: readonly PluginFacts[]
  /** Number of the node. */
  node: number
  clock: Clock
  report: Report
}

/** Number of rows that are read at once, and of bytes that are sent at once. */
const SLICE = 500
const BATCH_BYTES = 4 << 20

/** Copies the rows, makes the database the one that counts, and empties the tables in the store. Resolves with the number of copied rows. */
export async function moveRows(move: RowMove, { server: place, version, random }: RowTarget): Promise<number> {
  const { catalog, events, plugins, node, clock, report } = move
  const server = await openRemoteCatalog({ ...place, holds: "rows" }, () => {})
  try {
    const tables = events.rows((rows) => rowTables(rows, plugins))
    let copied = 0
    if (await beginRowCopy(server, { catalog, node, random, now: clock.now() })) {
      await migrate(server, [ROW_SCHEMA, ...pluginRowSchemas(plugins)], { version, now: clock.now() })
      for (const [done, table] of tables.entries()) {
        report({ what: "copying tables of rows", done, total: tables.length })
        copied += await copyTable(events, server, table)
      }
      await copySales(events, server)
      await nameRowServer(catalog, clock.now())
    }
    report({ what: "copying tables of rows", done: tables.length, total: tables.length })
    for (const table of tables) emptyTable(events, table)
    await events.emptyLog()
    await endRowCopy(catalog)
    return copied
  } finally {
    await server.close()
  }
}

/** Returns whether the store has rows that a server is to have, or that a copy has left behind. */
export async function hasOwnRows({ catalog, events, plugins }: Pick<RowMove, "catalog" | "events" | "plugins">): Promise<boolean> {
  if (!(await areRowsOnServer(catalog)) || (await isCopyingRows(catalog))) return true
  return events.rows((rows) =>
    rowTables(rows, plugins).some(({ name }) => rows.get(new Sql(`select 1 from ${name} limit 1`, [])) !== undefined),
  )
}

interface Table {
  name: string
  columns: readonly string[]
  /** Columns of the primary key. */
  key: readonly string[]
}

/** Lists the row tables of plugins in the store. */
function rowTables(rows: RowStatements, plugins: readonly { id: string }[]): Table[] {
  const names = rows.all<{ name: string }>(sql`select name from sqlite_schema where type = 'table' order by name`)
  return names
    .filter(({ name }) => plugins.some(({ id }) => name.startsWith(`${id}_`)))
    .map(({ name }) => {
      const columns = rows.all<{ name: string; pk: number }>(sql`select name, pk from pragma_table_info(${name}) order by cid`)
      const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
      return { name, columns: columns.map((column) => column.name), key: key.map((column) => column.name) }
    })
}

type Row = Readonly<Record<string, Value>>

async function copyTable(events: RowMove["events"], server: Catalog, { name, columns, key }: Table): Promise<number> {
  await server.run(new Sql(`delete from ${name}`, []))
  const insert = `insert into ${name} (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`
  const order = key.join(", ")
  let copied = 0
  for (let after: Value[] = [], isAll = false; !isAll; ) {
    const behind = after.length > 0 ? `where (${order}) > (${key.map(() => "?").join(", ")})` : ""
    const next = new Sql(`select ${columns.join(", ")} from ${name} ${behind} order by ${order} limit ${SLICE}`, after)
    const found = events.rows(({ all }) => all<Row>(next))
    for (const batch of batches(found))
      await server.transaction((statements) =>
        statements.batch(
          batch.map(
            (row) =>
              new Sql(
                insert,
                columns.map((column) => row[column]!),
              ),
          ),
        ),
      )
    copied += found.length
    isAll = found.length < SLICE
    after = key.map((column) => found.at(-1)?.[column] ?? null)
  }
  await copySequence(events, server, name)
  const [stored] = await server.all<{ n: number }>(new Sql(`select count(*) as n from ${name}`, []))
  if (stored!.n !== copied) throw new ExitFault("damaged", `${name} has ${stored!.n} rows on the server and ${copied} in the data folder`) // a count is one row
  return copied
}

/** Divides rows into lists of limited size, because some contain packed rows. */
function* batches(rows: readonly Row[]): Generator<Row[]> {
  let batch: Row[] = []
  let bytes = 0
  for (const row of rows) {
    batch.push(row)
    for (const value of Object.values(row)) bytes += typeof value === "string" || value instanceof Uint8Array ? value.length : 8
    if (bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

/** Continues the ids of a table that never uses one again. */
async function copySequence(events: RowMove["events"], server: Catalog, name: string): Promise<void> {
  const last = events.rows(({ get }) => get<{ seq: number }>(sql`select seq from sqlite_sequence where name = ${name}`))
  if (!last) return
  await server.transaction(({ batch }) =>
    batch([
      sql`delete from sqlite_sequence where name = ${name}`,
      sql`insert into sqlite_sequence (name, seq) values (${name}, ${last.seq})`,
    ]),
  )
}

/** Copies the sale events in their order, under the places that positions in them already name. */
async function copySales(events: RowMove["events"], server: Catalog): Promise<void> {
  await server.run(sql`delete from sale_events`)
  const sites = events.rows(({ all }) => all<{ id: number }>(sql`select distinct site_id as id from sale_events`))
  for (const { id } of sites)
    for (let after = 0, isAll = false; !isAll; ) {
      const sales = events.salesAfter(id, after, SLICE)
      await storePlacedSales(server, sales)
      after = sales.at(-1)?.place ?? after
      isAll = sales.length < SLICE
    }
}

function emptyTable(events: RowMove["events"], { name, key }: Table): void {
  const order = key.join(", ")
  const slice = new Sql(`delete from ${name} where (${order}) in (select ${order} from ${name} order by ${order} limit ${SLICE})`, [])
  const isLeft = () => events.rows(({ get }) => get(new Sql(`select 1 from ${name} limit 1`, [])) !== undefined)
  while (isLeft()) events.rows(({ run }) => run(slice))
}
