import type { Actor, AuditEntry } from "../../domain/audit.ts"
import type { Connection } from "../../domain/connection.ts"
import type { Log } from "../../domain/log.ts"
import type { ProductEvent, ProductEventForm } from "../../domain/product-event.ts"
import type { Site } from "../../domain/site.ts"
import type { SenderFacts } from "../../ingest/collect/records.ts"
import type { Engine } from "../../query/engine/engine.ts"
import { type Audit, recorded } from "../../services/audit/audit.ts"
import type { Connections, ConnectTerms } from "../../services/connections/connections.ts"
import type { OAuthChecks } from "../../services/connections/oauth.ts"
import type { Alongside, Change } from "../../services/definitions/site-things.ts"
import type { Erasure } from "../../services/erasure/erasure.ts"
import type { Exports } from "../../services/export/export.ts"
import type { Console } from "../../services/instance/console.ts"
import type { Instance } from "../../services/instance/instance.ts"
import type { Outbox } from "../../services/jobs/outbox.ts"
import type { StoredSecrets } from "../../services/key-rotation/stored-secrets.ts"
import type { EmailMessage, Mail, MailQueue } from "../../services/mail/mail.ts"
import type { Outbound } from "../../services/outbound/outbound.ts"
import type { Exclusive } from "../../services/runtime/tasks.ts"
import type { SecretPlace } from "../../services/secrets/secrets.ts"
import type { UnlockCookies } from "../../services/sharing/unlock-cookies.ts"
import type { Hashes } from "../../services/sign-in/passwords.ts"
import type { Insights } from "../../services/stats/insights.ts"
import type { OpenReports } from "../../services/stats/open-report.ts"
import type { RecordReports } from "../../services/stats/record-reports.ts"
import type { Stats } from "../../services/stats/stats.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import type { OutboxRow } from "../../store/catalog/outbox.ts"
import type { Call } from "../../web/guard.ts"
import type { NamedThings } from "../contract.ts"
import type { InstanceRouter, OpenRouter, SiteRouter } from "../routers.ts"
import type { KnownWidget } from "../widgets.ts"
import type { CounterOptions, Counters } from "./counters.ts"
import type { PluginBatch, PluginCreation } from "./creation.ts"
import type { ImportWriters } from "./imports.ts"
import type { PluginJobs } from "./jobs.ts"
import type { OwnRows } from "./own-rows.ts"
import { type OwnStatements, type OwnTables, ownStatements, statementsBehind } from "./own-tables.ts"
import type { PreparedRecord } from "./recording.ts"
import type { SaleReader } from "./sales.ts"
import type { CreatePluginShares } from "./shares.ts"
import type { SiteHash } from "./site-hash.ts"
import type { OwnSlugs, SlugTables } from "./slugs.ts"
import type { OpenThread, RunInThread } from "./threads.ts"
import type { Deletable, Trash, TrashOptions } from "./trash.ts"

/** Core services for plugins. They do not check permissions: the caller is authorized by a route or works for the instance. */
export interface HostServices
  extends Pick<
    Instance,
    | "sites"
    | "allSites"
    | "goals"
    | "funnels"
    | "segments"
    | "people"
    | "annotations"
    | "organizations"
    | "settings"
    | "keys"
    | "access"
    | "accounts"
    | "plugins"
  > {
  maintenance: Pick<Instance["maintenance"], "current">
  backups: Instance["backups"]
  health: Instance["health"]
  /** Console of the whole instance. Only for the plugin of instance admins. */
  console: Console
  stats: Stats
  insights: Insights
  recordReports: RecordReports
  /** Parses the arguments of a report and resolves its filters, for reports whose figures are those of an area. */
  openReport: OpenReports
  exports: Exports
  erasure: Erasure
}

/** Request as passed to handlers of plugins. */
export type Asked = Pick<Call, "request" | "server">

