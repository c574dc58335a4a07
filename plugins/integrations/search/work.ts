import type { Job, OwnStatements } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import type { Integration } from "../integration.ts"
import type { Engine } from "./search-type.ts"

/** The job that fetches the data of a search engine for one site, or deletes it. Only one runs at a time for a site and engine. */
export const SYNC = "sync-search"

export interface SyncPayload {
  siteId: number
  engine: Engine
  /** Whether all data is deleted instead. */
  forget?: boolean
}

const engineOf = ({ kind }: Pick<Integration, "kind">): Engine => (kind === "bing-webmaster" ? "bing" : "google")
/** Kind of the integrations of sites that fetch data of an engine. */
export const KIND_OF = { google: "search-console", bing: "bing-webmaster" } as const satisfies Record<Engine, string>

const keyOf = ({ siteId, engine }: SyncPayload): string => `${siteId} ${engine}`

/** Queues the next run of a site's integration. One that is queued already is not queued again. */
export const enqueueSync = (
  { jobs }: Pick<IntegrationsHost, "jobs">,
  integration: Integration,
  statements?: OwnStatements,
  createdBy?: number,
): Promise<Job | undefined> => {
  const payload: SyncPayload = { siteId: integration.site_id!, engine: engineOf(integration) } // only sites have runs
  const by = createdBy === undefined ? {} : { createdBy }
  return jobs.enqueue(SYNC, { payload, key: keyOf(payload), join: true, siteId: payload.siteId, ...by }, statements)
}

/** Queues the deletion of all data of a search engine for a site. */
export const enqueueForget = (
  { jobs }: Pick<IntegrationsHost, "jobs">,
  of: Pick<SyncPayload, "siteId" | "engine">,
  statements: OwnStatements,
): Promise<Job | undefined> =>
  jobs.enqueue(SYNC, { payload: { ...of, forget: true } satisfies SyncPayload, key: keyOf(of), siteId: of.siteId }, statements)
