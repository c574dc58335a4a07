import { createExclusive, type Exclusive, isVisible, type RowStatements, type Site, sql } from "#plugin"
import type { RevenueHost } from "../host.ts"
import { Book } from "../orders/book.ts"
import { createDayOf, type RevenueWriter } from "../orders/writer.ts"
import { leftUnpacked, packTransactions, type Unpacked } from "../packed/chunks.ts"
import type { Rates } from "../rates/rates.ts"
import type { RevenueSettingsStore } from "../settings.ts"

export interface WritingOptions {
  host: RevenueHost
  settings: Pick<RevenueSettingsStore, "of">
  rates: Pick<Rates, "lookupIn">
}

/** Kinds of work by what a transaction costs, each of which has slices of its own size. */
export type SliceKind = "fold" | "freeze" | "follow" | "convert"

/** What follows from some items, in one transaction of the writer. */
export type SliceWork<Item> = (writer: RevenueWriter, slice: readonly Item[], rows: RowStatements) => void

export interface SliceOptions {
  kind: SliceKind
  /** The transactions that are not packed yet. Takes those that are written, and packs them chunk by chunk. */
  unpacked: Unpacked
  signal?: AbortSignal | undefined
}

/**
 * Processor time that one of several transactions may take, in ms. Incoming events wait for one of them, if rows are in their
 * store.
 */
const TARGET_MS = 1
/** Bounds of the number of items in one of several transactions. */
const SLICE = { min: 20, first: 50, max: 1_000 }

/** Bounds of the change from one to the next: a step that also collects garbage says little about its size. */
const CHANGE = { min: 0.75, max: 1.5 }
const between = ({ min, max }: { min: number; max: number }, value: number): number => Math.min(max, Math.max(min, value))

/** Writes to the transactions of sites. The steps of a site run one after another, so that none acts on what another one changes. */
export function createWriting({ host, settings, rates }: WritingOptions) {
  const queues = new Map<number, Exclusive>()
  const { isShared } = host.rows
  const sizes: Record<SliceKind, number> = { fold: SLICE.first, freeze: SLICE.first, follow: SLICE.first, convert: SLICE.first }

  /** Runs work after all work of the same site that was given before. */
  function inTurn<T>(siteId: number, work: () => Promise<T>): Promise<T> {
    const queue = queues.get(siteId) ?? createExclusive()
    queues.set(siteId, queue)
    return queue.run(work)
  }

  /** Prepares transactions of the writer, with the settings of a site as they are. */
  async function openSite(site: Site) {
    const current = await settings.of(site)
    const numberer = await host.services.people.numberer(site.id)
    const dayOf = createDayOf(site.timezone)
    const imports = host.sales.visibleImports(site.id)
    const now = host.now()
    const isShown: RevenueWriter["isShown"] = ({ import_id, visit_started_at, occurred_at }) =>
      isVisible(imports, import_id, visit_started_at ?? occurred_at)
    const transact = <T>(rows: RowStatements, work: (writer: RevenueWriter, rows: RowStatements) => T, unpacked?: Unpacked): T => {
      const book = new Book(rows, site.id)
      const lookup = rates.lookupIn(rows, site.id)
      const events = (sequences: readonly number[]) => host.sales.bySequence(rows, site.id, sequences)
      const result = work({ book, site, settings: current, lookup, now, dayOf, isShown, events }, rows)
      book.flush()
      if (unpacked) unpacked.add(rows, book, numberer)
      else packTransactions(rows, site.id, book.unpacked, numberer, book)
      return result
    }
    return { transact, numberer }
  }

  return {
    /**
     * Writes what follows from a list in several transactions, in the order of the list: as much in each as takes about a millisecond. Call it
     * inside `inTurn`, and `packRest` with `unpacked` before the end of the turn. Ends early if it is aborted. What it wrote is on disk after
     * the next `host.rows.sync`.
     */
    async writeSlices<Item>(
      site: Site,
      items: readonly Item[],
      work: SliceWork<Item>,
      { kind, unpacked, signal }: SliceOptions,
    ): Promise<void> {
      const { transact, numberer } = await openSite(site)
      for (let at = 0; at < items.length && !signal?.aborted; ) {
        const slice = items.slice(at, at + (isShared ? SLICE.max : sizes[kind]))
        let begun: NodeJS.CpuUsage | undefined
        await host.rows.append((rows) => {
          begun = process.threadCpuUsage() // events may be stored before
          // Another node may change a transaction before a later step has packed it.
          transact(rows, (writer) => work(writer, slice, rows), isShared ? undefined : unpacked)
        })
        const { user, system } = process.threadCpuUsage(begun)
        const ms = (user + system) / 1_000
        at += slice.length
        if (!isShared && (slice.length === sizes[kind] || ms > TARGET_MS))
          sizes[kind] = Math.round(between(SLICE, sizes[kind] * between(CHANGE, TARGET_MS / ms)))
        await host.rows.pause()
        if (!unpacked.hasCompleteChunk) continue
        await host.rows.append((rows) => unpacked.pack(rows, numberer, { isEnd: false }))
        await host.rows.pause()
      }
    },

    /** Packs what `writeSlices` has left unpacked. */
    async packRest(site: Site, unpacked: Unpacked): Promise<void> {
      if (unpacked.size === 0) return
      const { numberer } = await openSite(site)
      await host.rows.append((rows) => unpacked.pack(rows, numberer, { isEnd: true }))
      await host.rows.pause()
    },

    /** Packs the transactions of a site that a crash has left unpacked. */
    packLeft: (site: Site): Promise<void> =>
      inTurn(site.id, async () => {
        if ((await host.rows.append((rows) => leftUnpacked(rows, site.id))).length === 0) return
        const { numberer } = await openSite(site)
        await host.rows.write((rows) => {
          packTransactions(rows, site.id, leftUnpacked(rows, site.id), numberer)
          rows.run(sql`delete from revenue_unpacked where site_id = ${site.id}`)
        })
      }),

    /** Runs several steps of a site without any other step in between. */
    inTurn,
    /** Runs one transaction in its turn. It must be short, because incoming events wait for it. */
    writeInTurn: <T>(site: Site, work: (writer: RevenueWriter) => T): Promise<T> =>
      inTurn(site.id, async () => {
        const { transact } = await openSite(site)
        return host.rows.write((rows) => transact(rows, work))
      }),
  }
}
export type Writing = ReturnType<typeof createWriting>
