import { answerReads } from "../../../src/store/clickhouse/read/channel.ts"
import { sendDirectly } from "./chdb.ts"

/** The network thread of a reader in tests. */
self.onmessage = answerReads(sendDirectly)
