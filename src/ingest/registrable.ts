import { getDomain } from "tldts"
import { remembered } from "./remembered.ts"

/** The domain somebody registered, by the public suffix list with its private section; "" for addresses and bare names. */
export const registrableDomain = remembered(10_000, (host) => getDomain(host, { allowPrivateDomains: true, validateHostname: false }) ?? "")

/** The first of a host and its parents (`a.b.c`, `b.c`, `c`) for which there is a value. */
export function byParents<Value>(values: ReadonlyMap<string, Value>, host: string): Value | undefined {
  for (let at = 0; ; ) {
    const found = values.get(at === 0 ? host : host.slice(at))
    if (found !== undefined) return found
    const dot = host.indexOf(".", at)
    if (dot < 0) return undefined
    at = dot + 1
  }
}

/** The host itself or the parent of it that a set holds. */
export function parentIn(hosts: ReadonlySet<string>, host: string): string | undefined {
  for (let at = 0; ; ) {
    const parent = at === 0 ? host : host.slice(at)
    if (hosts.has(parent)) return parent
    const dot = host.indexOf(".", at)
    if (dot < 0) return undefined
    at = dot + 1
  }
}
