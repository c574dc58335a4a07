import { expect, test } from "bun:test"
import type { Actor } from "../../../src/domain/audit.ts"
import type { Instance } from "../../../src/services/instance/instance.ts"
import { sql } from "../../../src/store/sql.ts"
import { openNodes } from "../nodes-kit.ts"

const OPERATOR: Actor = { kind: "cli", email: "root", ipPrefix: "", userAgent: "", requestId: "" }
const goal = { kind: "event", value: "signup" }
const steps = [
  { type: "page", match: "exact", value: "/a" },
  { type: "page", match: "exact", value: "/b" },
]
const shield = { kind: "country", value: "FR", note: "", enabled: true }
const viewer = { userId: null, permissions: new Set(["segments:write"]) }
const segmentFields = { name: "German", scope: "site", filters: [{ dimension: "country", operator: "is", values: ["DE"] }] }

/** Opens two nodes and one site. Node 1 changes it, and node 2 must notice. */
async function openPair() {
  const nodes = await openNodes()
  const [one, two] = [await nodes.node("one"), await nodes.node("two")]
  await one.organizations.create({ name: "Shop" })
  await one.sites.create(1, { name: "Shop", hosts: ["shop.example"] })
  await two.changes!.poll()
  return { one, two, clock: nodes.clock, [Symbol.asyncDispose]: () => nodes[Symbol.asyncDispose]() }
}

type Look = (node: Instance) => unknown

test.each<[what: string, change: (one: Instance) => Promise<unknown>, look: Look, before: unknown, after: unknown]>([
  [
    "a new site",
    (one) => one.sites.create(1, { name: "Blog", hosts: ["blog.example"] }),
    ({ sites }) => sites.directory.byHost("blog.example")?.id,
    undefined,
    2,
  ],
  ["a deleted site", (one) => one.sites.remove(1), ({ sites }) => sites.directory.byHost("shop.example")?.id, 1, undefined],
  [
    "a goal",
    (one) => one.goals.create(one.sites.directory.byId(1)!, goal),
    ({ goals }) => goals.rules(1).map(({ value }) => value),
    [],
    ["signup"],
  ],
  [
    "a funnel",
    (one) => one.funnels.create(one.sites.directory.byId(1)!, { name: "Sale", steps }),
    ({ funnels }) => funnels.all(1).map(({ name }) => name),
    [],
    ["Sale"],
  ],
  [
    "a segment",
    (one) => one.segments.of(viewer).create(one.sites.directory.byId(1)!, segmentFields),
    ({ segments, sites }) => segments.saved(sites.directory.byId(1)!, undefined)("segment", 1) !== undefined,
    false,
    true,
  ],
  [
    "a shield of all sites",
    (one) => one.instanceShields.add(shield),
    ({ instanceShields }) => instanceShields.current().map(({ value }) => value),
    [],
    ["FR"],
  ],
  [
    "a setting",
    (one) => one.settings.change({ session_idle_days: 3 }, null),
    ({ settings }) => [settings.get("session_idle_days"), settings.version()],
    [7, 1],
    [3, 2],
  ],
  [
    "the maintenance mode",
    (one) => one.maintenance.change(OPERATOR, { enabled: true }),
    ({ maintenance }) => maintenance.current().enabled,
    false,
    true,
  ],
  [
    "the schedule of backups",
    (one) => one.schedule.change(OPERATOR, { cron: "30 4 * * *", keep: { daily: 3, weekly: 2 } }),
    ({ schedule }) => schedule.current().keep,
    { daily: 7, weekly: 4 },
    { daily: 3, weekly: 2 },
  ],
  ["a disabled plugin", (one) => one.plugins.turn("notes", false, null), ({ plugins }) => plugins.isOn("notes"), true, false],
  [
    "a visible import",
    (one) =>
      one.catalog.transaction((statements) =>
        one.imports.replace(statements, 1, [{ id: 4, run: 1, timezone: "UTC", days: [{ from: "2026-01-01", to: "2026-01-31" }] }]),
      ),
    ({ imports }) => imports.of(1).map(({ id }) => id),
    [],
    [4],
  ],
  [
    "the decision about a disputed host",
    (one) => one.catalog.run(sql`insert into host_decisions (host, organization_id, decided_at) values ('shop.example', 1, 0)`),
    ({ hostRulings }) => hostRulings.decided.get("shop.example"),
    undefined,
    1,
  ],
])("another node notices %s within a poll", async (_, change, look, before, after) => {
  await using pair = await openPair()
  const { one, two } = pair
  expect(look(two)).toEqual(before)
  await change(one)
  expect(look(two)).toEqual(before)
  await two.changes!.poll()
  expect(look(two)).toEqual(after)
})

