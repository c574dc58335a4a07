import type { Actor, Deed } from "../domain/audit.ts"
import type { Log } from "../domain/log.ts"
import type { Site } from "../domain/site.ts"
import type { SenderFacts } from "../ingest/records.ts"
import type { Engine } from "../query/engine.ts"
import { type Audit, recorded } from "../services/audit.ts"
import type { Console } from "../services/console/console.ts"
import type { Erasure } from "../services/erasure.ts"
import type { Exclusive } from "../services/exclusive.ts"
import type { Exports } from "../services/exports.ts"
import type { Instance } from "../services/instance.ts"
import type { Mail } from "../services/mail-port.ts"
import type { Outbound } from "../services/outbound.ts"
import type { Outbox, ProductEvent } from "../services/outbox.ts"
import type { Passwords } from "../services/passwords.ts"
import type { SecretPlace } from "../services/secrets.ts"
import type { Alongside } from "../services/site-things.ts"
import type { Stats } from "../services/stats.ts"
import type { StoredSecrets } from "../services/stored-secrets.ts"
import type { UnlockTokens } from "../services/unlock-tokens.ts"
import type { Statements } from "../store/catalog/catalog.ts"
import type { Call } from "./guard.ts"
import type { PluginCreation } from "./host-creation.ts"
import type { ImportWriters } from "./host-imports.ts"
import type { PluginJobs } from "./host-jobs.ts"
import type { OwnRows } from "./own-rows.ts"
import { type OwnStatements, type OwnTables, statementsBehind } from "./own-tables.ts"
import type { InstanceRouter, OpenRouter, SiteRouter } from "./routers.ts"
import type { SiteHash } from "./site-hash.ts"
import type { KnownWidget } from "./widgets.ts"

/** Services of the core that areas build on. Whoever calls has been let in by a route, or works for the instance itself. */
export interface HostServices
  extends Pick<
    Instance,
    "sites" | "allSites" | "goals" | "funnels" | "annotations" | "organizations" | "settings" | "keys" | "access" | "accounts" | "plugins"
  > {
  backups: Instance["backups"]
  health: Instance["health"]
  /** Of the whole instance: for the area of instance admins alone. */
  console: Console
  stats: Stats
  exports: Exports
  erasure: Erasure
}

/** What a plugin's handler knows of a request, as the framework gives it. */
export type Asked = Pick<Call, "request" | "server">

/** What a plugin gets of the house. */
export interface Host<Settings = object> {
  readonly id: string
  /** Its section of the configuration, checked. */
  readonly settings: Settings
  readonly services: HostServices
  readonly db: OwnTables
  readonly rows: OwnRows
  /** Every report of the product is one of its questions. */
  readonly engine: Omit<Engine, "close">
  readonly audit: PluginAudit
  readonly jobs: PluginJobs
  readonly imports: ImportWriters
  /** Work on both stores: one at a time in the whole instance, and none while a backup copies. */
  exclusively: Exclusive["run"]
  /** For a POST that makes something. */
  readonly create: PluginCreation
  readonly outbox: PluginOutbox
  readonly secrets: PluginSecrets
  readonly mail: Mail
  readonly log: Log
  /** The one way to the outside: `check` when a URL is saved, the rest with each request. */
  readonly outbound: Pick<Outbound, "enabled" | "check">
  readonly fetch: Outbound["fetch"]
  /** Epoch ms. Nothing else tells the time. */
  now(): number
  /** From the system's generator. */
  random(bytes: number): Uint8Array
  /** What a request tells of who sent it, without who that is. */
  senderOf(asked: Asked): SenderFacts
  /**
   * Address ranges in the file that a setting of the plugin names, one a line; undefined unless it is set. For `setup`: throws
   * what is wrong with the file, by its line, and the start ends with it. The file is read again when it changes; then a new one
   * that is wrong leaves the old list in use, and the log says so.
   */
  addressList(setting: string): Promise<ListedSender | undefined>
  /**
   * Records that a visitor did one of the plugin's `records`; the core finds out who it is by the site's own rule. On disk when
   * it resolves. Whoever objects is stored without visitor and place. Ask for records with `records` in a query of the engine.
   */
  record(asked: Asked, site: Site, event: PluginRecord): Promise<void>
  /** The same for a request that is answered first: takes what it needs of it now. What cannot be stored is counted, and told to nobody. */
  recordLater(asked: Asked, site: Site, event: PluginRecord): void
  /**
   * What a text of a visitor of the site is kept as: the first 64 bits of its HMAC-SHA-256 with the site key, in hex. Equal texts
   * are equal, and nobody reads them back. A promise only before the first use on a site.
   */
  siteHash(siteId: number): SiteHash | Promise<SiteHash>
  /** Counts what one client does: so many at once, refilled evenly over the time. The client's address stays with the core. */
  throttle(most: number, refillMs: number): Throttle
  /** Proofs that somebody knew the password of a thing, for cookies: they are good for an hour, and for that password alone. */
  readonly unlocks: UnlockTokens
  /** What passwords of things are made of and checked with: slow, few at a time. */
  readonly passwords: Pick<Passwords, "hash" | "verify">
  /** The address under which people and pages reach the instance, without a slash at its end. */
  baseUrl(): string
  /** Whether the dashboard is reached at a host, by its own name or another one. */
  isOwnHost(host: string): boolean
  /** The texts of a name in the DNS; rejects when nobody answers, or when nothing may leave the instance. */
  txtRecords(name: string): Promise<readonly string[]>
  /** Widgets of all plugins; whole once every plugin is set up. */
  widgets(): readonly KnownWidget[]
  /** Routes below `/api/private/sites/:site`, each with the permission it asks for: `{ can: "links:write" }`. */
  siteRouter(): SiteRouter
  /** Routes below `/api/private`. */
  instanceRouter(): InstanceRouter
  /** Routes open to the world. */
  openRouter(): OpenRouter
}

