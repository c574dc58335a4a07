/**
 * Redirects while batches of links run: a process follows a link continuously, first alone and then during each batch, on an instance
 * with 10,000 links, some of which lead to others. Prints the longest redirect during each batch and the longest one alone.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openCatalog } from "../../../src/store/catalog/catalog.ts"
import { sql } from "../../../src/store/sql.ts"
import { FROM_SOURCE, footfall, prepareSite, prepareUser, serveFootfall, USER } from "../../instance.ts"
import { ms, table } from "../table.ts"
import type { ProbeOptions, ProbeResult } from "./probe.ts"

/** Number of links on each of two sites. */
const LINKS = 5_000
const ROWS = 2_000
const PATH = "/l/s-1-1"
/** Every link whose number is divisible by this leads to another link of the instance. */
const CHAINED = 10
const ALONE_MS = 5_000
/** Maximum time that a batch may add to the longest redirect. */
const MAX_ADDED_MS = 50
/** Maximum time of an import of 2,000 rows. */
const MAX_IMPORT_MS = 5_000

interface Batch {
  name: string
  path: "bulk" | "import"
  body: object
  /** Number of rows that succeed. */
  succeeds: number
}

export async function measureLinkBatches(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "footfall-bench-"))
  try {
    const { siteId } = await prepareSite(FROM_SOURCE, dataDir)
    const second = await footfall<{ id: number }>(FROM_SOURCE, dataDir, "site", "create", "--name", "Blog", "--hosts", "blog.example.com")
    await prepareUser(FROM_SOURCE, dataDir)
    await insertLinks(dataDir, [siteId, second.id])
    await using server = await serveFootfall({ dataDir, flags: ["--private-rate", "100000"] })
    const cookie = await signIn(server.address)
    const port = Number(new URL(server.address).port)
    await beside({ port, path: PATH }, () => Bun.sleep(500)) // the first request loads all links
    const alone = await beside({ port, path: PATH }, () => Bun.sleep(ALONE_MS))
    const rows: { name: string; took: number; probe: ProbeResult }[] = []
    for (const batch of batches(siteId)) {
      const send = () => run(server.address, { ...batch, cookie, siteId })
      const { value: took, probe } = await beside({ port, path: PATH }, send)
      rows.push({ name: batch.name, took, probe })
    }
    print(alone.probe, rows)
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Inserts the links before the instance is served. The links of the second site are on the host of the first one. */
async function insertLinks(dataDir: string, siteIds: readonly number[]): Promise<void> {
  const catalog = await openCatalog(`file:${join(dataDir, "catalog.db")}`)
  for (const siteId of siteIds)
    await catalog.run(sql`
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${LINKS})
      insert into links_links (site_id, slug, slug_key, destination, title, notes, tags_json, redirect_status, forward_query, forward_path,
        utm_json, utm_mode, rules_json, noindex, created_at, updated_at)
      select ${siteId}, 's-' || ${siteId} || '-' || n, 's-' || ${siteId} || '-' || n,
        case when n % ${CHAINED} = 0 then 'http://localhost/l/s-' || ${siteId} || '-' || (n - 1) else 'https://example.com/' || n end,
        '', '', '[]', 302, 1, 0, '{}', 'fill', '[]', 1, 0, 0 from numbers`)
  await catalog.close()
}

function batches(siteId: number): Batch[] {
  const numbers = Array.from({ length: ROWS }, (_, row) => row + 1)
  const destination = (n: number) => (n % CHAINED === 0 ? `http://localhost/l/s-${siteId}-${n - 1}` : `https://example.com/new/${n}`)
  const csv = ["slug,destination,title,tags", ...numbers.map((n) => `new-${n},${destination(n)},Title ${n},"one,two"`)].join("\n")
  const some = numbers.slice(0, 500)
  const bulk = (op: string, row: (n: number) => object): Batch => ({
    name: `${op} of 500 rows`,
    path: "bulk",
    body: { op, rows: some.map(row) },
    succeeds: 500,
  })
  return [
    { name: `dry run of ${ROWS} rows`, path: "import", body: { csv }, succeeds: ROWS },
    { name: `import of ${ROWS} rows`, path: "import", body: { csv, apply: true }, succeeds: ROWS },
    { name: `import of ${ROWS} rows that are all refused`, path: "import", body: { csv, apply: true }, succeeds: 0 },
    bulk("create", (n) => ({ destination: destination(n) })),
    bulk("update", (n) => ({ id: n, title: `Title ${n}`, destination: `https://example.com/changed/${n}` })),
    bulk("archive", (n) => ({ id: n + 500 })),
    bulk("delete", (n) => ({ id: n + 1_000 })),
  ]
}

/** Sends a batch and returns its milliseconds. Rejects unless the expected number of rows succeeds. */
async function run(address: string, { path, body, succeeds, name, cookie, siteId }: Batch & { cookie: string; siteId: number }) {
  const from = performance.now()
  const response = await fetch(`${address}/api/private/sites/${siteId}/links/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", cookie, "idempotency-key": name.replaceAll(" ", "-") },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${name}: ${response.status} ${text}`)
  const answer = JSON.parse(text) as { results?: { status: string }[]; rows?: { status: string }[] }
  const took = performance.now() - from
  const succeeded = (answer.results ?? answer.rows ?? []).filter(({ status }) => status !== "failed").length
  if (succeeded !== succeeds) throw new Error(`${name}: ${succeeded} rows succeeded instead of ${succeeds}: ${text.slice(0, 500)}`)
  return took
}

/** Follows the link while the work runs. Rejects unless every answer is a redirect. */
async function beside<T>(options: ProbeOptions, work: () => Promise<T>): Promise<{ value: T; probe: ProbeResult }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "probe.ts"), JSON.stringify(options)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  })
  try {
    await Bun.sleep(500) // until the probe runs
    const value = await work()
    child.stdin.end()
    const probe: ProbeResult = JSON.parse(await new Response(child.stdout).text())
    if (Object.keys(probe.answers).join() !== "302") throw new Error(`Not all requests were redirected: ${JSON.stringify(probe.answers)}`)
    return { value, probe }
  } finally {
    child.kill()
    await child.exited
  }
}

