/**
 * What an area sees of the house. A plugin is one folder; its fixed fields are data that can be read without running
 * anything, `setup` makes the rest of it. Life: list → check → migrate → setup → mount → listen → jobs → stop. Every plugin of
 * the list is set up; one that is switched off is not reachable, and its jobs do not run.
 */
import type { Static, TObject } from "@sinclair/typebox"
import type { AnyElysia } from "elysia"
import type { Rank } from "../domain/permission.ts"
import type { RecordKind } from "../domain/record.ts"
import type { AreaStep } from "../ingest/steps/areas.ts"
import type { Removed } from "../services/data-hooks.ts"
import type { Consumer } from "../services/outbox.ts"
import type { AreaFile } from "../services/takeout.ts"
import type { Migration } from "../store/migrations.ts"
import type { Asked, Host } from "./host.ts"
import type { PluginJob } from "./host-jobs.ts"
import type { Widget } from "./widgets.ts"

/** The first words of the paths that are a plugin's own. */
export interface PluginPaths {
  /** Below `/api/private/sites/:site/`. */
  site?: readonly string[]
  /** Below `/api/private/`. */
  instance?: readonly string[]
  /** Below `/`, open to the world: one to three words, `l` or `api/hooks`; or the setting that holds them. */
  open?: readonly (string | { setting: string })[]
}

export interface Plugin<Settings extends TObject = TObject> {
  /** `[a-z][a-z0-9]*`: what its tables (`<id>_…`), jobs and audit actions (`<id>.…`) begin with. */
  id: string
  /** As people read it. */
  title: string
  paths?: PluginPaths
  /** Addresses of its pages in the dashboard, `:name` for any one part: `/sites/:site/links/:link`. What draws them is in `plugins/pages.ts`. */
  pages?: readonly string[]
  /** On a site, each with the least role that has it: `{ "links:write": "editor" }`. */
  permissions?: Readonly<Record<string, Rank>>
  /** Of the catalog, for what people create. Only tables `<id>_…`, which refer to no table but these. */
  migrations?: readonly Migration[]
  /** The same of its row tables in the event store, for what grows with data. */
  rowMigrations?: readonly Migration[]
  /** What it records of requests, by the name of the event, and with which others: `{ link_click: { title: "Link click", kind: "clicks" } }`. */
  records?: Readonly<Record<string, { title: string; kind: RecordKind }>>
  /**
   * Its section of the configuration: texts, numbers, toggles, choices of texts and lists of texts, each `t.Optional` or with a
   * `default`, and with a `description`. One is set as `FOOTFALL_<ID>_<NAME>`, or by another name of its own: `"x-key"`.
   */
  settings?: Settings
  /** Begins nothing by itself: work is for routes and jobs. */
  setup(host: Host<Static<Settings>>): Contribution | Promise<Contribution>
}

/** What a plugin adds, all of it optional. */
export interface Contribution {
  /** Made with `host.siteRouter()` or `host.instanceRouter()`. */
  routes?: readonly AnyElysia[]
  /** Made with `host.openRouter()`. */
  openRoutes?: readonly AnyElysia[]
  /** Answer for themselves what is at an open path or on a host, before any router: where speed counts, and names of hosts. */
  doors?: readonly PluginDoor[]
  /** By name, `<verb>-<noun>`: `links.fold-clicks` is the job `fold-clicks` of `links`. */
  jobs?: Readonly<Record<string, PluginJob>>
  /** What it adds to events that come in, once their visitor is set and the address is gone. Runs while the plugin is on. */
  ingest?: readonly AreaStep[]
  /** Cards of saved dashboards, by type. */
  widgets?: Readonly<Record<string, Widget>>
  /** Who takes product events, by name. */
  consumers?: Readonly<Record<string, Pick<Consumer, "events" | "consume">>>
  /** The three below also run while the plugin is off; they return how many rows went, by what they were. Each may run twice for the same. */
  /** No row, file or secret of the site is left. */
  onSiteDelete?(siteId: number): Promise<Removed>
  /** Whatever was derived from visits that started before the local midnight of this day goes, or is made anew. */
  onRetention?(siteId: number, cutoffDay: string): Promise<Removed>
  /** What `onRetention` would remove now, by the same names. Changes nothing. */
  countOverdue?(siteId: number, cutoffDay: string): Promise<Removed>
  /** The visitor of this name is gone from lists, caches, snapshots and exports in progress. */
  onPersonErase?(siteId: number, visitor: string): Promise<Removed>
  /** What the archive of a site holds of the plugin, on or off: each a file `<id>_<name>.ndjson` with one object a line. */
  exporters?: Readonly<Record<string, Exporter>>
  /** Before the stores are closed; at most a second. */
  stop?(): void | Promise<void>
}

/**
 * Everything at one of the plugin's open paths and below it, or everything on hosts that the plugin knows. Answers every method;
 * what it throws is answered as a refusal of a route is. While the plugin is off, nothing is at its path, and its hosts are
 * hosts like any other.
 */
export interface PluginDoor {
  /** Either an open path as it is mounted, `l`, or whether a host (lower case, without a port) is one of its own. */
  at: string | ((host: string) => boolean)
  /** `path` is as it came, without the query; `host` as `at` gets it. Undefined: it is not its own after all; of hosts alone. */
  answer(asked: Asked, path: string, host: string): Response | Promise<Response> | undefined
}

/**
 * The rows of a site, as they are when asked for; slices, for a site may have many. Nothing that only means something on this
 * instance is in them: no address, no key, no secret, and visitors under the names that the archive has for them.
 */
export type Exporter = AreaFile["rows"]

/** A plugin whose settings are its own business. */
export type AnyPlugin = Plugin

/** Gives the type, and nothing else. */
export const definePlugin = <Settings extends TObject>(plugin: Plugin<Settings>): AnyPlugin => plugin
