import { expect, test } from "bun:test"
import { leaseCatalog, openRemoteCatalog } from "../../../src/services/runtime/remote-catalog.ts"
import type { Catalog } from "../../../src/store/catalog/catalog.ts"
import { takeNode } from "../../../src/store/catalog/nodes.ts"
import { sql } from "../../../src/store/sql.ts"
import { fixedClock } from "../../kit.ts"
import { openServices } from "../instance.ts"
import { NOW } from "../stores-kit.ts"

/** Creates nodes that share a local catalog file, because the lease only needs SQL statements. */
function nodesOn(catalog: Catalog) {
  const { monotonic, advance } = fixedClock(NOW)
  let starts = 0
  const start = (node: string) => {
    const number = ++starts
    return leaseCatalog(catalog, { node, monotonic, random: (bytes) => new Uint8Array(bytes).fill(number) })
  }
  /** Moves the last renewal of the lease into the past by the given number of seconds. */
  const age = (seconds: number) => catalog.run(sql`update leases set expires_at = expires_at - ${seconds * 1_000}`)
  return { start, age, advance }
}

test("a second node gets the lease only when the first releases it or stops renewing it", async () => {
  await using services = await openServices()
  const { start, age } = nodesOn(services.catalog)
  const first = await start("a")
  await expect(start("b")).rejects.toMatchObject({ exit: "inUse", message: expect.stringMatching(/pid \d+\) until at least 2\d{3}-/) })
  await age(29)
  await first.renew()
  await age(29)
  await expect(start("b")).rejects.toMatchObject({ exit: "inUse" })
  await first.release()
  const second = await start("b")
  await expect(start("a")).rejects.toMatchObject({ exit: "inUse" })
  await age(31)
  const third = await start("a")
  await expect(second.renew()).rejects.toMatchObject({
    exit: "inUse",
    message: expect.stringMatching(
      /^The lease on the catalog was lost\. It is held by .+, pid \d+\. .*Stop the other one before you start this one/,
    ),
  })
  await third.renew()
  // A node that lost the lease cannot release it.
  await second.release()
  await third.renew()
})

test("a process alone is refused beside a live node, but not beside the one that was killed on its folder", async () => {
  await using services = await openServices()
  const { start } = nodesOn(services.catalog)
  const node = { folder: "a", holder: "1", described: "elsewhere, pid 1", version: "1.0.0", isNewStore: true }
  await services.catalog.transaction((statements) => takeNode(statements, node))
  await expect(start("b")).rejects.toMatchObject({ exit: "inUse", message: expect.stringContaining("elsewhere, pid 1") })
  const lease = await start("a")
  await lease.release()
})

test("renews an expired lease if no other node took it", async () => {
  await using services = await openServices()
  const { start, age } = nodesOn(services.catalog)
  const lease = await start("a")
  await age(300)
  await lease.renew()
  await expect(start("b")).rejects.toMatchObject({ exit: "inUse" })
})

test("after a crash the same data folder retakes its lease immediately; a copy of the folder displaces the first node", async () => {
  await using services = await openServices()
  const { start } = nodesOn(services.catalog)
  const crashed = await start("a")
  const again = await start("a")
  await again.renew()
  await expect(crashed.renew()).rejects.toMatchObject({ exit: "inUse" })
})

test("ends the node when the server does not answer for longer than a lease lasts", async () => {
  await using services = await openServices()
  const { start, advance } = nodesOn(services.catalog)
  const lease = await start("a")
  advance(30_000)
  lease.watch()
  advance(1)
  expect(lease.watch).toThrow("could not be reached for 30 s")
  await lease.renew()
  lease.watch()
})

test("waits for an unreachable server, then reports it without its token", async () => {
  const closedServer = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") })
  const address = `127.0.0.1:${closedServer.port}`
  await closedServer.stop(true)
  const remote = { url: `libsql://${address}?tls=0&authToken=hidden`, authToken: undefined }
  await expect(openRemoteCatalog(remote, () => {}, 300)).rejects.toMatchObject({
    exit: "unavailable",
    message: `The catalog server ${address} could not be reached for 30 s. Start it`,
  })
})

test("gives up a server that accepts connections and never answers", async () => {
  await using silent = {
    server: Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Promise<Response>(() => {}) }),
    [Symbol.asyncDispose]: () => silent.server.stop(true),
  }
  const remote = { url: `http://127.0.0.1:${silent.server.port}`, authToken: undefined }
  await expect(openRemoteCatalog(remote, () => {}, 300)).rejects.toMatchObject({ exit: "unavailable" })
})

test("does not wait for a server that rejects the token", async () => {
  await using strict = {
    server: Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("", { status: 401 }) }),
    [Symbol.asyncDispose]: () => strict.server.stop(true),
  }
  const remote = { url: `http://127.0.0.1:${strict.server.port}`, authToken: "hidden" }
  await expect(openRemoteCatalog(remote, () => {})).rejects.toMatchObject({
    exit: "configuration",
    message: expect.not.stringContaining("hidden"),
  })
})
