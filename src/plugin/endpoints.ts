import { AppError } from "../domain/error.ts"
import { pluginFault } from "./check.ts"
import type { PluginEndpoint } from "./contract.ts"
import type { Asked } from "./host/host.ts"
import { requestOf } from "./host/recording.ts"

/** Answers a request at an endpoint of a plugin, before the routers. Returns undefined for other requests. Throws `not_found` at the path of a disabled plugin. */
export type AnswerAtEndpoint = (asked: Asked, path: string) => Response | Promise<Response> | undefined

interface EndpointsOf {
  id: string
  endpoints: readonly PluginEndpoint[]
  /** Open paths of the plugin, including those from its settings. */
  open: readonly string[]
  isOn(): boolean
}

/** Combines the endpoints of all plugins. Throws if an endpoint is not at an open path of its plugin. */
export function combineEndpoints(plugins: readonly EndpointsOf[]): AnswerAtEndpoint {
  const endpoints = plugins.flatMap(({ id, endpoints, open, isOn }) => endpoints.map((endpoint) => ({ id, open, isOn, ...endpoint })))
  for (const { id, open, at } of endpoints)
    if (typeof at === "string" && !open.includes(at)) throw pluginFault(id, `the endpoint ${at} is not an open path of the plugin`)
  const paths = endpoints.flatMap((endpoint) => (typeof endpoint.at === "string" ? [{ ...endpoint, base: `/${endpoint.at}` }] : []))
  const hosts = endpoints.flatMap(({ at, isOn, answer }) => (typeof at === "string" ? [] : [{ owns: at, isOn, answer }]))

  return (asked, path) => {
    for (const { base, isOn, answer } of paths) {
      if (!path.startsWith(base) || (path.length > base.length && path[base.length] !== "/")) continue
      if (!isOn()) throw new AppError("not_found", "This address does not exist.")
      return answer(requestOf(asked), path, hostOf(asked.request))
    }
    if (hosts.length === 0) return undefined
    const host = hostOf(asked.request)
    for (const { owns, isOn, answer } of hosts) if (isOn() && owns(host)) return answer(requestOf(asked), path, host)
    return undefined
  }
}

/** Returns the host of a request in lower case, without port and trailing dot. */
function hostOf({ headers }: Request): string {
  const sent = headers.get("host") ?? ""
  // Most requests have the same host as the previous one.
  if (sent !== latest.sent) latest = { sent, host: sent.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "") }
  return latest.host
}

let latest = { sent: "", host: "" }
