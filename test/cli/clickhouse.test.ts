/** The program with its events on ClickHouse, as operators start it. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type LibsqlServer, libsqlServer } from "../fakes/libsql-server.ts"
import { BROWSER, temporaryFolder } from "../kit.ts"
import { startProxy } from "../services/shipping/nodes.ts"
import { longTest } from "../size.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"
import { footfall, type Serving, serving } from "./footfall.ts"

setDefaultTimeout(180_000)

describe.skipIf(!hasClickhouse())("the program with events on ClickHouse", () => {
  let running: TestServer
  let folder: ReturnType<typeof temporaryFolder>
  let catalog: LibsqlServer
  let databases = 0
  beforeAll(async () => {
    running = await startClickhouse()
    folder = temporaryFolder()
    catalog = await libsqlServer(join(folder.path, "server"))
  })
  afterEach(async () => {
    await catalog[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
    folder = temporaryFolder()
    catalog = await libsqlServer(join(folder.path, "server"))
  })
  afterAll(async () => {
    await catalog[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
    await running[Symbol.asyncDispose]()
  })

  /** Writes a configuration file and returns the flag that names it. */
  async function configured(more: Record<string, string> = {}): Promise<string> {
    const database = `cli_${++databases}`
    await running.clickhouse.run(`create database ${database}`)
    const { url, user, password } = running.server
    const settings = { clickhouse_url: url, clickhouse_user: user, clickhouse_password: password, clickhouse_database: database }
    const path = join(folder.path, `${database}.toml`)
    const lines = Object.entries({ catalog_url: catalog.url, ...settings, ...more }).filter(([, value]) => value !== "")
    writeFileSync(path, lines.map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`).join(""))
    return `--config=${path}`
  }
  const serveOnce = (dataDir: string, flag: string) =>
    footfall(["serve", "--data-dir", dataDir, "--host", "127.0.0.1", "--port", "0", flag])

  async function view({ address }: Serving, page: string): Promise<void> {
    const body = JSON.stringify({ n: "pageview", u: `https://shop.example${page}`, d: "shop.example" })
    const response = await fetch(`${address}/api/event`, { method: "POST", headers: { "user-agent": BROWSER }, body })
    expect(response.status).toBe(202)
  }

  test.each<[string, Record<string, string>, string]>([
    [
      "rows on a server without ClickHouse",
      { clickhouse_url: "", rows_url: "http://localhost:1" },
      "rows_url also requires clickhouse_url",
    ],
    ["no catalog server", { catalog_url: "" }, "clickhouse_url also requires catalog_url"],
    ["a wrong password", { clickhouse_password: "wrong" }, "ClickHouse rejected FOOTFALL_CLICKHOUSE_USER or FOOTFALL_CLICKHOUSE_PASSWORD"],
    [
      "an unknown database",
      { clickhouse_database: "nowhere" },
      "The database of FOOTFALL_CLICKHOUSE_DATABASE does not exist on ClickHouse",
    ],
  ])("exits with 78 for %s", async (_, settings, message) => {
    const ended = await serveOnce(join(folder.path, "data"), await configured(settings))
    expect(ended).toMatchObject({ code: 78, err: expect.stringContaining(message) })
  })

  test("exits with 69 for a server that answers as an old version", async () => {
    using proxy = startProxy(running.server)
    proxy.trouble = "old"
    const ended = await serveOnce(join(folder.path, "data"), await configured({ clickhouse_url: proxy.server.url }))
    expect(ended).toMatchObject({ code: 69, err: expect.stringContaining("answers differently than Footfall needs (version)") })
  })

  longTest("exits with 69 for a server that cannot be reached for 20 seconds at the first start", async () => {
    using proxy = startProxy(running.server)
    proxy.trouble = "unreachable"
    const begun = performance.now()
    const ended = await serveOnce(join(folder.path, "data"), await configured({ clickhouse_url: proxy.server.url }))
    expect(ended).toMatchObject({ code: 69, err: expect.stringContaining("could not be reached for 20 s") })
    expect(performance.now() - begun).toBeGreaterThan(20_000)
  })

  /** Creates the site of `view`. Resolves with the bearer of a key. */
  async function prepare(dataDir: string, flag: string): Promise<{ authorization: string }> {
    const place = ["--data-dir", dataDir, flag]
    expect(await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", ...place])).toMatchObject({ code: 0 })
    const made = await footfall(["key", "create", "--name", "All", "--scopes", "stats:read,events:write", "--json", ...place])
    return { authorization: `Bearer ${JSON.parse(made.out).key}` }
  }

  test("exits with 78 for a folder whose events are only there", async () => {
    const dataDir = join(folder.path, "data")
    const alone = await configured({ clickhouse_url: "" })
    await using serve = await serving(dataDir, alone)
    await prepare(dataDir, alone)
    await view(serve, "/a")
    expect(await serve.end("SIGTERM")).toBe(0)
    const ended = await serveOnce(dataDir, await configured())
    expect(ended).toMatchObject({ code: 78, err: expect.stringContaining("contains events that are not on ClickHouse") })
    await using again = await serving(dataDir, alone)
    expect(await again.end("SIGTERM")).toBe(0)
  })

  test("exits with 78 for the database of another catalog, and leaves it as it is", async () => {
    const dataDir = join(folder.path, "data")
    const flag = await configured()
    await using serve = await serving(dataDir, flag)
    await prepare(dataDir, flag)
    await view(serve, "/a")
    expect(await serve.end("SIGTERM")).toBe(0)
    await using other = await libsqlServer(join(folder.path, "other"))
    const same = { catalog_url: other.url, clickhouse_database: `cli_${databases}` }
    const ended = await serveOnce(join(folder.path, "foreign"), await configured(same))
    expect(ended).toMatchObject({ code: 78, err: expect.stringContaining("contains the events of another catalog") })
    await using again = await serving(dataDir, flag)
    expect(await again.end("SIGTERM")).toBe(0)
  })

  const batch = (at: Serving, headers: Record<string, string>, count: number) =>
    fetch(`${at.address}/api/public/v1/sites/1/events`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({
        events: Array.from({ length: count }, (_, place) => ({
          ...{ name: "pageview", url: `https://shop.example/${place}`, user_agent: BROWSER, ip: `203.0.${place >> 8}.${place & 255}` },
        })),
      }),
    })

  test("refuses events for ten seconds without a spool, and when the spool is full, which health says", async () => {
    using proxy = startProxy(running.server)
    const dataDir = join(folder.path, "data")
    const flag = await configured({ clickhouse_url: proxy.server.url, ack_wait: "100", spool_bytes: `${2 ** 20}` })
    await using serve = await serving(dataDir, flag)
    const key = await prepare(dataDir, flag)
    proxy.trouble = "refused"
    const health = async () => (await fetch(`${serve.address}/health`)).json() as Promise<{ reasons?: { code: string }[] }>
    for (let sent = 0; (await health()).reasons === undefined; sent++) {
      if ((await batch(serve, key, 500)).status !== 503) await Bun.sleep(50)
      expect(sent).toBeLessThan(200)
    }
    expect((await health()).reasons).toMatchObject([{ code: "spool_full" }])
    const body = JSON.stringify({ n: "pageview", u: "https://shop.example/", d: "shop.example" })
    const event = { method: "POST", headers: { "user-agent": BROWSER }, body }
    for (const refused of [await fetch(`${serve.address}/api/event`, event), await batch(serve, key, 1)])
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "10"])
    proxy.trouble = "none"
    while ((await health()).reasons !== undefined) await Bun.sleep(100)
    expect((await fetch(`${serve.address}/api/event`, event)).status).toBe(202)
    expect(await serve.end("SIGTERM")).toBe(0)

    const without = `${await configured({ clickhouse_url: proxy.server.url, ack_wait: "100", spool: "false" })}`
    await using strict = await serving(join(folder.path, "strict"), without)
    proxy.trouble = "refused"
    const first = await fetch(`${strict.address}/api/event`, event)
    expect([first.status, first.headers.get("retry-after")]).toEqual([503, "10"])
    proxy.trouble = "none"
  })

  test("has every acknowledged event in its reports after a stop, a kill, and an outage of ClickHouse", async () => {
    const flag = await configured({ ack_wait: "300" })
    const dataDir = join(folder.path, "data")
    await using first = await serving(dataDir, flag)
    const site = ["site", "create", "--name", "Shop", "--hosts", "shop.example"]
    expect(await footfall([...site, "--data-dir", dataDir, flag])).toMatchObject({ code: 0 })
    const made = await footfall(["key", "create", "--name", "Numbers", "--scopes", "stats:read", "--data-dir", dataDir, flag, "--json"])
    const headers = { authorization: `Bearer ${JSON.parse(made.out).key}` }
    const pageviews = async ({ address }: Serving) => {
      const response = await fetch(`${address}/api/public/v1/sites/1/stats/summary?metrics=pageviews`, { headers })
      return response.ok ? ((await response.json()) as { metrics: { pageviews: number } }).metrics.pageviews : response.status
    }
    await view(first, "/a")
    await view(first, "/b")
    expect(await pageviews(first)).toBe(2)

    const beside = await serveOnce(join(folder.path, "other"), flag)
    expect(beside).toMatchObject({ code: 73, err: expect.stringContaining("Another node uses this catalog") })
    expect(await first.end("SIGTERM")).toBe(0)
    const alone = await footfall(["serve", "--data-dir", dataDir, "--host", "127.0.0.1", "--port", "0", `--catalog-url=${catalog.url}`])
    expect(alone).toMatchObject({ code: 78, err: expect.stringContaining("Set FOOTFALL_CLICKHOUSE_URL") })

    await using second = await serving(dataDir, flag)
    expect(await pageviews(second)).toBe(2)
    await view(second, "/c")
    await second.end("SIGKILL")
    await running.stop()
    await using third = await serving(dataDir, flag)
    await view(third, "/d")
    expect(await pageviews(third)).toBe(503)
    await third.end("SIGKILL")
    await using fourth = await serving(dataDir, flag)
    await view(fourth, "/e")
    await running.start()
    while ((await pageviews(fourth)) !== 5) await Bun.sleep(200)
    const doctor = await footfall(["doctor", "--data-dir", dataDir, flag, "--json"])
    expect(doctor.out).toContain("ClickHouse")
    expect(await fourth.end("SIGTERM")).toBe(0)
  })

  test("two processes share everything, and a kill of one whose folder is lost loses nothing that was acknowledged", async () => {
    await using rows = await libsqlServer(join(folder.path, "rows"))
    const secret_key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")
    const flag = await configured({ rows_url: rows.url, secret_key })
    const [dataDir, lost] = [join(folder.path, "data"), join(folder.path, "lost")]
    await using first = await serving(dataDir, flag)
    const key = await prepare(dataDir, flag)
    const without = await configured({ secret_key, clickhouse_database: `cli_${databases}` })
    const refused = await serveOnce(join(folder.path, "other"), without)
    expect(refused).toMatchObject({ code: 78, err: expect.stringContaining("Set FOOTFALL_ROWS_URL") })
    await using second = await serving(lost, flag)
    const nodes = async () => {
      const { out } = await footfall(["node", "list", "--data-dir", dataDir, flag, "--json"])
      return (JSON.parse(out) as { number: number; state: string }[]).map(({ number, state }) => [number, state])
    }
    expect(await nodes()).toEqual([
      [1, "live"],
      [2, "live"],
    ])
    expect(await footfall(["node", "forget", "2", "--data-dir", dataDir, flag])).toMatchObject({
      code: 64,
      err: expect.stringContaining("is live"),
    })
    let acknowledged = 0
    const load = async (node: Serving, visitor: number) => {
      for (let page = 0; ; page++) {
        try {
          const body = JSON.stringify({ n: "pageview", u: `https://shop.example/${visitor}/${page}`, d: "shop.example" })
          const response = await fetch(`${node.address}/api/event`, {
            method: "POST",
            headers: { "user-agent": `${BROWSER} ${visitor}` },
            body,
          })
          if (response.status !== 202) return
          acknowledged++
        } catch {
          return // the process was killed
        }
        if (node === first && page >= 10) return
      }
    }
    const loads = [load(first, 1), ...[2, 3, 4].map((visitor) => load(second, visitor))]
    await Bun.sleep(3_000)
    await second.end("SIGKILL")
    await Promise.all(loads)
    rmSync(lost, { recursive: true })
    const summary = async () => {
      const response = await fetch(`${first.address}/api/public/v1/sites/1/stats/summary?metrics=pageviews`, { headers: key })
      return (await response.json()) as { metrics: { pageviews: number }; late_events?: boolean }
    }
    // One that was stored and not acknowledged may be there for each sender.
    const { pageviews } = (await summary()).metrics
    expect(pageviews - acknowledged).toBeWithin(0, 4)
    while (!(await summary()).late_events) await Bun.sleep(1_000)
    expect(await nodes()).toContainEqual([2, "lost"])
    const forgotten = await footfall(["node", "forget", "2", "--data-dir", dataDir, flag])
    expect(forgotten).toMatchObject({ code: 0, out: expect.stringContaining("Node 2 was forgotten") })
    while ((await summary()).late_events) await Bun.sleep(1_000)
    expect((await summary()).metrics.pageviews).toBe(pageviews)
    expect(await first.end("SIGTERM")).toBe(0)
  }, 600_000)

  test("moves the events of an existing instance there and back, whenever the command is killed", async () => {
    const flag = await configured()
    const dataDir = join(folder.path, "data")
    const embedded = `--catalog-url=${catalog.url}`
    await using first = await serving(dataDir, embedded)
    await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", "--data-dir", dataDir, embedded])
    const made = await footfall(["key", "create", "--name", "Numbers", "--scopes", "stats:read", "--data-dir", dataDir, embedded, "--json"])
    const headers = { authorization: `Bearer ${JSON.parse(made.out).key}` }
    const pageviews = async ({ address }: Serving) => {
      const response = await fetch(`${address}/api/public/v1/sites/1/stats/summary?metrics=pageviews`, { headers })
      return response.ok ? ((await response.json()) as { metrics: { pageviews: number } }).metrics.pageviews : response.status
    }
    for (const page of ["/a", "/b", "/c"]) await view(first, page)
    expect(await first.end("SIGTERM")).toBe(0)

    const move = (to: string, signal?: AbortSignal) =>
      footfall(["engine", "move", "--to", to, "--data-dir", dataDir, flag, "--json"], signal && { signal })
    expect(await footfall(["engine", "move", "--to", "clickhouse", "--data-dir", dataDir, embedded])).toMatchObject({ code: 78 })
    expect(await footfall(["engine", "move", "--to", "nowhere", "--data-dir", dataDir, flag])).toMatchObject({ code: 64 })
    for (const ms of [1_000, 2_500]) await move("clickhouse", AbortSignal.timeout(ms))
    const moved = await move("clickhouse")
    expect(moved.code === 0 || moved.err.includes("on ClickHouse already")).toBe(true)
    await using second = await serving(dataDir, flag)
    expect(await pageviews(second)).toBe(3)
    await view(second, "/d")
    expect(await second.end("SIGTERM")).toBe(0)
    await move("embedded", AbortSignal.timeout(1_500))
    const back = await move("embedded")
    expect(back.code === 0 || back.err.includes("in the data folder already")).toBe(true)
    await using third = await serving(dataDir, embedded)
    expect(await pageviews(third)).toBe(4)
    await third.end("SIGTERM")
  }, 600_000)
})
