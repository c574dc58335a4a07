import { expect, test } from "bun:test"
import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { openInstance } from "../../../src/services/instance/instance.ts"
import { forgetLostPeriods } from "../../../src/services/instance/upkeep.ts"
import { joinNodes, leaseMigration } from "../../../src/services/runtime/nodes.ts"
import { openRemoteCatalog } from "../../../src/services/runtime/remote-catalog.ts"
import { createTimers } from "../../../src/services/runtime/tasks.ts"
import { sql } from "../../../src/store/sql.ts"
import { fixedClock, memoryLog, random } from "../../kit.ts"
import { smtpServer } from "../mail/smtp-server.ts"
import { openNodes } from "../nodes-kit.ts"
import { NOW } from "../stores-kit.ts"

const storeOf = (node: number | undefined) => ({ ownNode: () => node, joinAs() {} })

test("nodes share a catalog under numbers that belong to their folders", async () => {
  await using nodes = await openNodes()
  const [one, two] = await Promise.all([nodes.node("one"), nodes.node("two")])
  expect([one.nodes!.own, two.nodes!.own].sort()).toEqual([1, 2])
  await one.lease!.renew()
  expect(one.nodes!.live()).toEqual([1, 2])
  const number = two.nodes!.own
  await nodes.stop(two)
  await one.lease!.renew()
  expect(one.nodes!.live()).toEqual([one.nodes!.own])
  const three = await nodes.node("three")
  expect(three.nodes!.own).toBe(3)
  const again = await nodes.node("two")
  expect(again.nodes!.own).toBe(number)
})

test("a new event store in the place of a lost one makes its folder another node", async () => {
  await using nodes = await openNodes()
  await nodes.stop(await nodes.node("one"))
  const { dataDir } = nodes.optionsOf("one")
  for (const file of readdirSync(dataDir)) if (file.startsWith("events.db")) rmSync(join(dataDir, file))
  const replaced = await nodes.node("one")
  expect([replaced.nodes!.own, replaced.nodes!.live()]).toEqual([2, [2]])
  await nodes.stop(replaced)
  const again = await nodes.node("one")
  expect(again.nodes!.own).toBe(2)
})

test("a node that does not renew its lease is not live after 30 s", async () => {
  await using nodes = await openNodes()
  const [one, two] = [await nodes.node("one"), await nodes.node("two")]
  const age = (seconds: number) => one.catalog.run(sql`update nodes set expires_at = expires_at - ${seconds * 1_000}`)
  await age(29)
  await one.lease!.renew()
  expect(one.nodes!.live()).toEqual([1, 2])
  await age(2)
  await one.lease!.renew()
  expect(one.nodes!.live()).toEqual([1])
  await two.lease!.renew()
  expect(two.nodes!.live()).toEqual([1, 2])
})

test("of two processes on copies of a folder, the later one keeps the node", async () => {
  await using nodes = await openNodes()
  const { catalog } = await nodes.node("one")
  const { monotonic } = fixedClock(NOW)
  const copy = { node: "copied", random, monotonic, version: "1.0.0" }
  const first = await joinNodes(catalog, storeOf(undefined), copy)
  const second = await joinNodes(catalog, storeOf(first.own), copy)
  expect([first.own, second.own]).toEqual([2, 2])
  await second.renew()
  await expect(first.renew()).rejects.toMatchObject({ exit: "inUse", message: expect.stringContaining("a copy of this data folder") })
})

test("a process that does not share the catalog is rejected while nodes do, and nodes while it runs", async () => {
  await using nodes = await openNodes()
  const shared = await nodes.node("one")
  const alone = { ...nodes.optionsOf("alone"), severalNodes: false }
  await expect(openInstance(alone)).rejects.toMatchObject({ exit: "inUse" })
  await nodes.stop(shared)
  const only = await openInstance(alone)
  const catalog = await openRemoteCatalog(alone.remoteCatalog!, () => {})
  const { monotonic } = fixedClock(NOW)
  await expect(leaseMigration(catalog, { node: "b", random, monotonic }, 0)).rejects.toMatchObject({ exit: "inUse" })
  await catalog.close()
  await only.close()
  await nodes.node("one")
})

test("a number is never used again, so that the 256th node is rejected", async () => {
  await using nodes = await openNodes()
  const { catalog } = await nodes.node("one")
  await catalog.run(sql`update nodes set number = 255`)
  const { monotonic } = fixedClock(NOW)
  await expect(joinNodes(catalog, storeOf(undefined), { node: "new", random, monotonic, version: "1.0.0" })).rejects.toMatchObject({
    exit: "inUse",
  })
})

test("a turn stays with one node until that stops, dies, or no longer knows whether it has it", async () => {
  await using nodes = await openNodes()
  const [one, two] = [await nodes.node("one"), await nodes.node("two")]
  const begun: string[] = []
  const take = ({ nodes: own }: typeof one, name: string) => own!.takeTurn(name, async () => begun.push(`${name} ${own!.own}`))
  expect([await take(one, "a"), await take(two, "a"), await take(two, "b"), await take(one, "a")]).toEqual([true, false, true, true])
  await nodes.stop(one)
  // A turn that another node has is not asked for all the time.
  expect(await take(two, "a")).toBe(false)
  nodes.clock.advance(5_000)
  expect(await take(two, "a")).toBe(true)
  expect(begun).toEqual(["a 1", "b 2", "a 2"])

  const three = await nodes.node("three")
  await three.catalog.run(sql`update nodes set expires_at = 0 where number = 2`)
  expect(await take(three, "b")).toBe(true)
  // Node 2 has not renewed its lease, so it works no longer, and gets only what no one took once it has.
  nodes.clock.advance(16_000)
  expect(await take(two, "a")).toBe(false)
  await two.lease!.renew()
  await three.lease!.renew()
  expect([await take(two, "a"), await take(two, "b"), await take(three, "b")]).toEqual([true, false, true])
})

