/** Reads of row tables on a server, in a query worker. Queries are synchronous, so they ask a thread of their own. */
import { type Catalog, openCatalog } from "../catalog/catalog.ts"
import { type FaultKind, StoreFault } from "../events/fault.ts"
import type { RowTables, SentStatement } from "../events/tables/row-tables.ts"
import { Sql } from "../sql.ts"
import { answerRequests, openThreadChannel } from "../thread-channel.ts"

/** A libSQL server with the row tables of plugins. */
export interface RowServer {
  url: string
  authToken: string | undefined
}

/** The server as a query worker reaches it. */
export interface RowServerPlace extends RowServer {
  /** URL of `worker.ts`. */
  threadUrl: string
}

type ReadAnswer = { rows: object[] } | { kind: FaultKind; message: string }

/** Opens the row tables of a server for reading. `check` throws when the query that is running was cancelled. */
export function openRowReader({ threadUrl, ...server }: RowServerPlace, check: () => void): RowTables {
  const { send, close } = openThreadChannel<RowServer, SentStatement, ReadAnswer>(threadUrl, server)
  const read = ({ text, values }: SentStatement): object[] => {
    const answer = send({ text, values }).receive(check)
    if ("rows" in answer) return answer.rows
    throw new StoreFault(answer.kind, answer.message)
  }
  return {
    rows: read,
    eachRow(statement, take) {
      for (const row of read(statement)) take(row)
    },
    close,
  }
}

/** Answers the reads of a channel, in the thread of the network: `self.onmessage = answerRowReads()`. */
export const answerRowReads = () =>
  answerRequests<RowServer, SentStatement, ReadAnswer>((server) => {
    let opened: Promise<Catalog> | undefined
    return async ({ text, values }) => {
      try {
        opened ??= openRowServer(server)
        return { rows: await (await opened).all<object>(new Sql(text, values)) }
      } catch (error) {
        if (!(error instanceof StoreFault)) throw error
        return { kind: error.kind, message: error.message }
      }
    }
  })

/** Opens the database of a server. */
export const openRowServer = ({ url, authToken }: RowServer): Promise<Catalog> =>
  openCatalog(url, { holds: "rows", ...(authToken !== undefined && { authToken }) })
