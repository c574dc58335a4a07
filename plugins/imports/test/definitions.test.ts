import { describe, expect, test } from "bun:test"
import { readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { sql } from "#plugin"
import type { ImportResponse } from "../responses.ts"
import { run, type StageByHand, startByHand } from "./by-hand.ts"
import { PATH, startImports } from "./kit.ts"

const VISIT = {
  visitor: "00112233aabbccdd",
  visitor_kind: "rotating",
  events: [{ at: Date.parse("2026-10-01T10:00:00Z"), name: "pageview", page: "/", hostname: "shop.example" }],
}
const DEFINITIONS = {
  goals: [
    { id: 7, version: 3, kind: "event", match: "exact", value: "Signup", name: "Sign-ups" },
    { id: 8, version: 1, kind: "page", match: "prefix", value: "/thanks", name: "Thanks" },
  ],
  funnels: [
    {
      id: 9,
      name: "Purchase",
      steps: [
        { type: "page", value: "/" },
        { type: "event", value: "Signup" },
      ],
      order: "strict",
    },
  ],
  segments: [
    { id: 3, version: 1, name: "Germany", scope: "site", filters: [{ any: [{ dimension: "country", operator: "is", values: ["DE"] }] }] },
  ],
  annotations: [
    { id: 5, version: 1, text: "Launch", at: "2026-09-30T10:00:00Z", scope: "site" },
    { id: 6, version: 1, text: "Sale", at: "2026-10-02T10:00:00Z", scope: "site" },
  ],
}
const NAMES = ["Sign-ups", "Thanks", "Purchase", "Germany", "Launch", "Sale"]
const ARCHIVE = {
  source: "footfall",
  files: [
    { name: "manifest.json", content: JSON.stringify({ format: "footfall-site", version: 2 }) },
    { name: "visits.ndjson", content: `${JSON.stringify(VISIT)}\n` },
    ...Object.entries(DEFINITIONS).map(([kind, items]) => ({ name: `${kind}.json`, content: JSON.stringify(items) })),
  ],
  options: { create_definitions: true },
}

/** Returns the names of all definitions of the site, by kind. */
async function definitionsOf({ instance, headers }: Pick<StageByHand, "instance" | "headers">): Promise<string[]> {
  const names: string[] = []
  for (const kind of ["goals", "funnels", "segments", "annotations"]) {
    const { body } = await instance.api.get(`/api/private/sites/1/${kind}`, undefined, headers)
    names.push(...(body as { data: { name?: string; text?: string }[] }).data.map(({ name, text }) => name ?? text ?? ""))
  }
  return names
}

const importOf = async ({ instance, headers }: StageByHand) =>
  (await instance.api.get(`${PATH}/1`, undefined, headers)).body as ImportResponse

/** Starts the import of the archive and ends the process when an audit entry is written for the given time. */
async function interruptAt(entries: number): Promise<StageByHand> {
  const abort = new AbortController()
  let left = Number.POSITIVE_INFINITY
  const stage = await startByHand(() => {
    if (--left > 0) return
    left = Number.POSITIVE_INFINITY
    abort.abort(new Error("The process stops."))
    throw abort.signal.reason
  })
  await stage.instance.api.post(PATH, ARCHIVE, undefined, stage.headers)
  left = entries
  await expect(run(stage.runs, 1, undefined, abort)).rejects.toThrow("The process stops.")
  return stage
}

describe("definitions of an archive", () => {
  test("are created by a run, and removed by an undo unless they were changed", async () => {
    await using stage = await startImports()
    const { instance, headers } = stage
    const done = await stage.run(ARCHIVE)
    expect(done.created_objects.map(({ type }) => type)).toEqual(["goal", "goal", "funnel", "segment", "annotation", "annotation"])
    expect(await definitionsOf(stage)).toEqual(NAMES)
    const [, , funnel] = done.created_objects
    await instance.api.send("PATCH", `/api/private/sites/1/funnels/${funnel!.id}`, { name: "Order" }, undefined, headers)
    await stage.post("/1/undo")
    await instance.runJobs()
    expect(await definitionsOf(stage)).toEqual(["Order"])
    expect(await stage.get("/1")).toMatchObject({ body: { state: "undone", created_objects: [funnel!] } })
    const entries = await instance.app.instance.catalog.all<{ action: string }>(
      sql`select action from audit_log where action like 'imports.%' and action not like 'imports.import.%' order by id`,
    )
    const verbs = (verb: string, ...types: string[]) => types.map((type) => ({ action: `imports.${type}.${verb}` }))
    expect(entries).toEqual([
      ...verbs("create", "goal", "goal", "funnel", "segment", "annotation", "annotation"),
      ...verbs("delete", "annotation", "annotation", "segment", "goal", "goal"),
    ])
  })

  // The seventh entry is that of the completion.
  test.each([1, 2, 5, 6, 7])("are created once when the run is interrupted at entry %d, and known to an undo", async (entries) => {
    await using stage = await interruptAt(entries)
    expect(await definitionsOf(stage)).toEqual(NAMES.slice(0, entries - 1))
    expect((await importOf(stage)).created_objects).toHaveLength(entries - 1)
    await run(stage.runs, 1)
    const done = await importOf(stage)
    expect({ state: done.state, created: done.created_objects.length }).toEqual({ state: "completed", created: 6 })
    expect(await definitionsOf(stage)).toEqual(NAMES)
    await stage.instance.api.post(`${PATH}/1/undo`, undefined, undefined, stage.headers)
    await stage.instance.runJobs()
    expect(await definitionsOf(stage)).toEqual([])
  })

  test("are removed when the run is cancelled after their creation", async () => {
    await using stage = await interruptAt(7)
    await stage.instance.api.post(`${PATH}/1/cancel`, undefined, undefined, stage.headers)
    await run(stage.runs, 1)
    expect(await importOf(stage)).toMatchObject({ state: "cancelled", created_objects: [] })
    expect(await definitionsOf(stage)).toEqual([])
  })

  test("are removed when the run fails after their creation", async () => {
    await using stage = await interruptAt(4)
    const staging = join(stage.instance.dataDir, "staging/imports")
    for (const folder of readdirSync(staging)) rmSync(join(staging, folder), { recursive: true })
    await run(stage.runs, 1)
    expect(await importOf(stage)).toMatchObject({ state: "failed", error: { code: "source_missing" }, created_objects: [] })
    expect(await definitionsOf(stage)).toEqual([])
  })
})

describe("link_identified_users", () => {
  const EXPORT = ["Time,Path,Visitor,User", "2026-10-01T10:00:00Z,/,v1,u-1", "2026-10-02T10:00:00Z,/,v2,u-1", "2026-10-03T10:00:00Z,/,v3,"]
  const mapping = { timestamp: "Time", path: "Path", visitor_id: "Visitor", user_id: "User" }
  const input = (options: object) => ({
    source: "csv_generic",
    files: [{ name: "export.csv", content: EXPORT.join("\n") }],
    options: { kind: "events", mapping, ...options },
  })

  // One native visitor, and the visitors v1, v2 and v3 of the file. The first two are the native one when they are linked.
  test.each([
    ["identified", true, 2, 2],
    ["identified", false, 4, 3],
    ["daily", true, 4, 3],
  ] as const)("in the mode %s, %p: users of the file and of identify() are %d visitors", async (mode, isLinked, visitors, imported) => {
    await using stage = await startImports()
    const { instance, headers } = stage
    await instance.api.send("PATCH", "/api/private/sites/1/settings", { identity_mode: mode }, undefined, headers)
    await instance.collect({ n: "pageview", u: "https://shop.example/", d: instance.site.tracking_id, x: "u-1" })
    const given = input(isLinked ? { link_identified_users: true } : {})
    const preview = await stage.post("/preview", given)
    expect(preview).toMatchObject({ status: 200, body: { totals: { visitors: imported } } })
    expect(await stage.run(given)).toMatchObject({ state: "completed", totals: { visitors: imported } })
    expect(await stage.totals()).toMatchObject({ visitors })
    const warnings = (preview.body as { warnings: { code: string }[] }).warnings.map(({ code }) => code)
    expect(warnings.includes("users_not_linked")).toBe(isLinked && mode === "daily")
  })
})
