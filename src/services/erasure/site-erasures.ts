import { timingSafeEqual } from "node:crypto"
import type { Actor, AuditEntry } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError, MAX_COUNTED_FAULTS, refuseFaults } from "../../domain/error.ts"
import type { Filter } from "../../domain/filter.ts"
import { parseId } from "../../domain/id.ts"
import type { Job } from "../../domain/job.ts"
import { instantText } from "../../domain/moment.ts"
import type { Range } from "../../domain/query.ts"
import { fault, isObject } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import type { ErasurePreview } from "../../domain/site-response.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { SavedOf } from "../../query/parse/array-filters.ts"
import type { ChosenVisits } from "../../query/rows/choice.ts"
import { pseudonyms } from "../../query/show/pseudonyms.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { Audit } from "../audit/audit.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Takeouts } from "../export/takeouts.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import type { Jobs, JobWork } from "../jobs/jobs.ts"
import { segmentsOnly } from "../people/visitor-sets.ts"
import type { Exclusive } from "../runtime/tasks.ts"
import type { SiteKeys } from "../sites/site-keys.ts"
import type { Sites } from "../sites/sites.ts"
import { callerOf, type OpenReportOptions, openReports, shownRange, siteFacts } from "../stats/open-report.ts"
import type { StoredTallies } from "../tallies/tallies.ts"
import type { DataHooks } from "./data-hooks.ts"
import { type HiddenVisits, overwriteReplaced } from "./erasure.ts"

/**
 * Erasure of a site's data by its members: the visits that start in a range and have an event that satisfies the filters, or all data.
 * The work runs in the background and continues after a restart. It writes an audit entry at its start and at its end. Neither contains
 * the filters, and nothing else does once the work is done.
 */
export interface SiteErasures {
  /** Counts the visits to erase. The body has `filters` and a range. Throws `validation_failed`. */
  preview(site: Site, body: unknown, userId: number): Promise<ErasurePreview>
  /** Erases visits. The body also has `confirm`. Throws `token_invalid` if that is expired or belongs to another user, site or query. */
  erase(site: Site, body: unknown, by: By, alongside?: Alongside<Job>): Promise<Job>
  /** Erases all events and imports and keeps the settings. The body has `confirm`, the name of the site. */
  reset(site: Site, body: unknown, by: By, alongside?: Alongside<Job>): Promise<Job>
  /** Throws `work_not_found`. */
  get(site: Site, id: string | undefined): Promise<Job>
}

export interface By {
  userId: number
  actor: Actor
}

interface SiteErasuresOptions extends OpenReportOptions {
  catalog: Catalog
  engine: Pick<Engine, "visitsWeight" | "chosenVisits">
  events: Pick<EventStore, "eraseVisits" | "eraseSite" | "dropTotals" | "dropRetired" | "emptyLog">
  shipped: { hidden: HiddenVisits } | undefined
  tallies: Pick<StoredTallies, "forget">
  imports: Pick<VisibleImports, "firstAt" | "of" | "clear">
  siteKeys: Pick<SiteKeys, "siteKey">
  hooks: Pick<DataHooks, "onVisitsErase">
  sites: Pick<Sites, "get">
  jobs: Pick<Jobs, "define" | "enqueue" | "get">
  exclusive: Exclusive
  audit: Audit
  takeouts: Pick<Takeouts, "drop">
  clock: Clock
  cookieSecrets: readonly [string, ...string[]]
  saved: SavedOf
}

/** State of an erasure, stored with its job. */
interface Payload {
  actor: Actor
  /** Absent for a reset, and once the erasure is done. */
  question?: { range: Range; filter?: Filter }
  erased: number
}

const KINDS = { erase: "sites.erase-events", reset: "sites.reset-events" } as const
/** Maximum number of rounds. Events that arrive meanwhile can match too; after the last round they are left to the next erasure. */
const MAX_ROUNDS = 3
/** Number of visits that a hook receives at a time. */
const MAX_ANNOUNCED = 10_000