/** Interface of the core for one plugin. */
export interface Host<Settings = object> {
  readonly id: string
  /** Validated section of the configuration. */
  readonly settings: Settings
  readonly services: HostServices
  readonly db: OwnTables
  readonly rows: OwnRows
  /** The slugs of one kind of thing, in tables of the plugin: unique, and reserved for 90 days after a deletion. */
  slugs(tables: SlugTables): OwnSlugs
  /** Deleted things of one kind, which can be restored for 30 days. */
  trash<Row, Thing extends Deletable>(options: TrashOptions<Row, Thing>): Trash<Thing>
  /** Lifetime counters of things, summed from the plugin's records in a job. */
  counters<Thing, Added>(options: CounterOptions<Thing, Added>): Counters
  /** Query engine that runs all reports. */
  readonly engine: Omit<Engine, "close">
  readonly audit: PluginAudit
  readonly jobs: PluginJobs
  readonly imports: ImportWriters
  /** Events with revenue, their visits and what led to them. */
  readonly sales: SaleReader
  /**
   * Returns the path of a private folder of the plugin for files that are too large for memory, and creates it. Such files are no
   * part of a backup. The plugin deletes them.
   */
  stagingFolder(): string
  /** Runs a task of the plugin's worker in a thread, for work that would hold up the event loop. */
  readonly runInThread: RunInThread
  /** Starts a thread of the plugin's worker for several tasks. The caller closes it. */
  readonly openThread: OpenThread
  /** Path of the operator's IP geolocation file, if there is one. */
  readonly geoDb: string | undefined
  /** Runs work on both stores. Only one runs at a time in the whole instance, and none during a backup. */
  exclusively: Exclusive["run"]
  /** Creates the helper for a POST that creates a resource. */
  readonly create: PluginCreation
  /** Creates the helper for a POST that writes many independent rows. */
  readonly batch: PluginBatch
  readonly outbox: PluginOutbox
  readonly secrets: PluginSecrets
  readonly mail: PluginMail
  /** Connections of organizations to accounts at outside services, shared by all areas. */
  readonly connections: PluginConnections
  readonly log: Log
  /** Outgoing requests, only possible through this client. Call `check` when a URL is saved. */
  readonly outbound: Pick<Outbound, "enabled" | "check">
  readonly fetch: Outbound["fetch"]
  /** Returns the current time in epoch milliseconds. The only clock for plugins. */
  now(): number
  /** Returns random bytes from the generator of the system. */
  random(bytes: number): Uint8Array
  /** Returns facts about the client of a request that do not identify the person. */
  senderOf(asked: Asked): SenderFacts
  /**
   * Reads address ranges, one per line, from the file that a setting of the plugin names. Returns undefined if the setting is
   * missing. Only for `setup`: throws the first fault of the file with its line, which stops the start. The file is read again
   * when it changes. A faulty new version leaves the old list in use and is logged.
   */
  addressList(setting: string): Promise<ListedSender | undefined>
  /**
   * Records that a visitor did one of the plugin's `records`; the core finds out who it is by the site's own rule. Resolves once it is on
   * disk, together with all records before it. A visitor who objects is stored without identity and place, as an anonymous record. Query
   * records with `services.recordReports`, or with `records` in a query of the engine.
   */
  record(asked: Asked, site: Site, event: PluginRecord | PreparedRecord): Promise<void>
  /**
   * Records a request that is answered first, within 20 ms. Returns a promise when too many answered records wait for the disk: the
   * answer has to wait for it. A record that cannot be stored is counted and reported to no one.
   */
  recordLater(asked: Asked, site: Site, event: PluginRecord | PreparedRecord): Promise<void> | undefined
  /** Prepares a record that the plugin keeps, because many requests differ in nothing but who sent them. Storing it again costs less. */
  prepareRecord(event: PluginRecord): PreparedRecord
  /**
   * Returns the stored form of a text of a visitor: the first 64 bits of its HMAC-SHA-256 with the site key, in hex. Equal texts
   * have equal hashes, which cannot be reversed. Returns a promise only for the first use on a site.
   */
  siteHash(siteId: number): SiteHash | Promise<SiteHash>
  /** Creates a rate limit per client with a burst and an even refill. The address of the client is not visible to plugins. */
  throttle(most: number, refillMs: number): Throttle
  /** Creates the shares of one kind: things that strangers open by the slug in a URL. */
  readonly shares: CreatePluginShares
  /** Creates the cookies that prove knowledge of a password, for one kind of thing. `infix` is the part of their names before the id. */
  unlockCookies(infix: string): UnlockCookies
  /**
   * Hashes and verifies passwords. Each hash is slow and gives precedence to sign-ins, so check limits and everything else that can
   * reject the request first.
   */
  readonly passwords: Pick<Hashes, "hash" | "verify">
  /** Returns the base URL of the instance, without a trailing slash. */
  baseUrl(): string
  /** Returns whether a host serves the dashboard. */
  isOwnHost(host: string): boolean
  /** Resolves the TXT records of a name. Rejects if DNS does not answer or outgoing requests are disabled. */
  txtRecords(name: string): Promise<readonly string[]>
  /** Product events of the core and of all plugins, by name, without internal ones. */
  productEvents(): Readonly<Record<string, ProductEventForm>>
  /** Widgets of all plugins. Complete after every plugin is set up. */
  widgets(): readonly KnownWidget[]
  /** Returns the objects of a kind that dashboards name by id; undefined if no enabled plugin has them. */
  named(kind: string): NamedThings | undefined
  /** Creates a router below `/api/private/sites/:site`, whose routes name their permission: `{ can: "links:write" }`. */
  siteRouter(): SiteRouter
  /** Creates a router below `/api/private`. */
  instanceRouter(): InstanceRouter
  /** Creates a router for public routes. */
  openRouter(): OpenRouter
}

