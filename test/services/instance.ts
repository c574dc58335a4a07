import { join } from "node:path"
import { CORE_PERMISSIONS } from "../../src/domain/permission.ts"
import { createHandover } from "../../src/services/access/handover.ts"
import { createUsers } from "../../src/services/accounts/users.ts"
import { createKeys } from "../../src/services/api-keys/api-keys.ts"
import { createFunnels, createGoals } from "../../src/services/definitions/goals.ts"
import { createInstanceShields } from "../../src/services/definitions/shields.ts"
import { createOutbox } from "../../src/services/jobs/outbox.ts"
import { createOrganizations } from "../../src/services/organizations/organizations.ts"
import { createSecrets } from "../../src/services/secrets/secrets.ts"
import { createInstanceSettings } from "../../src/services/settings/settings.ts"
import { createPasswords } from "../../src/services/sign-in/passwords.ts"
import { loadHostRulings } from "../../src/services/sites/host-claims.ts"
import { createSalts, createSiteKeys } from "../../src/services/sites/site-keys.ts"
import { createSites } from "../../src/services/sites/sites.ts"
import { catalogUrl, openCatalog } from "../../src/store/catalog/catalog.ts"
import { CATALOG_SCHEMA, migrate } from "../../src/store/catalog/schema.ts"
import { openEventStore } from "../../src/store/events/events.ts"
import { fixedClock, memoryLog, temporaryFolder, WORKERS } from "../kit.ts"

interface Options {
  /** An existing folder to reopen. */
  folder?: string
  now?: string
  maxSites?: number
  secretKey?: Uint8Array
  /** Seed of the random bytes. Use another one after a restart. */
  seed?: string
}

/** Opens the services of the catalog on a real file. Closes them, and removes a folder that it created, at the end of the scope. */
export async function openServices({ folder, now = "2026-11-21T12:00:00Z", maxSites, secretKey, seed = "" }: Options = {}) {
  const own = folder === undefined ? temporaryFolder() : undefined
  const path = folder ?? own!.path
  const clock = fixedClock(now)
  const random = countingRandom(seed)
  const catalog = await openCatalog(catalogUrl(join(path, "catalog.db")))
  await migrate(catalog, [CATALOG_SCHEMA], { version: "0.1.0", now: clock.now() })
  const secrets = createSecrets({ secretKey: secretKey ?? new Uint8Array(32).fill(7), random })
  const defaults = { timezone: "UTC", retention_days: null, revenue_currency: "USD" }
  const passwords = createPasswords({ clock, workerUrl: WORKERS.hash, niceness: 0, atOnce: 4 })
  const siteKeys = createSiteKeys({ catalog, secrets, random })
  const settings = await createInstanceSettings({ catalog, clock })
  const events = openEventStore(join(path, "events.db"), { now: clock.now() })
  const hostRulings = await loadHostRulings(catalog)
  const outbox = createOutbox({ catalog, clock, log: memoryLog() })
  const sites = await createSites({
    catalog,
    events,
    hostRulings,
    handover: createHandover(),
    clock,
    random,
    settings,
    keys: siteKeys,
    outbox,
    defaults,
    ...(maxSites === undefined ? {} : { maxSites }),
  })
  return {
    clock,
    catalog,
    events,
    hostRulings,
    settings,
    sites,
    goals: await createGoals({ catalog, clock, outbox }),
    funnels: await createFunnels({ catalog, clock, outbox }),
    keys: createKeys({
      catalog,
      clock,
      random,
      sites,
      permissions: CORE_PERMISSIONS,
      settings,
      outbox,
    }),
    organizations: createOrganizations({
      catalog,
      clock,
      settings,
      sites,
      outbox,
      handover: createHandover(),
      connections: { revocationOf: async () => async () => {} },
      hasInstanceProvider: false,
    }),
    users: createUsers({
      catalog,
      clock,
      passwords,
      siteDefaults: defaults,
    }),
    salts: createSalts({ catalog, clock, random, secrets }),
    siteKeys,
    instanceShields: await createInstanceShields({ catalog, clock }),
    async [Symbol.asyncDispose]() {
      passwords.close()
      await catalog.close()
      events.close()
      own?.[Symbol.dispose]()
    },
  }
}

/** Returns different bytes on every call, and the same ones in every run. */
function countingRandom(seed: string): (bytes: number) => Uint8Array {
  let calls = 0
  return (bytes) => new Bun.CryptoHasher("sha512").update(`${seed}${calls++}`).digest().subarray(0, bytes)
}
