import { statSync } from "node:fs"
import type { Clock } from "../../domain/clock.ts"
import { instantText } from "../../domain/moment.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { appliedMigrations } from "../../store/catalog/migrate.ts"
import type { EventStore } from "../../store/events/events.ts"
import { placesIn } from "../data-folder.ts"
import type { Plugins } from "../plugins.ts"

/** A setting of the operator, with where it was set; secrets are masked. */
export interface Described {
  key: string
  value: unknown
  source: string
}

export interface SystemReport {
  version: string
  /** Of the source, where the program knows it. */
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

/** What runs, and on what. */
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

/** `env`, `file`, `default` …: where exactly a file lies is nobody's business. */
export function sourceOf(words: string): "env" | "file" | "default" {
  if (words.startsWith("file")) return "file"
  return words === "default" ? "default" : "env"
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
