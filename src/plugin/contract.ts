/**
 * What an area sees of the house. A plugin is one folder; its fixed fields are data that can be read without running
 * anything, `setup` makes the rest of it. Life: list → check → migrate → setup → mount → listen → jobs → stop. Every plugin of
 * the list is set up; one that is switched off is not reachable, and its jobs do not run.
 */
import type { Static, TObject } from "@sinclair/typebox"
import type { AnyElysia } from "elysia"
import type { Rank } from "../domain/permission.ts"
import type { RecordKind } from "../domain/record.ts"
import type { Removed } from "../services/data-hooks.ts"
import type { Consumer } from "../services/outbox.ts"
import type { Migration } from "../store/migrations.ts"
import type { Host } from "./host.ts"
import type { PluginJob } from "./host-jobs.ts"

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
  /** By name, `<verb>-<noun>`: `links.fold-clicks` is the job `fold-clicks` of `links`. */
  jobs?: Readonly<Record<string, PluginJob>>
  /** Who takes product events, by name. */
  consumers?: Readonly<Record<string, Pick<Consumer, "events" | "consume">>>
  /** The three below also run while the plugin is off; they return how many rows went, by what they were. Each may run twice for the same. */
  /** No row, file or secret of the site is left. */
  onSiteDelete?(siteId: number): Promise<Removed>
  /** Whatever was derived from visits that started before the local midnight of this day goes, or is made anew. */
  onRetention?(siteId: number, cutoffDay: string): Promise<Removed>
  /** The visitor of this name is gone from lists, caches, snapshots and exports in progress. */
  onPersonErase?(siteId: number, visitor: string): Promise<Removed>
  /** Before the stores are closed; at most a second. */
  stop?(): void | Promise<void>
}

/** A plugin whose settings are its own business. */
export type AnyPlugin = Plugin

/** Gives the type, and nothing else. */
export const definePlugin = <Settings extends TObject>(plugin: Plugin<Settings>): AnyPlugin => plugin
