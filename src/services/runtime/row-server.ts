/** The row tables of plugins on a libSQL server: opened once the catalog is, and only for the instance that has filled them. */
import type { Catalog } from "../../store/catalog/catalog.ts"
import { migrate } from "../../store/catalog/schema.ts"
import { putSetting, settingByKey } from "../../store/catalog/settings.ts"
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
}

/** Setting with the id of the database that has the rows of this instance. */
const SETTING = "row_server"

/**
 * Opens the row tables on a server and migrates them. Undefined without a server. Rejects with exit code 78 when the rows of the instance
 * are somewhere else, because reports without them would be wrong, and with 73 when other nodes have theirs in their event stores.
 */
export async function openRows(options: RowServerOptions): Promise<Catalog | undefined> {
  const { rowServer, catalog, ofEvents, plugins, hasOthers } = options
  const known = await settingByKey(catalog, SETTING)
  if (!rowServer) {
    if (known === undefined && !hasOthers) return undefined
    if (known === undefined) throw inUse(NEEDED)
    throw new ExitFault("configuration", "The rows of plugins are on a libSQL server. Set FOOTFALL_ROWS_URL to its URL")
  }
  const filled = ofEvents.filledRowTable(plugins)
  if (filled !== undefined)
    throw new ExitFault(
      "configuration",
      `The event store already contains rows of plugins (${filled}), so FOOTFALL_ROWS_URL cannot be used. Remove it`,
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

/** Reserves an empty database for this instance, and refuses any other one. */
async function claim(server: Catalog, known: unknown, { catalog, random, now, hasOthers }: RowServerOptions): Promise<void> {
  await server.run(sql`create table if not exists owner (id text not null) strict`)
  const found = (await server.get<{ id: string }>(sql`select id from owner`))?.id
  if (known !== undefined && found === undefined)
    throw new ExitFault("damaged", "The database at FOOTFALL_ROWS_URL is empty, but this instance has stored rows in one. Restore it")
  if (known !== found)
    throw new ExitFault("configuration", "The database at FOOTFALL_ROWS_URL belongs to another instance. Use an empty database")
  if (found !== undefined) return
  if (hasOthers) throw inUse(UNUSED)
  const id = random(16).toHex()
  await server.run(sql`insert into owner (id) values (${id})`)
  await putSetting(catalog, { key: SETTING, value: id, updated_by: null, updated_at: now })
}
