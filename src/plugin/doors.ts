import { AppError } from "../domain/error.ts"
import { pluginFault } from "./check.ts"
import type { PluginDoor } from "./contract.ts"
import type { Asked } from "./host.ts"

/** What of all plugins answers before the routers; undefined for what is nobody's. Throws `not_found` at paths of what is off. */
export type AskDoors = (asked: Asked, path: string) => Response | Promise<Response> | undefined

interface DoorsOf {
  id: string
  doors: readonly PluginDoor[]
  /** Open paths, those from its settings included. */
  open: readonly string[]
  isOn(): boolean
}

/** Throws when a door is at no open path of its plugin. */
export function allDoors(plugins: readonly DoorsOf[]): AskDoors {
  const doors = plugins.flatMap(({ id, doors, open, isOn }) => doors.map((door) => ({ id, open, isOn, ...door })))
  for (const { id, open, at } of doors)
    if (typeof at === "string" && !open.includes(at)) throw pluginFault(id, `the door at ${at} is at none of its open paths`)
  const paths = doors.flatMap((door) => (typeof door.at === "string" ? [{ ...door, base: `/${door.at}` }] : []))
  const hosts = doors.flatMap(({ at, isOn, answer }) => (typeof at === "string" ? [] : [{ owns: at, isOn, answer }]))

  return (asked, path) => {
    for (const { base, isOn, answer } of paths) {
      if (!path.startsWith(base) || (path.length > base.length && path[base.length] !== "/")) continue
      if (!isOn()) throw new AppError("not_found", "Nothing is at this address.")
      return answer(asked, path, hostOf(asked.request))
    }
    if (hosts.length === 0) return undefined
    const host = hostOf(asked.request)
    for (const { owns, isOn, answer } of hosts) if (isOn() && owns(host)) return answer(asked, path, host)
    return undefined
  }
}

/** Lower case, without a port and a dot at its end; the one place that reads the header for this. */
function hostOf({ headers }: Request): string {
  const sent = headers.get("host") ?? ""
  // Nearly every request names the host of the one before.
  if (sent !== latest.sent) latest = { sent, host: sent.toLowerCase().replace(/:\d*$/, "").replace(/\.$/, "") }
  return latest.host
}

let latest = { sent: "", host: "" }
