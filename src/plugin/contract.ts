/**
 * Contract between plugins and the core. A plugin is one folder. Its fixed fields are data that can be read without running code;
 * `setup` returns everything else. Lifecycle: list → check → migrate → setup → mount → listen → jobs → stop. Every listed plugin is
 * set up; a disabled one is not reachable, and its jobs do not run.
 */
import type { Static, TObject } from "@sinclair/typebox"
import type { AnyElysia } from "elysia"
import type { Actor } from "../domain/audit.ts"
import type { Rank } from "../domain/permission.ts"
import type { ProductEventForm } from "../domain/product-event.ts"
import type { RecordKind } from "../domain/record.ts"
import type { Site } from "../domain/site.ts"
import type { AreaStep } from "../ingest/pipeline/areas.ts"
import type { MemberLeave, SiteTransfer } from "../services/access/handover.ts"
import type { TrafficEvent } from "../services/demo/data.ts"
import type { ErasedVisits, Removed } from "../services/erasure/data-hooks.ts"
import type { AreaFile } from "../services/export/takeout.ts"
import type { CommandForm, CommandInput } from "../services/instance/plugin-commands.ts"
import type { Consumer } from "../services/jobs/outbox.ts"
import type { EmailOutcome } from "../services/mail/mail.ts"
import type { VisitorSets } from "../services/people/visitor-sets.ts"
import type { Report } from "../services/runtime/control.ts"
import type { SharePages } from "../services/sharing/opening.ts"
import type { EngineMove, RenameRows } from "../store/events/moving/moving.ts"
import type { Migration } from "../store/migrations.ts"
import type { PluginError } from "./errors.ts"
import type { Asked, Host } from "./host/host.ts"
import type { PluginJob } from "./host/jobs.ts"
import type { OwnStatements } from "./host/own-tables.ts"
import type { PublicSiteRouter } from "./routers.ts"
import type { Widget } from "./widgets.ts"

/** First segments of the paths that belong to a plugin. */
export interface PluginPaths {
  /** Segments below `/api/private/sites/:site/`. */
  site?: readonly string[]
  /** Segments below `/api/public/v1/sites/{site_id}/`. */
  public?: readonly string[]
  /** Segments below `/api/private/`. */
  instance?: readonly string[]
  /** Public paths below `/` of one to three segments, such as `l` or `api/hooks`, or the setting that contains them. */
  open?: readonly (string | { setting: string })[]
}

export interface Plugin<Settings extends TObject = TObject> {
  /** Id in the form `[a-z][a-z0-9]*`. Prefix of its tables (`<id>_…`), jobs and audit actions (`<id>.…`). */
  id: string
  /** Display name. */
  title: string
  paths?: PluginPaths
  /** Paths of its pages in the dashboard, with `:name` for a variable segment: `/sites/:site/links/:link`. Their components are listed in `plugins/pages.ts`. */
  pages?: readonly string[]
  /** Permissions on a site, each with the lowest role that has it: `{ "links:write": "editor" }`. */
  permissions?: Readonly<Record<string, Rank>>
  /** Commands of the command line, named by two words such as `import run`. `setup` returns what each does. */
  commands?: readonly CommandForm[]
  /** Migrations of the catalog, for data that people create. All tables are named `<id>_…` and reference only each other. */
  migrations?: readonly Migration[]
  /** Migrations of its row tables in the event store, for data that grows with traffic. */
  rowMigrations?: readonly Migration[]
  /**
   * Prepares a move of the instance's events to a server or back. Visitors have other pseudonyms there and events other sequences, so the
   * returned function renames them in all rows of the row tables, in the transaction that completes the move. Can run several times before.
   */
  moveRows?(tables: OwnStatements, move: EngineMove): Promise<RenameRows | undefined>
  /** Tables of `host.shares`, whose sealed slugs a rotation of the secret key encrypts again. */
  sealedSlugs?: readonly string[]
  /** Records of requests by event name, with title and kind: `{ link_click: { title: "Link click", kind: "clicks" } }`. */
  records?: Readonly<Record<string, { title: string; kind: RecordKind }>>
  /** Its own error codes, in snake_case: what `errorsOf` creates errors of. */
  errors?: Readonly<Record<string, PluginError>>
  /** The product events that it publishes, by name, in the form `<thing>.<what_happened>`. Those that begin with `internal.` need no entry. */
  events?: Readonly<Record<string, ProductEventForm>>
  /**
   * Section of the configuration: texts, numbers, booleans, enums and lists of texts, each with a `description` and either
   * `t.Optional` or a `default`. The name of a setting is `FOOTFALL_<ID>_<NAME>`, unless `"x-key"` defines another one.
   */
  settings?: Settings
  /** Sets up the plugin. Must not start any work, which belongs to routes and jobs. */
  setup(host: Host<Static<Settings>>): Contribution | Promise<Contribution>
}