test("a replaced identity key is forgotten on other nodes", async () => {
  await using pair = await openPair()
  const { one, two } = pair
  const key = await two.identityKeys.identityKey(1)
  expect(await one.identityKeys.identityKey(1)).toEqual(key)
  // An identity key ends with the mode that uses it.
  await one.sites.configure(1, { identity_mode: "identified" })
  await one.sites.configure(1, { identity_mode: "daily" })
  await two.changes!.poll()
  const replaced = await two.identityKeys.identityKey(1)
  expect(replaced).not.toEqual(key)
  expect(await one.identityKeys.identityKey(1)).toEqual(replaced)
})

test("a schedule that one node changes is that of all", async () => {
  await using pair = await openPair()
  const { one, two, clock } = pair
  for (const { jobs, schedules } of [one, two]) {
    jobs.define("a.do-it", { interrupted: "resume", run: async () => {} })
    schedules.declare("a.do-it", { cron: "0 0 1 1 *" })
    await schedules.start()
  }
  await one.schedules.change("a.do-it", { cron: "30 12 * * *" })
  await two.changes!.poll()
  clock.advance(3_600_000)
  await two.schedules.tick()
  await one.schedules.tick()
  expect(await one.catalog.all(sql`select kind, slot from jobs`)).toEqual([{ kind: "a.do-it", slot: "2026-11-21T12:30:00.000Z" }])
})

test("a transaction sees what other nodes changed before it, without a poll", async () => {
  await using pair = await openPair()
  const { one, two } = pair
  await one.instanceShields.add(shield)
  // Both rules look into memory only.
  await expect(two.instanceShields.add(shield)).rejects.toMatchObject({ code: "validation_failed" })
  await one.settings.change({ session_idle_days: 3 }, null)
  await two.settings.change({ session_absolute_days: 20 }, null)
  expect(two.settings.version()).toBe(3)
  expect(two.settings.get("session_idle_days")).toBe(3)
})

test("reads many changes at once, and none again", async () => {
  await using pair = await openPair()
  const { one, two } = pair
  await one.catalog.transaction(async (statements) => {
    for (let i = 0; i < 2_500; i++)
      await statements.run(sql`
        insert into settings (key, value_json, updated_at) values (${`x${i}`}, '1', 0)`)
    await statements.run(sql`insert into settings (key, value_json, updated_at) values ('session_idle_days', '3', 0)`)
  })
  await two.changes!.poll()
  expect(two.settings.get("session_idle_days")).toBe(3)
  // Without a new version, a later poll reads nothing: the row below has none.
  await one.catalog.script("drop trigger settings_updated; update settings set value_json = '5' where key = 'session_idle_days'")
  await two.changes!.poll()
  expect(two.settings.get("session_idle_days")).toBe(3)
})

test("every change of a table in memory has a version", async () => {
  await using pair = await openPair()
  const rows = await pair.one.catalog.all<{ table: string; n: number }>(sql`
    select tbl_name as "table", count(*) as n from sqlite_schema where type = 'trigger' and tbl_name not in ('changing', 'mails') group by 1 order by 1`)
  const tables = ["funnels", "goals", "host_decisions", "host_proofs", "instance_shields", "plugins", "schedules", "segments"]
  expect(rows).toEqual([...tables, "settings", "site_keys", "sites", "visible_imports"].map((table) => ({ table, n: 3 })))
})
