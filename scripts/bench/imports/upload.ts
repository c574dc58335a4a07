/**
 * Measures the memory of the server while a log that is larger than the memory of a small machine is uploaded in chunks and previewed.
 *
 *     bun scripts/bench/imports/upload.ts [GiB]
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FROM_SOURCE, prepareSite, prepareUser, serveFootfall, USER } from "../../instance.ts"

const GIB = Number(process.argv[2] ?? 10)
const SAMPLE_MS = 50
const IDLE_MS = 4_000
const AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/121.0.0.0 Safari/537.36"

/** Returns a chunk of combined lines that ends with a line. */
function chunkOf(bytes: number): Uint8Array<ArrayBuffer> {
  const lines: string[] = []
  let length = 0
  for (let n = 0; ; n++) {
    const time = `${String(1 + (n % 28)).padStart(2, "0")}/Sep/2025:10:${String(n % 60).padStart(2, "0")}:00 +0000`
    const line = `203.0.${(n >> 8) & 255}.${n & 255} - - [${time}] "GET /page/${n % 500} HTTP/1.1" 200 ${n % 9000} "https://shop.example/" "${AGENT}"\n`
    if (length + line.length > bytes) break
    lines.push(line)
    length += line.length
  }
  return new TextEncoder().encode(lines.join("") + "\n".padStart(bytes - length))
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`

const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
try {
  await prepareUser(FROM_SOURCE, dataDir)
  const { siteId } = await prepareSite(FROM_SOURCE, dataDir)
  await using server = await serveFootfall({ dataDir, flags: ["--import-max-bytes", String(GIB * 2 ** 30)] })
  const json = { "content-type": "application/json", origin: server.address }
  const login = await fetch(`${server.address}/api/private/auth/login`, { method: "POST", headers: json, body: JSON.stringify(USER) })
  const headers = { cookie: login.headers.get("set-cookie")!.split(";")[0]!, origin: server.address }
  const imports = `${server.address}/api/private/sites/${siteId}/imports`

  async function post<Answer>(path: string, body: object): Promise<Answer> {
    const response = await fetch(imports + path, { method: "POST", headers: { ...headers, ...json }, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as Answer // the route determines its shape
  }

  /** Runs work and prints its duration and the memory above idle. */
  async function measure<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    let [most, isOver] = [0, false]
    const from = performance.now()
    const result = work().finally(() => {
      isOver = true
    })
    while (!isOver) {
      most = Math.max(most, (await server.memory()).resident)
      await Bun.sleep(SAMPLE_MS)
    }
    console.log(
      `${what}: ${((performance.now() - from) / 1_000).toFixed(0)} s, at most ${mib(most)} resident, ${mib(most - idle)} above idle`,
    )
    return result
  }

  await Bun.sleep(IDLE_MS)
  const { resident: idle } = await server.memory()
  console.log(`Idle: ${mib(idle)} resident`)
  const bytes = GIB * 2 ** 30
  const { upload_id, chunk_bytes } = await post<{ upload_id: string; chunk_bytes: number }>("/uploads", { name: "access.log", bytes })
  const chunk = chunkOf(chunk_bytes)
  await measure(`Upload of ${GIB} GiB`, async () => {
    for (let offset = 0; offset < bytes; offset += chunk_bytes) {
      const body = chunk.subarray(0, Math.min(chunk_bytes, bytes - offset))
      const address = `${imports}/uploads/${upload_id}?offset=${offset}`
      const sent = await fetch(address, { method: "PUT", headers: { ...headers, "content-type": "application/octet-stream" }, body })
      if (!sent.ok) throw new Error(`${sent.status} ${await sent.text()}`)
    }
  })
  const input = { source: "server_log", upload_ids: [upload_id] }
  type Preview = { complete: boolean; scanned_bytes: number; rows: { accepted: number } }
  const preview = await measure("Its preview", () => post<Preview>("/preview", input))
  console.log(`The preview read ${mib(preview.scanned_bytes)} with ${preview.rows.accepted} rows; complete: ${preview.complete}`)
  const started = await measure("The start of its import, until the answer", () => post<{ id: number }>("", input))
  await measure("Cancelling the import and deleting its files", () => post(`/${started.id}/cancel`, {}))
} finally {
  rmSync(dataDir, { recursive: true, force: true })
}