export function createSiteErasures(options: SiteErasuresOptions): SiteErasures {
  const { catalog, engine, jobs, audit } = options
  // A cohort would have to be stored with the job, and its members can change until the job runs.
  const open = openReports({ ...options, savedSets: segmentsOnly(options.saved) })
  const tokens = createEraseTokens(options)

  async function questionOf(site: Site, given: Record<string, unknown>, userId: number) {
    if (["period", "from", "to"].every((name) => given[name] === undefined))
      refuseFaults([fault("/period", "required", "or from and to are required")])
    // Erasing requires one of the highest roles, which see revenue on every site.
    const report = await open("visits", site, given, { userId, hidesRevenue: false })
    const { filter, range } = report.parsed
    return { report, question: { range: range.range, ...(filter && { filter }) } }
  }

  const begin = (site: Site, kind: keyof typeof KINDS, payload: Payload, { userId }: By, alongside: Alongside<Job> | undefined) =>
    catalog.transaction(async (statements: Statements) => {
      const job = await jobs.enqueue(
        { kind: KINDS[kind], key: String(site.id), siteId: site.id, organizationId: site.organization_id, createdBy: userId, payload },
        statements,
      )
      const created = job! // without a slot a job is always created
      await audit.write(statements, payload.actor, auditEntry(site, kind, "begin"))
      await alongside?.(statements, { after: created })
      return created
    })

  for (const kind of ["erase", "reset"] as const) {
    jobs.define(KINDS[kind], {
      interrupted: "resume",
      atOnce: 1,
      run: (work) => carryOut(options, kind, work as JobWork<Payload>),
    })
  }

  return {
    async preview(site, body, userId) {
      const { report, question } = await questionOf(site, objectOf(body), userId)
      const weight = await engine.visitsWeight({ site: report.facts, ...question }, report.caller)
      const { token, until } = tokens.make({ userId, siteId: site.id, question })
      return { range: shownRange(report.parsed.range, report.now), ...weight, confirm: token, confirm_expires_at: instantText(until) }
    },
    async erase(site, body, by, alongside) {
      const { confirm, ...given } = objectOf(body)
      const { question } = await questionOf(site, given, by.userId)
      if (confirm === undefined) refuseFaults([fault("/confirm", "required", "is required: it comes with the preview")])
      if (!tokens.fits({ userId: by.userId, siteId: site.id, question }, confirm))
        throw new AppError("token_invalid", "The confirmation has expired or does not match the request. Open the preview again.")
      return begin(site, "erase", { actor: by.actor, question, erased: 0 }, by, alongside)
    },
    async reset(site, body, by, alongside) {
      const { confirm, ...others } = objectOf(body)
      const unknown = Object.keys(others)
        .slice(0, MAX_COUNTED_FAULTS + 1)
        .map((name) => fault(`/${name.slice(0, 100)}`, "unknown_field", "does not exist"))
      const wrong =
        confirm === site.name
          ? []
          : [fault("/confirm", confirm === undefined ? "required" : "invalid_choice", "must be the name of the site")]
      refuseFaults([...wrong, ...unknown])
      return begin(site, "reset", { actor: by.actor, erased: 0 }, by, alongside)
    },
    async get(site, named) {
      const job = await jobs.get(parseId(named) ?? 0)
      const isOurs = job?.site_id === site.id && Object.values(KINDS).some((kind) => kind === job.kind)
      if (!job || !isOurs) throw new AppError("work_not_found", "This site has no erasure with this id.")
      return job
    },
  }
}

async function carryOut(options: SiteErasuresOptions, kind: keyof typeof KINDS, work: JobWork<Payload>): Promise<void> {
  const { sites, audit } = options
  const { actor } = work.payload
  const site = await sites.get(work.job.site_id!) // every such job has a site
  try {
    const erased = await eraseAll(options, site, kind, work)
    await options.takeouts.drop(site.id)
    await work.save({ actor, erased })
    await audit.writeAlone(actor, { ...auditEntry(site, kind, "finish"), changes: { visits: [erased, 0] } })
  } catch (thrown) {
    // The end of the process only interrupts the erasure. Any other error ends it.
    if (!work.signal.aborted) await audit.writeAlone(actor, { ...auditEntry(site, kind, "finish"), outcome: "failed" })
    throw thrown
  }
}

/** Erases the visits and returns their number. Parts of it can run twice without harm. */
async function eraseAll(options: SiteErasuresOptions, site: Site, kind: keyof typeof KINDS, work: JobWork<Payload>): Promise<number> {
  const { events, exclusive, clock } = options
  let { erased } = work.payload
  let erasedAt = clock.now()
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (kind === "reset") await options.imports.clear(site.id)
    const chosen = kind === "reset" ? "all" : await chosenFor(options, site, work)
    if (!chosen) break
    erasedAt = clock.now()
    const count = await exclusive.run(() =>
      chosen === "all" ? events.eraseSite(site.id, erasedAt) : events.eraseVisits(site.id, chosen, erasedAt),
    )
    erased += count
    work.progress({ phase: "erasing", done: erased })
    await work.save({ ...work.payload, erased })
    if (count === 0) break
  }
  const totals = kind === "reset" ? await endImports(options, site) : 0
  work.progress({ phase: "overwriting", done: erased })
  if (erased + totals > 0) await overwriteReplaced(options, erasedAt, work.signal)
  return erased
}

