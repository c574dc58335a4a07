/**
 * Events with a number in their revenue, so that stored and acknowledged events can be compared one by one. Pages and properties
 * would reach the limit of new values per day.
 */
import { Database } from "bun:sqlite"
import { join } from "node:path"
import { openEventReader } from "../../src/store/events/reader.ts"
import type { Prepared } from "../instance.ts"

const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"

/** Sends the event with the given number under a fixed id. Resolves to the status of the answer, or 0 without one. */
export async function sendNumbered(address: string, { trackingId }: Prepared, number: number, extra: object = {}): Promise<number> {
  const client = number % 32
  const body = JSON.stringify({
    ...{ n: "order", d: trackingId, u: "https://shop.example.com/thanks", id: `proof-${String(number).padStart(10, "0")}` },
    ...{ $: { amount: (number / 100).toFixed(2), currency: "EUR" }, ...extra },
  })
  const headers = { "content-type": "text/plain", "user-agent": AGENT, "x-forwarded-for": `198.18.0.${client + 1}` }
  try {
    const response = await fetch(`${address}/api/event`, { method: "POST", headers, body })
    await response.arrayBuffer()
    return response.status
  } catch {
    return 0
  }
}

export interface Stored {
  /** Count of stored events by number. */
  numbers: Map<number, number>
  /** `ok`, or SQLite's findings. */
  integrity: string
}

/** Reads the store of a server that is not running. */
export function storedNumbers(dataDir: string, siteId: number): Stored {
  const path = join(dataDir, "events.db")
  const reader = openEventReader(path, { cacheBytes: 64 << 20 })
  const numbers = new Map<number, number>()
  for (const part of reader.snapshot(siteId).parts)
    for (const amount of part.revenue().amount) numbers.set(amount, (numbers.get(amount) ?? 0) + 1)
  reader.close()
  const db = new Database(path, { readonly: true })
  const [row] = db.query<{ integrity_check: string }, []>("pragma integrity_check").all()
  db.close()
  return { numbers, integrity: row?.integrity_check ?? "" }
}
