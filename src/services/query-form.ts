import type { Clock } from "../domain/clock.ts"
import { AppError, siteNotFound } from "../domain/error.ts"
import type { ApiKey } from "../domain/key.ts"
import type { Table } from "../domain/query.ts"
import type { QueryAnswer } from "../domain/query-answer.ts"
import { isObject } from "../domain/shape.ts"
import type { Site } from "../domain/site.ts"
import { tidied } from "../domain/text.ts"
import type { SavedFilters } from "../query/array-filters.ts"
import { parseArrayQuestion } from "../query/array-parse.ts"
import { arrayQuery, partnerOf } from "../query/array-query.ts"
import { comparedRows, rowShower, shownRow } from "../query/array-result.ts"
import type { Engine } from "../query/engine.ts"
import { Faults } from "../query/faults.ts"
import type { Asker } from "../query/pool.ts"
import type { EventStore } from "../store/events/events.ts"
import type { Goals } from "./goals.ts"
import { namedSites } from "./named-site.ts"
import { queryMeta, resolvedQuery } from "./query-facts.ts"
import { siteFacts } from "./report-facts.ts"
import type { Sites } from "./sites.ts"

/** Questions in the array form (api.md section 7), as clients of Plausible's stats API v2 send them. */
export interface QueryForm {
  /**
   * The body names the site: all faults of the content are `validation_failed` first, then a site that the key cannot see is
   * `site_not_found`. An aborted signal gives the question up.
   */
  answer(key: ApiKey, body: unknown, signal?: AbortSignal): Promise<QueryAnswer>
}

interface QueryFormOptions {
  engine: Pick<Engine, "aggregate" | "compare">
  events: Pick<EventStore, "firstAt">
  sites: Pick<Sites, "directory" | "list">
  goals: Pick<Goals, "rules">
  clock: Pick<Clock, "now">
  /** Segments and cohorts that filters name; without it there are none. */
  saved?: (site: Site) => SavedFilters
}

export function createQueryForm(options: QueryFormOptions): QueryForm {
  const { engine, goals } = options
  return {
    async answer(key, body, signal) {
      if (!isObject(body)) throw noObject()
      const { site, question, now, asker } = await readBody(options, key, body, signal)
      const query = arrayQuery(question, siteFacts(site, goals.rules(site.id)), now)
      const { compared } = question
      const facts = (table: Table) => ({
        meta: queryMeta({ site, question, query, now }, table),
        query: resolvedQuery(site, question, query),
      })
      if (!compared) {
        const table = await engine.aggregate(query, asker)
        const shower = rowShower(query)
        return { results: table.rows.map((row) => shownRow(row, shower)), ...facts(table) }
      }
      const { table, before } = await engine.compare(query, compared.range, asker)
      return { results: comparedRows(table.rows, before, partnerOf(query, compared.range), query), ...facts(table) }
    },
  }
}

/** What the body asks, and of which site. */
async function readBody(options: QueryFormOptions, key: ApiKey, body: Record<string, unknown>, signal: AbortSignal | undefined) {
  const { events, sites, clock, saved } = options
  const faults = new Faults()
  const name = readSiteId(body.site_id, faults)
  const found = name === undefined ? [] : await namedSites(sites, key, name)
  if (found.length > 1) refuseAmbiguous(found, faults)
  const [site] = found
  const asker: Asker = { organizationId: key.organization_id, ...(signal && { signal }) }
  const firstAt = site && body.date_range === "all" ? events.firstAt(site.id) : undefined
  const now = clock.now()
  // Of a site that nobody sees, the days are drawn in some zone: faults are told before it is.
  const moment = { now, timezone: site?.timezone ?? "UTC", firstAt }
  const question = parseArrayQuestion(body, moment, faults, (site && saved?.(site)) ?? NOTHING_SAVED)
  if (!site) throw siteNotFound()
  return { site, question, now, asker }
}

const NOTHING_SAVED: SavedFilters = () => undefined

function readSiteId(value: unknown, faults: Faults): string | number | undefined {
  if (value === undefined) return faults.refuse("/site_id", "required", "is required")
  if (typeof value === "number") {
    return Number.isSafeInteger(value) ? value : faults.refuse("/site_id", "invalid_type", "must be a whole number or a text")
  }
  if (typeof value !== "string") return faults.refuse("/site_id", "invalid_type", "must be a whole number or a text")
  const name = tidied(value)
  return name === "" ? faults.refuse("/site_id", "too_short", "must not be empty") : name
}

function refuseAmbiguous(found: readonly Site[], faults: Faults): void {
  const ids = found.map(({ id }) => id)
  faults.refuse("/site_id", "ambiguous_site", "is a host of several sites: give the id of one", ids)
}

const noObject = () =>
  new AppError("validation_failed", "1 field is not valid.", {
    errors: [{ pointer: "", code: "invalid_type", detail: "The body must be an object." }],
  })
