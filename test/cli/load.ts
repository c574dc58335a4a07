import { join } from "node:path"
import { openEventReader } from "../../src/store/events/reader.ts"
import { BROWSER } from "../kit.ts"

/**
 * Starts clients that send pageviews one after another until `end` is called. `acknowledged` holds the pages that were answered
 * with 202, `cut` those without an answer. Pages begin with `run`, so that each is sent once per test.
 */
export function clients(address: string, count: number, run = "r") {
  const acknowledged: string[] = []
  const cut: string[] = []
  const refused = new Map<number | string, number>()
  let isOver = false
  const note = (outcome: number | string) => refused.set(outcome, (refused.get(outcome) ?? 0) + 1)

  async function client(number: number): Promise<void> {
    for (let sent = 0; !isOver; sent++) {
      const page = `/${run}-client-${number}-${sent}`
      const outcome = await send(address, page, number)
      if (outcome === 202) acknowledged.push(page)
      else note(outcome)
      if (outcome !== "no connection") continue
      cut.push(page)
      return
    }
  }
  const all = Promise.all(Array.from({ length: count }, (_, number) => client(number)))
  return {
    acknowledged,
    cut,
    refused,
    /** Waits until `count` pages were acknowledged, because a busy machine is slow to start. */
    async reach(count: number) {
      while (acknowledged.length < count && !refused.has("no connection")) await Bun.sleep(5)
    },
    async end() {
      isOver = true
      await all
    },
  }
}

/** Sends a pageview with the page as its event id. Resolves to the status, or "no connection". */
export async function send(address: string, page: string, visitor: number): Promise<number | "no connection"> {
  const headers = { "user-agent": BROWSER, "content-type": "text/plain", "x-forwarded-for": `198.18.0.${visitor + 1}` }
  const body = JSON.stringify({ n: "pageview", u: `https://shop.example${page}`, id: page.slice(1) })
  try {
    const response = await fetch(`${address}/api/event`, { method: "POST", headers, body })
    await response.arrayBuffer()
    return response.status
  } catch {
    return "no connection"
  }
}

/** Counts how often each page is stored, in the files of a stopped instance. */
export function storedPages(dataDir: string): Map<string, number> {
  const reader = openEventReader(join(dataDir, "events.db"), { cacheBytes: 1 << 20 })
  const stored = new Map<string, number>()
  try {
    const snapshot = reader.snapshot(1)
    const pages = snapshot.dictionary("page")
    for (const part of snapshot.parts)
      for (const id of part.event("page")) stored.set(pages.text(id), (stored.get(pages.text(id)) ?? 0) + 1)
  } finally {
    reader.close()
  }
  return stored
}
