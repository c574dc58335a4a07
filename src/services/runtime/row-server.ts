/** The row tables of plugins on a libSQL server: opened once the catalog is, and only for the instance that has filled them. */
import type { Catalog } from "../../store/catalog/catalog.ts"
import { migrate } from "../../store/catalog/schema.ts"
import { deleteSetting, putSetting, settingByKey } from "../../store/catalog/settings.ts"
import type { EventFileInspection } from "../../store/events/copy.ts"
import { pluginRowSchemas } from "../../store/events/database.ts"
import type { MigrationStamp } from "../../store/migrations.ts"
import type { RowServer } from "../../store/rows/reader.ts"
import { ROW_SCHEMA } from "../../store/rows/sales.ts"
import { sql } from "../../store/sql.ts"
import type { Random } from "../secrets/secrets.ts"
import { ExitFault } from "./exit.ts"
import type { PluginFacts } from "./plugins.ts"
import { inUse, openRemoteCatalog } from "./remote-catalog.ts"

interface RowServerOptions extends MigrationStamp {
  rowServer: RowServer | undefined
  catalog: Catalog
  ofEvents: Pick<EventFileInspection, "filledRowTable">
  /** Whether other nodes that need the same rows use the catalog. */
  hasOthers: boolean
  plugins: readonly PluginFacts[]
  random: Random
  /** Whether the instance is only opened to move its events, and perhaps its rows: then the server is not opened here. */
  isMoving?: boolean
}

/** Setting with the id of the database that has the rows of this instance. */
const SETTING = "row_server"

/**
 * Opens the row tables on a server and migrates them. Undefined without a server. Rejects with exit code 78 when the rows of the instance
 * are somewhere else, because reports without them would be wrong, and with 73 when other nodes have theirs in their event stores.
 */
export async function openRows(options: RowServerOptions): Promise<Catalog | undefined> {
  const { rowServer, catalog, ofEvents, plugins, hasOthers, isMoving } = options
  if (isMoving) return undefined
  const known = await settingByKey(catalog, SETTING)
  if (!rowServer) {
    if (known === undefined && !hasOthers) return undefined
    if (known === undefined) throw inUse(NEEDED)
    throw new ExitFault("configuration", "The rows of plugins are on a libSQL server. Set FOOTFALL_ROWS_URL to its URL")
  }
  const filled = ofEvents.filledRowTable(plugins)
  if (filled !== undefined || (await copyOf(catalog)) !== undefined)
    throw new ExitFault(
      "configuration",
      `The event store contains rows of plugins${filled === undefined ? "" : ` (${filled})`}. Run footfall engine move --to clickhouse, which copies them to the server of FOOTFALL_ROWS_URL, or start without this setting`,
    )
  const server = await openRemoteCatalog({ ...rowServer, holds: "rows" }, () => {})
  try {
    await claim(server, known, options)
    await migrate(server, [ROW_SCHEMA, ...pluginRowSchemas(plugins)], options)
    return server
  } catch (error) {
    await server.close()
    throw error
  }
}

const NEEDED =
  "Another node uses this catalog. Several nodes need FOOTFALL_ROWS_URL, with the same server on each. Set it on all of them, or stop the other node"

const UNUSED =
  "Another node uses this catalog without FOOTFALL_ROWS_URL. Stop it, and set FOOTFALL_ROWS_URL on all nodes before you start it again"

const IS_FOREIGN = new ExitFault("configuration", "The database at FOOTFALL_ROWS_URL belongs to another instance. Use an empty database")

/** Returns the id that the database was reserved with. */
async function ownerOf(server: Catalog): Promise<string | undefined> {
  await server.run(sql`create table if not exists owner (id text not null) strict`)
  return (await server.get<{ id: string }>(sql`select id from owner`))?.id
}

/** Reserves an empty database for this instance, and refuses any other one. */
async function claim(server: Catalog, known: unknown, { catalog, random, now, hasOthers }: RowServerOptions): Promise<void> {
  const found = await ownerOf(server)
  if (known !== undefined && found === undefined)
    throw new ExitFault("damaged", "The database at FOOTFALL_ROWS_URL is empty, but this instance has stored rows in one. Restore it")
  if (known !== found) throw IS_FOREIGN
  if (found !== undefined) return
  if (hasOthers) throw inUse(UNUSED)
  const id = random(16).toHex()
  await server.run(sql`insert into owner (id) values (${id})`)
  await putSetting(catalog, { key: SETTING, value: id, updated_by: null, updated_at: now })
}

/** Returns whether the rows of plugins are on a server. */
export const areRowsOnServer = async (catalog: Catalog): Promise<boolean> => (await settingByKey(catalog, SETTING)) !== undefined

/** Setting with the database that the rows of this instance are being copied into. */
const COPY_SETTING = "row_server_copy"

/** A copy that is not complete: the id of its database, and the node whose rows it has. */
interface RowCopy {
  id: string
  node: number
}

const copyOf = async (catalog: Catalog): Promise<RowCopy | undefined> => (await settingByKey(catalog, COPY_SETTING)) as RowCopy | undefined // written below

/** Returns whether a copy of the rows is not complete. */
export const isCopyingRows = async (catalog: Catalog): Promise<boolean> => (await copyOf(catalog)) !== undefined

interface RowCopyOptions extends Pick<RowServerOptions, "catalog" | "random"> {
  /** Number of the node whose rows are copied. */
  node: number
  now: number
}

/**
 * Reserves an empty database for a copy of the rows, or the one of a copy that was interrupted. Resolves with false when the catalog names the
 * database already, and only the rows in the store are left to be deleted. Rejects with exit code 78 for any other database.
 */
export async function beginRowCopy(server: Catalog, { catalog, random, node, now }: RowCopyOptions): Promise<boolean> {
  const [known, begun, found] = [await settingByKey(catalog, SETTING), await copyOf(catalog), await ownerOf(server)]
  if (known !== undefined) {
    if (known === found && begun?.node === node) return false
    throw new ExitFault("configuration", "The rows of this instance are on a server, and those in the data folder are not among them")
  }
  if (found !== undefined && found !== begun?.id) throw IS_FOREIGN
  const id = found ?? random(16).toHex()
  await putSetting(catalog, { key: COPY_SETTING, value: { id, node } satisfies RowCopy, updated_by: null, updated_at: now })
  if (found === undefined) await server.run(sql`insert into owner (id) values (${id})`)
  return true
}

/** Makes the copied rows the ones that count. */
export async function nameRowServer(catalog: Catalog, now: number): Promise<void> {
  const { id } = (await copyOf(catalog))! // of `beginRowCopy`
  await putSetting(catalog, { key: SETTING, value: id, updated_by: null, updated_at: now })
}

/** Takes note that the store has none of the copied rows any more. */
export const endRowCopy = (catalog: Catalog): Promise<void> => deleteSetting(catalog, COPY_SETTING)
