import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Actor, AuditEntry } from "../../domain/audit.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { isFinished, type Job } from "../../domain/job.ts"
import type { Site } from "../../domain/site.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import type { Audit } from "../audit/audit.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Jobs, JobWork } from "../jobs/jobs.ts"
import type { Schedules } from "../jobs/schedules.ts"
import type { Sites } from "../sites/sites.ts"
import { type Takeout, type TakeoutOptions, writeTakeout } from "./takeout.ts"

/** Archives of whole sites, which are created in the background and kept for a day. */
export interface Takeouts {
  begin(site: Site, by: { userId: number; actor: Actor }, alongside?: Alongside<Job>): Promise<Job>
  /** Throws `work_not_found`. */
  get(site: Site, id: string | undefined): Promise<Job>
  /** Returns the archive of a finished job. Throws `work_not_found`, and `invalid_state` if the job has not finished. */
  file(site: Site, id: string | undefined): Promise<{ path: string; name: string }>
  /** Deletes the archives of a site after data was erased. An archive that is being written is started again. */
  drop(siteId: number): Promise<void>
}

interface TakeoutsOptions extends TakeoutOptions {
  catalog: Catalog
  dataDir: string
  sites: Pick<Sites, "get">
  jobs: Pick<Jobs, "define" | "enqueue" | "get" | "list">
  schedules: Pick<Schedules, "declare">
  audit: Audit
}

interface Payload {
  actor: Actor
  /** Name in the folder of archives. */
  file: string
}

const KIND = "sites.make-takeout"
const FORGET = "sites.forget-takeouts"
const LIFETIME_MS = 86_400_000
/** Maximum number of jobs to look through for the archives of a site. More are not created within the lifetime of an archive. */
const MAX_LISTED = 1_000

export function createTakeouts(options: TakeoutsOptions): Takeouts {
  const { catalog, jobs, schedules, audit, random, clock, sites, dataDir } = options
  const folder = join(dataDir, "takeouts")
  const pathOf = (file: string): string => join(folder, file)
  /** Number of erasures by site. */
  const erasures = new Map<number, number>()

  /** Writes an archive, and again if data was erased meanwhile, because the archive may contain it. */
  async function write(site: Site, path: string, { signal, progress }: JobWork<Payload>): Promise<Takeout> {
    for (;;) {
      const before = erasures.get(site.id)
      rmSync(path, { force: true })
      const takeout = await writeTakeout(options, site, path, { signal, onProgress: (done) => progress({ phase: "visits", done }) })
      if (erasures.get(site.id) === before) return takeout
    }
  }

  jobs.define(KIND, {
    interrupted: "resume",
    atOnce: 1,
    onDisk: true,
    async run(work) {
      const { payload, job, signal } = work as JobWork<Payload>
      const site = await sites.get(job.site_id!) // every such job has a site
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      try {
        // A file that a crash left behind is overwritten.
        const takeout = await write(site, pathOf(payload.file), work as JobWork<Payload>)
        await audit.writeAlone(payload.actor, { ...auditEntry(site, "finish"), changes: { visits: [null, takeout.visits] } })
      } catch (thrown) {
        rmSync(pathOf(payload.file), { force: true })
        if (!signal.aborted) await audit.writeAlone(payload.actor, { ...auditEntry(site, "finish"), outcome: "failed" })
        throw thrown
      }
    },
  })
  jobs.define(FORGET, { interrupted: "resume", onDisk: true, run: async () => forget(folder, clock.now() - LIFETIME_MS) })
  schedules.declare(FORGET, { cron: "50 * * * *" })

  async function get(site: Site, named: string | undefined): Promise<Job> {
    const job = await jobs.get(parseId(named) ?? 0)
    if (job?.kind !== KIND || job.site_id !== site.id) throw notFound()
    return job
  }

  return {
    begin: (site, { userId, actor }, alongside) =>
      catalog.transaction(async (statements) => {
        const payload: Payload = { actor, file: `${random(16).toHex()}.zip` }
        const wanted = {
          kind: KIND,
          key: String(site.id),
          siteId: site.id,
          organizationId: site.organization_id,
          createdBy: userId,
          payload,
        }
        const job = (await jobs.enqueue(wanted, statements))! // without a slot a job is always created
        await audit.write(statements, actor, auditEntry(site, "begin"))
        await alongside?.(statements, { after: job })
        return job
      }),
    get,
    async file(site, id) {
      const job = await get(site, id)
      if (!isFinished(job)) throw new AppError("invalid_state", "The archive has not been created yet.", { state: job.state })
      const path = pathOf((job.payload as Payload).file) // the payload of this kind
      if (job.state !== "done" || !statSync(path, { throwIfNoEntry: false })) throw notFound()
      return { path, name: `site-${site.id}.zip` }
    },
    async drop(siteId) {
      erasures.set(siteId, (erasures.get(siteId) ?? 0) + 1)
      const archives = await jobs.list({ kind: KIND, siteId }, { before: Number.MAX_SAFE_INTEGER, limit: MAX_LISTED })
      for (const job of archives) if (isFinished(job)) rmSync(pathOf((job.payload as Payload).file), { force: true })
    },
  }
}

const notFound = () => new AppError("work_not_found", "This archive doesn't exist or has expired.")

/** Deletes the archives that were finished before a time, by the modification times of the files. */
function forget(folder: string, before: number): void {
  const names = statSync(folder, { throwIfNoEntry: false }) ? readdirSync(folder) : []
  for (const name of names) if (statSync(join(folder, name)).mtimeMs < before) rmSync(join(folder, name), { force: true })
}

const auditEntry = ({ id, name, organization_id }: Site, moment: "begin" | "finish"): AuditEntry => ({
  action: `sites.takeout.${moment}`,
  target: { type: "site", id, label: name },
  organizationId: organization_id,
  siteId: id,
})