test("one node delivers product events to a consumer, and another continues where it stopped", async () => {
  await using nodes = await openNodes()
  const [one, two] = [await nodes.node("one"), await nodes.node("two")]
  const seen: [number, unknown][] = []
  for (const { nodes: own, outbox } of [one, two]) {
    outbox.register({ name: "a", events: ["*"], consume: async ({ payload }) => void seen.push([own!.own, payload]) })
    await outbox.start()
  }
  const write = async (node: typeof one, n: number) => {
    await node.outbox.writeAlone({ event: "goal.met", organizationId: 1, payload: { n } })
    await one.outbox.deliver()
    await two.outbox.deliver()
  }
  await write(one, 1)
  await write(two, 2)
  await one.outbox.stop()
  await nodes.stop(one)
  nodes.clock.advance(5_000)
  await two.outbox.writeAlone({ event: "goal.met", organizationId: 1, payload: { n: 3 } })
  await two.outbox.deliver()
  expect(seen).toEqual([
    [1, { n: 1 }],
    [1, { n: 2 }],
    [2, { n: 3 }],
  ])
  await two.outbox.stop()
})

test("a shared task runs on one node, and any other task on each", async () => {
  await using nodes = await openNodes()
  const runs: string[] = []
  for (const name of ["one", "two"]) {
    const { nodes: own } = await nodes.node(name)
    const tasks = [
      { name: "announce", every: 60, isShared: true, run: async () => runs.push(`announce ${own!.own}`) },
      { name: "checkpoint", every: 60, run: async () => runs.push(`checkpoint ${own!.own}`) },
    ]
    const timers = createTimers(tasks, { clock: nodes.clock, log: memoryLog(), nodes: own, onJump: () => {} })
    for (const task of tasks) await timers.wake(task.name)
  }
  expect(runs).toEqual(["announce 1", "checkpoint 1", "checkpoint 2"])
})

test("emails of all nodes are sent once", async () => {
  await using server = await smtpServer()
  const smtp = { host: "127.0.0.1", port: server.port, security: "none", user: undefined, password: undefined } as const
  await using nodes = await openNodes({ smtp: { ...smtp, from: "stats@example.org", replyTo: undefined } })
  const all = [await nodes.node("one"), await nodes.node("two")]
  for (let i = 0; i < 10; i++)
    for (const { accounts, nodes: own } of all)
      await accounts.mail.send({ to: `bob${i}@example.org`, subject: `${own!.own}`, text: "Hello" })
  for (let rounds = 0; rounds < 100 && server.mails.length < 20; rounds++) {
    for (const { changes, accounts } of all) {
      await changes!.poll()
      await accounts.mail.settled()
    }
  }
  expect(new Set(server.mails.map(({ to, headers }) => `${to} ${headers.get("subject")}`)).size).toBe(20)
  expect(server.mails).toHaveLength(20)
  for (const { accounts } of all) await accounts.mail.stop()
})

test("nodes use the same salts, and each forgets them and their visitors by time", async () => {
  await using nodes = await openNodes()
  const [one, two] = [await nodes.node("one"), await nodes.node("two")]
  await one.organizations.create({ name: "Shop" })
  await one.sites.create(1, { name: "Shop", hosts: ["shop.example"] })
  const period = { name: "2026-11-21", expiresAt: Date.parse("2026-11-23") }
  const [ofOne, ofTwo] = await Promise.all([one.salts.get(1, period), two.salts.get(1, period)])
  expect(ofOne).toEqual(ofTwo)
  const idOf = { high: 1, low: 1 }
  const knows = ({ events }: typeof one) => events.write(0, (writer) => writer.findVisitor(1, period.name, idOf)) !== undefined
  for (const { events } of [one, two]) events.write(0, (writer) => writer.visitor(1, period.name, idOf))
  const destroy = ({ salts, events }: typeof one) => salts.destroy(nodes.clock.now(), (siteId, name) => events.forgetVisitors(siteId, name))
  nodes.clock.advance(period.expiresAt - nodes.clock.now() - 1)
  expect(await destroy(one)).toEqual([])
  nodes.clock.advance(1)
  expect(await destroy(one)).toEqual([{ siteId: 1, period: period.name }])
  expect([knows(one), knows(two)]).toEqual([false, true])
  // The row is gone, so only the time tells the second node.
  await destroy(two)
  expect(knows(two)).toBe(false)
  expect(await two.salts.get(1, period)).not.toEqual(ofTwo)
})

test("a node that was stopped forgets the visitors of periods that ended meanwhile", async () => {
  await using nodes = await openNodes()
  const [one, two] = [await nodes.node("one"), await nodes.node("two")]
  await one.organizations.create({ name: "Shop" })
  await one.sites.create(1, { name: "Shop", hosts: ["shop.example"] })
  for (const name of ["2026-11-20", "2026-11-21"]) {
    await two.salts.get(1, { name, expiresAt: Date.parse("2026-11-23") })
    for (let id = 0; id < 5; id++) two.events.write(0, (writer) => writer.visitor(1, name, { high: id, low: 1 }))
  }
  await two.events.seal(nodes.clock.now())
  await nodes.stop(two)
  await one.catalog.run(sql`delete from salts where period = '2026-11-20'`)
  const again = await nodes.node("two")
  const periods = () => again.events.visitorPeriods().map(({ period }) => period)
  expect(periods()).toEqual(["2026-11-20", "2026-11-21"])
  await forgetLostPeriods(again)
  expect(periods()).toEqual(["2026-11-21"])
})
