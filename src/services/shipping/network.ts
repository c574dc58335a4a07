import type { Send } from "../../store/clickhouse/client.ts"
import { createOutbound } from "../outbound/outbound.ts"

const CLOCK = { now: Date.now, monotonic: () => performance.now() }

/** Sends a request to ClickHouse. The operator has configured its address, so the rules for addresses of users do not apply. */
export const sendToClickhouse: Send = createOutbound({
  settings: { enabled: true, allowHttp: true, ports: [], privateRanges: [] },
  clock: CLOCK,
  version: "", // the client of ClickHouse has a user agent of its own
}).transfer
