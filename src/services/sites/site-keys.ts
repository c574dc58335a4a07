/** The secrets behind the ids of visitors: the keys of each site, and the salts that rotate. */
import type { Clock } from "../../domain/clock.ts"
import type { IdentityKeys, Salts } from "../../ingest/identity/salt-period.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  deleteSalts,
  listOverdueSalts,
  listSalts,
  type SiteKeyPurpose,
  siteKey,
  upsertSalts,
  upsertSiteKey,
} from "../../store/catalog/sites.ts"
import type { SitePeriod } from "../../store/events/dictionary/visitors.ts"
import type { Reload } from "../changes/changes.ts"
import type { Random, SecretPlace, Secrets } from "../secrets/secrets.ts"

const SITE_KEY_BYTES = 32

/** Returns the place under which a site's key is sealed. */
export const siteKeyPlace = (siteId: number, purpose: SiteKeyPurpose): SecretPlace => ({ table: "site_keys", row: siteId, purpose })

export interface SiteKeys extends IdentityKeys {
  /** Returns the key of a site's pseudonyms, which never changes (metrics.md 2.1). */
  siteKey(siteId: number): Promise<Uint8Array>
  /** Creates the two keys of a new site. */
  make(statements: Statements, siteId: number): Promise<void>
  /** Replaces the identity key, so that identified visitors count as new. Call `forget` at the commit. */
  replaceIdentityKey(statements: Statements, siteId: number): Promise<void>
  /** Drops the key from memory. The next caller reads it from the catalog. */
  forget(siteId: number): void
  /** Drops the keys of some sites from memory, after another node replaced them. */
  reload: Reload
}

/** Creates the service for the keys of sites. Opened keys stay in memory. */
export function createSiteKeys({ catalog, secrets, random }: { catalog: Catalog; secrets: Secrets; random: Random }): SiteKeys {
  const opened = new Map<number, Uint8Array | Promise<Uint8Array>>()

  async function write(statements: Statements, siteId: number, purpose: SiteKeyPurpose): Promise<Uint8Array> {
    const key = random(SITE_KEY_BYTES)
    await upsertSiteKey(statements, siteId, purpose, secrets.seal(key, siteKeyPlace(siteId, purpose)))
    return key
  }
  /** Returns a stored key, or undefined if there is none or it was sealed with a different secret key. */
  async function stored(statements: Statements, siteId: number, purpose: SiteKeyPurpose): Promise<Uint8Array | undefined> {
    const sealed = await siteKey(statements, siteId, purpose)
    return sealed && secrets.open(sealed, siteKeyPlace(siteId, purpose))
  }
  const read = (siteId: number, purpose: SiteKeyPurpose, onCommit?: (key: Uint8Array) => void): Promise<Uint8Array> =>
    catalog.transaction(async (statements) => (await stored(statements, siteId, purpose)) ?? write(statements, siteId, purpose), onCommit)
  return {
    async make(statements, siteId) {
      await write(statements, siteId, "site")
      await write(statements, siteId, "identity")
    },
    // Called once per batch of names, and almost always without a write.
    siteKey: async (siteId) => (await stored(catalog, siteId, "site")) ?? read(siteId, "site"),
    replaceIdentityKey: async (statements, siteId) => void (await write(statements, siteId, "identity")),
    forget: (siteId) => void opened.delete(siteId),
    async reload(_, siteIds) {
      for (const siteId of siteIds) opened.delete(Number(siteId))
    },
    identityKey(siteId) {
      const known = opened.get(siteId)
      if (known) return known
      const reading = read(siteId, "identity", (key) => opened.set(siteId, key))
      opened.set(siteId, reading)
      reading.catch(() => opened.delete(siteId)) // the next call tries again; this caller receives the error
      return reading
    },
  }
}

export interface SaltStore extends Salts {
  /**
   * Destroys expired salts by overwriting them, also in the catalog's log. `forget` is called before a salt is destroyed, so
   * that the event store never knows an id whose salt no longer exists. Returns the destroyed periods.
   */
  destroy(now: number, forget?: (siteId: number, period: string) => unknown): Promise<SitePeriod[]>
  /** Returns those of the periods whose salts are destroyed. Another node may have destroyed them. */
  lost(periods: readonly SitePeriod[]): Promise<SitePeriod[]>
}

interface SaltsOptions {
  catalog: Catalog
  secrets: Secrets
  clock: Pick<Clock, "now">
  random: Random
}

const SALT_BYTES = 32
/** Number of salts that one statement reads, creates or destroys: about two milliseconds of work. */
const BATCH = 100

/** Time in milliseconds from one round of reading to the next, so that the first events of many sites share a transaction. */
const ROUND_MS = 15

/** A salt that is read, or created if it is not stored yet. */
interface WantedSalt extends SitePeriod {
  destroyAt: number
}

/** A salt in memory, which each node forgets by its time. */
interface HeldSalt {
  salt: Uint8Array | Promise<Uint8Array>
  destroyAt: number
}

/** A salt that events wait for. */
interface AwaitedSalt extends WantedSalt {
  resolve(salt: Uint8Array): void
  reject(error: unknown): void
}

/**
 * Creates the store of random salts, one per site and local day, ISO week or month. A salt is created at first use and remains
 * the same across restarts and clock jumps until it is destroyed. For a period that is already over `get` returns random bytes
 * that are not stored, so a destroyed salt never comes back. Salts that are wanted at the same time share a transaction, because at
 * midnight all sites of a time zone need new ones.
 */
