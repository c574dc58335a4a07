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
): Pick<Host, "record" | "recordLater" | "senderOf"> {
  function declared({ name, props, proxied }: PluginRecord): NewRecord {
    const known = records[name]
    if (!known) throw new Error(`The plugin ${id} records ${name}, which is not in its list of records`)
    const texts: [key: string, value: string][] = []
    for (const key in props) if (props[key] !== undefined) texts.push([key, String(props[key])])
    return { name, kind: known.kind, props: texts, proxied: proxied ?? false }
  }
  return {
    senderOf: (asked) => collector.senderOf(requestOf(asked)),
    record: async (asked, site, event) => collector.record(site, declared(event), requestOf(asked)),
    recordLater: (asked, site, event) => collector.recordLater(site, declared(event), requestOf(asked)),
  }
}

/** Converts a request of a visitor for ingestion. */
export const requestOf = (asked: Asked): CollectRequest => new AskedRequest(asked)

/** Creates a request that reads its parts lazily, because a click is processed twice and the peer address is expensive to read. */
class AskedRequest implements CollectRequest {
  readonly body = NOTHING
  readonly #asked: Asked

  constructor(asked: Asked) {
    this.#asked = asked
  }
  get method() {
    return this.#asked.request.method
  }
  get url() {
    return this.#asked.request.url
  }
  get headers() {
    return this.#asked.request.headers
  }
  get peer() {
    const { request, server } = this.#asked
    return server?.requestIP(request)?.address
  }
}