/** Returns whether a request came from an address in a list. The address is not visible to plugins. */
export type ListedSender = (asked: Asked) => boolean

export interface PluginRecord {
  /** Name of one of the plugin's `records`. */
  name: string
  /** Properties by which reports filter and group. Undefined values are ignored. */
  props: Readonly<Record<string, string | number | undefined>>
  /** Whether the request came through a relay such as a mail client, so that location, device, browser and system are not those of the visitor. */
  proxied?: boolean
}

export interface Throttle {
  /** Counts one use. Throws `rate_limited`. Each `what`, such as a link or a hook, has a separate limit. */
  take(asked: Asked, what?: string | number): void
}

/** A product event as consumers receive it. */
export type PublishedEvent = OutboxRow

/** Product events, the only connection between plugins. Events that begin with `internal.` never leave the process. */
export interface PluginOutbox {
  /** Publishes events in the transaction of the change. Consumers run after its commit. */
  write(statements: OwnStatements | Statements, ...events: readonly ProductEvent[]): Promise<void>
  /** Returns a published event, while it is stored. Internal ones are not returned. */
  get(id: number): Promise<PublishedEvent | undefined>
  /** Returns whether an enabled consumer names an event. A pattern such as `*` does not count. */
  hasConsumer(event: string): boolean
  /**
   * Returns whether a consumer wants an event of a site now. Ask it for events of which traffic causes many, and publish none for no one.
   */
  isWanted(event: Omit<ProductEvent, "payload">): Promise<boolean>
  /** Publishes an event after a change of row tables. */
  writeAlone(event: ProductEvent): Promise<void>
}

/** Emails of the plugin. The outcome of one with a `key` is passed to `onEmailOutcome`. */
export interface PluginMail extends Mail {
  /** Queues an email in the transaction of a change. It is sent after the commit. Does nothing without a mail server. */
  post(statements: OwnStatements | Statements, email: EmailMessage): Promise<void>
}

/** Encrypted values of the plugin's rows. Responses never contain a secret, only its `shown` form. */
export interface PluginSecrets extends Pick<StoredSecrets, "open" | "shown"> {
  /** Stores a secret in the transaction of the row that keeps its id. */
  put(statements: OwnStatements, place: SecretPlace, text: string): Promise<number>
  replace(statements: OwnStatements, id: number, text: string): Promise<void>
  remove(statements: OwnStatements, id: number): Promise<void>
}

const isInternal = ({ event }: { event: string }): boolean => event.startsWith("internal.")

