import type { Clock } from "../../domain/clock.ts"
import type { Salts } from "../../ingest/identity/salt-period.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { deleteSalt, listOverdueSalts, saltOf, upsertSalt } from "../../store/catalog/sites.ts"
import type { Random, SecretPlace, Secrets } from "../secrets/secrets.ts"

/** A salt period of one site. */
export interface SitePeriod {
  siteId: number
  period: string
}

export interface SaltStore extends Salts {
  /**
   * Destroys expired salts by overwriting them, also in the catalog's log. `forget` is called before a salt is destroyed, so
   * that the event store never knows an id whose salt no longer exists. Returns the destroyed periods.
   */
  destroy(now: number, forget?: (siteId: number, period: string) => unknown): Promise<SitePeriod[]>
}

interface SaltsOptions {
  catalog: Catalog
  secrets: Secrets
  clock: Pick<Clock, "now">
  random: Random
}

const SALT_BYTES = 32
const MAX_DESTROYED_AT_ONCE = 1_000

/**
 * Creates the store of random salts, one per site and local day, ISO week or month. A salt is created at first use and remains
 * the same across restarts and clock jumps until it is destroyed. For a period that is already over `get` returns random bytes
 * that are not stored, so a destroyed salt never comes back.
 */
export function createSalts({ catalog, secrets, clock, random }: SaltsOptions): SaltStore {
  /** Salts by site, then by period. A combined string key would have to be built for every event. */
  const salts = new Map<number, Map<string, Uint8Array | Promise<Uint8Array>>>()

  function remember({ siteId, period }: SitePeriod, salt: Uint8Array | Promise<Uint8Array>): void {
    const ofSite = salts.get(siteId)
    if (ofSite) ofSite.set(period, salt)
    else salts.set(siteId, new Map([[period, salt]]))
  }
  function forgetPeriod({ siteId, period }: SitePeriod): void {
    const ofSite = salts.get(siteId)
    ofSite?.delete(period)
    if (ofSite?.size === 0) salts.delete(siteId)
  }

  async function read(place: SitePeriod & { destroyAt: number }): Promise<Uint8Array> {
    const salt = await catalog.transaction((statements) => readOrCreate(statements, place))
    remember(place, salt)
    return salt
  }
  async function readOrCreate(
    statements: Statements,
    { siteId, period, destroyAt }: SitePeriod & { destroyAt: number },
  ): Promise<Uint8Array> {
    const place = saltPlace(siteId, period)
    const row = await saltOf(statements, siteId, period)
    const found = row && secrets.open(row.sealed, place)
    if (found) return found
    const salt = random(SALT_BYTES)
    await upsertSalt(statements, { site_id: siteId, period, sealed: secrets.seal(salt, place), destroy_at: destroyAt })
    return salt
  }
  return {
    get(siteId, { name: period, expiresAt: destroyAt }) {
      const known = salts.get(siteId)?.get(period)
      if (known) return known
      if (destroyAt <= clock.now()) return random(SALT_BYTES)
      const reading = read({ siteId, period, destroyAt })
      remember({ siteId, period }, reading)
      reading.catch(() => forgetPeriod({ siteId, period })) // the next call tries again; this caller receives the error
      return reading
    },
    async destroy(now, forget) {
      const destroyed: SitePeriod[] = []
      for (;;) {
        const overdue = await listOverdueSalts(catalog, now, MAX_DESTROYED_AT_ONCE)
        if (overdue.length === 0) break
        for (const { site_id, period } of overdue) await forget?.(site_id, period)
        await catalog.transaction(
          async (statements) => {
            for (const { site_id, period } of overdue) await deleteSalt(statements, site_id, period)
          },
          () => {
            for (const { site_id, period } of overdue) forgetPeriod({ siteId: site_id, period })
          },
        )
        destroyed.push(...overdue.map(({ site_id, period }) => ({ siteId: site_id, period })))
      }
      if (destroyed.length > 0 && !catalog.remote) await catalog.checkpoint("truncate")
      return destroyed
    },
  }
}

/** Returns the place under which a salt is sealed. */
export const saltPlace = (siteId: number, period: string): SecretPlace => ({ table: "salts", row: `${siteId} ${period}`, purpose: "salt" })
