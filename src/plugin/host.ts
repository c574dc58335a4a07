import type { Actor, Deed } from "../domain/audit.ts"
import type { Log } from "../domain/log.ts"
import { type Audit, recorded } from "../services/audit.ts"
import type { Console } from "../services/console/console.ts"
import type { Exports } from "../services/exports.ts"
import type { Instance } from "../services/instance.ts"
import type { Outbound } from "../services/outbound.ts"
import type { Alongside } from "../services/site-things.ts"
import type { Stats } from "../services/stats.ts"
import type { Statements } from "../store/catalog/catalog.ts"
import type { Call } from "./guard.ts"
import { type OwnStatements, type OwnTables, statementsBehind } from "./own-tables.ts"
import type { InstanceRouter, OpenRouter, SiteRouter } from "./routers.ts"

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
  readonly audit: PluginAudit
  readonly log: Log
  /** The one way to the outside: `check` when a URL is saved, the rest with each request. */
  readonly outbound: Pick<Outbound, "enabled" | "check">
  readonly fetch: Outbound["fetch"]
  /** Epoch ms. Nothing else tells the time. */
  now(): number
  /** From the system's generator. */
  random(bytes: number): Uint8Array
  /** Counts what one client does: so many at once, refilled evenly over the time. The client's address stays with the core. */
  throttle(most: number, refillMs: number): Throttle
  /** Routes below `/api/private/sites/:site`, each with the permission it asks for: `{ can: "links:write" }`. */
  siteRouter(): SiteRouter
  /** Routes below `/api/private`. */
  instanceRouter(): InstanceRouter
  /** Routes open to the world. */
  openRouter(): OpenRouter
}

export interface Throttle {
  /** Throws `rate_limited`. `what` counts apart from others: a link, a hook. */
  take(asked: Asked, what?: string | number): void
}

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
