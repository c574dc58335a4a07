import { parseAddressList } from "../ingest/address/address-list.ts"
import { openOperatorFile, reportOnce } from "../ingest/address/operator-file.ts"
import type { ClientFacts } from "../ingest/collect/clients.ts"
import type { AnyPlugin } from "./contract.ts"
import type { Host } from "./host/host.ts"
import type { HostOptions } from "./host/hosts.ts"
import { requestOf } from "./host/recording.ts"

/** Address lists that the operator configures for plugins. */
export interface AddressLists {
  forPlugin(plugin: AnyPlugin, values: Readonly<Record<string, unknown>>): Pick<Host, "addressList">
  /** Reads lists whose file has changed. An unreadable file leaves the previous list in use and is logged once. */
  refresh(): Promise<void>
}

export function addressLists({ collector, log }: Pick<HostOptions, "log"> & { collector: Pick<ClientFacts, "comesFrom"> }): AddressLists {
  const watched: (() => Promise<void>)[] = []
  return {
    forPlugin: ({ id, settings }, values) => ({
      async addressList(name) {
        const path = values[name]
        if (typeof path !== "string") return undefined
        const setting = settings?.properties[name]?.["x-key"] ?? `${id}_${name}`
        const file = openOperatorFile(path, listIn)
        const read = async () => faultText(await file.refresh())
        const fault = await read()
        if (fault !== undefined) throw new Error(`${setting}: ${path}: ${fault}`)
        const warn = (cause: string) => log.warn("a list of addresses cannot be read; the old one stays in use", { setting, path, cause })
        watched.push(reportOnce(read, warn))
        return (asked) => collector.comesFrom(file.content()!, requestOf(asked)) // read above, and kept from then on
      },
    }),
    async refresh() {
      for (const look of watched) await look()
    },
  }
}

const listIn = (bytes: ArrayBuffer) => parseAddressList(new TextDecoder().decode(bytes))

/** Returns the cause without the path, which the system's message repeats. */
const faultText = (fault: (Error & { code?: string }) | undefined): string | undefined =>
  fault?.code === undefined ? fault?.message : `cannot be read (${fault.code})`