/** Whether a request came from an address of a list. The address stays with the core. */
export type ListedSender = (asked: Asked) => boolean

export interface PluginRecord {
  /** A name of the plugin's `records`. */
  name: string
  /** What it is about, by key: what reports filter and group by. What is undefined is left out. */
  props: Readonly<Record<string, string | number | undefined>>
  /** The request came through somebody else (a mail program): place, device, browser and system are not the visitor's. */
  proxied?: boolean
}

export interface Throttle {
  /** Throws `rate_limited`. `what` counts apart from others: a link, a hook. */
  take(asked: Asked, what?: string | number): void
}

/** Product events: the only way in which two plugins meet. Those that begin with `internal.` never leave the process. */
export interface PluginOutbox {
  /** In the transaction of the change; consumers are woken after its commit. */
  write(statements: OwnStatements | Statements, event: ProductEvent): Promise<void>
  /** Of a change in row tables: after it. */
  writeAlone(event: ProductEvent): Promise<void>
}

/** Sealed values of the plugin's own rows. What is stored is never told again: `shown` is what answers say of it. */
export interface PluginSecrets extends Pick<StoredSecrets, "open" | "shown"> {
  /** In the transaction of the row that keeps the id. */
  put(statements: OwnStatements, place: SecretPlace, text: string): Promise<number>
  replace(statements: OwnStatements, id: number, text: string): Promise<void>
  remove(statements: OwnStatements, id: number): Promise<void>
}

export const pluginOutbox = (outbox: Outbox): PluginOutbox => ({
  write: (statements, event) => outbox.write(statementsBehind(statements), event),
  writeAlone: outbox.writeAlone,
})

export const pluginSecrets = (secrets: StoredSecrets, id: string): PluginSecrets => ({
  open: secrets.open,
  shown: secrets.shown,
  async put(statements, place, text) {
    if (!place.table.startsWith(`${id}_`)) throw new Error(`The plugin ${id} seals a value for the table ${place.table}`)
    return secrets.put(statementsBehind(statements), place, text)
  },
  replace: (statements, secretId, text) => secrets.replace(statementsBehind(statements), secretId, text),
  remove: (statements, secretId) => secrets.remove(statementsBehind(statements), secretId),
})

/** Every write leaves one row. Actions begin with the plugin's id: `links.link.update`. */
export interface PluginAudit {
  /** Who does what a job does. */
  readonly system: Actor
  /** In the transaction of the change. */
  write(statements: OwnStatements | Statements, actor: Actor, deed: Deed): Promise<void>
  /** Of work that has no transaction in the catalog: before it and after it. */
  writeAlone(actor: Actor, deed: Deed): Promise<void>
  /** For the services of the core that take `alongside`. */
  recorded<Thing extends object>(actor: Actor, describe: (thing: Thing) => Deed): Alongside<Thing>
}

export function pluginAudit(audit: Audit, id: string): PluginAudit {
  const own = (deed: Deed): Deed => {
    if (!deed.action.startsWith(`${id}.`))
      throw new Error(`The plugin ${id} writes the audit action ${deed.action}: it must begin with ${id}.`)
    return deed
  }
  return {
    system: { kind: "system", email: `plugin ${id}`, ipPrefix: "", userAgent: "", requestId: "" },
    // Refused by rejecting, as everything else that a transaction does.
    write: async (statements, actor, deed) => audit.write(statementsBehind(statements), actor, own(deed)),
    writeAlone: async (actor, deed) => audit.writeAlone(actor, own(deed)),
    recorded: (actor, describe) => recorded(audit, actor, (thing) => own(describe(thing))),
  }
}
