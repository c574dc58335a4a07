import type { Clock } from "../../../domain/clock.ts"
import { OutdatedSnapshot } from "../../events/dictionary/read-dictionary.ts"
import type { ArrivedId } from "../event-ids.ts"
import { RowWriter } from "../row-binary.ts"
import type { ChangedSegment, ChangedVisits, ChangeReader } from "./changes.ts"

/** What a shipper has confirmed. */
export interface Confirmation {
  /** The engine has every change up to this record, except those of large visits, which follow later. */
  record: number
  /** The engine has every change up to this record. */
  position: number
  /** Segments of which the engine has all visits since the last confirmation. */
  segments: number[]
}

interface ShipperOptions {
  reader: Pick<ChangeReader, "confirmed" | "read">
  /** Number of the node, 1 to 255. */
  node: number
  /** Inserts rows. Resolves once they are stored as durably as acknowledged events must be. Repeats with a token may be ignored. */
  insert(rows: Uint8Array<ArrayBuffer>, token: string): Promise<void>
  /** Inserts the ids of shipped events, which other nodes look for. Default: they are not wanted. */
  insertIds?(ids: readonly ArrivedId[]): Promise<void>
  /** Ships what has changed of imported totals. */
  shipTotals(): Promise<void>
  /** Returns the key of the pseudonyms of a site. */
  siteKey(siteId: number): Promise<Uint8Array>
  clock: Pick<Clock, "monotonic">
  onConfirmed(confirmation: Confirmation): void
  /** Called for each attempt that failed. The next one follows. */
  onFault(error: unknown): void
}

/** Pause between the beginnings of two inserts of changed visits. */
export const SHIP_MS = 200
/** Number of events and bytes per insert. */
const INSERT_EVENTS = 20_000
const INSERT_BYTES = 16 << 20
/** Number of events above which a visit is shipped rarely, because each of its versions contains all of them. */
const LARGE_VISIT = 500
const LARGE_VISIT_MS = 10_000
/** Pauses after failures double up to the longest, which delays what waits when the engine is back. */
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1_000
/** Interval at which segments are looked for that were added without an event, as those of an import. */
const LOOK_MS = 1_000

/**
 * Ships the changes of a store to the engine: every 200 ms the visits that have changed, and in between the segments that it does not have.
 * A row has one writer, a key and a version, and contains absolute values, so a batch that is repeated, late or out of order changes nothing.
 */
export class Shipper {
  readonly #options: ShipperOptions
  /** Last record that is on disk. What is not yet could be another record after a power failure. */
  #synced = 0
  #shipped: number
  #position: number
  #lastSegment = 0
  #ids: ArrivedId[] = []
  #largeAt = Number.NEGATIVE_INFINITY
  #isStopped = false
  /** Called when everything that was read before is stored. */
  #settling: (() => void)[] = []
  #wake = Promise.withResolvers<void>()

  constructor(options: ShipperOptions) {
    this.#options = options
    this.#position = options.reader.confirmed()
    this.#shipped = this.#position
  }

  /** Takes note that the log is on disk up to a record. */
  synced(record: number): void {
    this.#synced = Math.max(this.#synced, record)
    this.#signal()
  }

  /** Resolves once ClickHouse has what the store contains now, and no earlier insert is on its way. */
  settled(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#settling.push(resolve)
    this.#signal()
    return promise
  }

  stop(): void {
    this.#isStopped = true
    this.#signal()
  }