async function signIn(address: string): Promise<string> {
  const headers = { "content-type": "application/json" }
  const response = await fetch(`${address}/api/private/auth/login`, { method: "POST", headers, body: JSON.stringify(USER) })
  if (response.status !== 200) throw new Error(`Signing in was answered with ${response.status}: ${await response.text()}`)
  return response.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ")
}

function print(alone: ProbeResult, rows: readonly { name: string; took: number; probe: ProbeResult }[]): void {
  console.log(`\n### Redirects beside batches, with ${2 * LINKS} links on the instance\n`)
  const line = (name: string, took: string, { p50, p99, longest }: ProbeResult) => [
    name,
    took,
    ms(p50),
    ms(p99),
    ms(longest),
    (p99 / alone.p99).toFixed(2),
    (longest / alone.longest).toFixed(2),
  ]
  const columns = ["Beside", "batch ms", "p50 ms", "p99 ms", "longest ms", "× p99", "× longest"]
  console.log(table(columns, [line("nothing", "0", alone), ...rows.map(({ name, took, probe }) => line(name, ms(took), probe))]))
  const added = Math.max(...rows.map(({ probe }) => probe.longest - alone.longest))
  const imported = Math.max(...rows.filter(({ name }) => name.startsWith("import")).map(({ took }) => took))
  console.log(`\nThe batches added at most ${ms(Math.max(0, added))} ms to the longest redirect (bar: ${MAX_ADDED_MS} ms).`)
  console.log(`${ROWS} rows were imported in at most ${ms(imported)} ms (bar: ${MAX_IMPORT_MS} ms).`)
}
