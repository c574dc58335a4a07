import type { Collector } from "../ingest/collect.ts"
import type { CollectRequest } from "../ingest/request.ts"
import type { AnyPlugin } from "./contract.ts"
import type { Asked, Host } from "./host.ts"

const NOTHING = new Uint8Array()

/** What a plugin does with requests of visitors: the core alone looks at where they come from. */
export function recording(
  collector: Pick<Collector, "record" | "senderOf">,
  { id, records = {} }: AnyPlugin,
): Pick<Host, "record" | "senderOf"> {
  return {
    senderOf: (asked) => collector.senderOf(requestOf(asked)),
    async record(asked, site, { name, props, proxied }) {
      const known = records[name]
      if (!known) throw new Error(`The plugin ${id} records ${name}, which is none of its records`)
      const texts = Object.fromEntries(Object.entries(props).map(([key, value]) => [key, String(value)]))
      await collector.record(site, { name, kind: known.kind, props: texts, ...(proxied && { proxied }) }, requestOf(asked))
    },
  }
}

const requestOf = ({ request, server }: Asked): CollectRequest => ({
  method: request.method,
  url: request.url,
  headers: request.headers,
  body: NOTHING,
  peer: server?.requestIP(request)?.address,
})
