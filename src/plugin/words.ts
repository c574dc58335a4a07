import { CATALOG_SCHEMA } from "../store/catalog/schema.ts"
import { EVENT_SCHEMA } from "../store/events/database.ts"

/** Path segments reserved for the core (areas/00 section 1). */
export const CORE_WORDS = {
  site: words(`members api-keys settings stats goals funnels segments annotations shields drops erase live export takeout shares
    restore transfer pin reset retention-preview`),
  instance: words("setup auth me invitations organizations api-scopes sites stats limits openapi.json"),
  open: words(`api/public api/private api/event api/send api/batch api/collect api/count api/v0 api/v1 api/v2 api/websites api/heartbeat api/share/s
    share/s count js mcp health errors assets docs setup login signin logout settings invite reset confirm-email
    undo-email p.gif script.js robots.txt favicon.ico
    .well-known metrics`),
  command:
    words(`serve demo setup organization site export shield key user backup retention secrets engine node migrate health doctor config
    version help`),
} as const

function words(list: string): readonly string[] {
  return list.split(/\s+/)
}

/** Prefixes of core tables. Without this list a plugin `site` could claim the table `site_keys`. */
export const CORE_TABLES: readonly string[] = [
  ...[CATALOG_SCHEMA, EVENT_SCHEMA]
    .flatMap(({ migrations }) => migrations)
    .flatMap(({ sql }) => [...sql.matchAll(/create table (?:if not exists )?(\w+)/gi)].map(([, name]) => name!)),
  "event_ids_", // one table per hour
  "migrations",
]
