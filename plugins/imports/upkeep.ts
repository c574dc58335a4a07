import { type Contribution, type Removed, sql } from "#plugin"
import type { Area } from "./area.ts"
import { localDay } from "./days.ts"
import { eventOf } from "./product-events.ts"
import {
  daysOf,
  deleteDays,
  deleteImportsOf,
  deleteRejects,
  hasRowImports,
  type ImportRow,
  importById,
  importsOfSite,
  listUnsettled,
  listWithFolder,
  putDays,
  updateImport,
} from "./rows.ts"
import { refundTimes } from "./run/refunds.ts"
import { pendingOf, pendingStreams, streamOfImport } from "./streams/rows.ts"

/** Returns the background jobs of imports. */
export function jobsOf({ runs, ...area }: Area): NonNullable<Contribution["jobs"]> {
  return {
    // Two run at a time, and one per site by its key. Others wait in the queue.
    "run-import": { interrupted: "resume", atOnce: 2, onDisk: true, run: runs.run },
    "undo-import": { interrupted: "resume", atOnce: 2, attempts: 5, onDisk: true, run: runs.undo },
    "settle-imports": {
      interrupted: "resume",
      schedule: { cron: "*/5 * * * *", hasWork: async () => (await unsettled(area.host)).length > 0 },
      run: () => settleImports(area.host, runs),
    },
    "follow-zones": {
      interrupted: "resume",
      schedule: { cron: "* * * * *", hasWork: () => hasRowImports(area.host.db) },
      run: ({ signal }) => followZones(area, signal),
    },
    "destroy-salts": {
      interrupted: "resume",
      schedule: { cron: "* * * * *", hasWork: () => area.streams.hasExpiredSalts() },
      run: () => area.streams.destroySalts(),
    },
    "write-waiting": {
      interrupted: "resume",
      schedule: { cron: "* * * * *", hasWork: () => area.imports.hasWaitingVisits() },
      run: () => area.imports.writeWaitingVisits(),
    },
    "expire-files": { interrupted: "resume", onDisk: true, schedule: { cron: "25 * * * *" }, run: () => expireFiles(area) },
  }
}

/** Returns some of the imports, and of the runs that extend a stream, that have not ended. */
const unsettled = async ({ db }: Area["host"]): Promise<readonly object[]> => [
  ...(await listUnsettled(db, 0)),
  ...(await pendingStreams(db, 0)),
]

/** Ends imports, and runs that extend a stream, whose job has ended before them. */
async function settleImports({ db }: Area["host"], runs: Area["runs"]): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await listUnsettled(db, after)
    for (const row of rows) {
      after = row.id
      await runs.settle(row)
    }
    if (rows.length === 0) break
  }
  for (let after = 0; ; ) {
    const streams = await pendingStreams(db, after)
    for (const { import_id } of streams) {
      after = import_id
      const row = await importById(db, import_id)
      if (row) await runs.settle(row)
    }
    if (streams.length === 0) return
  }
}

/** Deletes expired uploads, the files of imports that can no longer be retried, and folders that a crash left behind. */
async function expireFiles({ host, staging, streams, uploads }: Omit<Area, "runs">): Promise<void> {
  await uploads.expire()
  const folders = new Set<string>()
  for (let after = 0; ; ) {
    const rows = await listWithFolder(host.db, after)
    for (const { id, folder, folder_expires_at } of rows) {
      after = id
      if (folder === null) continue
      if (folder_expires_at !== null && folder_expires_at <= host.now()) {
        await staging.remove(folder)
        await updateImport(host.db, id, { folder: null, folder_expires_at: null })
      } else folders.add(folder)
    }
    if (rows.length === 0) break
  }
  for (let after = 0; ; ) {
    const rows = await pendingStreams(host.db, after)
    for (const row of rows) {
      after = row.import_id
      folders.add(pendingOf(row)!.folder) // the list has only those with a run in progress
    }
    if (rows.length === 0) break
  }
  for (const id of streams.importsWithFiles()) if (!(await streamOfImport(host.db, id))) streams.removeFiles(id)
  // A preview or a request that is being answered has a folder of its own, for minutes at most.
  await staging.removeOthers(folders, ABANDONED_MS)
}

