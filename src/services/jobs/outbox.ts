import type { Clock } from "../../domain/clock.ts"
import { OUTBOX } from "../../domain/limits.ts"
import type { Log } from "../../domain/log.ts"
import type { ProductEvent } from "../../domain/product-event.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  deleteOutbox,
  insertOutboxRows,
  lastOutboxId,
  listOutbox,
  moveCursor,
  type OutboxRow,
  openCursor,
  outboxRowById,
} from "../../store/catalog/outbox.ts"
import type { LiveNodes } from "../runtime/nodes.ts"

export interface Consumer {
  /** Name of its cursor, which must be the same after a restart. */
  name: string
  /** Names of the events to consume. A `*` at the end matches any ending. */
  events: readonly string[]
  /**
   * Returns the events of a slice that have to be consumed; the others are skipped. For consumers that would otherwise query the catalog
   * for each event. Default: all. Of events that are only published while they are wanted, it decides without their payload.
   */
  concerned?(rows: readonly OutboxRow[]): Promise<readonly OutboxRow[]>
  /** Consumes an event. Called for one event at a time in the order of their ids, and again until it resolves. */
  consume(row: OutboxRow, signal: AbortSignal): Promise<unknown>
  isOn?(): boolean
}

/** The queue of product events, by which areas communicate and from which webhooks, alerts and emails are sent. */
export interface Outbox {
  /** Writes events in the transaction of the change. Consumers are called after its commit. */
  write(statements: Statements, ...events: readonly ProductEvent[]): Promise<void>
  /** Writes an event in its own transaction, after a change in row tables. */
  writeAlone(event: ProductEvent): Promise<void>
  /** Returns a published event, while it is stored. Events are kept for 30 days. */
  get(id: number): Promise<OutboxRow | undefined>
  /** Returns whether an enabled consumer names an event. A pattern such as `*` does not count. */
  hasConsumer(event: string): boolean
  /**
   * Returns whether a consumer wants an event of a place now. Disabled consumers count, because they receive later what they have missed.
   * For events of which traffic causes so many that they are not stored for no one.
   */
  isWanted(event: Omit<ProductEvent, "payload">): Promise<boolean>
  /** Registers a consumer, before `start`. */
  register(consumer: Consumer): void
  /** Starts delivery. New consumers receive only events from now on. */
  start(): Promise<void>
  /** Delivers all waiting events. Resolves when every consumer has received them or has failed. */
  deliver(): Promise<void>
  /** Removes old events that all enabled consumers have received. */
  forgetOld(): Promise<void>
  stop(): Promise<void>
}

interface OutboxOptions {
  catalog: Catalog
  clock: Clock
  log: Log
  /** The nodes that share the catalog, of which one delivers to a consumer at a time. */
  nodes?: Pick<LiveNodes, "takeTurn"> | undefined
}

/** A consumer with its position in the queue. */
interface Reader {
  consumer: Consumer
  lastId: number
  /** The position that is stored, at most `OUTBOX.storeMs` of deliveries behind `lastId`, and the monotonic time at which it was. */
  storedId: number
  storedAt: number
  /** Whether the events after the stored position include some that the consumer names. Others can be skipped once more after a crash. */
  hasWanted: boolean
  /** After a failure, the consumer is not called before this monotonic time. */
  pausedUntil: number
  failures: number
  busy: Promise<void> | undefined
}

