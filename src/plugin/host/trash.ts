import type { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import type { Site } from "../../domain/site.ts"
import type { Instance } from "../../services/instance/instance.ts"
import { raw, type Sql, sql } from "../../store/sql.ts"
import type { PluginAudit } from "./host.ts"
import type { OwnStatements, OwnTables } from "./own-tables.ts"

/** A thing of a site that is marked as deleted before its row is removed. */
export interface Deletable {
  id: number
  site_id: number
  /** Epoch ms. */
  deleted_at: number | null
}

export interface TrashOptions<Row, Thing extends Deletable> {
  /** Noun in audit actions, such as `link` in `links.link.purge`. */
  thing: string
  /** Table with `id`, `site_id` and `deleted_at`, indexed by (`site_id`, `id`) and by `deleted_at`. */
  table: string
  columns: Sql
  read(row: Row): Thing
  /** Name of a thing in the audit log. */
  label(thing: Thing): string
  notFound(): AppError
  /** Slugs of the things, which stay reserved after a removal. Absent for things without slugs. */
  slugs?: {
    release(statements: OwnStatements, thing: NoInfer<Thing>, organizationId: number): Promise<void>
    removeExpired(limit: number): Promise<number>
  }
}

/** Things that can be restored for 30 days after their deletion. To delete or restore one, set or clear its `deleted_at`. */
export interface Trash<Thing> {
  /** Throws the `notFound` error if the site has no such thing or it is deleted. */
  find(statements: OwnStatements, site: Site, id: string | number | undefined): Promise<Thing>
  /** Returns a deleted thing that can still be restored; throws the `notFound` error otherwise. */
  findDeleted(statements: OwnStatements, site: Site, id: string | number | undefined): Promise<Thing>
  /** Reads all things of a site that are not deleted, in slices, by id. For exports. */
  ofSite(site: Site): AsyncIterable<Thing>
  /** Removes what can no longer be restored, each with an audit entry, and reservations of slugs that have ended. For a nightly job. */
  purge(signal: AbortSignal): Promise<void>
  /**
   * Removes all things of a site and reserves their slugs. `removed` runs after each commit. Returns their number. For `onSiteDelete`.
   * `organizationId` can take the slugs back with `force`; without it no organization can before the reservations end.
   */
  removeSite(siteId: number, removed: (things: readonly Thing[]) => void, organizationId?: number): Promise<number>
}

export const RESTORE_MS = 30 * 86_400_000
const ROWS_PER_READ = 200
/** Rows that one transaction removes. It takes a few milliseconds, during which open requests of the plugin wait. */
const ROWS_PER_REMOVAL = 20
/** Organization of a slug that no organization can take back before its reservation ends. */
const NO_ORGANIZATION = 0

interface TrashParts {
  id: string
  db: OwnTables
  audit: PluginAudit
  now(): number
  directory: Pick<Instance["sites"]["directory"], "byId">
}

export const ownTrash =
  ({ id: pluginId, db, audit, now, directory }: TrashParts) =>
  <Row, Thing extends Deletable>(options: TrashOptions<Row, Thing>): Trash<Thing> => {
    const { thing: noun, columns, read, label, notFound, slugs } = options
    const table = raw(options.table)

    async function byId(statements: OwnStatements, site: Site, id: string | number | undefined): Promise<Thing> {
      const row = await statements.get<Row>(sql`select ${columns} from ${table} where id = ${parseId(id) ?? 0} and site_id = ${site.id}`)
      if (!row) throw notFound()
      return read(row)
    }
    const remove = async (statements: OwnStatements, condition: Sql): Promise<Thing[]> => {
      const slice = sql`select id from ${table} where ${condition} limit ${ROWS_PER_REMOVAL}`
      return (await statements.all<Row>(sql`delete from ${table} where id in (${slice}) returning ${columns}`)).map(read)
    }
    const organizationOf = (siteId: number): number | undefined => directory.byId(siteId)?.organization_id

    const purgeSlice = (): Promise<number> =>
      db.transaction(async (statements) => {
        const removed = await remove(statements, sql`deleted_at is not null and deleted_at <= ${now() - RESTORE_MS}`)
        for (const thing of removed) {
          const organizationId = organizationOf(thing.site_id)
          await audit.write(statements, audit.system, {
            action: `${pluginId}.${noun}.purge`,
            target: { type: noun, id: thing.id, label: label(thing) },
            ...(organizationId !== undefined && { organizationId }),
            siteId: thing.site_id,
          })
        }
        return removed.length
      })

    return {
      async find(statements, site, id) {
        const thing = await byId(statements, site, id)
        if (thing.deleted_at !== null) throw notFound()
        return thing
      },
      async findDeleted(statements, site, id) {
        const thing = await byId(statements, site, id)
        if (thing.deleted_at === null || thing.deleted_at <= now() - RESTORE_MS) throw notFound()
        return thing
      },
      async *ofSite({ id }) {
        for (let after = 0, count = ROWS_PER_READ; count === ROWS_PER_READ; ) {
          const rows = await db.all<Row>(sql`select ${columns} from ${table}
            where site_id = ${id} and id > ${after} and deleted_at is null order by id limit ${ROWS_PER_READ}`)
          const things = rows.map(read)
          yield* things
          after = things.at(-1)?.id ?? after
          count = things.length
        }
      },
      async purge(signal) {
        const removeReservations = async () => (await slugs?.removeExpired(ROWS_PER_REMOVAL)) ?? 0
        for (const removeSlice of [purgeSlice, removeReservations])
          for (let count = ROWS_PER_REMOVAL; count === ROWS_PER_REMOVAL && !signal.aborted; ) {
            count = await removeSlice()
            await Bun.sleep(0)
          }
      },
      async removeSite(siteId, removed, organizationId = NO_ORGANIZATION) {
        let total = 0
        for (let count = ROWS_PER_REMOVAL; count === ROWS_PER_REMOVAL; total += count) {
          const things = await db.transaction(async (statements) => {
            const slice = await remove(statements, sql`site_id = ${siteId}`)
            for (const thing of slice) if (thing.deleted_at === null) await slugs?.release(statements, thing, organizationId)
            return slice
          }, removed)
          count = things.length
          await Bun.sleep(0)
        }
        return total
      },
    }
  }