const ABANDONED_MS = 3_600_000

/** Ends all imports of a deleted site and removes them with their files. */
export async function removeSite({ host, runs, staging, streams, uploads }: Area, siteId: number): Promise<Removed> {
  const rows = await importsOfSite(host.db, siteId)
  for (const { id, folder, state } of rows) {
    if (state === "pending" || state === "running") await updateImport(host.db, id, { state: "cancelled" }, ["pending", "running"])
    const pending = pendingOf(await streamOfImport(host.db, id))
    await host.db.transaction((statements) => streams.forget(statements, id))
    runs.stop(id)
    await host.imports.drop(siteId, id)
    for (const name of [folder, pending?.folder]) if (name !== undefined && name !== null) await staging.remove(name)
    streams.removeFiles(id)
    await host.rows.write((statements) => deleteRejects(statements, id))
  }
  const imports = await host.db.transaction(
    async (statements) => ({ count: await deleteImportsOf(statements, siteId), show: await host.imports.show(statements, siteId, []) }),
    ({ show }) => show(),
  )
  return { imports: imports.count, uploads: await uploads.removeSite(siteId) }
}

/** Ends all imports after a reset of their site: unfinished ones are cancelled, completed ones are undone. Returns their number. */
export async function endImports({ host, holders, runs, streams }: Area, siteId: number): Promise<number> {
  const ended = await host.db.transaction(
    async (statements) => {
      const rows: ImportRow[] = []
      for (const { id } of await importsOfSite(statements, siteId)) {
        const cancelled = await updateImport(statements, id, { state: "cancelled", finished_at: host.now() }, ["pending", "running"])
        const undone = await updateImport(statements, id, { state: "undone", undone_at: host.now() }, ["completed", "undoing"])
        rows.push(...[cancelled, undone].filter((row) => row !== undefined))
        const site = host.services.sites.directory.byId(siteId)
        // Other areas remove what the import has reported to them, also what they have yet to receive.
        if (undone && site) await host.outbox.write(statements, eventOf("import.undone", site, undone))
        await streams.forget(statements, id)
      }
      return { rows, show: await holders.recompute(statements, siteId) }
    },
    ({ show }) => show(),
  )
  for (const { id, state } of ended.rows) {
    runs.stop(id)
    if (state === "cancelled") continue
    await host.imports.drop(siteId, id)
    streams.removeFiles(id)
  }
  return ended.rows.length
}

/**
 * Gives row-level imports the zone of their site after it has changed, with their days in the new zone. Skipped days have no rows, so they
 * stay as they are. Totals keep their days.
 */
async function followZones({ host, holders }: Omit<Area, "runs">, signal: AbortSignal): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await host.db.all<Pick<ImportRow, "id" | "site_id" | "timezone" | "refunds_json">>(sql`
      select id, site_id, timezone, refunds_json from imports_imports where state = 'completed' and kind = 'rows' and id > ${after} order by id limit 500`)
    for (const { id, site_id, timezone, refunds_json } of rows) {
      after = id
      const site = host.services.sites.directory.byId(site_id)
      if (!site || site.timezone === timezone) continue
      // A run that extends a stream ends in the zone in which it began.
      if (pendingOf(await streamOfImport(host.db, id))) continue
      const refundDays = refundTimes({ refunds_json }).map((at) => localDay(at, site.timezone))
      const days = new Set([...(await host.imports.visitDays(site_id, site.timezone, signal, id)), ...refundDays])
      await host.db.transaction(
        async (statements) => {
          const skipped = (await daysOf(statements, id)).filter(({ day, state }) => state === "skipped" && !days.has(day))
          await deleteDays(statements, id)
          const stored = [...days].map((day) => ({ day, state: "masked", reason: null, masked_by: null }) as const)
          await putDays(statements, id, [...skipped, ...stored])
          await updateImport(statements, id, { timezone: site.timezone }, ["completed"])
          return holders.recompute(statements, site_id)
        },
        (show) => show(),
      )
    }
    if (rows.length === 0) return
  }
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
