/** The sale events of all nodes, on the server with the row tables of plugins. Each node stores its own there, and follows their changes. */
import type { SaleEvent } from "../../domain/sale.ts"
import type { Catalog, Statements } from "../catalog/catalog.ts"
import type { VisitOfSale } from "../events/part.ts"
import type { SaleChanges } from "../events/tables/sales.ts"
import type { MigrationList } from "../migrations.ts"
import { raw, type Sql, sql } from "../sql.ts"
import saleEvents from "./migrations/0001_sale_events.sql" with { type: "text" }

/** The core's tables on the server. */
export const ROW_SCHEMA: MigrationList = { owner: "core", migrations: [{ name: "0001_sale_events", sql: saleEvents }] }

const FIELDS = [
  ...["sequence", "site_id", "visit_sequence", "import_id", "import_at", "at", "amount_minor", "currency", "order_id", "name", "trust"],
  "is_repeated",
] as const
const COLUMNS = raw(FIELDS.join(", "))
const VALUES = raw(FIELDS.map((name) => `value ->> '${name}'`).join(", "))

/** Stores what a node has changed. Idempotent. */
export const storeSaleChanges = (server: Catalog, { stored, removed }: SaleChanges): Promise<void> =>
  server.transaction(async ({ batch }) => {
    await batch([
      sql`insert into sale_events (${COLUMNS}) select ${VALUES} from json_each(${JSON.stringify(stored)}) where true order by key
        on conflict (sequence) do update set visit_sequence = excluded.visit_sequence, import_at = excluded.import_at`,
      sql`delete from sale_events where sequence in (select value from json_each(${JSON.stringify(removed)}))`,
    ])
  })

/** Stores the sale events of the only node under the places that positions already name. */
export const storePlacedSales = (server: Catalog, sales: readonly SaleEvent[]): Promise<void> =>
  server.run(
    sql`insert into sale_events (place, ${COLUMNS}) select value ->> 'place', ${VALUES} from json_each(${JSON.stringify(sales)}) where true order by key`,
  )

/** Deletes the sale events of visits of a site, whichever node has stored them. */
export const deleteSales = (server: Statements, siteId: number, visits: readonly number[]): Promise<void> =>
  server.run(sql`delete from sale_events
    where site_id = ${siteId} and visit_sequence in (select value from json_each(${JSON.stringify(visits)}))`)

type StoredSale = Omit<SaleEvent, "is_repeated"> & { is_repeated: number }

const read = (rows: readonly StoredSale[]): SaleEvent[] => rows.map((row) => ({ ...row, is_repeated: row.is_repeated === 1 }))

/** Returns at most `limit` sale events of a site after a place, in storage order. */
export const salesAfterPlace = async (server: Statements, siteId: number, place: number, limit: number): Promise<SaleEvent[]> =>
  read(
    await server.all<StoredSale>(
      sql`select place, ${COLUMNS} from sale_events where site_id = ${siteId} and place > ${place} order by place limit ${limit}`,
    ),
  )

/** Returns sale events of a site by sequence, in storage order, within a transaction on the row tables. */
export const salesInRows = (rows: { all<Row>(statement: Sql): Row[] }, siteId: number, sequences: readonly number[]): SaleEvent[] =>
  sequences.length === 0 ? [] : read(rows.all<StoredSale>(ofSequences(siteId, sequences)))

const ofSequences = (siteId: number, sequences: readonly number[]): Sql => sql`
  select place, ${COLUMNS} from sale_events
  where sequence in (select value from json_each(${JSON.stringify(sequences)})) and +site_id = ${siteId} order by place`

/** Returns the sale events of visits of a site, given by sequence. */
export const salesOfVisits = async (server: Statements, siteId: number, visits: readonly number[]): Promise<SaleEvent[]> =>
  read(
    await server.all<StoredSale>(sql`select place, ${COLUMNS} from sale_events
      where site_id = ${siteId} and visit_sequence in (select value from json_each(${JSON.stringify(visits)})) order by place`),
  )

/** Returns the visits of sale events of a site. */
export const visitsOfSales = (server: Statements, siteId: number, sequences: readonly number[]): Promise<VisitOfSale[]> =>
  server.all<VisitOfSale>(sql`select sequence, visit_sequence as visit, at from sale_events
    where sequence in (select value from json_each(${JSON.stringify(sequences)})) and +site_id = ${siteId}`)
