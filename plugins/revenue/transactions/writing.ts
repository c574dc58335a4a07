import type { RowStatements, Site } from "#plugin"
import type { RevenueHost } from "../host.ts"
import { createInTurn } from "../in-turn.ts"
import type { Rates } from "../rates/rates.ts"
import type { RevenueSettingsStore } from "../settings.ts"
import { Book } from "./book.ts"
import { packTransactions } from "./chunks.ts"
import { createDayOf, type RevenueWriter } from "./writer.ts"

export interface WritingOptions {
  host: RevenueHost
  settings: Pick<RevenueSettingsStore, "of">
  rates: Pick<Rates, "lookupIn">
}

/** How long one of several transactions may take. Incoming events wait for it. */
const TARGET_MS = 8
/** Bounds of the number of items in one of several transactions. */
const SLICE = { min: 50, first: 100, max: 1_000 }

/** Writes to the transactions of sites. The steps of a site run one after another, so that none acts on what another one changes. */
export function createWriting({ host, settings, rates }: WritingOptions) {
  const inTurn = createInTurn()
  let sliceSize = SLICE.first

  /** Runs a transaction of the writer, with the settings of the site as they are. Returns how long others waited for it as well. */
  async function transact<T>(site: Site, work: (writer: RevenueWriter, rows: RowStatements) => T): Promise<{ result: T; ms: number }> {
    const current = await settings.of(site)
    const numberer = await host.services.people.numberer(site.id)
    const dayOf = createDayOf(site.timezone)
    return host.rows.write((rows) => {
      const begun = performance.now()
      const book = new Book(rows, site.id)
      const lookup = rates.lookupIn(rows, site.id)
      const result = work({ book, site, settings: current, lookup, now: host.now(), dayOf }, rows)
      book.flush()
      packTransactions(rows, site.id, book.unpacked, numberer, book)
      return { result, ms: performance.now() - begun }
    })
  }

  return {
    /**
     * Writes what follows from a list in several transactions, in the order of the list: as much in each as takes some milliseconds. Call it
     * inside `inTurn`. Ends early if it is aborted.
     */
    async writeSlices<Item>(
      site: Site,
      items: readonly Item[],
      work: (writer: RevenueWriter, slice: readonly Item[], rows: RowStatements) => void,
      signal?: AbortSignal,
    ): Promise<void> {
      for (let at = 0; at < items.length && !signal?.aborted; ) {
        const slice = items.slice(at, at + sliceSize)
        const { ms } = await transact(site, (writer, rows) => work(writer, slice, rows))
        at += slice.length
        if (slice.length === sliceSize || ms > TARGET_MS)
          sliceSize = Math.round(Math.min(SLICE.max, Math.max(SLICE.min, sliceSize * Math.min(1.5, TARGET_MS / ms))))
        await Bun.sleep(0)
      }
    },

    /** Runs several steps of a site without any other step in between. */
    inTurn: <T>(siteId: number, work: () => Promise<T>): Promise<T> => inTurn(siteId, work),
    /** Runs one transaction in its turn. It must be short, because incoming events wait for it. */
    writeInTurn: <T>(site: Site, work: (writer: RevenueWriter) => T): Promise<T> =>
      inTurn(site.id, async () => (await transact(site, work)).result),
  }
}
export type Writing = ReturnType<typeof createWriting>
