import { expect, test } from "bun:test"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { sql } from "../../../src/store/sql.ts"
import { temporaryFolder } from "../../kit.ts"
import { openServices } from "../instance.ts"

const HOUR = 3_600_000
/** In UTC. */
const day = (name: string) => ({ name, expiresAt: Date.parse(name) + 48 * HOUR })

async function withSites(options: Parameters<typeof openServices>[0] = {}, ...zones: string[]) {
  const services = await openServices(options)
  const { id } = await services.organizations.create({ name: "Acme" })
  for (const timezone of zones) await services.sites.create(id, { name: "Shop", hosts: ["shop.example"], timezone })
  return services
}

test("creates a random salt per site and period, and returns it immediately the second time", async () => {
  await using services = await withSites({}, "UTC", "UTC")
  const { salts } = services
  const first = await salts.get(1, day("2026-11-21"))
  expect(first).toHaveLength(32)
  expect(salts.get(1, day("2026-11-21"))).toBe(first)
  const others = [
    await salts.get(1, day("2026-11-20")),
    await salts.get(2, day("2026-11-21")),
    await salts.get(1, { ...day("2026-11-21"), name: "2026-W47" }),
    await salts.get(1, { ...day("2026-11-21"), name: "2026-11" }),
  ]
  expect(new Set([first, ...others].map((salt) => salt.toHex())).size).toBe(5)
})

test("concurrent first uses create one salt", async () => {
  await using services = await withSites({}, "UTC")
  const given = await Promise.all(Array.from({ length: 20 }, () => services.salts.get(1, day("2026-11-21"))))
  expect(new Set(given.map((salt) => salt.toHex())).size).toBe(1)
  expect(await services.catalog.get(sql`select count(*) as n from salts`)).toEqual({ n: 1 })
})

test("salts that are wanted at the same time share few transactions", async () => {
  using folder = temporaryFolder()
  await using services = await withSites({ folder: folder.path }, "UTC")
  const { salts, catalog } = services
  const wanted = Array.from({ length: 350 }, (_, at) => ({ ...day("2026-11-21"), name: `period ${at}` }))
  await catalog.checkpoint()
  const given = await Promise.all(wanted.map((period) => salts.get(1, period)))
  expect(new Set(given.map((salt) => salt.toHex())).size).toBe(350)
  // Each transaction adds two pages of 4 KiB or more to the log.
  expect(statSync(join(folder.path, "catalog.db-wal")).size).toBeLessThan(350 * 4_096)
  expect(await catalog.get(sql`select count(*) as n from salts`)).toEqual({ n: 350 })
})

test("salts that are wanted one after another are read in rounds", async () => {
  using folder = temporaryFolder()
  await using services = await withSites({ folder: folder.path }, "UTC")
  const { salts, catalog } = services
  await catalog.checkpoint()
  const given: Promise<Uint8Array>[] = []
  for (let at = 0; at < 300; at++) {
    given.push(Promise.resolve(salts.get(1, { ...day("2026-11-21"), name: `period ${at}` })))
    await new Promise(setImmediate)
  }
  expect(new Set((await Promise.all(given)).map((salt) => salt.toHex())).size).toBe(300)
  // A transaction for each would add two pages of 4 KiB or more to the log.
  expect(statSync(join(folder.path, "catalog.db-wal")).size).toBeLessThan(300 * 4_096)
})

test("a deleted site does not keep others from their salts", async () => {
  await using services = await withSites({}, "UTC")
  const [salt] = await Promise.all([services.salts.get(1, day("2026-11-21")), services.salts.get(99, day("2026-11-21"))])
  expect(await services.catalog.all(sql`select site_id from salts`)).toEqual([{ site_id: 1 }])
  expect(services.salts.get(1, day("2026-11-21"))).toBe(salt)
})

test("salts are sealed at rest", async () => {
  using folder = temporaryFolder()
  const salt = await (async () => {
    await using services = await withSites({ folder: folder.path }, "UTC")
    const salt = await services.salts.get(1, day("2026-11-21"))
    await services.catalog.checkpoint()
    return salt
  })()
  expect(readFileSync(join(folder.path, "catalog.db")).includes(salt)).toBe(false)
  await using other = await openServices({ folder: folder.path, secretKey: new Uint8Array(32).fill(8), seed: "other" })
  // With another secret key, unreadable salts are created again, and visitors of the day may count twice.
  const fresh = await other.salts.get(1, day("2026-11-21"))
  expect(fresh).not.toEqual(salt)
  expect(await other.salts.get(1, day("2026-11-21"))).toEqual(fresh)
})

