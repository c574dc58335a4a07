import { expect } from "bun:test"
import { join } from "node:path"
import type { NewEvent } from "../../../src/domain/event.ts"
import type { Clickhouse } from "../../../src/store/clickhouse/client.ts"
import { ROW_COLUMNS } from "../../../src/store/clickhouse/row-binary.ts"
import { ChangeReader } from "../../../src/store/clickhouse/ship/changes.ts"
import { Shipper } from "../../../src/store/clickhouse/ship/shipper.ts"
import { TotalsShipper } from "../../../src/store/clickhouse/ship/totals.ts"
import type { SegmentKind } from "../../../src/store/events/bytes/lanes.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import type { Writer } from "../../../src/store/events/writer.ts"
import { temporaryFolder } from "../../kit.ts"
import { dump } from "../events/dump.ts"
import { event, NO_TRAITS } from "../events/samples.ts"
import { dumpRows } from "./dumped.ts"

export const NOON = Date.parse("2026-11-20T12:00:00Z")
export const MINUTE = 60_000
export const DAY = "2026-11-20"

/** Returns the key of a site's pseudonyms: 32 bytes that differ by site. */
export const siteKey = async (siteId: number) => new Uint8Array(32).fill(siteId)

/** Decides what happens to an insert: it is stored, lost on the way, or stored without an answer. */
type Fate = "stored" | "lost" | "unanswered"

interface LifeOptions {
  clickhouse: Clickhouse
  /** With a small value, every seal moves open visits too. */
  tailBytes?: number
  fate?: () => Fate
  /** Whether the store has no second engine until `move`. */
  isEmbedded?: boolean
}

/** A store whose changes are shipped to ClickHouse, step by step. */
export class ShippingLife {
  readonly #folder = temporaryFolder()
  readonly path = join(this.#folder.path, "events.db")
  readonly #options: LifeOptions
  now = NOON
  /** Number of the salt, which the rotating ids depend on. */
  #salt = 0
  store: EventStore
  shipper!: Shipper
  #reader!: ChangeReader
  /** The rows of all inserts, in order. */
  readonly inserted: Uint8Array<ArrayBuffer>[] = []
  fate: () => Fate

  constructor(options: LifeOptions) {
    this.#options = options
    this.fate = options.fate ?? (() => "stored")
    this.store = this.#open()
    this.startShipping()
  }

  #open(): EventStore {
    const { tailBytes } = this.#options
    const store = openEventStore(this.path, { now: this.now, ...(tailBytes && { tailBytes }) })
    if (!this.#options.isEmbedded) store.beginShipping(7, siteKey)
    return store
  }

  /** Starts a shipper that knows only what the store has recorded. */
  startShipping(): void {
    this.#reader?.close()
    this.#reader = new ChangeReader(this.path, 7)
    const totals = new TotalsShipper({ reader: this.#reader, clickhouse: this.#options.clickhouse, node: 7 })
    this.shipper = new Shipper({
      reader: this.#reader,
      node: 7,
      insert: (rows) => this.#insert(rows),
      shipTotals: () => totals.ship(),
      siteKey,
      clock: { monotonic: () => this.now },
      onConfirmed: ({ position, segments }) => this.store.confirmShipped(position, segments, this.now),
      onFault: (error) => expect(error).toBeUndefined(),
    })
  }

  /** Begins to move an embedded store. */
  move(): void {
    this.store.beginShipping(7, siteKey, undefined, true)
    this.startShipping()
  }

  restart(): void {
    this.store.close()
    this.store = this.#open()
    this.startShipping()
  }

  /** Ships until nothing is left. Returns false when an insert failed. */
  async ship(): Promise<boolean> {
    this.shipper.synced(this.store.lastRecord())
    try {
      while (await this.shipper.ship());
      return true
    } catch (error) {
      if (error instanceof InsertFailed) return false
      throw error
    }
  }

  async #insert(rows: Uint8Array<ArrayBuffer>): Promise<void> {
    const fate = this.fate()
    if (fate !== "lost") {
      this.inserted.push(rows)
      await this.repeat(rows)
    }
    if (fate !== "stored") throw new InsertFailed()
  }

  repeat(rows: Uint8Array<ArrayBuffer>): Promise<void> {
    return this.#options.clickhouse.insert("visits", ROW_COLUMNS, rows)
  }

  /** Destroys the salt and what was derived from it. */
  async destroySalt(): Promise<void> {
    await this.store.forgetVisitors(1, DAY)
    this.#salt++
  }

  /** Opens a visit of a visitor. */
  visit(writer: Writer, low: number, first: NewEvent, { siteId = 1, country = "" } = {}): void {
    const rotating = writer.visitor(siteId, DAY, { high: this.#salt, low })
    const traits = { ...NO_TRAITS, country }
    const id = writer.openVisit(siteId, { rotating, visitor: rotating, visitorKind: "rotating", traits }, DAY)
    writer.add(siteId, id, first, DAY)
  }

  /** Adds an event to the open visit of a visitor, who may be identified by it. Returns false without one. */
  join(writer: Writer, low: number, next: NewEvent, { siteId = 1, person = 0, country = "" } = {}): boolean {
    const rotating = writer.findVisitor(siteId, DAY, { high: this.#salt, low })
    const open = rotating === undefined ? undefined : writer.findOpenVisit(siteId, rotating, undefined, () => true)
    if (!open) return false
    const { id, startedAt } = open
    if (person > 0) writer.identify(siteId, id, writer.person(siteId, { high: 1, low: person }, "user"), "user")
    if (next.at < startedAt) writer.add(siteId, id, next, DAY, { ...NO_TRAITS, country })
    else writer.add(siteId, id, next, DAY)
    return true
  }

  /** Expects the same visits on ClickHouse as in the store, with one value for each visitor. */
  async expectEqual(siteId = 1, kind: SegmentKind = "visits"): Promise<void> {
    const reader = openEventReader(this.path, { cacheBytes: 1 << 20 })
    const stored = dump(reader.snapshot(siteId, kind, "all"))
    reader.close()
    const shipped = await dumpRows(this.#options.clickhouse, siteId, kind)
    const byFirst = <Visit extends { first: number }>(visits: Visit[]) => visits.toSorted((a, b) => a.first - b.first)
    const [expected, rows] = [byFirst(stored), byFirst(shipped)]
    expect(rows.map(({ value: _, opener: __, ...visit }) => visit)).toEqual(expected.map(({ visitor: _, ...visit }) => visit))
    const pairs = new Set(expected.map(({ visitor }, at) => `${visitor} ${rows[at]!.value}`))
    expect(pairs.size).toBe(new Set(expected.map(({ visitor }) => visitor)).size)
    expect(pairs.size).toBe(new Set(rows.map(({ value }) => value)).size)
  }

  [Symbol.dispose](): void {
    this.#reader.close()
    this.store.close()
    this.#folder[Symbol.dispose]()
  }
}

/** The failure of an insert that was lost on the way, or whose answer was. */
export class InsertFailed extends Error {}

export const pageview = (at: number, page = "/"): NewEvent => event({ at, page, title: `Page ${page}` })
