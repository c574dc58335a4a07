import { Database } from "bun:sqlite"
import { expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { footfall, serving, temporaryFolder } from "#plugin/test"
import type { ImportResponse, PreviewResponse } from "../responses.ts"
import { simpleAnalytics, startImports } from "./kit.ts"

// Each command starts a process, which is slow on a busy machine.
setDefaultTimeout(120_000)

/** Starts a server with one site, and returns its data folder, a file to import and the function that runs a command on it. */
async function startSite(folder: string) {
  const dataDir = join(folder, "data")
  mkdirSync(dataDir)
  const file = join(folder, "export.csv")
  const rows = [
    { at: "2024-03-01T10:00:00Z", path: "/", session: "a" },
    { at: "2024-03-01T10:05:00Z", path: "/prices", session: "a" },
    { at: "2024-03-02T11:00:00Z", path: "/", session: "b" },
  ]
  writeFileSync(file, simpleAnalytics(rows))
  const server = await serving(dataDir)
  const run = (...words: string[]) => footfall([...words, "--data-dir", dataDir])
  const json = async <Answer>(...words: string[]): Promise<Answer> => {
    const { code, out, err } = await run(...words)
    if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}: ${err}`)
    return JSON.parse(out)
  }
  await json("site", "create", "--name", "Shop", "--hosts", "shop.example", "--json")
  return { server, dataDir, file, run, json }
}

test("previews, runs, lists and undoes an import with the answers of the routes", async () => {
  using folder = temporaryFolder()
  const { server, file, json } = await startSite(folder.path)
  await using _ = server
  const preview = await json<PreviewResponse>("import", "preview", "--site", "1", file)
  expect(preview).toMatchObject({
    source: "simple_analytics",
    complete: true,
    files: [{ name: "export.csv", rows: 3 }],
    totals: { visits: 2, pageviews: 3 },
    date_start: "2024-03-01",
    date_end: "2024-03-02",
  })
  expect(await json<object>("import", "list", "--site", "1")).toEqual({ data: [], has_more: false, next_cursor: null })

  const words = ["--site", "1", "--source", "simple_analytics", "--label", "Before", "--preview-hash", preview.preview_hash]
  const imported = await json<ImportResponse>("import", "run", ...words, "--wait", file)
  expect(imported).toMatchObject({
    id: 1,
    label: "Before",
    state: "completed",
    created_by: null,
    days_effective: 2,
    totals: { visits: 2, pageviews: 3 },
  })
  const listed = await json<{ data: ImportResponse[] }>("import", "list", "--site", "1", "--state", "completed")
  expect(listed.data).toEqual([imported])

  const undone = await json<ImportResponse>("import", "undo", "1", "--site", "1", "--wait")
  expect(undone).toMatchObject({ id: 1, state: "undone", totals: { visits: 2 } })
})

test("creates the definitions of an archive, which belong to no one", async () => {
  using folder = temporaryFolder()
  await using stage = await startImports()
  const { instance, headers } = stage
  const { api, app } = instance
  await instance.collect({ n: "pageview", u: "https://shop.example/" })
  const define = (path: string, body: object) => api.post(`/api/private/sites/1/${path}`, body, undefined, headers)
  expect(await define("segments", { name: "Germany", scope: "site", filters: [{ dimension: "country", values: ["DE"] }] })).toMatchObject({
    status: 201,
  })
  expect(await define("annotations", { text: "Launch", at: "2026-11-20T10:00:00Z", scope: "site" })).toMatchObject({ status: 201 })
  expect(await define("goals", { kind: "event", value: "Signup" })).toMatchObject({ status: 201 })
  const path = join(folder.path, "shop.zip")
  await app.operations["site.export"]({ id: "1", path })
  const { site } = await app.operations["site.create"]({ site: { name: "Copy", hosts: ["copy.example"] } })

  const given = { site: String(site.id), source: "footfall", options: JSON.stringify({ create_definitions: true, overlap: "allow" }) }
  const input = { name: "import run", given, rest: ["shop.zip"], folder: folder.path }
  const started = (await app.operations["plugin.run"](input, () => {})) as ImportResponse
  await instance.runJobs()
  const { body } = await api.get(`/api/private/sites/${site.id}/imports/${started.id}`, undefined, headers)
  expect(body).toMatchObject({
    state: "completed",
    error: null,
    created_objects: [{ type: "goal" }, { type: "segment" }, { type: "annotation" }],
  })
  const segments = await api.get(`/api/private/sites/${site.id}/segments`, undefined, headers)
  expect(segments.body).toMatchObject({ data: [{ name: "Germany", owner: null }] })

  const undo = { name: "import undo", given: { site: String(site.id), id: String(started.id) }, rest: [], folder: folder.path }
  expect(await app.operations["plugin.run"](undo, () => {})).toMatchObject({ state: "undoing" })
  await instance.runJobs()
  expect((await api.get(`/api/private/sites/${site.id}/segments`, undefined, headers)).body).toMatchObject({ data: [] })
})

test("follows a log until the command is interrupted, and extends its import by later runs", async () => {
  using folder = temporaryFolder()
  const { server, run, json, dataDir } = await startSite(folder.path)
  await using _ = server
  const path = join(folder.path, "access.log")
  const words = ["import", "run", "--site", "1", "--source", "server_log", "--stream", "web"]
  const line = (time: string, page: string) =>
    `203.0.113.7 - - [01/Mar/2024:${time} +0000] "GET ${page} HTTP/1.1" 200 9 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Firefox/121.0"\n`
  writeFileSync(path, line("10:00:00", "/") + line("10:05:00", "/prices"))
  const interrupt = new AbortController()
  const following = footfall([...words, "--follow", path, "--data-dir", dataDir], { signal: interrupt.signal })
  const imported = async () => (await json<{ data: ImportResponse[] }>("import", "list", "--site", "1")).data[0]
  while ((await imported())?.state !== "completed") await Bun.sleep(100)
  expect(await imported()).toMatchObject({ stream: "web", rows: { read: 2 }, label: "Server log: access.log" })
  interrupt.abort()
  expect((await following).out).toBe("")

  writeFileSync(path, line("10:05:00", "/prices") + line("12:00:00", "/later"))
  const extended = await json<ImportResponse>(...words, "--wait", path)
  expect(extended).toMatchObject({ id: 1, state: "completed", progress: null, rows: { read: 4, skipped: 1 }, totals: { visits: 1 } })
  expect(await run("import", "run", "--site", "1", "--source", "server_log", "--follow", path)).toMatchObject({
    code: 64,
    err: expect.stringContaining("follow needs the name of a stream: --stream NAME"),
  })
})