test("destroys a salt when it expires, and not before", async () => {
  await using services = await withSites({}, "UTC")
  const { salts, catalog } = services
  await salts.get(1, day("2026-11-21"))
  const end = Date.parse("2026-11-23T00:00:00Z")
  expect(await salts.destroy(end - 1)).toEqual([])
  expect(await salts.destroy(end)).toEqual([{ siteId: 1, period: "2026-11-21" }])
  expect(await catalog.all(sql`select period from salts`)).toEqual([])
  expect(await salts.destroy(end)).toEqual([])
})

test("a destroyed salt leaves no trace in file or log, and is never recreated", async () => {
  using folder = temporaryFolder()
  await using services = await withSites({ folder: folder.path }, "UTC")
  const { salts, clock, catalog } = services
  const old = await salts.get(1, day("2026-11-21"))
  const [row] = await catalog.all<{ sealed: Uint8Array }>(sql`select sealed from salts`)
  clock.advance(36 * HOUR)
  const young = await salts.get(1, day("2026-11-22"))
  const forgotten: string[] = []
  const forget = (siteId: number, period: string) => forgotten.push(`${siteId} ${period}`)
  expect(await salts.destroy(clock.now(), forget)).toEqual([{ siteId: 1, period: "2026-11-21" }])
  expect(forgotten).toEqual(["1 2026-11-21"])
  expect(await salts.get(1, day("2026-11-22"))).toEqual(young)
  // A later request, as for a late event, returns other bytes each time and stores nothing.
  const late = [await salts.get(1, day("2026-11-21")), await salts.get(1, day("2026-11-21"))]
  expect(new Set([old, ...late].map((salt) => salt.toHex())).size).toBe(3)
  expect(await catalog.all(sql`select period from salts`)).toEqual([{ period: "2026-11-22" }])
  await catalog.close()
  for (const name of ["catalog.db", "catalog.db-wal"]) {
    const path = join(folder.path, name)
    if (await Bun.file(path).exists()) expect(readFileSync(path).includes(row!.sealed)).toBe(false)
  }
})

test("keeps a salt if the event store could not delete its visitors", async () => {
  await using services = await withSites({}, "UTC")
  const { salts, clock, catalog } = services
  await salts.get(1, day("2026-11-21"))
  clock.advance(60 * HOUR)
  const refusing = () => {
    throw new Error("the disk is full")
  }
  await expect(salts.destroy(clock.now(), refusing)).rejects.toThrow("full")
  expect(await catalog.all(sql`select period from salts`)).toEqual([{ period: "2026-11-21" }])
  expect(await salts.destroy(clock.now())).toHaveLength(1)
})

test("destroys more salts than one statement can read", async () => {
  await using services = await withSites({ now: "2026-01-01T00:00:00Z" }, "UTC")
  const { salts, catalog } = services
  await catalog.script(`insert into salts (site_id, period, sealed, destroy_at)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500) select 1, 'p' || i, x'00', i from n`)
  expect(await salts.destroy(2400)).toHaveLength(2400)
  expect(await catalog.get(sql`select count(*) as n from salts`)).toEqual({ n: 100 })
})

test("each site has its own permanent identity key", async () => {
  await using services = await withSites({}, "UTC", "UTC")
  const { siteKeys } = services
  const key = await siteKeys.identityKey(1)
  expect(key).toHaveLength(32)
  expect(siteKeys.identityKey(1)).toBe(key)
  expect(await siteKeys.identityKey(2)).not.toEqual(key)
})

test("creates a new identity key once after a change of the secret key", async () => {
  using folder = temporaryFolder()
  const key = await (async () => {
    await using services = await withSites({ folder: folder.path }, "UTC")
    return services.siteKeys.identityKey(1)
  })()
  await using other = await openServices({ folder: folder.path, secretKey: new Uint8Array(32).fill(8), seed: "other" })
  const fresh = await other.siteKeys.identityKey(1)
  expect(fresh).not.toEqual(key)
  await using again = await openServices({ folder: folder.path, secretKey: new Uint8Array(32).fill(8), seed: "again" })
  expect(await again.siteKeys.identityKey(1)).toEqual(fresh)
})
