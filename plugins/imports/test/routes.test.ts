import { describe, expect, test } from "bun:test"
import type { ImportResponse } from "../responses.ts"
import { file, PATH, simpleAnalytics, startImports } from "./kit.ts"

const EXPORT = simpleAnalytics([
  { at: "2026-10-01T10:00:00Z", path: "/", session: "a" },
  { at: "2026-10-02T09:00:00Z", path: "/", session: "b" },
])
const FILES = [{ name: "export.csv", content: EXPORT }]
const base64 = (...bytes: number[]) => Buffer.from(bytes).toString("base64")

describe("input is refused", () => {
  test.each([
    [
      "without a source in a run",
      "",
      { files: FILES },
      422,
      { code: "validation_failed", errors: [{ pointer: "/source", code: "required" }] },
    ],
    ["without files", "/preview", {}, 422, { code: "validation_failed", errors: [{ pointer: "/files", code: "required" }] }],
    [
      "with files and uploads",
      "/preview",
      { files: FILES, upload_ids: ["a"] },
      422,
      { errors: [{ pointer: "/files", code: "exclusive" }] },
    ],
    ["with an unknown source", "", { source: "netscape", files: FILES }, 422, { code: "unrecognized_source" }],
    [
      "with an unknown option",
      "",
      { ...file(EXPORT), options: { a: 1 } },
      422,
      { errors: [{ pointer: "/options/a", code: "unknown_field" }] },
    ],
    ["with an invalid day", "", { ...file(EXPORT), options: { from: "2026-13-01" } }, 422, { errors: [{ pointer: "/options/from" }] }],
    [
      "with an unknown zone",
      "/preview",
      { ...file(EXPORT), options: { source_timezone: "Mars/Base" } },
      422,
      { errors: [{ pointer: "/options/source_timezone", code: "invalid_choice" }] },
    ],
    ["with a source that does not know the files", "", { ...file("a,b\n1,2") }, 422, { code: "unrecognized_source" }],
    [
      "as a nested archive",
      "/preview",
      { files: [{ name: "a.zip", content_base64: base64(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c) }] },
      422,
      {
        code: "invalid_archive",
      },
    ],
    ["with days in the future only", "", file(EXPORT.replaceAll("2026-1", "2027-1")), 422, { code: "no_effective_days" }],
    ["with an option that filters everything", "", { ...file(EXPORT), options: { to: "2020-01-01" } }, 422, { code: "nothing_to_import" }],
    ["with an upload that does not exist", "", { source: "simple_analytics", upload_ids: ["none"] }, 404, { code: "upload_not_found" }],
    ["with the hash of another preview", "", { ...file(EXPORT), preview_hash: "0".repeat(64) }, 409, { code: "preview_mismatch" }],
  ] as const)("%s", async (_, path, body, status, answer) => {
    await using stage = await startImports()
    expect(await stage.post(path, body)).toMatchObject({ status, body: answer })
    expect(await stage.get("")).toMatchObject({ body: { data: [] } })
  })
})

test("the same content is imported once, unless it is forced or was undone", async () => {
  await using stage = await startImports()
  await stage.run(file(EXPORT))
  // Neither a byte order mark nor other line ends make it different.
  const same = file(`\uFEFF${EXPORT.replaceAll("\n", "\r\n")}`, "copy.csv")
  expect(await stage.post("", same)).toMatchObject({ status: 409, body: { code: "duplicate_import", import_id: 1 } })
  expect(await stage.post("/preview", same)).toMatchObject({ status: 200, body: { duplicate_of: 1 } })
  expect(await stage.run({ ...same, force: true })).toMatchObject({ state: "completed" })
  for (const id of [1, 2]) await stage.post(`/${id}/undo`)
  await stage.instance.runJobs()
  expect(await stage.run(same)).toMatchObject({ id: 3, state: "completed", days_effective: 2 })
})

test("a repeated request with the same key starts one import", async () => {
  await using stage = await startImports()
  const send = () => stage.instance.api.post(PATH, file(EXPORT), undefined, { ...stage.headers, "idempotency-key": "once" })
  const [first, again] = [await send(), await send()]
  expect(again).toMatchObject({ status: 202, body: first.body as object })
  expect(await stage.get("")).toMatchObject({ body: { data: [{ id: 1 }], has_more: false } })
})

test("the history is listed newest first, in pages and by state", async () => {
  await using stage = await startImports()
  for (const day of ["2026-10-01", "2026-10-02", "2026-10-03"])
    await stage.run(file(simpleAnalytics([{ at: `${day}T10:00:00Z`, path: "/", session: day }])))
  await stage.post("/2/undo")
  await stage.instance.runJobs()
  const first = await stage.get("?limit=2&count=true")
  expect(first).toMatchObject({ body: { data: [{ id: 3 }, { id: 2 }], has_more: true, total: 3 } })
  const cursor = (first.body as { next_cursor: string }).next_cursor
  expect(await stage.get(`?limit=2&cursor=${cursor}`)).toMatchObject({ body: { data: [{ id: 1 }], has_more: false } })
  expect(await stage.get("?state=undone")).toMatchObject({ body: { data: [{ id: 2, state: "undone" }] } })
  expect(await stage.get("?state=lost")).toMatchObject({ status: 400, body: { code: "invalid_query" } })
})

