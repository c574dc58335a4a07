/**
 * Ships recorded events to a second engine. The log of the event store stays what an acknowledgement relies on: a thread follows it, and a
 * 202 waits until ClickHouse has the event too, or for a while if it does not answer. What it does not have is the spool.
 */
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Shipping as BufferShipping } from "../../ingest/commit/buffer.ts"
import type { ClickhouseServer, Settings } from "../../store/clickhouse/client.ts"
import type { EventStore } from "../../store/events/events.ts"
import { Acknowledgements } from "./acknowledgements.ts"
import type { FromShipper, ToShipper } from "./messages.ts"

export interface ShippingOptions {
  /** URL of `worker.ts`. */
  workerUrl: string
  store: Pick<EventStore, "lastRecord" | "confirmShipped" | "unshipped" | "hasUnshippedVisits" | "dropShipped" | "sync">
  /** Path of the event store. */
  path: string
  /** Number of the node, 1 to 255. */
  node: number
  server: ClickhouseServer
  /** Settings of inserts, such as the quorum of a cluster. */
  settings?: Settings
  /** Returns whether the node may write to the server: not after its lease is over. Default: it may. */
  mayShip?(): boolean
  /** Finds repeated events that other nodes have stored. */
  elsewhere?: BufferShipping["elsewhere"]
  /** Resolves when the server is prepared. Default: it is. */
  prepared?: Promise<unknown>
  siteKey(siteId: number): Promise<Uint8Array>
  clock: Clock
  /** Whether events are accepted while ClickHouse does not confirm them. Default: true. */
  spools?: boolean
  /** Limit of the spool in bytes. */
  spoolBytes: number
  /** How long the store keeps what ClickHouse has confirmed. Default: 48 hours. */
  keepMs?: number
  /** How long an acknowledgement waits for ClickHouse. Default: 2 s. */
  waitMs?: number
  /** Called for each failed attempt to ship. */
  onFault?(message: string): void
}

/** `spooling`: acknowledgements rely on the disk of the node. `full`: no events are accepted. */
export type ShippingState = "shipping" | "spooling" | "full"

export interface Shipping extends BufferShipping {
  readonly state: ShippingState
  /**
   * Whether ClickHouse lacks events that were stored more than ten seconds ago, or before the start. Those of visits with more than 500
   * events, which it has within ten seconds, do not count.
   */
  readonly isLate: boolean
  /** Resolves once ClickHouse has what the store contains now, and no earlier insert is on its way. */
  settled(): Promise<void>
  /** Deletes from the store the sealed visits that ClickHouse has had for long enough. */
  dropShipped(): Promise<void>
  /** Returns whether ClickHouse may lack events of this node, as other nodes see it: what `isLate` says, and after the end all that is left. */
  isBehind(): boolean
  /** Ends the thread, and what waits for it. The rest is shipped after the next start. */
  stop(): void
  /** The same, but first gives ClickHouse two seconds for the rest. */
  end(): Promise<void>
}

const WAIT_MS = 2_000
const KEEP_MS = 48 * 3_600_000
/** Interval at which the size of a growing spool is compared with its limit, and commits are looked for that brought no event. */
const WATCH_MS = 1_000
/** Age from which events that ClickHouse lacks are late. */
const LATE_MS = 10_000
/** Time for the rest at the end. */
const END_MS = 2_000
/** Pause before a thread that has failed is started again, and before a key is read again. */
const RESTART_MS = 1_000

