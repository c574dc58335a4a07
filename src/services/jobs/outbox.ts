import type { Clock } from "../../domain/clock.ts"
import type { ApiKey } from "../../domain/key.ts"
import { OUTBOX } from "../../domain/limits.ts"
import type { Log } from "../../domain/log.ts"
import type { Role } from "../../domain/organization.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  deleteOutbox,
  insertOutboxRow,
  lastOutboxId,
  listOutbox,
  moveCursor,
  type OutboxRow,
  openCursor,
} from "../../store/catalog/outbox.ts"

export interface ProductEvent {
  /** `<area>.<thing>.<verb>`; one that begins with `internal.` never leaves the process. */
  event: string
  organizationId: number
  siteId?: number
  payload?: unknown
}

export interface Consumer {
  /** Names its place in the list; the same over restarts. */
  name: string
  /** Which events; a `*` at the end stands for all that begin so. */
  events: readonly string[]
  /** One after the other, in id order, each at least once: it comes again until this resolves. */
  consume(row: OutboxRow, signal: AbortSignal): Promise<unknown>
  isOn?(): boolean
}

/** Product events: the only way in which areas meet, and what webhooks, alerts and mails live on. */
export interface Outbox {
  /** In the transaction of the change. Consumers are woken after its commit. */
  write(statements: Statements, event: ProductEvent): Promise<void>
  /** Of a change in row tables: after it. */
  writeAlone(event: ProductEvent): Promise<void>
  /** Before `start`. */
  register(consumer: Consumer): void
  /** New consumers begin with what comes from now on. */
  start(): Promise<void>
  /** Delivers what waits, now; resolves when all consumers have it or have failed. */
  deliver(): Promise<void>
  /** Removes rows that are old and behind all consumers that are on. */
  forgetOld(): Promise<void>
  stop(): Promise<void>
}

interface OutboxOptions {
  catalog: Catalog
  clock: Clock
  log: Log
}

/** A consumer at work. */
interface Reader {
  consumer: Consumer
  lastId: number
  /** Monotonic; not before it after a failure. */
  pausedUntil: number
  failures: number
  busy: Promise<void> | undefined
}

export function createOutbox({ catalog, clock, log }: OutboxOptions): Outbox {
  const readers: Reader[] = []
  const abort = new AbortController()
  let isStarted = false

  /** The catalog's queue puts the first look behind the transaction that the event is part of. */
  const wake = (): void => {
    if (isStarted) setTimeout(() => void deliver(), 0)
  }
  function deliver(): Promise<void> {
    const ready = readers.filter(({ consumer, pausedUntil }) => (consumer.isOn?.() ?? true) && pausedUntil <= clock.monotonic())
    return Promise.all(ready.map(read)).then(() => {})
  }
  async function read(reader: Reader): Promise<void> {
    // What came while it was at work is met by one more round.
    while (reader.busy) await reader.busy
    reader.busy = readAll(reader)
    await reader.busy
    reader.busy = undefined
  }
  async function readAll(reader: Reader): Promise<void> {
    const { consumer } = reader
    try {
      for (let more = true; more && !abort.signal.aborted; ) {
        const rows = await listOutbox(catalog, { after: reader.lastId, limit: OUTBOX.slice })
        for (const row of rows) if (!(await hand(reader, row))) return
        more = rows.length === OUTBOX.slice
      }
    } catch (error) {
      if (abort.signal.aborted) return
      reader.failures++
      reader.pausedUntil = clock.monotonic() + Math.min(OUTBOX.longestPauseMs, 1_000 * 2 ** (reader.failures - 1))
      log.error("a product event could not be handed over", { consumer: consumer.name, after: reader.lastId, error })
    }
  }
  /** False when the consumer was switched off meanwhile, or everything ends. */
  async function hand(reader: Reader, row: OutboxRow): Promise<boolean> {
    const { consumer } = reader
    if (abort.signal.aborted || !(consumer.isOn?.() ?? true)) return false
    if (wants(consumer, row)) await consumer.consume(row, abort.signal)
    await moveCursor(catalog, consumer.name, row.id)
    reader.lastId = row.id
    reader.failures = 0
    return true
  }

  async function write(statements: Statements, { event, organizationId, siteId, payload = {} }: ProductEvent): Promise<void> {
    const row = { event, organization_id: organizationId, site_id: siteId ?? null, payload, at: clock.now() }
    await insertOutboxRow(statements, row)
    wake()
  }

  return {
    write,
    writeAlone: (event) => catalog.transaction((statements) => write(statements, event)),
    register(consumer) {
      if (readers.some((reader) => reader.consumer.name === consumer.name)) throw new Error(`Two consumers are called ${consumer.name}`)
      readers.push({ consumer, lastId: 0, pausedUntil: 0, failures: 0, busy: undefined })
    },
    async start() {
      for (const reader of readers) reader.lastId = await openCursor(catalog, reader.consumer.name)
      isStarted = true
    },
    deliver,
    async forgetOld() {
      const ends = readers.filter(({ consumer }) => consumer.isOn?.() ?? true).map(({ lastId }) => lastId)
      // One that is switched off would hold everything back for ever; what it misses is older than a month.
      const upTo = ends.length > 0 ? Math.min(...ends) : await lastOutboxId(catalog)
      const before = clock.now() - OUTBOX.keptDays * 86_400_000
      while ((await deleteOutbox(catalog, { before, upTo })) === 1_000) await Bun.sleep(0)
    },
    async stop() {
      abort.abort()
      await Promise.race([Promise.all(readers.map(({ busy }) => busy)), Bun.sleep(OUTBOX.stopMs)])
    },
  }
}

const wants = ({ events }: Consumer, { event }: OutboxRow): boolean =>
  events.some((name) => (name.endsWith("*") ? event.startsWith(name.slice(0, -1)) : event === name))

/** What others are told of members and keys (areas/08 section 6): no address, and no secret. */

/** Of a user in an organization, with the role they have, or had. */
export const memberEvent = (
  verb: "joined" | "removed",
  { organizationId, userId, role }: { organizationId: number; userId: number; role: Role },
): ProductEvent => ({ event: `member.${verb}`, organizationId, payload: { user_id: userId, role } })

/** Nobody is a member by it yet. */
export const invitedEvent = ({ id, organization_id, role }: { id: number; organization_id: number; role: Role }): ProductEvent => ({
  event: "member.invited",
  organizationId: organization_id,
  payload: { invitation_id: id, role },
})

export const keyEvent = (verb: "created" | "expiring" | "revoked", key: ApiKey): ProductEvent => ({
  event: `api_key.${verb}`,
  organizationId: key.organization_id,
  payload: { api_key_id: key.id, name: key.name, scopes: key.scopes, expires_at: key.expires_at },
})