export function createSalts({ catalog, secrets, clock, random }: SaltsOptions): SaltStore {
  /** Salts by site, then by period. A combined string key would have to be built for every event. */
  const salts = new Map<number, Map<string, HeldSalt>>()

  function remember({ siteId, period, destroyAt }: WantedSalt, salt: Uint8Array | Promise<Uint8Array>): void {
    const ofSite = salts.get(siteId)
    if (ofSite) ofSite.set(period, { salt, destroyAt })
    else salts.set(siteId, new Map([[period, { salt, destroyAt }]]))
  }
  /** Lists the periods in memory that are over. Once their rows are gone, another node has destroyed them. */
  function overdueInMemory(now: number): SitePeriod[] {
    const held = [...salts].flatMap(([siteId, ofSite]) => [...ofSite].map(([period, { destroyAt }]) => ({ siteId, period, destroyAt })))
    return held.filter(({ destroyAt }) => destroyAt <= now)
  }
  function forgetPeriod({ siteId, period }: SitePeriod): void {
    const ofSite = salts.get(siteId)
    ofSite?.delete(period)
    if (ofSite?.size === 0) salts.delete(siteId)
  }

  let awaited: AwaitedSalt[] = []
  let isReading = false

  function read(wanted: WantedSalt): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      awaited.push({ ...wanted, resolve, reject })
      if (!isReading) void readAwaited()
    })
  }
  async function readAwaited(): Promise<void> {
    isReading = true
    for (let pause = Promise.resolve(); awaited.length > 0; ) {
      if (awaited.length < BATCH) await pause
      pause = Bun.sleep(ROUND_MS)
      const batch = awaited.slice(0, BATCH)
      awaited = awaited.slice(BATCH)
      try {
        const found = (await readAll(catalog, batch)) ?? (await catalog.transaction((statements) => readOrCreate(statements, batch)))
        for (const [index, { resolve, ...wanted }] of batch.entries()) {
          remember(wanted, found[index]!)
          resolve(found[index]!)
        }
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isReading = false
  }
  /** Returns the stored salts in the order of the list; undefined for one that is missing or sealed with another secret key. */
  async function readStored(statements: Statements, wanted: readonly WantedSalt[]): Promise<(Uint8Array | undefined)[]> {
    const rows = await listSalts(statements, wanted)
    const sealed = new Map(rows.map(({ site_id, period, sealed }) => [`${site_id} ${period}`, sealed]))
    return wanted.map(({ siteId, period }) => {
      const stored = sealed.get(`${siteId} ${period}`)
      return stored && secrets.open(stored, saltPlace(siteId, period))
    })
  }
  /** Returns the salts in the order of the list, or undefined if one of them must be created. */
  async function readAll(statements: Statements, wanted: readonly WantedSalt[]): Promise<Uint8Array[] | undefined> {
    const stored = await readStored(statements, wanted)
    return stored.every((salt) => salt !== undefined) ? stored : undefined
  }
  /** Returns the salts in the order of the list, within a transaction: another node may create the same. */
  async function readOrCreate(statements: Statements, wanted: readonly WantedSalt[]): Promise<Uint8Array[]> {
    const created: (WantedSalt & { salt: Uint8Array })[] = []
    const salts = (await readStored(statements, wanted)).map((stored, index) => {
      if (stored) return stored
      const salt = random(SALT_BYTES)
      created.push({ ...wanted[index]!, salt })
      return salt
    })
    await upsertSalts(statements, created.map(sealedSalt))
    return salts
  }
  const sealedSalt = ({ siteId, period, destroyAt, salt }: WantedSalt & { salt: Uint8Array }) => ({
    ...{ site_id: siteId, period, destroy_at: destroyAt },
    sealed: secrets.seal(salt, saltPlace(siteId, period)),
  })
  return {
    get(siteId, { name: period, expiresAt: destroyAt }) {
      const known = salts.get(siteId)?.get(period)
      if (known) return known.salt
      if (destroyAt <= clock.now()) return random(SALT_BYTES)
      const reading = read({ siteId, period, destroyAt })
      remember({ siteId, period, destroyAt }, reading)
      reading.catch(() => forgetPeriod({ siteId, period })) // the next call tries again; this caller receives the error
      return reading
    },
    async destroy(now, forget) {
      const destroyed: SitePeriod[] = []
      for (;;) {
        const overdue = await listOverdueSalts(catalog, now, BATCH)
        if (overdue.length === 0) break
        for (const { site_id, period } of overdue) await forget?.(site_id, period)
        await catalog.transaction(
          (statements) => deleteSalts(statements, overdue),
          () => {
            for (const { site_id, period } of overdue) forgetPeriod({ siteId: site_id, period })
          },
        )
        destroyed.push(...overdue.map(({ site_id, period }) => ({ siteId: site_id, period })))
      }
      for (const period of overdueInMemory(now)) {
        await forget?.(period.siteId, period.period)
        forgetPeriod(period)
      }
      if (destroyed.length > 0 && !catalog.remote) await catalog.checkpoint()
      return destroyed
    },
    async lost(periods) {
      const found: SitePeriod[] = []
      for (let first = 0; first < periods.length; first += BATCH) {
        const slice = periods.slice(first, first + BATCH)
        const stored = new Set((await listSalts(catalog, slice)).map(({ site_id, period }) => `${site_id} ${period}`))
        found.push(...slice.filter(({ siteId, period }) => !stored.has(`${siteId} ${period}`)))
      }
      return found
    },
  }
}

/** Returns the place under which a salt is sealed. */
export const saltPlace = (siteId: number, period: string): SecretPlace => ({ table: "salts", row: `${siteId} ${period}`, purpose: "salt" })
