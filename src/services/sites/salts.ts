import type { Clock } from "../domain/clock.ts"
import type { Salts } from "../ingest/salts.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { deleteSalt, listOverdueSalts, saltOf, upsertSalt } from "../store/catalog/salts.ts"
import type { Random, SecretPlace, Secrets } from "./secrets.ts"

/** A period of one site, by its name. */
export interface SitePeriod {
  siteId: number
  period: string
}

export interface KeptSalts extends Salts {
  /**
   * Destroys what is over, with overwriting, also in the catalog's log. Before a salt goes, `forget` is told: then the
   * event store never knows an id whose salt is gone. Returns what was destroyed.
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
const DESTROYED_AT_ONCE = 1_000

/**
 * The random salts of sites by local day, ISO week or month. A salt is made at first use and is the same until it is
 * destroyed, over restarts and jumps of the clock. For a period that is over already `get` gives random bytes of the
 * moment, which are kept nowhere: nothing that was destroyed comes back.
 */
export function createSalts({ catalog, secrets, clock, random }: SaltsOptions): KeptSalts {
  /** By site, then by period: a name of both would have to be made for every event. */
  const kept = new Map<number, Map<string, Uint8Array | Promise<Uint8Array>>>()

  function keep({ siteId, period }: SitePeriod, salt: Uint8Array | Promise<Uint8Array>): void {
    const ofSite = kept.get(siteId)
    if (ofSite) ofSite.set(period, salt)
    else kept.set(siteId, new Map([[period, salt]]))
  }
  function drop({ siteId, period }: SitePeriod): void {
    const ofSite = kept.get(siteId)
    ofSite?.delete(period)
    if (ofSite?.size === 0) kept.delete(siteId)
  }

  async function read(place: SitePeriod & { destroyAt: number }): Promise<Uint8Array> {
    const salt = await catalog.transaction((statements) => readOrMake(statements, place))
    keep(place, salt)
    return salt
  }
  async function readOrMake(
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
      const known = kept.get(siteId)?.get(period)
      if (known) return known
      if (destroyAt <= clock.now()) return random(SALT_BYTES)
      const reading = read({ siteId, period, destroyAt })
      keep({ siteId, period }, reading)
      reading.catch(() => drop({ siteId, period })) // the next one tries again; whoever asked is told
      return reading
    },
    async destroy(now, forget) {
      const destroyed: SitePeriod[] = []
      for (;;) {
        const overdue = await listOverdueSalts(catalog, now, DESTROYED_AT_ONCE)
        if (overdue.length === 0) break
        for (const { site_id, period } of overdue) await forget?.(site_id, period)
        await catalog.transaction(
          async (statements) => {
            for (const { site_id, period } of overdue) await deleteSalt(statements, site_id, period)
          },
          () => {
            for (const { site_id, period } of overdue) drop({ siteId: site_id, period })
          },
        )
        destroyed.push(...overdue.map(({ site_id, period }) => ({ siteId: site_id, period })))
      }
      if (destroyed.length > 0 && !catalog.remote) await catalog.checkpoint("truncate")
      return destroyed
    },
  }
}

/** Where the salt of a site and period is sealed. */
export const saltPlace = (siteId: number, period: string): SecretPlace => ({ table: "salts", row: `${siteId} ${period}`, purpose: "salt" })
