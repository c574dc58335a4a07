/** Backups of events on ClickHouse, which the server makes and stores where the operator wants them. */
import { type Static, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { Clock } from "../../domain/clock.ts"
import type { Log } from "../../domain/log.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { putSetting, settingByKey } from "../../store/catalog/settings.ts"
import { backUpTables, destinationOf } from "../../store/clickhouse/backup.ts"
import { type Clickhouse, ClickhouseFault } from "../../store/clickhouse/client.ts"
import { ExitFault } from "../runtime/exit.ts"
import type { Backups } from "./backup.ts"

const Made = t.Object({ name: t.String(), created_at: t.String(), bytes: t.Integer() })

/** A backup that was read again after it was made. */
export type MadeByClickhouse = Static<typeof Made>

export interface ClickhouseBackups {
  /** Whether the operator has named a place for backups. */
  isOn: boolean
  /** Makes a backup and checks it. Throws an `ExitFault` when the server refuses. */
  create(): Promise<MadeByClickhouse>
  /** Returns the last complete backup, by whichever node. */
  last(): Promise<MadeByClickhouse | undefined>
}

interface ClickhouseBackupOptions {
  clickhouse: Clickhouse
  /** Where ClickHouse writes a backup, with `{name}`. */
  place: string | undefined
  catalog: Catalog
  clock: Pick<Clock, "now">
  log: Log
}

/** Key of the last backup among the settings of the catalog. */
const KEY = "clickhouse_backup"

export function createClickhouseBackups({ clickhouse, place, catalog, clock, log }: ClickhouseBackupOptions): ClickhouseBackups {
  return {
    isOn: place !== undefined,
    async create() {
      const at = clock.now()
      const created_at = new Date(at).toISOString()
      const name = `footfall-${created_at.slice(0, 19).replace(/[-:]/g, "")}Z`
      const { bytes } = await backUpTables(clickhouse, destinationOf(place ?? "", name)).catch((error) => Promise.reject(toExit(error)))
      const made: MadeByClickhouse = { name, created_at, bytes }
      await putSetting(catalog, { key: KEY, value: made, updated_by: null, updated_at: at })
      log.info("ClickHouse made a backup", made)
      return made
    },
    async last() {
      const stored = await settingByKey(catalog, KEY)
      return Value.Check(Made, stored) ? stored : undefined
    },
  }
}

const toExit = (error: unknown): unknown =>
  error instanceof ClickhouseFault ? new ExitFault("unavailable", `ClickHouse made no backup: ${error.message}`, { cause: error }) : error

const OF_FOLDER = new ExitFault(
  "configuration",
  "The events are on ClickHouse, and a backup of the data folder could not be restored. Back up the catalog and the rows with their servers, and let ClickHouse back up the events: set FOOTFALL_CLICKHOUSE_BACKUP",
)

/** Backups of a data folder whose events are on ClickHouse: those that exist, and none are added. */
export const withoutNewBackups = (backups: Backups): Backups => ({ ...backups, create: () => Promise.reject(OF_FOLDER) })
