import { dayNumber, type JobWork, localDay } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { fail } from "../health.ts"
import type { Integration } from "../integration.ts"
import { integrationById, integrationsOfKind, listDue, noteSuccess } from "../rows.ts"
import { type BingWeek, fetchWeeks } from "./bing.ts"
import { type FetchedDay, fetchDay } from "./console-api.ts"
import { consequenceOf, searchFailureOf } from "./failure.ts"
import { SEARCH_CONSOLE } from "./google.ts"
import { isAborted } from "./google-api.ts"
import { isSearchType, type SearchType } from "./search-type.ts"
import {
  type DayData,
  deleteSlice,
  type Position,
  packDay,
  readPosition,
  replaceDay,
  type Series,
  type TermKind,
  termIds,
  writePosition,
} from "./storage.ts"
import { enqueueSync, KIND_OF, type SyncPayload } from "./work.ts"

/** Time zone of the days of Google Search. */
export const SEARCH_ZONE = "America/Los_Angeles"
const BACKFILL_MONTHS = 16
/** Days that are fetched again every time, because Google corrects them. */
const REPLACED_DAYS = 5
const DAY_MS = 86_400_000
/** Texts whose ids are remembered during a run, and stored at a time. */
const [MAX_KNOWN, TERM_SLICE] = [200_000, 1_000]

/** Queues the runs that are due. */
export async function enqueueDue(host: IntegrationsHost): Promise<void> {
  for (const integration of await listDue(host.db, host.now())) {
    // A deleted site can be restored for some time, but no data is fetched for it.
    const site = integration.site_id === null ? undefined : host.services.sites.directory.byId(integration.site_id)
    if (site) await enqueueSync(host, integration)
  }
}

/** Runs the job of one site and engine. */
export async function runSync(host: IntegrationsHost, { payload, signal, progress }: JobWork<SyncPayload>): Promise<void> {
  const { siteId, engine, forget } = payload
  if (forget) return forgetData(host, payload, signal)
  const [integration] = await integrationsOfKind(host.db, siteId, KIND_OF[engine])
  const isDue = integration?.next_run_at !== null && integration !== undefined && integration.next_run_at <= host.now()
  if (!isDue) return
  const run = new Run(host, integration, signal, progress)
  try {
    await (engine === "google" ? run.google() : run.bing())
  } catch (error) {
    if (isAborted(error) || signal.aborted) return
    const failure = searchFailureOf(error)
    if (!failure) throw error
    await noteFailed(host, integration, failure, run.stored > 0)
    return
  }
  // Otherwise it is still due, and the next run continues.
  if (!signal.aborted && !run.isOver) await noteSuccess(host.db, integration.id, host.now(), host.now() + DAY_MS)
}

async function noteFailed(
  host: IntegrationsHost,
  { id }: Integration,
  failure: NonNullable<ReturnType<typeof searchFailureOf>>,
  hasProgress: boolean,
) {
  const present = await integrationById(host.db, id)
  if (!present) return
  const { status, nextRunAt } = consequenceOf(failure, present, { now: host.now(), hasProgress })
  // The core has informed the admins of the organization that the account needs attention.
  const isOfAccount = failure.code === "needs_reauth" || failure.code === "client_rejected"
  await fail(host, present, status, failure.code, { nextRunAt, isSilent: isOfAccount && present.connection_id !== null })
}

/** One run: fetches what is missing, day by day. */
class Run {
  /** Days that were stored. */
  stored = 0
  /** Whether the integration was removed or changed meanwhile. */
  isOver = false
  readonly #terms: Record<TermKind, Map<string, number>> = { query: new Map(), page: new Map() }

  constructor(
    private readonly host: IntegrationsHost,
    private readonly integration: Integration,
    private readonly signal: AbortSignal,
    private readonly progress: JobWork["progress"],
  ) {}

  async google(): Promise<void> {
    const { config, connection_id } = this.integration
    const types = Array.isArray(config.search_types) ? config.search_types.filter(isSearchType) : []
    const access = { connectionId: connection_id!, scope: SEARCH_CONSOLE.scope, signal: this.signal } // mappings have a connection
    for (const searchType of types) {
      const source = { access, property: String(config.property), searchType }
      await this.#fetchSeries(this.#series("google", String(config.property), searchType), (day) => fetchDay(this.host, source, day))
    }
  }

  async #fetchSeries(series: Series, fetch: (day: number) => Promise<FetchedDay>): Promise<void> {
    const today = todayIn(this.host.now())
    let position = await this.host.rows.write((rows) => readPosition(rows, series))
    const days = plannedDays(position, today)
    for (const [index, { day, moves }] of days.entries()) {
      if (!(await this.#continues())) return
      const { data, firstIncomplete } = await fetch(day)
      const next = { ...moves(position), ...(firstIncomplete !== undefined && { first_incomplete_day: firstIncomplete }) }
      if (this.signal.aborted) return
      await this.#store(series, day, data, next)
      position = next
      this.progress({ phase: `fetching ${series.searchType}`, done: index + 1, total: days.length })
    }
  }

  async #continues(): Promise<boolean> {
    const present = await integrationById(this.host.db, this.integration.id)
    this.isOver ||= present?.version !== this.integration.version
    return !this.isOver && !this.signal.aborted
  }

