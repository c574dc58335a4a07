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
  const kept = new Map<string, Uint8Array | Promise<Uint8Array>>()

  async function read(place: SitePeriod & { destroyAt: number }): Promise<Uint8Array> {
    const salt = await catalog.transaction((statements) => readOrMake(statements, place))
    kept.set(nameOf(place.siteId, place.period), salt)
    return salt
  }
  async function readOrMake(
    statements: Statements,
    { siteId, period, destroyAt }: SitePeriod & { destroyAt: number },
  ): Promise<Uint8Array> {
    const place = placeOf(siteId, period)
    const row = await saltOf(statements, siteId, period)
    const found = row && secrets.open(row.sealed, place)
    if (found) return found
    const salt = random(SALT_BYTES)
    await upsertSalt(statements, { site_id: siteId, period, sealed: secrets.seal(salt, place), destroy_at: destroyAt })
    return salt
  }
  return {
    get(siteId, { name: period, expiresAt: destroyAt }) {
      const name = nameOf(siteId, period)
      const known = kept.get(name)
      if (known) return known
      if (destroyAt <= clock.now()) return random(SALT_BYTES)
      const reading = read({ siteId, period, destroyAt })
      kept.set(name, reading)
      reading.catch(() => kept.delete(name)) // the next one tries again; whoever asked is told
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
            for (const { site_id, period } of overdue) kept.delete(nameOf(site_id, period))
          },
        )
        destroyed.push(...overdue.map(({ site_id, period }) => ({ siteId: site_id, period })))
      }
      if (destroyed.length > 0 && !catalog.remote) await catalog.checkpoint("truncate")
      return destroyed
    },
  }
}

const nameOf = (siteId: number, period: string): string => `${siteId} ${period}`
const placeOf = (siteId: number, period: string): SecretPlace => ({ table: "salts", row: nameOf(siteId, period), purpose: "salt" })
