import type { RecordCollector } from "../../ingest/collect/collect.ts"
import type { NewRecord } from "../../ingest/collect/records.ts"
import type { CollectRequest } from "../../ingest/request/request.ts"
import type { AnyPlugin } from "../contract.ts"
import type { Asked, Host, PluginRecord } from "./host.ts"

const NOTHING = new Uint8Array()

/** Recording of requests of visitors. Only the core reads where a request comes from. */
export function recording(
  collector: Pick<RecordCollector, "record" | "recordLater" | "senderOf">,
  { id, records = {} }: AnyPlugin,
): Pick<Host, "prepareRecord" | "record" | "recordLater" | "senderOf"> {
  function prepareRecord({ name, props, proxied = false }: PluginRecord): PreparedRecord {
    const known = records[name]
    if (!known) throw new Error(`The plugin ${id} records ${name}, which is not in its list of records`)
    const texts: [key: string, value: string][] = []
    for (const key in props) if (props[key] !== undefined) texts.push([key, String(props[key])])
    return new PreparedRecord(name, known.kind, texts, proxied)
  }
  const prepared = (event: PluginRecord | PreparedRecord) => (event instanceof PreparedRecord ? event : prepareRecord(event))
  return {
    prepareRecord,
    senderOf: (asked) => collector.senderOf(requestOf(asked)),
    record: async (asked, site, event) => collector.record(site, prepared(event), requestOf(asked)),
    recordLater: (asked, site, event) => collector.recordLater(site, prepared(event), requestOf(asked)),
  }
}

/** A declared record with its properties as texts. A class, so that plugins cannot make one of a record that they do not declare. */
export class PreparedRecord implements NewRecord {
  constructor(
    readonly name: string,
    readonly kind: NewRecord["kind"],
    readonly props: NewRecord["props"],
    readonly proxied: boolean,
  ) {}
}

/** Returns a request of a visitor in the form that ingestion expects. */
export const requestOf = (asked: Asked): AskedRequest => (asked instanceof AskedRequest ? asked : new AskedRequest(asked))

/**
 * A request of a visitor that areas and ingestion read in turn. Reads its parts lazily, because the peer address is expensive to read,
 * and keeps what was read about the sender.
 */
class AskedRequest implements CollectRequest {
  readonly request: Request
  readonly server: Asked["server"]
  readonly body = NOTHING
  requester: CollectRequest["requester"]

  constructor({ request, server }: Asked) {
    this.request = request
    this.server = server
  }
  get method() {
    return this.request.method
  }
  get url() {
    return this.request.url
  }
  get headers() {
    return this.request.headers
  }
  get peer() {
    return this.server?.requestIP(this.request)?.address
  }
}