  /** Weeks of Bing, whose answers contain all of them. */
  async bing(): Promise<void> {
    const { config, secret_id } = this.integration
    const url = String(config.site_url)
    const key = secret_id === null ? undefined : await this.host.secrets.open(secret_id)
    const weeks = await fetchWeeks(this.host, { key, url, signal: this.signal })
    const series = this.#series("bing", url, "web")
    for (const { day, data } of weeks) {
      if (!(await this.#continues())) return
      await this.#store(series, day, data, { ...spanOf(weeks), first_incomplete_day: null, end: null })
    }
  }

  #series = (engine: Series["engine"], property: string, searchType: SearchType): Series => ({
    siteId: this.integration.site_id!, // only sites have runs
    engine,
    property,
    searchType,
  })

  /** Replaces a day in one transaction. New texts are stored before, in slices, because incoming events wait for each transaction. */
  async #store(series: Series, day: number, data: DayData, position: Position): Promise<void> {
    await this.#know(
      series.siteId,
      "query",
      data.query.map(({ query }) => query),
    )
    await this.#know(
      series.siteId,
      "page",
      [...data.page, ...data.query].map(({ page }) => page),
    )
    const packed = packDay(data, this.#terms)
    await this.host.rows.write((rows) => {
      replaceDay(rows, series, day, data, packed)
      writePosition(rows, series, position)
    })
    this.stored++
    // A back-fill takes minutes, and its first day shows that the connection works.
    if (this.stored === 1) await noteSuccess(this.host.db, this.integration.id, this.host.now(), this.integration.next_run_at)
  }

  async #know(siteId: number, kind: TermKind, values: readonly string[]): Promise<void> {
    if (this.#terms[kind].size > MAX_KNOWN) this.#terms[kind].clear()
    const known = this.#terms[kind]
    const unknown = [...new Set(values)].filter((value) => value !== "" && !known.has(value))
    for (let start = 0; start < unknown.length; start += TERM_SLICE) {
      const slice = unknown.slice(start, start + TERM_SLICE)
      const ids = await this.host.rows.write((rows) => termIds(rows, siteId, kind, slice))
      for (const [value, id] of ids) known.set(value, id)
    }
  }
}

const spanOf = (weeks: readonly BingWeek[]) => ({
  backfilled_to: Math.min(...weeks.map(({ day }) => day)),
  synced_to: Math.max(...weeks.map(({ day }) => day)),
})

const todayIn = (now: number): number => dayNumber(localDay(now, SEARCH_ZONE).toString())

/** A day that is fetched, and how it moves the position. */
interface PlannedDay {
  day: number
  moves(position: Position): Position
}

/**
 * Returns the days that a run fetches. First those since the last run and the last five, oldest first, so that no gap is left if the run
 * ends early; then the rest of the back-fill, newest first. A first run has only the back-fill.
 */
function plannedDays(position: Position, today: number): PlannedDay[] {
  const oldest = dayNumber(
    localDay(today * DAY_MS, "UTC")
      .subtract({ months: BACKFILL_MONTHS })
      .toString(),
  )
  const end = Math.max(position.end ?? oldest, oldest)
  const { synced_to, backfilled_to, first_incomplete_day } = position
  const recent: PlannedDay[] = []
  if (synced_to !== null) {
    const start = Math.max(oldest, Math.min(synced_to + 1, today - REPLACED_DAYS + 1, first_incomplete_day ?? today))
    for (let day = start; day <= today; day++)
      recent.push({ day, moves: (from) => ({ ...from, synced_to: Math.max(from.synced_to ?? day, day) }) })
  }
  const backfill: PlannedDay[] = []
  for (let day = (backfilled_to ?? today + 1) - 1; day >= end; day--)
    backfill.push({ day, moves: (from) => ({ ...from, end, backfilled_to: day, synced_to: from.synced_to ?? day }) })
  return [...recent, ...backfill]
}

/** Deletes everything of an engine that was fetched for a site. */
async function forgetData(host: IntegrationsHost, { siteId, engine }: SyncPayload, signal: AbortSignal): Promise<void> {
  for (let count = 1; count > 0 && !signal.aborted; await Bun.sleep(0))
    count = await host.rows.write((rows) => deleteSlice(rows, siteId, engine))
  if (signal.aborted) return
  const site = host.services.sites.directory.byId(siteId)
  await host.audit.writeAlone(host.audit.system, {
    action: "integrations.search-data.delete",
    target: { type: "site", id: siteId, label: site?.name ?? "" },
    siteId,
    ...(site && { organizationId: site.organization_id }),
    changes: { engine: [engine, null] },
  })
}
