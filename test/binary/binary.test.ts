import { afterAll, beforeAll, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { plugins } from "../../plugins/index.ts"
import { askStats, footfall, prepareSite, serveFootfall } from "../../scripts/instance.ts"
import { sendNumbered } from "../../scripts/reliability/numbered-events.ts"
import { compiledAlone } from "./build.ts"

let compiled: ReturnType<typeof compiledAlone>
let folder: string
let command: string[]
beforeAll(() => {
  compiled = compiledAlone()
  ;({ folder, command } = compiled)
}, 120_000)
afterAll(() => compiled.remove())

test("the compiled file serves, collects, answers, and restarts after a kill without losing anything", async () => {
  const dataDir = join(folder, "data")
  const site = await prepareSite(command, dataDir)
  {
    await using server = await serveFootfall({ command, dataDir })
    for (let number = 1; number <= 40; number++) expect(await sendNumbered(server.address, site, number)).toBe(202)
    expect((await askStats(server.address, site, "summary?period=7d&metrics=visitors,events")).metrics).toEqual({
      visitors: 32,
      events: 40,
    })
    await server.kill("SIGKILL")
  }
  await using server = await serveFootfall({ command, dataDir })
  expect((await askStats(server.address, site, "summary?period=7d&metrics=visitors,events")).metrics).toEqual({ visitors: 32, events: 40 })
  expect(await sendNumbered(server.address, site, 7)).toBe(202) // sent before: counted once
  expect(await sendNumbered(server.address, site, 41)).toBe(202)
  expect((await askStats(server.address, site, "summary?period=7d&metrics=visitors,events")).metrics).toEqual({ visitors: 32, events: 41 })
  expect(await server.kill("SIGTERM")).toBe(0)
}, 60_000)

test("the compiled file contains the tracker", async () => {
  await using server = await serveFootfall({ command, dataDir: join(folder, "tracker") })
  const script = await fetch(`${server.address}/js/script.js`)
  expect({ status: script.status, type: script.headers.get("content-type") }).toEqual({
    status: 200,
    type: "text/javascript; charset=utf-8",
  })
  expect(await script.text()).toContain("/api/event")
}, 60_000)

test("the compiled file backs up and verifies", async () => {
  const dataDir = join(folder, "backup")
  await prepareSite(command, dataDir)
  const { id } = await footfall<{ id: string }>(command, dataDir, "backup", "create")
  expect(await footfall<{ id: string }[]>(command, dataDir, "backup", "list")).toMatchObject([{ id }])
  await footfall(command, dataDir, "backup", "verify", id)
}, 60_000)

test("no loop at load time causes the engine to optimize the whole module", () => {
  const engineFlags = { BUN_JSC_reportCompileTimes: "1", BUN_JSC_useConcurrentJIT: "0" }
  const { stdout, stderr } = Bun.spawnSync([...command, "--help"], { env: { ...process.env, ...engineFlags } })
  const output = `${stdout}${stderr}`
  expect(output).toContain("Optimized")
  const compiledInstructions = output.matchAll(/Module, (\d+)/g).map(([, count]) => Number(count))
  expect(compiledInstructions.filter((count) => count > 5_000).toArray()).toEqual([])
}, 60_000)

test("the compiled file leaves no files beside itself", () => {
  expect(readdirSync(compiled.alone)).toEqual(["footfall"])
})

test.skipIf(!plugins.some(({ id }) => id === "imports"))(
  "the compiled file imports, with the threads that read and sort inside it",
  async () => {
    const dataDir = join(folder, "import")
    const site = await prepareSite(command, dataDir)
    await using server = await serveFootfall({ command, dataDir })
    const day = "2024-03-01"
    const content = [
      "added_iso,path,session_id,hostname,datapoint",
      `${day}T10:00:00Z,/,a,shop.example.com,pageview`,
      `${day}T10:05:00Z,/prices,a,shop.example.com,pageview`,
      `${day}T11:00:00Z,/,b,shop.example.com,Signup`,
    ].join("\n")
    const archive = join(folder, "export.csv.gz")
    await Bun.write(archive, gzipSync(content))
    const words = ["--site", String(site.siteId), archive]
    expect(await footfall<object>(command, dataDir, "import", "preview", ...words)).toMatchObject({
      source: "simple_analytics",
      totals: { visitors: 2, visits: 2, pageviews: 2, events: 3 },
    })
    const done = await footfall<object>(command, dataDir, "import", "run", "--source", "simple_analytics", "--wait", ...words)
    expect(done).toMatchObject({ state: "completed", rows: { imported: 3 } })
    const report = `summary?from=${day}&to=${day}&metrics=visitors,visits,pageviews,events`
    expect((await askStats(server.address, site, report)).metrics).toEqual({ visitors: 2, visits: 2, pageviews: 2, events: 3 })
    expect(await footfall<object>(command, dataDir, "import", "undo", "1", "--site", String(site.siteId), "--wait")).toMatchObject({
      state: "undone",
    })
    expect((await askStats(server.address, site, report)).metrics).toMatchObject({ events: 0 })
    expect(await server.kill("SIGTERM")).toBe(0)
  },
  60_000,
)
