/**
 * What an area sees of the house. A plugin is one folder; its fixed fields are data that can be read without running
 * anything, `setup` makes the rest of it. Life: list → check → migrate → setup → mount → listen → jobs → stop. Every plugin of
 * the list is set up; one that is switched off is not reachable, and its jobs do not run.
 */
import type { Static, TObject } from "@sinclair/typebox"
import type { AnyElysia } from "elysia"
import type { Rank } from "../domain/permission.ts"
import type { Migration } from "../store/migrations.ts"
import type { Host } from "./host.ts"

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
  /** Before the stores are closed; at most a second. */
  stop?(): void | Promise<void>
}

/** A plugin whose settings are its own business. */
export type AnyPlugin = Plugin

/** Gives the type, and nothing else. */
export const definePlugin = <Settings extends TObject>(plugin: Plugin<Settings>): AnyPlugin => plugin
