import { expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { plugins } from "../../plugins/index.ts"
import { libsqlServer } from "../fakes/libsql-server.ts"
import { temporaryFolder } from "../kit.ts"
import { longTest } from "../size.ts"
import { footfall, serving } from "./footfall.ts"

setDefaultTimeout(120_000)

test("a catalog on a server serves one node: a second exits with 73, and starts after the first has stopped", async () => {
  using folder = temporaryFolder()
  await using server = await libsqlServer(join(folder.path, "server"))
  const [one, two] = [join(folder.path, "one"), join(folder.path, "two")]
  const flag = `--catalog-url=${server.url}`
  await using first = await serving(one, flag)
  const made = await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", "--data-dir", one, flag])
  expect(made).toMatchObject({ code: 0 })
  expect(await footfall(["serve", "--data-dir", two, "--host", "127.0.0.1", "--port", "0", flag])).toMatchObject({
    code: 73,
    out: "",
    err: expect.stringMatching(
      /^footfall: Another Footfall process uses the catalog \(.+, pid \d+\) until at least .+\. Stop it, or use another catalog\n$/,
    ),
  })
  expect(await first.end("SIGTERM")).toBe(0)
  await using _second = await serving(two, flag)
  const listed = await footfall(["site", "list", "--data-dir", two, flag, "--json"])
  expect(listed).toMatchObject({ code: 0, err: "" })
  expect(JSON.parse(listed.out)).toMatchObject([{ id: 1, name: "Shop" }])
})

longTest("a killed node can restart immediately, and settings and salts are stored on the server", async () => {
  using folder = temporaryFolder()
  await using server = await libsqlServer(join(folder.path, "server"))
  const dataDir = join(folder.path, "data")
  const flag = `--catalog-url=${server.url}`
  const first = await serving(dataDir, flag)
  await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", "--data-dir", dataDir, flag])
  const set = ["site", "set", "1", "--identity-mode", "weekly", "--compat-plausible", "shop.example", "--data-dir", dataDir, flag, "--json"]
  expect(JSON.parse((await footfall(set)).out)).toMatchObject({ identity_history: [{ from: 0 }, { identity_mode: "weekly" }] })
  const view = (address: string) =>
    fetch(`${address}/api/event`, {
      method: "POST",
      headers: { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0" },
      body: JSON.stringify({ n: "pageview", u: "https://shop.example/", d: "shop.example" }),
    })
  expect((await view(first.address)).status).toBe(202)
  await first.end("SIGKILL")
  await using second = await serving(dataDir, flag)
  expect((await view(second.address)).status).toBe(202)
  const made = await footfall(["key", "create", "--name", "Numbers", "--scopes", "stats:read", "--data-dir", dataDir, flag, "--json"])
  const headers = { authorization: `Bearer ${JSON.parse(made.out).key}` }
  const answer = await fetch(`${second.address}/api/public/v1/sites/1/stats/summary?metrics=visitors,pageviews`, { headers })
  expect(await answer.json()).toMatchObject({ metrics: { visitors: 1, pageviews: 2 } })
})

longTest("reports a server that is briefly unreachable, and exits with 69 if it stays unreachable", async () => {
  using folder = temporaryFolder()
  await using server = await libsqlServer(join(folder.path, "server"))
  const dataDir = join(folder.path, "data")
  const flag = `--catalog-url=${server.url}`
  await using node = await serving(dataDir, flag)
  await server.stop()
  const create = ["site", "create", "--name", "Shop", "--hosts", "shop.example", "--data-dir", dataDir, flag]
  expect(await footfall(create)).toMatchObject({ code: 1, err: expect.stringContaining("catalog server cannot be reached") })
  await server.start()
  expect(await footfall(create)).toMatchObject({ code: 0 })
  await server.stop()
  const began = performance.now()
  expect(await node.exited).toBe(69)
  expect(performance.now() - began).toBeGreaterThan(20_000)
})

const withImports = plugins.some(({ id }) => id === "imports") ? longTest : test.skip

withImports("an import is run, shown and undone with its catalog on a server, also after a kill", async () => {
  using folder = temporaryFolder()
  await using server = await libsqlServer(join(folder.path, "server"))
  const dataDir = join(folder.path, "data")
  const flags = ["--data-dir", dataDir, `--catalog-url=${server.url}`]
  const file = join(folder.path, "export.csv")
  const rows = Array.from({ length: 400 }, (_, day) => {
    const at = new Date(Date.UTC(2024, 0, 1 + day, 10)).toISOString()
    return `${at},/${day % 7},s${day},shop.example,${day % 9 ? "pageview" : "Signup"}`
  })
  writeFileSync(file, ["added_iso,path,session_id,hostname,datapoint", ...rows].join("\n"))
  const json = async (...words: string[]) => {
    const { code, out, err } = await footfall([...words, ...flags])
    if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${err}`)
    return JSON.parse(out)
  }
  const totals = async (address: string, key: string) => {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(`${address}/api/public/v1/sites/1/stats/summary?period=all&metrics=visits,events`, { headers })
    return (await answer.json()).metrics
  }
  const first = await serving(dataDir, ...flags.slice(2))
  await json("site", "create", "--name", "Shop", "--hosts", "shop.example", "--json")
  const { key } = await json("key", "create", "--name", "Numbers", "--scopes", "stats:read", "--json")
  const words = ["--site", "1", "--source", "simple_analytics", "--options", '{"create_goals": true}', file]
  await json("import", "run", ...words)
  await first.end("SIGKILL")
  await using second = await serving(dataDir, ...flags.slice(2))
  for (let tries = 0; tries < 100 && (await totals(second.address, key)).visits === 0; tries++) await Bun.sleep(100)
  expect(await totals(second.address, key)).toEqual({ visits: 400, events: 400 })
  expect((await json("import", "list", "--site", "1")).data).toMatchObject([
    { id: 1, state: "completed", days_effective: 400, created_objects: [{ type: "goal" }] },
  ])
  expect(await json("import", "undo", "1", "--site", "1", "--wait")).toMatchObject({ state: "undone", created_objects: [] })
  expect(await totals(second.address, key)).toEqual({ visits: 0, events: 0 })
})

const withDashboards = plugins.some(({ id }) => id === "dashboards") ? longTest : test.skip

withDashboards("a dashboard is saved, found in conflict and read with its catalog on a server, also after a kill", async () => {
  using folder = temporaryFolder()
  await using server = await libsqlServer(join(folder.path, "server"))
  const flags = ["--data-dir", join(folder.path, "data"), `--catalog-url=${server.url}`]
  const user = { email: "ada@example.org", password: "a fine long password" }
  const names = ["--email", user.email, "--name", "Ada", "--organization", "Acme", "--password-stdin"]
  expect(await footfall(["setup", ...names, ...flags], { input: user.password })).toMatchObject({ code: 0 })
  const first = await serving(flags[1]!, flags[2]!)
  await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", ...flags])
  const json = { "content-type": "application/json" }
  const signIn = async (address: string) => {
    const answer = await fetch(`${address}/api/private/auth/login`, { method: "POST", headers: json, body: JSON.stringify(user) })
    return { ...json, cookie: answer.headers.getSetCookie()[0]!.split(";")[0]! }
  }
  const send = async (address: string, headers: Record<string, string>, method: string, path: string, body?: object) => {
    const sent = body && JSON.stringify(body)
    const answer = await fetch(`${address}/api/private/sites/1/dashboards${path}`, { method, headers, ...(sent && { body: sent }) })
    return { status: answer.status, body: await answer.json() }
  }
  const headers = await signIn(first.address)
  const tile = { type: "text", x: 0, y: 0, w: 4, h: 2, config: { markdown: "Kept" } }
  const { body: made } = await send(first.address, headers, "POST", "", { name: "Board", widgets: [tile] })
  const saves = Array.from({ length: 5 }, (_, i) => send(first.address, headers, "PUT", `/${made.id}`, { ...made, name: `Save ${i}` }))
  expect((await Promise.all(saves)).map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
  await first.end("SIGKILL")
  await using second = await serving(flags[1]!, flags[2]!)
  const again = await signIn(second.address)
  expect(await send(second.address, again, "GET", `/${made.id}`)).toMatchObject({
    status: 200,
    body: { version: 2, widgets: made.widgets },
  })
  const data = await send(second.address, again, "POST", `/${made.id}/data`, {})
  expect(data).toMatchObject({ status: 200, body: { results: { [made.widgets[0].id]: { status: "ok", data: { markdown: "Kept" } } } } })
})
