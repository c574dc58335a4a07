import { createClickhouse } from "../../store/clickhouse/client.ts"
import { insertEventIds } from "../../store/clickhouse/event-ids.ts"
import { ROW_COLUMNS } from "../../store/clickhouse/row-binary.ts"
import { ChangeReader } from "../../store/clickhouse/ship/changes.ts"
import { Shipper } from "../../store/clickhouse/ship/shipper.ts"
import { TotalsShipper } from "../../store/clickhouse/ship/totals.ts"
import type { FromShipper, ToShipper } from "./messages.ts"
import { sendToClickhouse } from "./network.ts"

/** The shipping thread: follows the store through a read-only connection and inserts what has changed into ClickHouse. */
let shipper: Shipper | undefined
/** Keys of sites that were asked for. */
const keys = new Map<number, PromiseWithResolvers<Uint8Array>>()

const CLOCK = { now: Date.now, monotonic: () => performance.now() }

self.onmessage = ({ data }: MessageEvent<ToShipper>) => {
  if (data.type === "open") start(data)
  else if (data.type === "synced") shipper?.synced(data.record)
  else if (data.type === "key") keys.get(data.siteId)?.resolve(data.key)
  else void shipper?.settled().then(() => post({ type: "settled", id: data.id }))
}

function start({ path, node, server, settings }: Extract<ToShipper, { type: "open" }>): void {
  const clickhouse = createClickhouse(server, sendToClickhouse)
  const reader = new ChangeReader(path, node)
  const totals = new TotalsShipper({ reader, clickhouse, node, settings })
  shipper = new Shipper({
    reader,
    node,
    insert: (rows, token) =>
      clickhouse.insert("visits", ROW_COLUMNS, rows, { settings: { ...settings, insert_deduplication_token: token } }),
    insertIds: (ids) => insertEventIds(clickhouse, node, ids, settings),
    shipTotals: () => totals.ship(),
    siteKey,
    clock: CLOCK,
    onConfirmed: (confirmation) => post({ type: "confirmed", ...confirmation }),
    onFault: (error) => post({ type: "fault", message: error instanceof Error ? error.message : String(error) }),
  })
  void shipper.run()
}

function siteKey(siteId: number): Promise<Uint8Array> {
  const known = keys.get(siteId)
  if (known) return known.promise
  const asked = Promise.withResolvers<Uint8Array>()
  keys.set(siteId, asked)
  post({ type: "key", siteId })
  return asked.promise
}

const post = (message: FromShipper): void => self.postMessage(message)