/** Removes all totals and counters of a site, and lets areas end its imports and remove what they derived. Returns the number of totals. */
async function endImports({ events, tallies, exclusive, clock, hooks }: SiteErasuresOptions, site: Site): Promise<number> {
  // An import that is running is ended by its area. It is invisible, and removes what it has written.
  await hooks.onVisitsErase(site.id, { all: true })
  return exclusive.run(async () => {
    const totals = await events.dropTotals(site.id, clock.now())
    await tallies.forget(site.id)
    await events.emptyLog()
    return totals
  })
}

/** Returns the sequences of the visits to erase, or undefined when there are none. Areas know of these visits before. */
async function chosenFor(options: SiteErasuresOptions, site: Site, { payload, signal }: JobWork<Payload>) {
  const { engine, goals } = options
  const facts = siteFacts(site, goals.rules(site.id))
  const chosen = await engine.chosenVisits({ site: facts, ...payload.question! }, callerOf(site, { signal }))
  if (chosen.sequences.length === 0) return undefined
  await announce(options, site, chosen, signal)
  return chosen.sequences.toSorted()
}

/** Tells areas which visits are about to be removed. After a crash in between, the visits are found and announced again. */
async function announce({ siteKeys, hooks }: SiteErasuresOptions, site: Site, chosen: ChosenVisits, signal: AbortSignal): Promise<void> {
  const { sequences, starts, visitors } = chosen
  const nameOf = pseudonyms(await siteKeys.siteKey(site.id), "visitor")
  for (let from = 0; from < sequences.length; from += MAX_ANNOUNCED) {
    signal.throwIfAborted()
    const names = nameOf([...visitors.subarray(from, from + MAX_ANNOUNCED)])
    const visits = names.map((visitor, i) => ({ sequence: sequences[from + i]!, visitor, started_at: starts[from + i]! }))
    await hooks.onVisitsErase(site.id, { visits })
  }
}

function objectOf(body: unknown): Record<string, unknown> {
  if (!isObject(body)) refuseFaults([fault("", "invalid_type", "must be an object")])
  return body as Record<string, unknown>
}

const auditEntry = ({ id, name, organization_id }: Site, kind: keyof typeof KINDS, moment: "begin" | "finish"): AuditEntry => ({
  action: `sites.${kind === "erase" ? "erasure" : "reset"}.${moment}`,
  target: { type: "site", id, label: name },
  organizationId: organization_id,
  siteId: id,
})

/** An erasure that a user has previewed. */
export interface ShownErasure {
  userId: number
  siteId: number
  /** Parsed range and filter. */
  question: object
}

/** Proofs that a user has seen the preview of an erasure. They are valid for ten minutes, for this user, site, range and filter. */
export interface EraseTokens {
  make(shown: ShownErasure): { token: string; until: number }
  fits(shown: ShownErasure, token: unknown): boolean
}

interface EraseTokensOptions {
  clock: Pick<Clock, "now">
  /** The first secret signs, and all of them verify. */
  cookieSecrets: readonly [string, ...string[]]
}

const LIFE_MS = 600_000

export function createEraseTokens({ clock, cookieSecrets }: EraseTokensOptions): EraseTokens {
  const sign = (secret: string, { userId, siteId, question }: ShownErasure, until: number): string =>
    new Bun.CryptoHasher("sha256", secret).update(JSON.stringify(["erase", userId, siteId, question, until])).digest("base64url")
  return {
    make(shown) {
      const until = clock.now() + LIFE_MS
      return { token: `${until}.${sign(cookieSecrets[0], shown, until)}`, until }
    },
    fits(shown, token) {
      const [, end, signature = ""] = /^(\d{1,16})\.([\w-]{43})$/.exec(typeof token === "string" ? token : "") ?? []
      const until = Number(end)
      if (end === undefined || until <= clock.now()) return false
      return cookieSecrets.some((secret) => timingSafeEqual(Buffer.from(signature), Buffer.from(sign(secret, shown, until))))
    },
  }
}
