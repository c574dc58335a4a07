import { expect, test } from "bun:test"
import { openInstance } from "../../../src/services/instance/instance.ts"
import { joinNodes, leaseMigration } from "../../../src/services/runtime/nodes.ts"
import { openRemoteCatalog } from "../../../src/services/runtime/remote-catalog.ts"
import { sql } from "../../../src/store/sql.ts"
import { fixedClock, random } from "../../kit.ts"
import { openNodes } from "../nodes-kit.ts"
import { NOW } from "../stores-kit.ts"

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
  const [first, second] = [await joinNodes(catalog, copy), await joinNodes(catalog, copy)]
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
  await expect(joinNodes(catalog, { node: "new", random, monotonic, version: "1.0.0" })).rejects.toMatchObject({ exit: "inUse" })
})
