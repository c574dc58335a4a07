import { statSync } from "node:fs"
import type { Clock } from "../../domain/clock.ts"
import { instantText } from "../../domain/moment.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { listUserFacts } from "../../store/catalog/instance-lists.ts"
import { appliedMigrations } from "../../store/catalog/schema.ts"
import type { EventStore } from "../../store/events/events.ts"
import { inSlices } from "../lists/paging.ts"
import { placesIn } from "../runtime/data-folder.ts"
import { anonymous, type LogLines } from "../runtime/log.ts"
import type { Plugins } from "../runtime/plugins.ts"
import type { ShownSettings } from "../settings/admin-settings.ts"
import { type Described, sourceOf } from "../settings/settings.ts"
import type { Check } from "./doctor.ts"

export interface SystemReport {
  version: string
  /** Commit of the source, or null if it is unknown. */
  commit: string | null
  bun: string
  started_at: string
  uptime_s: number
  data_dir: string
  base_url: string | null
  catalog: { kind: "file" | "remote"; schema: string[]; bytes: number | null; wal_bytes: number | null }
  events: { schema: string[]; bytes: number; wal_bytes: number; segments: number; hot_rows: number }
  plugins: { id: string; title: string; enabled: boolean; schema: string[] }[]
  memory: { rss: number }
  config: { key: string; source: string }[]
}

export interface SystemOptions {
  dataDir: string
  version: string
  commit: string | undefined
  baseUrl: string | undefined
  clock: Clock
  catalog: Catalog
  events: Pick<EventStore, "facts">
  plugins: Plugins
  described: readonly Described[]
}

/** Creates the system report: version, runtime and machine. */
export function createSystem(options: SystemOptions): { report(): Promise<SystemReport> } {
  const { dataDir, clock, catalog, events } = options
  const places = placesIn(dataDir)
  const startedAt = clock.now()
  const begun = clock.monotonic()
  return {
    async report() {
      const applied = await appliedMigrations(catalog)
      const schemaOf = (owner: string) => applied.filter((row) => row.owner === owner).map(({ name }) => name)
      const { schema, segments, hotRows } = events.facts()
      return {
        version: options.version,
        commit: options.commit ?? null,
        bun: Bun.version,
        started_at: instantText(startedAt),
        uptime_s: Math.floor((clock.monotonic() - begun) / 1_000),
        data_dir: dataDir,
        base_url: options.baseUrl ?? null,
        catalog: {
          kind: catalog.remote ? "remote" : "file",
          schema: schemaOf("core"),
          bytes: catalog.remote ? null : sizeOf(places.catalog),
          wal_bytes: catalog.remote ? null : sizeOf(`${places.catalog}-wal`),
        },
        events: { schema, bytes: sizeOf(places.events), wal_bytes: sizeOf(`${places.events}-wal`), segments, hot_rows: hotRows },
        plugins: options.plugins.list().map(({ id, title, enabled }) => ({ id, title, enabled, schema: schemaOf(id) })),
        memory: { rss: process.memoryUsage.rss() },
        config: options.described.map(({ key, source }) => ({ key, source: sourceOf(source) })),
      }
    },
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

export interface DiagnosticsOptions {
  catalog: Catalog
  clock: { now(): number }
  dataDir: string
  logLines: Pick<LogLines, "list">
  system(): Promise<SystemReport>
  health(): Promise<Check[]>
  settings(): ShownSettings
}

const LINES = 500

/**
 * Returns a zip archive for support: the system report, failed checks, settings and recent log lines. It contains no secrets and no
 * addresses of machines, and users are replaced by their ids.
 */
export async function diagnosticsZip(options: DiagnosticsOptions): Promise<Uint8Array> {
  const { strToU8, zipSync } = await import("fflate")
  const users = await inSlices((slice) => listUserFacts(options.catalog, options.clock.now(), slice))
  const ids = new Map(users.map(({ id, email }) => [email.toLowerCase(), id]))
  const cleared = (value: unknown): string =>
    anonymous(JSON.stringify(value, null, 2).replaceAll(options.dataDir, "(data folder)"), (email) => ids.get(email.toLowerCase()))
  const lines = options.logLines.list({ level: "warn" }, LINES).map(({ at, ...line }) => ({ at: new Date(at).toISOString(), ...line }))
  const files: Record<string, unknown> = {
    "system.json": await options.system(),
    "health.json": await options.health(),
    // Settings of the operator contain hosts, paths and accounts, so only their sources are included.
    "settings.json": options
      .settings()
      .data.map(({ key, group, value, source, editable }) => ({ key, source, ...(group !== "operator" && editable && { value }) })),
    "warnings.json": lines,
  }
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, value]) => [name, strToU8(cleared(value))])))
}
