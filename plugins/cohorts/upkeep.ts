import { type Contribution, type Removed, type Site, sql } from "#plugin"
import type { Area } from "./area.ts"
import { ERASE_JOB } from "./erasures.ts"
import { formatCohort } from "./responses.ts"
import { deleteErasuresOf, deleteUnfilled, listCohorts } from "./rows.ts"

const REPACK_JOB = "repack-members"
/** A frozen cohort that has no members by then is the rest of an interrupted request. */
const UNFILLED_MS = 3_600_000

/** Returns the background jobs of cohorts. */
export function jobsOf({ host, trash, erasures, frozen }: Area): NonNullable<Contribution["jobs"]> {
  return {
    [ERASE_JOB]: { interrupted: "resume", attempts: 5, run: erasures.run },
    [REPACK_JOB]: {
      interrupted: "resume",
      async run({ job, signal }) {
        const site = job.site_id === null ? undefined : host.services.sites.directory.byId(job.site_id)
        if (!site) return
        for (const cohort of await listCohorts(host.db, site.id)) if (cohort.kind === "static") await frozen.repack(site, cohort, signal)
      },
    },
    "remove-deleted": {
      interrupted: "resume",
      schedule: { cron: "50 3 * * *" },
      async run({ signal }) {
        await trash.purge(signal)
        await deleteUnfilled(host.db, host.now() - UNFILLED_MS)
        await removeLeftMembers({ host, frozen })
      },
    },
  }
}

/** Removes the members of frozen cohorts that no longer exist. */
async function removeLeftMembers({ host, frozen }: Pick<Area, "host" | "frozen">): Promise<void> {
  const ids = await host.rows.write((rows) =>
    rows.all<{ id: number }>(sql`select distinct cohort_id as id from cohorts_members limit 10000`),
  )
  for (const { id } of ids) if (!(await host.db.get(sql`select id from cohorts_cohorts where id = ${id}`))) await frozen.drop(id)
}

/** Yields the cohorts of a site for its archive, without fields that have a meaning on this instance only. */
export async function* exportedCohorts({ trash }: Area, site: Site): AsyncIterable<object> {
  for await (const cohort of trash.ofSite(site)) {
    const { created_by: _, version: __, broken: ___, ...exported } = formatCohort(cohort, { isBroken: false, hidesSize: false })
    yield exported
  }
}

/** Removes all cohorts, members and erasures of a deleted site. */
export async function removeSite({ host, trash, frozen }: Area, siteId: number): Promise<Removed> {
  const frozenIds: number[] = []
  const cohorts = await trash.removeSite(siteId, (slice) =>
    frozenIds.push(...slice.filter(({ kind }) => kind === "static").map(({ id }) => id)),
  )
  for (const id of frozenIds) await frozen.drop(id)
  await deleteErasuresOf(host.db, siteId)
  return { cohorts }
}

/** Lets a job remove people without visits from the frozen cohorts of a site. They count in no number from the erasure on. */
export async function repackSoon({ host }: Area, siteId: number): Promise<Removed> {
  const site = host.services.sites.directory.byId(siteId)
  if (!site) return {}
  const frozen = (await listCohorts(host.db, siteId)).some(({ kind }) => kind === "static")
  if (frozen)
    await host.jobs.enqueue(REPACK_JOB, {
      key: String(siteId),
      join: true,
      siteId,
      organizationId: site.organization_id,
      runAt: host.now() + REPACK_AFTER_MS,
    })
  return {}
}

/** The hooks run just before the visits are removed. */
const REPACK_AFTER_MS = 60_000

/** Removes an erased person from the frozen cohorts of a site. The visits of the person are gone already. */
export async function repackNow({ host, frozen }: Area, siteId: number): Promise<Removed> {
  const site = host.services.sites.directory.byId(siteId)
  const cohorts = site ? (await listCohorts(host.db, siteId)).filter(({ kind }) => kind === "static") : []
  for (const cohort of cohorts) await frozen.repack(site!, cohort) // without a site there are no cohorts to repack
  return {}
}
