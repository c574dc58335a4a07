import type { Collector } from "../ingest/collect.ts"
import type { NewRecord } from "../ingest/records.ts"
import type { CollectRequest } from "../ingest/request.ts"
import type { AnyPlugin } from "./contract.ts"
import type { Asked, Host, PluginRecord } from "./host.ts"

const NOTHING = new Uint8Array()

/** What a plugin does with requests of visitors: the core alone looks at where they come from. */
export function recording(
  collector: Pick<Collector, "record" | "recordLater" | "senderOf">,
  { id, records = {} }: AnyPlugin,
): Pick<Host, "record" | "recordLater" | "senderOf"> {
  function declared({ name, props, proxied }: PluginRecord): NewRecord {
    const known = records[name]
    if (!known) throw new Error(`The plugin ${id} records ${name}, which is none of its records`)
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

/** Of a visitor, as collection takes it. */
export const requestOf = (asked: Asked): CollectRequest => new AskedRequest(asked)

/** Reads nothing before it is asked for: a click is looked at twice, and the address of a peer costs as much as five headers. */
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
