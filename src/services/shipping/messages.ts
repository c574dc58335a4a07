import type { ClickhouseServer, Settings } from "../../store/clickhouse/client.ts"
import type { Confirmation } from "../../store/clickhouse/ship/shipper.ts"

/** What the main thread sends to the shipping thread. */
export type ToShipper =
  | { type: "open"; path: string; node: number; server: ClickhouseServer; settings: Settings }
  /** The log is on disk up to a record. */
  | { type: "synced"; record: number }
  | { type: "key"; siteId: number; key: Uint8Array }
  | { type: "settle"; id: number }

export type FromShipper =
  | ({ type: "confirmed" } & Confirmation)
  | { type: "key"; siteId: number }
  | { type: "settled"; id: number }
  /** An attempt failed. The next one follows. */
  | { type: "fault"; message: string }
