import { parseHost } from "../domain/host.ts"
import { parseId } from "../domain/id.ts"
import { type ApiKey, reachesSite } from "../domain/key.ts"
import { coversHost, type Site } from "../domain/site.ts"
import type { Sites } from "./sites.ts"

type FoundSites = Pick<Sites, "directory" | "list">

/**
 * The sites that a key can see under a name: its id, also as text, its tracking id, or a host. Several only by host, where one
 * that is listed as it stands goes before `*.`; none when the name is nobody's, or not the key's.
 */
export async function namedSites({ directory, list }: FoundSites, key: ApiKey, name: string | number): Promise<Site[]> {
  const id = parseId(name)
  const site = id === undefined ? directory.byTrackingId(String(name)) : directory.byId(id)
  if (site) return reachesSite(key, site) ? [site] : []
  const host = typeof name === "string" ? parseHost(name) : undefined
  if (host === undefined) return []
  const own = (await list(key.organization_id)).filter((each) => reachesSite(key, each))
  const exact = own.filter(({ hosts }) => hosts.includes(host) || coversHost(hosts.filter(isPlain), host))
  return exact.length > 0 ? exact : own.filter(({ hosts }) => coversHost(hosts, host))
}

const isPlain = (host: string): boolean => !host.startsWith("*.")
