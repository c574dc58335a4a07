import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { earlierMigrations } from "../../../scripts/reliability/earlier-migrations.ts"
import type { SiteSettings } from "../../../src/domain/site.ts"
import { personKey } from "../../../src/ingest/identity/visitor.ts"
import { createPeople } from "../../../src/services/people/people.ts"
import { EVENT_SCHEMA } from "../../../src/store/events/database.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { temporaryFolder } from "../../kit.ts"
import { SITE } from "../../query/traffic.ts"
import { openServices } from "../instance.ts"

async function openPeople(settings: Partial<SiteSettings> = { store_user_ids: true }) {
  const folder = temporaryFolder()
  const services = await openServices({ folder: folder.path })
  const organization = await services.organizations.create({ name: "Shops" })
  const created = await services.sites.create(organization.id, { name: "Shop", hosts: ["shop.example"] })
  const site = { ...created, settings: { ...created.settings, identity_mode: "identified" as const, ...settings } }
  const people = createPeople({ ...services, imports: services.events, factsOf: () => SITE })
  return {
    ...services,
    people,
    site,
    folder,
    /** Identifies a user as ingestion does. Returns the ordinal. */
    async identify(userId: string, { isStored = true }: { isStored?: boolean } = {}): Promise<number> {
      const key = personKey(await services.siteKeys.identityKey(site.id), "user", userId)
      return services.events.write(services.clock.now(), (writer) => writer.person(site.id, key, "user", isStored ? userId : ""))
    },
    rows: () => {
      const db = new Database(join(folder.path, "events.db"), { readonly: true })
      try {
        return db.query("select kind, first_identified_at, last_identified_at, user_id from identities order by ordinal").all()
      } finally {
        db.close()
      }
    },
    async [Symbol.asyncDispose]() {
      await services[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

const HOUR = 3_600_000

test("finds a person by user id, stored or not", async () => {
  await using opened = await openPeople()
  const ann = await opened.identify("ann", { isStored: false })
  const bob = await opened.identify("bob")
  expect(await opened.people.find(opened.site, "ann")).toEqual([ann])
  expect(await opened.people.find(opened.site, "bob")).toEqual([bob])
  expect(await opened.people.find(opened.site, "carl")).toEqual([])
  expect(await opened.people.userIds(opened.site, [ann, bob, 99])).toEqual(new Map([[bob, "bob"]]))
})

test("after a new identity key, a stored user id finds all of a person's ordinals, another one only the latest", async () => {
  await using opened = await openPeople()
  const before = [await opened.identify("ann"), await opened.identify("bob", { isStored: false })]
  await opened.catalog.transaction((statements) => opened.siteKeys.replaceIdentityKey(statements, opened.site.id))
  opened.siteKeys.forget(opened.site.id)
  const after = [await opened.identify("ann"), await opened.identify("bob", { isStored: false })]
  expect((await opened.people.find(opened.site, "ann")).toSorted()).toEqual([before[0]!, after[0]!].toSorted())
  expect(await opened.people.find(opened.site, "bob")).toEqual([after[1]!])
})

test("a site that stores no user ids finds and names no one by those it stored before", async () => {
  await using opened = await openPeople()
  const ann = await opened.identify("ann")
  const site = { ...opened.site, settings: { ...opened.site.settings, store_user_ids: false } }
  expect(await opened.people.userIds(site, [ann])).toEqual(new Map())
  expect(await opened.events.forgetUserIds((id) => id !== site.id)).toBe(1)
  expect(opened.rows()).toMatchObject([{ kind: "user", user_id: null }])
  expect(await opened.people.find(site, "ann")).toEqual([ann])
})

test("deletes the user ids of many people in slices, and of no other site", async () => {
  await using opened = await openPeople()
  for (const siteId of [opened.site.id, 77])
    opened.events.write(opened.clock.now(), (writer) => {
      for (let low = 0; low < 1_201; low++) writer.person(siteId, { high: 1, low }, "user", `user ${low}`)
    })
  expect(await opened.events.forgetUserIds((siteId) => siteId === 77)).toBe(1_201)
  expect(await opened.events.forgetUserIds((siteId) => siteId === 77)).toBe(0)
  expect(await opened.events.peopleOfUser(77, "user 1200")).toHaveLength(1)
  expect(await opened.events.peopleOfUser(opened.site.id, "user 1200")).toEqual([])
})

test("a pseudonym leads back to its visitor, and one of another site to none", async () => {
  await using opened = await openPeople()
  await using other = await openPeople()
  const ann = await opened.identify("ann")
  const [pseudonym] = await opened.people.pseudonymsOf(opened.site, [ann])
  expect(await opened.people.numberOf(opened.site.id, pseudonym!)).toBe(ann)
  const second = await opened.sites.create(opened.site.organization_id, { name: "Blog", hosts: ["blog.example"] })
  expect(await opened.people.numberOf(second.id, pseudonym!)).toBeUndefined()
  expect(await opened.people.numberOf(opened.site.id, "ann")).toBeUndefined()
  expect(await other.people.numberOf(other.site.id, pseudonym!)).toBeUndefined()
})

test("stores the first and the last identification, the last one once a day", async () => {
  await using opened = await openPeople()
  const first = opened.clock.now()
  await opened.identify("ann", { isStored: false })
  opened.clock.advance(23 * HOUR)
  await opened.identify("ann", { isStored: false })
  expect(opened.rows()).toEqual([{ kind: "user", first_identified_at: first, last_identified_at: first, user_id: null }])
  opened.clock.advance(HOUR)
  await opened.identify("ann", { isStored: false })
  expect(opened.rows()).toMatchObject([{ first_identified_at: first, last_identified_at: first + 24 * HOUR }])
})

test("stores a user id at the next identification after the setting was switched on", async () => {
  await using opened = await openPeople()
  await opened.identify("ann", { isStored: false })
  await opened.identify("ann")
  expect(opened.rows()).toMatchObject([{ user_id: "ann" }])
})

test("a failed group commit stores no identification", async () => {
  await using opened = await openPeople()
  const failed = () =>
    opened.events.write(opened.clock.now(), (writer) => {
      writer.person(opened.site.id, { high: 1, low: 1 }, "device")
      throw new Error("no")
    })
  expect(failed).toThrow("no")
  expect(opened.rows()).toEqual([])
})

test("people of an earlier version are found, and their times are stored when they come back", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  openEventStore(path, { now: 1, schemas: [{ ...EVENT_SCHEMA, migrations: earlierMigrations(3) }] }).close()
  const db = new Database(path)
  db.run("insert into identities (site_id, person_key, ordinal) values (1, x'0000000100000002', 5)")
  db.close()
  const store = openEventStore(path, { now: 2 })
  const found = store.write(1_000, (writer) => writer.findPerson(1, { high: 1, low: 2 }))
  expect(found).toEqual({ ordinal: 5, first_identified_at: null, last_identified_at: null, has_user_id: 0 })
  store.write(2_000, (writer) => writer.person(1, { high: 1, low: 2 }, "device"))
  expect(store.write(3_000, (writer) => writer.findPerson(1, { high: 1, low: 2 }))).toMatchObject({
    ordinal: 5,
    first_identified_at: 2_000,
    last_identified_at: 2_000,
  })
  store.close()
})