/** Parts that a plugin contributes, all optional. */
export interface Contribution {
  /** Private routes, created with `host.siteRouter()` or `host.instanceRouter()`. */
  routes?: readonly AnyElysia[]
  /** Adds routes of the public API, for programs with an API key. Called once, when the server is created. */
  publicRoutes?(router: PublicSiteRouter): AnyElysia
  /** Public routes, created with `host.openRouter()`. */
  openRoutes?: readonly AnyElysia[]
  /** Request handlers for an open path or a host that run before the routers: for fast responses and for hosts of the plugin. */
  endpoints?: readonly PluginEndpoint[]
  /** Jobs by name, `<verb>-<noun>`: `links.fold-clicks` is the job `fold-clicks` of `links`. */
  jobs?: Readonly<Record<string, PluginJob>>
  /** Step that changes incoming events after the visitor is set and the address removed. Runs while the plugin is enabled. */
  ingest?: readonly AreaStep[]
  /** What the plugin's `commands` do, by name. They run in the serving process, and print what they return as JSON. */
  commands?: Readonly<Record<string, PluginCommand>>
  /** Widgets of saved dashboards, by type. */
  widgets?: Readonly<Record<string, Widget>>
  /** Sets of visitors that filters name by id as `cohort`, in every report. Only one plugin has them. Asked while the plugin is enabled. */
  visitorSets?: VisitorSets
  /** Objects of the plugin that dashboards name by id, by kind. Asked while the plugin is enabled. */
  named?: Readonly<Record<string, NamedThings>>
  /** Pages for strangers who have the URL of a share. Their components are listed in `plugins/share-pages.ts`. */
  sharePages?: readonly SharePages[]
  /** Consumers of product events, by name. */
  consumers?: Readonly<Record<string, Pick<Consumer, "events" | "concerned" | "consume">>>
  // The data hooks also run while the plugin is disabled. They return the number of deleted rows by kind. Each can run twice for the same data.
  /** Deletes all rows, files and secrets of a site. */
  onSiteDelete?(siteId: number): Promise<Removed>
  /** Deletes or recomputes data derived from visits that started before the local midnight of this day. */
  onRetention?(siteId: number, cutoffDay: string): Promise<Removed>
  /** Returns the number of rows that `onRetention` would delete, by kind. Changes nothing. */
  countOverdue?(siteId: number, cutoffDay: string): Promise<Removed>
  /**
   * Removes a visitor from lists, caches, snapshots and running exports. Called before the visits of the person are removed, so that what
   * remains without them can still be derived, such as amounts of sales, and again afterwards.
   */
  onPersonErase?(siteId: number, visitor: string): Promise<Removed>
  /**
   * Deletes or recomputes data derived from erased visits: those of an erasure by filter, at most 10,000 per call and just before they are
   * removed, or with `all` every visit and import after a reset of the site. Settings and definitions remain.
   */
  onVisitsErase?(siteId: number, removed: ErasedVisits): Promise<Removed>
  // These hooks run in the transaction of the change, also while the plugin is disabled. If one throws, nothing is changed.
  /** Hands over or deletes what belongs to a member who leaves an organization. */
  onMemberLeave?(statements: OwnStatements, leave: MemberLeave): Promise<void>
  /** Hands over or deletes what belongs to members who lose a site that moves to another organization, and ends what depended on the old one. */
  onSiteTransfer?(statements: OwnStatements, transfer: SiteTransfer): Promise<void>
  /** Deletes what belongs to an organization as a whole, in the transaction that deletes it. Its sites are purged later. */
  onOrganizationDelete?(statements: OwnStatements, organizationId: number): Promise<void>
  /**
   * Receives the outcome of an email that had a `key`, in the transaction that removes it from the queue, also while the plugin is
   * disabled. If it throws, the outcome is lost.
   */
  onEmailOutcome?(statements: OwnStatements, report: { key: string; outcome: EmailOutcome }): Promise<void>
  /** Files of the plugin in the archive of a site, also while it is disabled: `<id>_<name>.ndjson` with one object per line. */
  exporters?: Readonly<Record<string, Exporter>>
  /**
   * Creates examples before the traffic of a demo, and returns requests that arrive during it, such as clicks on links, in order of time.
   */
  beginDemo?(demo: DemoTraffic): Promise<Iterable<DemoRequest>>
  /** Adds examples to a demo after its traffic. */
  fillDemo?(demo: DemoSite): Promise<void>
  /** Runs before the stores are closed, for at most one second. */
  stop?(): void | Promise<void>
}

