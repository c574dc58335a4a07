import { answerReads } from "../../store/clickhouse/read/channel.ts"
import { sendToClickhouse } from "./network.ts"

/** The network thread of a query worker: reads from ClickHouse while the query worker waits. */
self.onmessage = answerReads(sendToClickhouse)
