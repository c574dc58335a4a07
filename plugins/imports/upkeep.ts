import { type Contribution, type Removed, sql } from "#plugin"
import type { Area } from "./area.ts"
import { daysOf, deleteImportsOf, deleteRejects, importsOfSite, listWithFolder, putDays, updateImport } from "./rows.ts"

/** Returns the background jobs of imports. */
export function jobsOf({ runs, ...area }: Area): NonNullable<Contribution["jobs"]> {
  return {
    // Two run at a time, and one per site by its key. Others wait in the queue.
    "run-import": { interrupted: "resume", atOnce: 2, run: runs.run },
    "undo-import": { interrupted: "resume", atOnce: 2, attempts: 5, run: runs.undo },
    "expire-files": { interrupted: "resume", schedule: { cron: "25 * * * *" }, run: () => expireFiles(area) },
  }
}

/** Deletes expired uploads, the files of imports that can no longer be retried, and folders that a crash left behind. */
async function expireFiles({ host, staging, uploads }: Omit<Area, "runs">): Promise<void> {
  await uploads.expire()
  const folders = new Set<string>()
  for (let after = 0; ; ) {
    const rows = await listWithFolder(host.db, after)
    for (const { id, folder, folder_expires_at } of rows) {
      after = id
      if (folder === null) continue
      if (folder_expires_at !== null && folder_expires_at <= host.now()) {
        staging.remove(folder)
        await updateImport(host.db, id, { folder: null, folder_expires_at: null })
      } else folders.add(folder)
    }
    if (rows.length === 0) break
  }
  // A preview or a request that is being answered has a folder of its own, for minutes at most.
  staging.removeOthers(folders, ABANDONED_MS)
}

const ABANDONED_MS = 3_600_000

/** Ends all imports of a deleted site and removes them with their files. */
export async function removeSite({ host, runs, staging, uploads }: Area, siteId: number): Promise<Removed> {
  const rows = await importsOfSite(host.db, siteId)
  for (const { id, folder, state } of rows) {
    if (state === "pending" || state === "running") await updateImport(host.db, id, { state: "cancelled" }, ["pending", "running"])
    runs.stop(id)
    await host.imports.drop(siteId, id)
    if (folder !== null) staging.remove(folder)
    await host.rows.write((statements) => deleteRejects(statements, id))
  }
  const imports = await host.db.transaction(
    async (statements) => ({ count: await deleteImportsOf(statements, siteId), show: await host.imports.show(statements, siteId, []) }),
    ({ show }) => show(),
  )
  return { imports: imports.count, uploads: await uploads.removeSite(siteId) }
}

/** Marks days before the cutoff as skipped: their rows are gone. */
export async function retainDays({ host, holders }: Area, siteId: number, cutoffDay: string): Promise<Removed> {
  return host.db
    .transaction(
      async (statements) => {
        let days = 0
        for (const { id } of await importsOfSite(statements, siteId)) {
          const old = (await daysOf(statements, id)).filter(({ day, state }) => day < cutoffDay && state !== "skipped")
          await putDays(
            statements,
            id,
            old.map(({ day }) => ({ day, state: "skipped", reason: "beyond_retention", masked_by: null })),
          )
          days += old.length
        }
        return { days, show: days > 0 ? await holders.recompute(statements, siteId) : () => {} }
      },
      ({ show }) => show(),
    )
    .then(({ days }) => ({ days }))
}

/** Counts the days that `retainDays` would mark. */
export async function countOverdueDays({ host }: Area, siteId: number, cutoffDay: string): Promise<Removed> {
  const row = await host.db.get<{ n: number }>(sql`
    select count(*) as n from imports_days join imports_imports on imports_imports.id = imports_days.import_id
    where site_id = ${siteId} and day < ${cutoffDay} and imports_days.state <> 'skipped'`)
  return { days: row?.n ?? 0 }
}