  /** Ships until `stop` is called. */
  async run(): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; !this.#isStopped; ) {
      const begun = this.#options.clock.monotonic()
      const settling = this.#settling.splice(0)
      try {
        const hasMore = await this.ship()
        for (const settle of settling.splice(0)) settle()
        pause = FIRST_PAUSE_MS
        if (!hasMore) await this.#rest(begun)
      } catch (error) {
        this.#settling.push(...settling)
        if (error instanceof OutdatedSnapshot) continue
        this.#options.onFault(error)
        await Bun.sleep(pause)
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
      }
    }
  }

  /** Ships the visits that have changed, and then a segment. Returns whether there was one, after which there may be more. */
  async ship(): Promise<boolean> {
    const { reader, clock, onConfirmed } = this.#options
    const begun = clock.monotonic()
    const { record, visits, segment, ids } = reader.read(this.#position, this.#shipped, this.#lastSegment)
    while (record > this.#synced) {
      await this.#woken()
      if (this.#isStopped) return false
    }
    const isLargeDue = begun - this.#largeAt >= LARGE_VISIT_MS
    let hasLarge = false
    const batch = new Batch(this.#options, `${this.#shipped + 1}-${record}`)
    for (const changed of visits) {
      const isDue = (visit: number) => changed.version(visit) > this.#shipped
      const isLarge = (visit: number) => changed.size(visit) > LARGE_VISIT
      hasLarge ||= changed.visits.some(isLarge)
      await batch.add(changed, (visit) => (isLarge(visit) ? isLargeDue : isDue(visit)))
    }
    await batch.send()
    if (hasLarge && isLargeDue) this.#largeAt = begun
    const position = hasLarge && !isLargeDue ? this.#position : record
    const isNews = record > this.#shipped || position > this.#position
    this.#shipped = record
    this.#position = position
    if (isNews) onConfirmed({ record, position, segments: [] })
    await this.#shipIds(ids)
    if (!segment) {
      await this.#options.shipTotals()
      return false
    }
    await this.#shipSegment(segment)
    this.#lastSegment = segment.id
    onConfirmed({ record, position, segments: [segment.id] })
    return true
  }

  /** After their visits, because a node that finds an id relies on its event. Those of a failed insert are repeated with the next. */
  async #shipIds(ids: readonly ArrivedId[]): Promise<void> {
    const { insertIds } = this.#options
    if (!insertIds) return
    this.#ids.push(...ids)
    if (this.#ids.length === 0) return
    await insertIds(this.#ids)
    this.#ids = []
  }

  async #shipSegment({ id, isKnown, read }: ChangedSegment): Promise<void> {
    const batch = new Batch(this.#options, `segment ${id}`)
    const changed = read()
    // Of a segment that was sealed after its visits were shipped, only the large ones may have been put off.
    await batch.add(changed, (visit) => !isKnown || changed.size(visit) > LARGE_VISIT)
    await batch.send()
  }

  /** Waits until there is something to ship and the interval is over. */
  async #rest(begun: number): Promise<void> {
    const { clock } = this.#options
    if (this.#synced <= this.#shipped && this.#settling.length === 0 && !this.#isStopped)
      await Promise.race([this.#woken(), Bun.sleep(LOOK_MS)])
    const left = SHIP_MS - (clock.monotonic() - begun)
    if (left > 0 && !this.#isStopped) await Bun.sleep(left)
  }

  #woken(): Promise<void> {
    return this.#wake.promise
  }

  #signal(): void {
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }
}

/** Collects rows and inserts them, several inserts if there are many. */
class Batch {
  readonly #options: Pick<ShipperOptions, "node" | "insert" | "siteKey">
  readonly #name: string
  #rows = new RowWriter()
  #events = 0

  constructor(options: Pick<ShipperOptions, "node" | "insert" | "siteKey">, name: string) {
    this.#options = options
    this.#name = name
  }

  async add(changed: ChangedVisits, isChosen: (visit: number) => boolean): Promise<void> {
    const chosen = changed.visits.filter(isChosen)
    if (chosen.length === 0) return
    const row = changed.open(await this.#options.siteKey(changed.siteId))
    for (const visit of chosen) {
      this.#rows.add(row(visit))
      this.#events += changed.size(visit)
      if (this.#events >= INSERT_EVENTS || this.#rows.length >= INSERT_BYTES) await this.send()
    }
  }

  /** Inserts what was collected. */
  async send(): Promise<void> {
    if (this.#rows.count === 0) return
    const bytes = this.#rows.finish()
    // The name alone is not enough: the same records may be repeated with other visits, such as after an erasure.
    const token = `${this.#options.node} ${this.#name} ${Bun.hash.xxHash64(bytes).toString(36)}`
    this.#rows = new RowWriter()
    this.#events = 0
    await this.#options.insert(bytes, token)
  }
}
