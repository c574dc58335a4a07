import { Database } from "bun:sqlite"
const expect = (a: unknown) => ({ toEqual() {}, toBeLessThan() {} })
import { join } from "node:path"
import { FROM_SOURCE, prepareSite, prepareUser, type Served, serveFootfall } from "/work/wt/revenue16/scripts/instance.ts"
import { temporaryFolder } from "/work/wt/revenue16/test/kit.ts"
import { signIn } from "/work/wt/revenue16/test/reliability/revenue-client.ts"

const DAYS = 8
const PER_DAY = 50_000
const MB = 2 ** 20
/** What the garbage collector may leave behind meanwhile. 350,000 transactions more are some 40 MB of text, and far more as objects. */
const MARGIN = 24 * MB
const SAMPLE_EVERY = 20

const run = async () => {
    using folder = temporaryFolder()
    await prepareUser(FROM_SOURCE, folder.path)
    await prepareSite(FROM_SOURCE, folder.path)
    fill(folder.path)
    await using server = await serveFootfall({ dataDir: folder.path })
    const send = await signIn(server.address)
    const path = "/api/private/sites/1/revenue/transactions.csv"
    const one = `${path}?from=2026-01-01&to=2026-01-01`
    // The first download also loads what every one needs.
    await download(server, await send("GET", one))
    const few = await download(server, await send("GET", one))
    console.log("all"); const all = await download(server, await send("GET", path))
    expect([few.lines, all.lines]).toEqual([PER_DAY + 1, DAYS * PER_DAY + 1])
    console.log(`Resident memory at most ${few.peak / MB} MiB for ${few.lines} lines, ${all.peak / MB} MiB for ${all.lines} lines`)
    expect(all.peak - few.peak).toBeLessThan(MARGIN)
}
/** Stores sales of some days, as folding does. Reports are not asked for, so there are no packed rows. */
function fill(dataDir: string): void {
  const db = new Database(join(dataDir, "events.db"))
  db.run(
    `with recursive days (n) as (select 0 union all select n + 1 from days where n < ? - 1)
      insert into revenue_transactions (site_id, provider, external_id, type, order_id, amount_minor, currency, trust, occurred_at,
        received_at, is_announced, dims_json)
      select 1, 'tracker', 'order:' || n, 'sale', 'O-' || n, 100 + n % 10000, 'EUR', 'client', ? + (n / ?) * 86400000 + n % ?, 0, 1,
        '{"source":"Google","channel":"Organic Search","country":"DE","entry_page":"/products/' || n % 977 || '"}'
      from days`,
    [DAYS * PER_DAY, Date.parse("2026-01-01T00:00:00Z"), PER_DAY, PER_DAY],
  )
  db.close()
}

/** Reads a file to its end. Returns the number of its lines, and the most memory that the server used meanwhile. */
async function download(server: Served, response: Response): Promise<{ lines: number; peak: number }> {
  let [lines, peak, chunks, shown] = [0, 0, 0, 0]
  for await (const chunk of response.body!) {
    for (const byte of chunk) if (byte === 10) lines++
    if (chunks++ % SAMPLE_EVERY === 0) { const m = (await server.memory()).resident; peak = Math.max(peak, m); if (lines - shown > 40000) { shown = lines; console.log(lines, Math.round(m / MB)) } }
  }
  return { lines, peak }
}

await run()
