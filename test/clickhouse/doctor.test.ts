/** What `doctor` says about ClickHouse and the nodes. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { sql } from "../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

setDefaultTimeout(120_000)

describe.skipIf(!hasClickhouse())("doctor with events on ClickHouse", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterEach(() => running.clickhouse.run("truncate table visits"))
  afterAll(() => running[Symbol.asyncDispose]())

  async function look({ app }: TestInstance, names: readonly string[]) {
    const checks = await app.operations.doctor({}, () => {})
    return Object.fromEntries(checks.filter(({ name }) => names.includes(name)).map(({ name, ...finding }) => [name, finding]))
  }
  const view = ({ collect }: TestInstance, address: string) =>
    collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" }, { address })

  test("counts visitors whose requests reach two nodes, and warns above half a percent", async () => {
    await using one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    await using two = await startInstance({ clickhouse: running.server, joining: one })
    for (const address of ["198.51.100.1", "198.51.100.2"]) await view(one, address)
    await view(two, "198.51.100.3")
    expect(await look(one, ["routing"])).toEqual({
      routing: { status: "ok", detail: "Of 3 visitors of the last two hours, 0 had visits on two nodes within 30 minutes.", fix: "" },
    })
    one.clock.advance(60_000)
    await view(two, "198.51.100.1")
    expect(await look(two, ["routing"])).toMatchObject({
      routing: {
        status: "warn",
        detail: "Of 3 visitors of the last two hours, 1 had visits on two nodes within 30 minutes.",
        fix: expect.stringContaining("load balancer"),
      },
    })
    // A visitor who comes back after the end of a visit may have been sent to another node since.
    one.clock.advance(2 * 3_600_000)
    await view(one, "198.51.100.9")
    one.clock.advance(40 * 60_000)
    await view(two, "198.51.100.9")
    expect(await look(two, ["routing"])).toMatchObject({
      routing: { status: "ok", detail: expect.stringMatching(/^Of 1 visitors .* 0 had/) },
    })
  })

  test("lists lost nodes, late ones and different versions, and examines the server", async () => {
    await using one = await startInstance({ clickhouse: running.server, hasRowServer: true })
    await using two = await startInstance({ clickhouse: running.server, joining: one })
    await view(one, "198.51.100.1")
    const names = ["clickhouse", "clickhouse_privileges", "clickhouse_parts", "nodes"]
    expect(await look(one, names)).toEqual({
      clickhouse: { status: "warn", detail: expect.stringContaining("clocks"), fix: expect.any(String) },
      clickhouse_privileges: { status: "ok", detail: "The user has all privileges that Footfall needs.", fix: "" },
      clickhouse_parts: { status: "ok", detail: expect.stringMatching(/^The events of a month are in at most \d+ parts?\.$/), fix: "" },
      nodes: { status: "ok", detail: "2 nodes are live.", fix: "" },
    })
    const { catalog } = one.app.instance
    await catalog.run(sql`update nodes set version = '9.9.9', unshipped_since = ${one.clock.now() - 300_000} where number = 2`)
    expect(await look(one, ["nodes"])).toMatchObject({
      nodes: {
        status: "warn",
        detail: expect.stringMatching(
          /^Node 2 \(.*\) has had events that ClickHouse lacks for 5 minutes\. The live nodes run the versions 0\.0\.0-test, 9\.9\.9\.$/,
        ),
        fix: "The log of node 2 says why they are not sent. Update all nodes.",
      },
    })
    await catalog.run(sql`update nodes set expires_at = 1 where number = 2`)
    expect(await look(one, ["nodes"])).toMatchObject({
      nodes: {
        status: "warn",
        detail: expect.stringContaining("does not respond, and may have events that ClickHouse lacks."),
        fix: expect.stringContaining("footfall node forget 2"),
      },
    })
    await two.stop()
    await running.stop()
    try {
      const unreachable = { status: "fail", fix: expect.stringContaining("Start the server") }
      expect(await look(one, ["clickhouse_privileges", "clickhouse_parts", "routing"])).toMatchObject({
        ...{ clickhouse_privileges: unreachable, clickhouse_parts: unreachable, routing: unreachable },
      })
    } finally {
      await running.start()
    }
  })
})
