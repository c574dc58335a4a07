import { expect, test } from "bun:test"
import { join } from "node:path"
import { openEventStore } from "../../../src/store/events/events.ts"
import { temporaryFolder } from "../../kit.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const DAY = "2026-11-21"
const MINUTE = NOON / 60_000
const ANNA = { high: 1, low: 2 }
const BERT = { high: 3, low: 4 }

function startStore() {
  const folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON })
  return {
    store,
    drop: (entry: string, siteId = 1) => store.write(NOON, (writer) => writer.drop(siteId, DAY, "host", entry)),
    sample: (at: number) =>
      store.write(NOON, (writer) =>
        writer.sample(1, { at, reason: "bot", hostname: "a.example", page: "/", browser: "curl", country: "" }),
      ),
    identify: (key: typeof ANNA, userId: string, siteId = 1) =>
      store.write(NOON, (writer) => writer.person(siteId, key, "user", userId, writer.findPerson(siteId, key))),
    [Symbol.dispose]() {
      store.close()
      folder[Symbol.dispose]()
    },
  }
}

const drop = (version: number, entry: string, count: number) => ({ version, site_id: 1, day: DAY, reason: "host" as const, entry, count })
const changesOf = ({ store }: ReturnType<typeof startStore>) => store.tallyChanges(100)

test("returns what is stored at the beginning, then what changes, and nothing twice", () => {
  using running = startStore()
  const { store } = running
  running.drop("a.example")
  running.sample(1)
  running.sample(2)
  store.addIngestMinutes([{ minute: MINUTE, site_id: 1, outcome: "accepted", count: 3 }], 0)
  running.identify(ANNA, "anna")
  running.identify(BERT, "")
  store.beginTallyChanges()
  store.beginTallyChanges()
  const [first] = [changesOf(running)]
  expect(first).toEqual({
    last: 5,
    drops: [drop(1, "", 1), drop(2, "a.example", 1)],
    minutes: [{ version: 3, site_id: 1, minute: MINUTE, outcome: "accepted", count: 3 }],
    samples: [{ version: 4, site_id: 1, samples: store.dropSamples(1) }],
    userIds: [{ version: 5, site_id: 1, key: ANNA, userId: "anna" }],
  })
  store.forgetTallyChanges(5)
  expect(changesOf(running)).toBeUndefined()
  running.drop("a.example")
  running.drop("a.example")
  store.addIngestMinutes([{ minute: MINUTE, site_id: 1, outcome: "accepted", count: 4 }], 0)
  running.identify(BERT, "bert")
  expect(changesOf(running)).toEqual({
    last: 11,
    drops: [drop(8, "", 3), drop(9, "a.example", 3)],
    minutes: [{ version: 10, site_id: 1, minute: MINUTE, outcome: "accepted", count: 7 }],
    samples: [],
    userIds: [{ version: 11, site_id: 1, key: BERT, userId: "bert" }],
  })
})

test("keeps a change that follows the one that was returned", () => {
  using running = startStore()
  running.store.beginTallyChanges()
  running.drop("a.example")
  const { last } = changesOf(running)!
  running.drop("a.example")
  running.store.forgetTallyChanges(last)
  expect(changesOf(running)!.drops.map(({ entry, count }) => [entry, count])).toEqual([
    ["", 2],
    ["a.example", 2],
  ])
})

test("returns changes in slices, each with what the rows contain now", () => {
  using running = startStore()
  running.store.beginTallyChanges()
  for (let host = 0; host < 5; host++) running.drop(`h${host}.example`)
  const found: string[] = []
  for (let changes = running.store.tallyChanges(2); changes; changes = running.store.tallyChanges(2)) {
    found.push(...changes.drops.map(({ entry, count }) => `${entry} ${count}`))
    running.store.forgetTallyChanges(changes.last)
  }
  expect(found.sort()).toEqual([" 5", ...[0, 1, 2, 3, 4].map((host) => `h${host}.example 1`)])
})

test("returns deleted user ids, and no other change of a person", async () => {
  using running = startStore()
  const { store } = running
  running.identify(ANNA, "anna")
  running.identify(BERT, "")
  store.beginTallyChanges()
  store.forgetTallyChanges(changesOf(running)!.last)
  store.write(NOON + 3 * 86_400_000, (writer) => writer.person(1, ANNA, "user", "anna", writer.findPerson(1, ANNA)))
  expect(changesOf(running)).toBeUndefined()
  expect(await store.forgetUserIds(() => false)).toBe(1)
  expect(changesOf(running)!.userIds).toMatchObject([{ site_id: 1, key: ANNA, userId: null }])
})

test("forgets the counters of one site, and names its stored user ids again", async () => {
  using running = startStore()
  const { store } = running
  store.beginTallyChanges()
  running.drop("a.example")
  running.drop("b.example", 2)
  running.sample(1)
  const minutes = [1, 2].map((site_id) => ({ minute: MINUTE, site_id, outcome: "accepted" as const, count: site_id }))
  store.addIngestMinutes(minutes, 0)
  running.identify(ANNA, "anna")
  store.forgetTallyChanges(changesOf(running)!.last)
  running.drop("a.example")
  await store.forgetTallies(1)
  expect([store.drops(1, DAY, DAY), store.dropSamples(1)]).toEqual([[], []])
  expect(store.drops(2, DAY, DAY)).toHaveLength(2)
  expect(store.ingestMinutes({ from: 0, to: MINUTE, siteId: undefined })).toEqual([{ minute: MINUTE, outcome: "accepted", count: 2 }])
  expect(changesOf(running)).toMatchObject({ drops: [], minutes: [], samples: [], userIds: [{ key: ANNA, userId: "anna" }] })
})

test("returns everything of a site again, and nothing of others", async () => {
  using running = startStore()
  const { store } = running
  store.beginTallyChanges()
  running.drop("a.example")
  running.drop("b.example", 2)
  running.sample(1)
  store.addIngestMinutes([{ minute: MINUTE, site_id: 1, outcome: "accepted", count: 3 }], 0)
  running.identify(ANNA, "anna")
  const { last } = changesOf(running)!
  store.forgetTallyChanges(last)
  await store.repeatTallies(1)
  const { drops, minutes, samples, userIds } = changesOf(running)!
  const all = [...drops, ...minutes, ...samples, ...userIds]
  expect([drops.length, minutes.length, samples.length, userIds.length]).toEqual([2, 1, 1, 1])
  expect(all.every(({ site_id, version }) => site_id === 1 && version > last)).toBe(true)
})

test("records nothing after a move back, and higher versions after the next beginning", () => {
  using running = startStore()
  const { store } = running
  store.beginShipping(1, async () => new Uint8Array(32))
  store.beginTallyChanges()
  running.drop("a.example")
  const { last } = changesOf(running)!
  store.endShipping()
  running.drop("a.example")
  expect(changesOf(running)).toBeUndefined()
  store.beginTallyChanges()
  expect(changesOf(running)!.drops.every(({ version }) => version > last)).toBe(true)
})