test("label and visibility are changed with their version", async () => {
  await using stage = await startImports()
  const done = await stage.run(file(EXPORT))
  const renamed = await stage.send("PATCH", "/1", { label: "Old site", version: done.version })
  expect(renamed).toMatchObject({ status: 200, body: { label: "Old site", version: done.version + 1, enabled: true } })
  expect(await stage.send("PATCH", "/1", { label: "Other", version: done.version })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: { label: "Old site" } },
  })
  const stale = { ...stage.headers, "if-match": '"1"' }
  expect(await stage.instance.api.send("PATCH", `${PATH}/1`, { label: "Other" }, undefined, stale)).toMatchObject({ status: 412 })
  expect(await stage.send("PATCH", "/1", { enabled: false })).toMatchObject({ body: { enabled: false, days_effective: 0 } })
  await stage.post("/1/undo")
  expect(await stage.send("PATCH", "/1", { enabled: true })).toMatchObject({
    status: 409,
    body: { code: "invalid_state", state: "undoing" },
  })
})

test.each([
  ["cancel", 409, "invalid_state"],
  ["retry", 409, "invalid_state"],
  ["undo", 202, undefined],
] as const)("a completed import and %s", async (verb, status, code) => {
  await using stage = await startImports()
  await stage.run(file(EXPORT))
  expect(await stage.post(`/1/${verb}`)).toMatchObject({ status, body: code ? { code, state: "completed" } : { state: "undoing" } })
})

test("a failed import is retried from its files for a day", async () => {
  await using stage = await startImports()
  const broken = `${EXPORT}\n${["x", "y", "z"].map((time) => `${time},/,c,DE,shop.example,pageview`).join("\n")}`
  const failed = await stage.run(file(broken))
  expect(failed).toMatchObject({ state: "failed", can_retry: true })
  expect(await stage.post("/1/retry")).toMatchObject({ status: 202, body: { state: "pending", error: null } })
  await stage.instance.runJobs()
  expect(await stage.get("/1")).toMatchObject({ body: { state: "failed" } })
  stage.instance.clock.advance(26 * 3_600_000)
  await stage.instance.runJobs()
  stage.headers.cookie = await stage.instance.signIn({ role: "admin" })
  expect(await stage.get("/1")).toMatchObject({ body: { can_retry: false } })
  expect(await stage.post("/1/retry")).toMatchObject({ status: 409, body: { code: "source_missing" } })
})

test("progress is streamed and ends with the import", async () => {
  await using stage = await startImports()
  await stage.run(file(EXPORT))
  const { status, headers, body } = await stage.get("/1/events")
  expect({ status, type: headers.get("content-type") }).toEqual({ status: 200, type: "text/event-stream; charset=utf-8" })
  const [, data = ""] = /event: end\ndata: (.*)\n/.exec(String(body)) ?? []
  expect(JSON.parse(data) as ImportResponse).toMatchObject({ id: 1, state: "completed" })
})

describe("permissions", () => {
  test.each([
    ["viewer", "GET", "", undefined, 200],
    ["viewer", "POST", "/preview", file(EXPORT), 403],
    ["viewer", "POST", "", file(EXPORT), 403],
    ["editor", "POST", "", file(EXPORT), 202],
    ["editor", "POST", "", { ...file(EXPORT), options: { overlap: "allow" } }, 403],
    ["admin", "POST", "", { ...file(EXPORT), options: { overlap: "allow" } }, 202],
  ] as const)("a user with the role %s may %s %s: %o", async (role, method, path, body, status) => {
    await using stage = await startImports()
    const headers = { cookie: await stage.instance.signIn({ role }) }
    expect(await stage.instance.api.send(method, PATH + path, body, undefined, headers)).toMatchObject({ status })
  })
  test("an import of another site is not found", async () => {
    await using stage = await startImports()
    await stage.run(file(EXPORT))
    const { organizations, sites } = stage.instance.app.instance
    const [organization] = await organizations.list()
    await sites.create(organization!.id, { name: "Other", hosts: ["other.example"], timezone: "UTC", revenue_currency: "EUR" })
    const path = "/api/private/sites/2/imports/1"
    expect(await stage.instance.api.get(path, undefined, stage.headers)).toMatchObject({ status: 404, body: { code: "import_not_found" } })
  })
})

test("the sources are listed with their columns, options and limits", async () => {
  await using stage = await startImports()
  const { body } = await stage.instance.api.get("/api/private/importers", undefined, stage.headers)
  const { data } = body as { data: { source: string }[] }
  expect(data.map(({ source }) => source)).toEqual(
    expect.arrayContaining(["plausible", "umami", "goatcounter", "server_log", "csv_generic"]),
  )
  expect(data[0]).toMatchObject({ source: "plausible", options_schema: { type: "object" }, limits: { json_bytes: 10_485_760 } })
})