export function createOutbox({ catalog, clock, log, nodes }: OutboxOptions): Outbox {
  const readers: Reader[] = []
  const abort = new AbortController()
  let isStarted = false
  /** Whether a delivery is scheduled. A transaction can write many events. */
  let isWaking = false
  /** The slice that was read last. */
  let shared: { after: number; rows: Promise<OutboxRow[]> } | undefined

  /** Schedules a delivery. The catalog runs one transaction at a time, so the delivery reads after the commit of the event. */
  const wake = (): void => {
    if (!isStarted || isWaking) return
    isWaking = true
    setTimeout(() => {
      isWaking = false
      void deliver()
    }, 0)
  }
  const deliver = (): Promise<void> => Promise.all(readers.map(read)).then(() => {})
  async function read(reader: Reader): Promise<void> {
    // Events that arrived during a delivery need another one.
    while (reader.busy) await reader.busy
    if (!(reader.consumer.isOn?.() ?? true) || reader.pausedUntil > clock.monotonic()) return
    reader.busy = readAll(reader)
    await reader.busy
    reader.busy = undefined
  }
  async function readPosition(reader: Reader, statements: Statements = catalog): Promise<void> {
    reader.lastId = await openCursor(statements, reader.consumer.name)
    reader.storedId = reader.lastId
  }
  /** Returns whether this node delivers to a consumer. It continues where another one has stopped. */
  const isOurs = async (reader: Reader): Promise<boolean> =>
    !nodes || nodes.takeTurn(`deliver to ${reader.consumer.name}`, () => readPosition(reader))
  /** Reads the events after an id. Consumers that are at the same place share what was read, if nothing can be added to it. */
  function sliceAfter(after: number): Promise<OutboxRow[]> {
    if (shared?.after === after) return shared.rows
    const rows = listOutbox(catalog, { after, limit: OUTBOX.slice })
    const own = { after, rows }
    shared = own
    const forget = () => {
      if (shared === own) shared = undefined
    }
    rows.then((read) => read.length < OUTBOX.slice && forget(), forget)
    return rows
  }
  async function readAll(reader: Reader): Promise<void> {
    const { consumer } = reader
    reader.storedAt = clock.monotonic()
    try {
      for (let more = true; more && !abort.signal.aborted && (await isOurs(reader)); ) {
        const rows = await sliceAfter(reader.lastId)
        const wanted = rows.filter((row) => wants(consumer, row))
        reader.hasWanted ||= wanted.length > 0
        const concerned = consumer.concerned && wanted.length > 0 ? await consumer.concerned(wanted) : wanted
        for (const row of concerned) if (!(await deliverOne(reader, row))) return
        reader.lastId = rows.at(-1)?.id ?? reader.lastId
        more = rows.length === OUTBOX.slice
      }
    } catch (error) {
      if (abort.signal.aborted) return
      reader.failures++
      reader.pausedUntil = clock.monotonic() + Math.min(OUTBOX.longestPauseMs, 1_000 * 2 ** (reader.failures - 1))
      log.error("a product event could not be delivered", { consumer: consumer.name, after: reader.lastId, error })
    } finally {
      if (reader.hasWanted || reader.lastId - reader.storedId >= OUTBOX.maxSkipped) await storeLastPosition(reader)
      reader.hasWanted = false
    }
  }
  const storeLastPosition = (reader: Reader): Promise<void> =>
    storePosition(reader).catch((error) =>
      log.warn("some product events may be delivered twice", { consumer: reader.consumer.name, error }),
    )

  /** Delivers an event. Returns false if the consumer was disabled meanwhile or the process is stopping. */
  async function deliverOne(reader: Reader, row: OutboxRow): Promise<boolean> {
    const { consumer } = reader
    if (abort.signal.aborted || !(consumer.isOn?.() ?? true)) return false
    await consumer.consume(row, abort.signal)
    reader.lastId = row.id
    reader.failures = 0
    if (clock.monotonic() - reader.storedAt >= OUTBOX.storeMs) await storePosition(reader)
    return true
  }
  /** Stores the position. Not after each event, because that waits for the disk. After a crash, the events since then are delivered again. */
  async function storePosition(reader: Reader): Promise<void> {
    reader.storedAt = clock.monotonic()
    if (reader.lastId === reader.storedId) return
    const { lastId } = reader
    await moveCursor(catalog, reader.consumer.name, lastId)
    reader.storedId = lastId
  }

  async function write(statements: Statements, ...events: readonly ProductEvent[]): Promise<void> {
    const at = clock.now()
    await insertOutboxRows(
      statements,
      events.map(({ event, organizationId, siteId, payload = {} }) => ({
        ...{ event, organization_id: organizationId, site_id: siteId ?? null, payload, at },
      })),
    )
    wake()
  }

  return {
    write,
    writeAlone: (event) => catalog.transaction((statements) => write(statements, event)),
    get: (id) => outboxRowById(catalog, id),
    hasConsumer: (event) => readers.some(({ consumer }) => consumer.events.includes(event) && (consumer.isOn?.() ?? true)),
    async isWanted({ event, organizationId, siteId }) {
      const row = { id: 0, event, organization_id: organizationId, site_id: siteId ?? null, payload: {}, at: clock.now() }
      for (const { consumer } of readers) {
        if (!wants(consumer, row)) continue
        if (!consumer.concerned || (await consumer.concerned([row])).length > 0) return true
      }
      return false
    },
    register(consumer) {
      if (readers.some((reader) => reader.consumer.name === consumer.name)) throw new Error(`Two consumers have the name ${consumer.name}`)
      readers.push({ consumer, lastId: 0, storedId: 0, storedAt: 0, hasWanted: false, pausedUntil: 0, failures: 0, busy: undefined })
    },
    async start() {
      await catalog.transaction(async (statements) => {
        for (const reader of readers) await readPosition(reader, statements)
      })
      isStarted = true
    },
    deliver,
    async forgetOld() {
      const enabled = readers.filter(({ consumer }) => consumer.isOn?.() ?? true)
      // Other nodes deliver to some consumers.
      const ends = await Promise.all(enabled.map(({ consumer, lastId }) => (nodes ? openCursor(catalog, consumer.name) : lastId)))
      // Disabled consumers do not count, because they would keep all events forever. They only miss events older than a month.
      const upTo = ends.length > 0 ? Math.min(...ends) : await lastOutboxId(catalog)
      const before = clock.now() - OUTBOX.keptDays * 86_400_000
      while ((await deleteOutbox(catalog, { before, upTo })) === 1_000) await Bun.sleep(0)
    },
    async stop() {
      abort.abort()
      const stopReader = async (reader: Reader) => {
        await reader.busy
        await storeLastPosition(reader)
      }
      await Promise.race([Promise.all(readers.map(stopReader)), Bun.sleep(OUTBOX.stopMs)])
    },
  }
}

const wants = ({ events }: Consumer, { event }: OutboxRow): boolean =>
  events.some((name) => (name.endsWith("*") ? event.startsWith(name.slice(0, -1)) : event === name))