/** Starts to ship what a store with a spool contains. */
export function startShipping(options: ShippingOptions): Shipping {
  const { store, clock, spools = true, spoolBytes, keepMs = KEEP_MS, waitMs = WAIT_MS, mayShip = () => true, onFault = () => {} } = options
  const unconfirmed = () => new AppError("unavailable", "Events cannot be stored for now.", { retry_after: 10 })
  const acknowledgements = new Acknowledgements({ clock, waitMs, mayRelyOnDisk: spools, refusal: unconfirmed })
  let isFull = false
  /** Last record before the start. */
  const before = store.lastRecord()
  let isLate = store.unshipped().records > 0 || store.hasUnshippedVisits()
  let isStopped = false
  /** Last record that the thread knows to be on disk. */
  let announced = 0
  /** Calls of `settled`, which a thread that is started again has to answer too. */
  const settling = new Map<number, () => void>()
  let lastSettling = 0
  let worker: Worker | undefined
  let restart: ReturnType<typeof setTimeout> | undefined
  const post = (message: ToShipper) => worker?.postMessage(message)

  function begin(): void {
    if (isStopped) return
    const { path, node, server, settings = {} } = options
    worker = new Worker(options.workerUrl)
    worker.addEventListener("message", ({ data }: MessageEvent<FromShipper>) => take(data))
    worker.addEventListener("error", (event) => {
      event.preventDefault()
      onFault(event.message)
      worker?.terminate()
      restart = setTimeout(begin, RESTART_MS)
    })
    post({ type: "open", path, node, server, settings })
    for (const id of settling.keys()) post({ type: "settle", id })
    announced = 0
    announce()
  }

  /** Reports what no event was acknowledged for: what an earlier process left in the log, and commits that wait for the disk themselves. */
  function announce(): void {
    const record = store.lastRecord()
    if (record > announced) void store.sync().then(() => synced(record), ignore)
  }

  /** Lets the thread ship what is on disk. Without a lease it waits, and a later call announces the record again. */
  function synced(record: number): void {
    if (!mayShip()) return
    announced = Math.max(announced, record)
    post({ type: "synced", record })
  }

  function take(message: FromShipper): void {
    if (message.type === "fault") onFault(message.message)
    else if (message.type === "key") void sendKey(message.siteId)
    else if (message.type === "settled") {
      settling.get(message.id)?.()
      settling.delete(message.id)
    } else {
      acknowledgements.confirm(message.record)
      try {
        store.confirmShipped(message.position, message.segments, clock.now())
      } catch (error) {
        // The store reports its own faults. What is not recorded is shipped again after the next start.
        onFault(String(error))
      }
      lookAtAge()
    }
  }

  /** What became late stays it until ClickHouse also has what was sealed meanwhile. */
  function lookAtAge(): void {
    if (acknowledgements.oldestAge >= LATE_MS) isLate = true
    else isLate &&= !acknowledgements.has(before) || store.hasUnshippedVisits()
  }

  /** Sends the key of a site, as soon as the catalog can be read. */
  async function sendKey(siteId: number): Promise<void> {
    while (!isStopped) {
      try {
        return post({ type: "key", siteId, key: await options.siteKey(siteId) })
      } catch (error) {
        onFault(String(error))
        await Bun.sleep(RESTART_MS)
      }
    }
  }

  const watching = setInterval(() => {
    announce()
    lookAtAge()
    if (acknowledgements.isSpooling || isFull) isFull = store.unshipped().bytes >= spoolBytes
  }, WATCH_MS)
  void (options.prepared ?? Promise.resolve()).then(begin, ignore)

  const hasRest = () => store.unshipped().records > 0 || store.hasUnshippedVisits()
  function settled(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    settling.set(++lastSettling, resolve)
    post({ type: "settle", id: lastSettling })
    return promise
  }
  function stop(): void {
    isStopped = true
    clearInterval(watching)
    clearTimeout(restart)
    worker?.terminate()
    acknowledgements.stop()
  }
  return {
    ...(options.elsewhere && { elsewhere: options.elsewhere }),
    get state() {
      if (isFull) return "full"
      return acknowledgements.isSpooling ? "spooling" : "shipping"
    },
    get isLate() {
      lookAtAge()
      return isLate
    },
    settled,
    dropShipped: () => store.dropShipped(clock.now() - keepMs, clock.now()),
    refusal() {
      if (isFull) return new AppError("storage_full", "The spool is full.", { retry_after: 10 })
      return acknowledgements.isSpooling && !spools ? unconfirmed() : undefined
    },
    acknowledge() {
      const record = store.lastRecord()
      synced(record)
      return acknowledgements.wait(record)
    },
    isBehind() {
      lookAtAge()
      return isLate || (isStopped && hasRest())
    },
    stop,
    async end() {
      announce()
      if (hasRest() && !acknowledgements.isSpooling && mayShip()) await Promise.race([settled(), Bun.sleep(END_MS)])
      stop()
    },
  }
}

/** The store, and the caller that prepares the server, report their own faults. */
const ignore = () => {}
