import { type Static, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { Site } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { SearchFailure } from "./failure.ts"
import { askGoogle, type GoogleAccess } from "./google-api.ts"

/** A property of an account. */
export interface Property {
  property: string
  /** Display name. */
  label: string
  permission: string
  /** How well it fits the site; 0 for the best, undefined for one that does not. */
  rank: number | undefined
}

const SITES = t.Object({
  // Absent if the account has no property.
  siteEntry: t.Optional(t.Array(t.Object({ siteUrl: t.String({ maxLength: 2_048 }), permissionLevel: t.String({ maxLength: 100 }) }))),
})

const GSC_BASE = "https://www.googleapis.com"
const GA4_ADMIN_BASE = "https://analyticsadmin.googleapis.com"

const baseOf = (configured: string | undefined, usual: string) => ({
  base: (configured ?? usual).replace(/\/+$/, ""),
  byOperator: configured !== undefined,
})

export const searchConsoleBase = (host: IntegrationsHost) => baseOf(host.settings.gsc_api_base, GSC_BASE)

/** Lists the properties of an account in Search Console. */
export async function searchProperties(host: IntegrationsHost, access: GoogleAccess, site: Site): Promise<Property[]> {
  const { base, byOperator } = searchConsoleBase(host)
  const answer = await askGoogle(host, access, { url: `${base}/webmasters/v3/sites`, byOperator })
  return (
    read(SITES, answer).siteEntry?.map(({ siteUrl, permissionLevel }) => ({
      property: siteUrl,
      label: siteUrl,
      permission: permissionLevel,
      rank: permissionLevel === UNVERIFIED ? undefined : rankOf(siteUrl, site.hosts),
    })) ?? []
  )
}

/** Permission of an account that has not proved that it owns the property. Its data can't be fetched. */
export const UNVERIFIED = "siteUnverifiedUser"

/** A domain property covers all protocols and subdomains, so it fits best; then the URL of a host. */
function rankOf(property: string, hosts: readonly string[]): number | undefined {
  const domain = property.startsWith("sc-domain:") ? property.slice("sc-domain:".length) : undefined
  if (domain !== undefined && hosts.includes(domain)) return 0
  if (domain !== undefined && hosts.some((host) => host.endsWith(`.${domain}`))) return 1
  return hosts.some((host) => property === `https://${host}/`) ? 2 : undefined
}

const SUMMARIES = t.Object({
  accountSummaries: t.Optional(
    t.Array(
      t.Object({
        displayName: t.Optional(t.String()),
        propertySummaries: t.Optional(
          t.Array(t.Object({ property: t.String({ pattern: "^properties/\\d{1,20}$" }), displayName: t.Optional(t.String()) })),
        ),
      }),
    ),
  ),
  nextPageToken: t.Optional(t.String()),
})
const MAX_PAGES = 20

/** Lists the properties of an account in Google Analytics. */
export async function analyticsProperties(host: IntegrationsHost, access: GoogleAccess, site: Site): Promise<Property[]> {
  const { base, byOperator } = baseOf(host.settings.ga4_admin_api_base, GA4_ADMIN_BASE)
  const found: Property[] = []
  for (let page = 0, token: string | undefined; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ pageSize: "200", ...(token !== undefined && { pageToken: token }) })
    const answer = read(SUMMARIES, await askGoogle(host, access, { url: `${base}/v1beta/accountSummaries?${query}`, byOperator }))
    for (const { displayName: account = "", propertySummaries = [] } of answer.accountSummaries ?? [])
      for (const { property, displayName: name = property } of propertySummaries)
        found.push({
          property,
          label: account === "" ? name : `${account} – ${name}`,
          permission: "read",
          rank: namedLike(name, site) ? 0 : undefined,
        })
    token = answer.nextPageToken
    if (token === undefined || token === "") break
  }
  return found
}

const namedLike = (name: string, site: Site): boolean => {
  const text = name.toLowerCase()
  return text === site.name.toLowerCase() || site.hosts.some((host) => text.includes(host))
}

/** Checks an answer of a service. Throws `unavailable` for a malformed one. */
export function read<Schema extends ReturnType<typeof t.Object>>(schema: Schema, answer: unknown): Static<Schema> {
  if (!Value.Check(schema, answer)) throw new SearchFailure("unavailable")
  return answer as Static<Schema> // just checked
}
