/** What the processes and threads of a test with ClickHouse share. */
import { join } from "node:path"
import type { Send } from "../../../src/store/clickhouse/client.ts"

/** Folder of ClickHouse as a library, outside the development dependencies. */
export const CHDB_FOLDER = join(import.meta.dir, "../../../dist/rivals")

export const USER = "footfall"
export const PASSWORD = "a password"

/** Sends a request without the rules of the outbound client, which only the program needs. */
export const sendDirectly: Send = (url, { method, headers, body, timeoutMs, signal }) => {
  const late = AbortSignal.timeout(timeoutMs)
  return fetch(url, { method, headers, body, signal: signal ? AbortSignal.any([late, signal]) : late })
}
