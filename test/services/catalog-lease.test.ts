import { expect, test } from "bun:test"
import { leaseCatalog } from "../../src/services/catalog-lease.ts"
import { fixedClock, temporaryFolder } from "../kit.ts"
import { NOW, openWithSite } from "./stores-kit.ts"

test("of two nodes on one catalog the second waits until the first is gone or dead", async () => {
  using folder = temporaryFolder()
  await using instance = await openWithSite(folder.path)
  const clock = fixedClock(NOW)
  const node = (number: number) => leaseCatalog(instance.catalog, { now: clock.now, random: (bytes) => new Uint8Array(bytes).fill(number) })
  const first = await node(1)
  expect(node(2)).rejects.toMatchObject({ exit: "inUse", message: expect.stringContaining("until 2026-11-21T12:00:30.000Z at least") })
  clock.advance(20_000)
  await first.renew()
  clock.advance(20_000)
  expect(node(2)).rejects.toMatchObject({ exit: "inUse" })
  await first.give()
  await node(2)
  clock.advance(30_000)
  const third = await node(3)
  expect(first.renew()).rejects.toMatchObject({ exit: "inUse" })
  await third.renew()
})
