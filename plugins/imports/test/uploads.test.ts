import { expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { file, type ImportStage, PATH, simpleAnalytics, startImports } from "./kit.ts"
import { filesOf } from "./stores.ts"

const EXPORT = simpleAnalytics([
  { at: "2026-10-01T10:00:00Z", path: "/", session: "a" },
  { at: "2026-10-02T09:00:00Z", path: "/", session: "b" },
])
const BYTES = new TextEncoder().encode(EXPORT)

async function begin(stage: ImportStage, more: object = {}): Promise<string> {
  const { status, body } = await stage.post("/uploads", { name: "export.csv", bytes: BYTES.length, ...more })
  expect(status).toBe(201)
  return (body as { upload_id: string }).upload_id
}

const chunk = ({ instance, headers }: ImportStage, id: string, offset: number, bytes: Uint8Array) =>
  instance.api.send("PUT", `${PATH}/uploads/${id}?offset=${offset}`, bytes, undefined, {
    ...headers,
    "content-type": "application/octet-stream",
  })

const stagedFiles = ({ instance }: ImportStage) => filesOf(instance.dataDir).filter((name) => name.startsWith("staging"))

test("an upload arrives in chunks, is previewed without being consumed, and consumed by a run", async () => {
  await using stage = await startImports()
  const sha256 = createHash("sha256").update(BYTES).digest("hex")
  const id = await begin(stage, { sha256 })
  expect(await chunk(stage, id, 0, BYTES.subarray(0, 50))).toMatchObject({ status: 200, body: { received: 50 } })
  // A chunk that is sent again is accepted.
  expect(await chunk(stage, id, 0, BYTES.subarray(0, 50))).toMatchObject({ status: 200, body: { received: 50 } })
  expect(await chunk(stage, id, 60, BYTES.subarray(60))).toMatchObject({ status: 409, body: { code: "upload_gap", received: 50 } })
  const input = { source: "simple_analytics", upload_ids: [id] }
  expect(await stage.post("/preview", input)).toMatchObject({ status: 409, body: { code: "upload_incomplete", received: 50 } })
  expect(await chunk(stage, id, 50, BYTES.subarray(50))).toMatchObject({ status: 200, body: { received: BYTES.length } })
  const before = stagedFiles(stage)
  expect(await stage.post("/preview", input)).toMatchObject({ status: 200, body: { rows: { accepted: 2 } } })
  expect(stagedFiles(stage)).toEqual(before)
  expect(await stage.run(input)).toMatchObject({ state: "completed", rows: { imported: 2 }, files: [{ name: "export.csv" }] })
  expect(stagedFiles(stage)).toEqual([])
  expect(await stage.post("/preview", input)).toMatchObject({ status: 404, body: { code: "upload_not_found" } })
})

test("an upload with another hash than announced is refused", async () => {
  await using stage = await startImports()
  const id = await begin(stage, { sha256: "0".repeat(64) })
  await chunk(stage, id, 0, BYTES)
  expect(await stage.post("", { source: "simple_analytics", upload_ids: [id] })).toMatchObject({
    status: 422,
    body: { code: "checksum_mismatch" },
  })
})

test("an upload cannot grow beyond its size, and belongs to its user", async () => {
  await using stage = await startImports()
  const id = await begin(stage)
  const tooMuch = new Uint8Array(BYTES.length + 1)
  expect(await chunk(stage, id, 0, tooMuch)).toMatchObject({ status: 413, body: { code: "body_too_large" } })
  const other = { cookie: await stage.instance.signIn({ role: "admin" }) }
  const answer = await stage.instance.api.send("PUT", `${PATH}/uploads/${id}?offset=0`, BYTES, undefined, {
    ...other,
    "content-type": "application/octet-stream",
  })
  expect(answer).toMatchObject({ status: 404, body: { code: "upload_not_found" } })
  expect(await stage.send("DELETE", `/uploads/${id}`)).toMatchObject({ status: 204 })
  expect(stagedFiles(stage)).toEqual([])
})

test("a user has at most five uploads, which expire after a day", async () => {
  await using stage = await startImports()
  for (let count = 0; count < 5; count++) await begin(stage)
  expect(await stage.post("/uploads", { name: "a", bytes: 1 })).toMatchObject({ body: { code: "limit_reached" } })
  await stage.instance.runJobs()
  stage.instance.clock.advance(25 * 3_600_000)
  await stage.instance.runJobs()
  expect(stagedFiles(stage)).toEqual([])
  stage.headers.cookie = await stage.instance.signIn({ role: "admin" })
  await begin(stage)
})

test("an upload larger than the operator allows is refused", async () => {
  await using stage = await startImports({ settings: { import_max_bytes: "2000000" } })
  expect(await stage.post("/uploads", { name: "a", bytes: 2_000_001 })).toMatchObject({
    status: 413,
    body: { code: "body_too_large", limit_bytes: 2_000_000 },
  })
})

test("a form with files does what JSON does", async () => {
  await using stage = await startImports()
  const form = new FormData()
  form.set("source", "simple_analytics")
  form.set("options", JSON.stringify({ from: "2026-10-02" }))
  form.append("file", new File([EXPORT], "export.csv"))
  const request = new Request(`http://localhost${PATH}/preview`, { method: "POST", body: form, headers: stage.headers })
  const asForm = await (await stage.instance.fetch(request)).json()
  const asJson = (await stage.post("/preview", { ...file(EXPORT), options: { from: "2026-10-02" } })).body
  expect(asForm).toEqual(asJson)
  expect(asForm).toMatchObject({ rows: { read: 2, accepted: 1, skipped: 1 }, skip_reasons: { filtered: 1 } })
})