test("starts an import without waiting for it", async () => {
  using folder = temporaryFolder()
  const { server, file, json } = await startSite(folder.path)
  await using _ = server
  const options = JSON.stringify({ from: "2024-03-02" })
  const started = await json<ImportResponse>("import", "run", "--site", "1", "--source", "simple_analytics", "--options", options, file)
  expect(started).toMatchObject({ state: "pending", options: { from: "2024-03-02" } })
})

test("ends with the fault of an import that it waited for", async () => {
  using folder = temporaryFolder()
  const { server, file, dataDir, run } = await startSite(folder.path)
  await using _ = server
  const days = ["2024-03-01T10:00:00Z", "yesterday", "last week"]
  writeFileSync(file, simpleAnalytics(days.map((at, index) => ({ at, path: "/", session: String(index) }))))
  expect(await run("import", "run", "--site", "1", "--source", "simple_analytics", "--wait", file)).toEqual({
    code: 64,
    out: "",
    err: "footfall: 2 of 3 lines were rejected. Set accept_rejects to import the rest.\n",
  })
  await server.end("SIGTERM")
  using catalog = new Database(join(dataDir, "catalog.db"), { readonly: true })
  const entries = catalog.query("select action, actor_kind, outcome from audit_log where action like 'imports.%' order by id").all()
  expect(entries).toEqual([
    { action: "imports.import.create", actor_kind: "cli", outcome: "ok" },
    { action: "imports.import.complete", actor_kind: "cli", outcome: "failed" },
  ])
})

test("names what is wrong with the words of a command", async () => {
  using folder = temporaryFolder()
  const { server, dataDir, file, run } = await startSite(folder.path)
  await using _ = server
  const run1 = (...words: string[]) => run("import", "run", "--site", "1", "--source", "simple_analytics", ...words)
  const missing = join(dataDir, "missing.csv")
  expect(await run1(missing)).toEqual({
    code: 64,
    out: "",
    err: `footfall: 1 field is not valid. files/0: ${missing} does not exist on the machine of the instance.\n`,
  })
  expect((await run1("--options", "{", file)).err).toBe("footfall: The options are not valid JSON.\n")
  expect((await run1("--options", '{"colour": 1}', file)).err).toContain("options/colour")
  expect((await run("import", "list", "--site", "7")).err).toBe("footfall: This site doesn't exist or you don't have access to it.\n")
  expect((await run("import", "undo", "9", "--site", "1")).err).toBe("footfall: This site has no import with this id.\n")
  expect(await run("import", "run", "--site", "1", "--source", "simple_analytics")).toMatchObject({ code: 64 })
})

test("needs a running instance", async () => {
  using folder = temporaryFolder()
  const { server, run } = await startSite(folder.path)
  await server.end("SIGTERM")
  expect(await run("import", "list", "--site", "1")).toEqual({
    code: 69,
    out: "",
    err: "footfall: footfall import list needs a running instance: start footfall serve on this data folder first\n",
  })
})
