/** Live views of an instance with several nodes. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { listen, open } from "../http/private/stats/live-stream.ts"
import { startInstance, type TestInstance } from "../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

setDefaultTimeout(120_000)

describe.skipIf(!hasClickhouse())("a live view", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  afterEach(() => running.clickhouse.run("truncate table visits"))

  /** Starts two nodes that know of each other, as after the next renewal of their leases. */
  async function startBoth() {
    const one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    const two = await startInstance({ clickhouse: running.server, joining: one })
    await one.app.instance.lease!.renew()
    return {
      ...{ one, two },
      async [Symbol.asyncDispose]() {
        await two[Symbol.asyncDispose]()
        await one[Symbol.asyncDispose]()
      },
    }
  }

  const view = ({ collect }: TestInstance, page: string, address: string) =>
    collect({ n: "pageview", u: `https://shop.example${page}`, d: "shop.example" }, { address })

  test("shows events, drops and visitors of all nodes, each once", async () => {
    await using both = await startBoth()
    const { one, two } = both
    expect(await view(two, "/before", "198.51.100.2")).toMatchObject({ status: 202 })
    one.clock.advance(1_000)
    const live = listen(await open(one, await one.signIn({ role: "viewer" })))
    const pages = () => live.messages.filter(({ event }) => event === "event").map(({ data }) => data.page)
    for (const page of ["/a", "/a", "/b"]) expect(await view(two, page, "198.51.100.2")).toMatchObject({ status: 202 })
    expect(await view(one, "/own", "198.51.100.1")).toMatchObject({ status: 202 })
    expect(await live.holds(() => pages().length === 4, 30_000)).toBe(true)
    expect(pages()).toEqual(["/own", "/a", "/a", "/b"])
    // A visit is written again with each of its events.
    one.clock.advance(5_000)
    expect(await view(two, "/a", "198.51.100.2")).toMatchObject({ status: 202 })
    expect(await live.holds(() => pages().length === 5, 30_000)).toBe(true)
    await two.collect({ n: "pageview", u: "https://elsewhere.example/", d: "shop.example" })
    expect(await view(two, "/c", "198.51.100.2")).toMatchObject({ status: 202 })
    await two.app.instance.shipped!.tallies.send()
    expect(await live.seen("host_refused", 30_000)).toBe(true)
    expect(live.messages.find(({ event }) => event === "host_refused")!.data).toMatchObject({ hostname: "elsewhere.example" })
    expect(await live.holds(() => live.messages.some(({ data }) => data.visitors === 2), 30_000)).toBe(true)
    // Two more rounds bring nothing again.
    await Bun.sleep(5_000)
    expect(pages()).toEqual(["/own", "/a", "/a", "/b", "/a", "/c"])
    expect(live.messages.filter(({ event }) => event === "host_refused")).toHaveLength(1)
    await live.close()
  })

  test("goes on when ClickHouse was away for a while", async () => {
    await using both = await startBoth()
    const { one, two } = both
    const live = listen(await open(one, await one.signIn({ role: "viewer" })))
    await running.stop()
    await Bun.sleep(3_000)
    await running.start()
    expect(await view(two, "/after", "198.51.100.2")).toMatchObject({ status: 202 })
    expect(await live.seen("event", 30_000)).toBe(true)
    await live.close()
  })
})