/** The main site of a demo, all its sites, and the user who owns their organization. */
export interface DemoSite {
  site: Site
  sites: readonly Site[]
  userId: number
}

export interface DemoTraffic extends DemoSite {
  /** Generates the events of the main site, each time the same ones. */
  events(): Iterable<TrafficEvent>
}

/** A request that arrives during the traffic of a demo. */
export interface DemoRequest {
  /** UTC epoch milliseconds. */
  at: number
  /** Path with its query. */
  path: string
  userAgent: string
  language: string
  /** IP address. */
  address: string
}

/** Objects of one kind, such as links, by name: for references that are copied to another site or instance. */
export interface NamedThings {
  /** Returns the name of an object; undefined if the site does not have it. */
  nameOf(site: Site, id: number): Promise<string | undefined>
  /** Returns the id of an object with a name; of several the lowest. */
  idOf(site: Site, name: string): Promise<number | undefined>
}

/**
 * Request handler for an open path of the plugin and everything below it, or for hosts of the plugin. Receives all methods. Errors
 * that it throws become problem responses. While the plugin is disabled, its path answers 404 and its hosts are treated like any
 * other.
 */
export interface PluginEndpoint {
  /** Open path as mounted, such as `l`, or a function that returns whether a host (lower case, without port) belongs to the plugin. */
  at: string | ((host: string) => boolean)
  /** Answers a request. `path` is the raw path without query, `host` as passed to `at`. Can return undefined on a host to decline. */
  answer(asked: Asked, path: string, host: string): Response | Promise<Response> | undefined
}

/** Runs a command for the operator of the instance, who may do everything. An `AppError` becomes its message and exit code. */
export type PluginCommand = (call: CommandCall) => Promise<unknown>

export interface CommandCall extends CommandInput {
  actor: Actor
  /** Shows progress on the terminal of the command. */
  report: Report
  /** Aborted when the command is interrupted. */
  signal: AbortSignal
}

/**
 * Returns the rows of a site in slices, because a site can have many. The rows must not contain anything specific to this instance:
 * no addresses, keys or secrets, and visitors only by their names in the archive.
 */
export type Exporter = AreaFile["rows"]

/** Plugin with any settings. */
export type AnyPlugin = Plugin

/** Returns the plugin unchanged. Only adds the type. */
export const definePlugin = <Settings extends TObject>(plugin: Plugin<Settings>): AnyPlugin => plugin

/** A plugin that has been set up. */
export interface SetUpPlugin {
  id: string
  isOn(): boolean
  contribution: Contribution
}