/** Returns the outbox of a plugin. Throws for an event that none declares, because nobody could subscribe to it by name. */
export function pluginOutbox(outbox: Outbox, declared: Readonly<Record<string, ProductEventForm>>): PluginOutbox {
  const refuseUndeclared = (events: readonly ProductEvent[]): void => {
    const unknown = events.find((each) => !isInternal(each) && !Object.hasOwn(declared, each.event))
    if (unknown) throw new Error(`No plugin declares the product event ${unknown.event}`)
  }
  return {
    async write(statements, ...events) {
      refuseUndeclared(events)
      await outbox.write(statementsBehind(statements), ...events)
    },
    hasConsumer: outbox.hasConsumer,
    isWanted: outbox.isWanted,
    async writeAlone(event) {
      refuseUndeclared([event])
      await outbox.writeAlone(event)
    },
    async get(eventId) {
      const row = await outbox.get(eventId)
      return row && isInternal(row) ? undefined : row
    },
  }
}

/** Terms of a connection whose `alongside` writes into tables of the plugin. */
export interface PluginConnectTerms extends Omit<ConnectTerms, "alongside"> {
  alongside?: OwnAlongside<Connection>
}

type OwnAlongside<Thing> = (statements: OwnStatements, change: Change<Thing>) => Promise<void>

/** Connections as an area uses them: what it writes alongside goes into its own tables. */
export interface PluginConnections extends Omit<Connections, "finish" | "connectServiceAccount" | "remove" | "revocationOf"> {
  finish(provider: string, answer: URL, checks: OAuthChecks, terms: PluginConnectTerms): Promise<Connection>
  connectServiceAccount(provider: string, key: unknown, terms: PluginConnectTerms): Promise<Connection>
  remove(organizationId: number, id: number, alongside?: OwnAlongside<Connection>): Promise<void>
}

export function pluginConnections(connections: Connections, id: string): PluginConnections {
  const core =
    (alongside: OwnAlongside<Connection> | undefined): Alongside<Connection> =>
    async (statements, change) =>
      alongside?.(ownStatements(statements, id), change)
  return {
    ...connections,
    finish: (provider, answer, checks, terms) =>
      connections.finish(provider, answer, checks, { ...terms, alongside: core(terms.alongside) }),
    connectServiceAccount: (provider, key, terms) =>
      connections.connectServiceAccount(provider, key, { ...terms, alongside: core(terms.alongside) }),
    remove: (organizationId, connectionId, alongside) => connections.remove(organizationId, connectionId, core(alongside)),
  }
}

export function pluginMail(mail: MailQueue, id: string): PluginMail {
  const own = (email: EmailMessage): EmailMessage => (email.key === undefined ? email : { ...email, key: `${id}:${email.key}` })
  return {
    isOn: mail.isOn,
    send: (email) => mail.send(own(email)),
    async post(statements, email) {
      await mail.post(statementsBehind(statements), own(email))
      // The catalog runs one transaction at a time, so the delivery begins after the commit.
      setTimeout(mail.wake, 0)
    },
  }
}

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

/** Audit log. Every write adds one entry. Actions begin with the id of the plugin: `links.link.update`. */
export interface PluginAudit {
  /** Returns the actor of jobs. */
  readonly system: Actor
  /** Writes an entry in the transaction of the change. */
  write(statements: OwnStatements | Statements, actor: Actor, deed: AuditEntry): Promise<void>
  /** Writes entries before and after work without a transaction in the catalog. */
  writeAlone(actor: Actor, deed: AuditEntry): Promise<void>
  /** Returns the `alongside` statements for core services. */
  recorded<Thing extends object>(actor: Actor, describe: (thing: Thing) => AuditEntry): Alongside<Thing>
}

export function pluginAudit(audit: Audit, id: string): PluginAudit {
  const own = (deed: AuditEntry): AuditEntry => {
    if (!deed.action.startsWith(`${id}.`))
      throw new Error(`The plugin ${id} writes the audit action ${deed.action}: it must begin with ${id}.`)
    return deed
  }
  return {
    system: { kind: "system", email: `plugin ${id}`, ipPrefix: "", userAgent: "", requestId: "" },
    // Rejects instead of throwing, like everything else in a transaction.
    write: async (statements, actor, deed) => audit.write(statementsBehind(statements), actor, own(deed)),
    writeAlone: async (actor, deed) => audit.writeAlone(actor, own(deed)),
    recorded: (actor, describe) => recorded(audit, actor, (thing) => own(describe(thing))),
  }
}
