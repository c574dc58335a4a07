import type { ClickhouseServer } from "./clickhouse/client.ts"
import { openChannel } from "./clickhouse/read/channel.ts"
import { openClickhouseReader } from "./clickhouse/read/reader.ts"
import type { EventReader } from "./events/part.ts"
import { type EventReaderOptions, openEventReader } from "./events/reader.ts"
import { openRowReader, type RowServerPlace } from "./rows/reader.ts"

/** Where the events of an instance are when they are on a server. */
interface RemoteEvents {
  server: ClickhouseServer
  /** URL of the network thread that each reader starts. */
  networkUrl: string
}

export interface EventLocation {
  /** Path of the node's event store. */
  path: string
  /** Default: all events are in the node's event store. */
  remote?: RemoteEvents
  /** Server with the row tables of areas. Default: they are in the node's event store. */
  rows?: RowServerPlace
}

interface OpeningOptions extends Omit<EventReaderOptions, "rowTables"> {
  /** Throws when the query that is running was cancelled. */
  check(): void
}

/** Opens the events of an instance for reading. */
export function openEvents({ path, remote, rows }: EventLocation, { check, ...options }: OpeningOptions): EventReader {
  const local = openEventReader(path, { ...options, ...(rows && { rowTables: openRowReader(rows, check) }) })
  if (!remote) return local
  return openClickhouseReader({ channel: openChannel(remote.networkUrl, remote.server), cacheBytes: options.cacheBytes, local, check })
}
