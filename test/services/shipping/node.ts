/**
 * A node that stores events and ships them, for tests that kill it. Arguments: the folder, the number of the node, the address of ClickHouse
 * and options as JSON. It accepts events as `POST /` with the amounts of sales, one visit for each, and answers as a collector does.
 */
import { join } from "node:path"
import { AppError } from "../../../src/domain/error.ts"
import { EventBuffer } from "../../../src/ingest/commit/buffer.ts"
import { recordEvent } from "../../../src/ingest/commit/visits.ts"
import { type ShippingOptions, startShipping } from "../../../src/services/shipping/shipping.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { event, NO_TRAITS } from "../../store/events/samples.ts"

const [folder, node, server, options] = process.argv.slice(2) as [string, string, string, string]
const clock = { now: Date.now, monotonic: () => performance.now() }
const path = join(folder, "events.db")
const siteKey = async (siteId: number) => new Uint8Array(32).fill(siteId)
const store = openEventStore(path, { now: clock.now() })
store.beginShipping(Number(node), siteKey)
const shipping = startShipping({
  ...{ store, path, clock, siteKey, node: Number(node), spoolBytes: 20 * 2 ** 30 },
  server: JSON.parse(server) as ShippingOptions["server"],
  workerUrl: new URL("../../../src/services/shipping/worker.ts", import.meta.url).href,
  ...(JSON.parse(options) as Partial<ShippingOptions>),
})
const buffer = new EventBuffer({ record: recordEvent, store, clock, shipping })

const day = new Date().toISOString().slice(0, 10)
const running = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  routes: {
    "/state": () => Response.json({ ...store.unshipped(), state: shipping.state, isLate: shipping.isLate }),
    "/seal": async () => {
      await store.seal(clock.now() + 40 * 60_000, true)
      return new Response()
    },
    "/drop": async () => {
      await shipping.dropShipped()
      await store.dropRetired(clock.now() + 60_000)
      await store.returnFreePages()
      return Response.json(store.facts().segments)
    },
    "/": async (request) => {
      const amounts = (await request.json()) as number[]
      const candidates = amounts.map((amount) => ({
        ...{ siteId: 1, day, traits: NO_TRAITS, id: "", counters: [], identifies: false },
        event: event({ at: clock.now(), name: "Sale", revenue: { amount, currency: "EUR" } }),
        identity: { current: { period: day, id: { high: Number(node), low: amount } }, previous: undefined, person: undefined },
      }))
      try {
        await buffer.store(candidates, 1_000)
        return Response.json({ state: shipping.state }, { status: 202 })
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return Response.json({ code: error.code, ...error.members }, { status: 503 })
      }
    },
  },
})
console.log(running.port)
process.on("SIGTERM", () => {
  buffer.stop()
  shipping.stop()
  process.exit(0)
})
