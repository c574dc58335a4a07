import { parseAddressList } from "../ingest/address-list.ts"
import type { Collector } from "../ingest/collect.ts"
import { openOperatorFile, tellingOnce } from "../ingest/operator-file.ts"
import type { AnyPlugin } from "./contract.ts"
import type { Host } from "./host.ts"
import type { HostOptions } from "./hosts.ts"
import { requestOf } from "./recording.ts"

/** Lists of addresses that the operator gives to plugins. */
export interface AddressLists {
  forPlugin(plugin: AnyPlugin, values: Readonly<Record<string, unknown>>): Pick<Host, "addressList">
  /** Reads those whose file has changed. What cannot be read stays as it was, and is told of once in the log. */
  refresh(): Promise<void>
}

export function addressLists({ collector, log }: Pick<HostOptions, "log"> & { collector: Pick<Collector, "comesFrom"> }): AddressLists {
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
        watched.push(tellingOnce(read, warn))
        return (asked) => collector.comesFrom(file.content()!, requestOf(asked)) // read just now, and kept from then on
      },
    }),
    async refresh() {
      for (const look of watched) await look()
    },
  }
}

const listIn = (bytes: ArrayBuffer) => parseAddressList(new TextDecoder().decode(bytes))

/** The system's own words name the path once more. */
const faultText = (fault: (Error & { code?: string }) | undefined): string | undefined =>
  fault?.code === undefined ? fault?.message : `cannot be read (${fault.code})`
