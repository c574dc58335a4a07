import { heapStats } from "bun:jsc"
import { expect, test } from "bun:test"
import { sql } from "#plugin"
import { bySize } from "#plugin/test"
import { startShop } from "./kit.ts"

const ROWS = bySize({ check: 20_000, full: 200_000, release: 1_000_000 })
const SAMPLES = 10
/** Far less than the file, which is held whole by nothing. */
const MARGIN_BYTES = ROWS * 40

/** Returns the bytes of all objects that are in use. */
function bytesInUse(): number {
  Bun.gc(true)
  const { heapSize, extraMemorySize } = heapStats()
  return heapSize + extraMemorySize
}

test(`a CSV file of ${ROWS} transactions is written with constant memory`, async () => {
  await using shop = await startShop()
  await shop.instance.rows(({ run }) => {
    run(sql`with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < ${ROWS - 1})
      insert into revenue_transactions (site_id, provider, external_id, type, order_id, amount_minor, currency, trust, occurred_at,
        received_at, is_announced, dims_json)
      select 1, 'generic', 'payment ' || n, 'sale', 'O-' || n, 100 + n, 'EUR', 'webhook', ${Date.parse("2026-11-01T00:00:00Z")} + n, 0, 1,
        '{"source":"Google"}' from numbers`)
  })
  const request = new Request("http://localhost/api/private/sites/1/revenue/transactions.csv", { headers: shop.admin })
  const response = await shop.instance.fetch(request)
  const samples: number[] = []
  let [bytes, lines] = [0, 0]
  for await (const chunk of response.body!) {
    bytes += chunk.length
    for (const byte of chunk) if (byte === 10) lines++
    if (lines >= ((samples.length + 1) * ROWS) / SAMPLES) samples.push(bytesInUse())
  }
  expect([response.status, lines, samples.length]).toEqual([200, ROWS + 1, SAMPLES])
  expect(bytes).toBeGreaterThan(3 * MARGIN_BYTES)
  expect(Math.max(...samples) - samples[0]!).toBeLessThan(MARGIN_BYTES)
}, 300_000)
