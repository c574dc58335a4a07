import { type Static, Type as t } from "@sinclair/typebox"
import { parseCurrency } from "./currency.ts"
import { type Fault, refuseFaults } from "./error.ts"
import { hostOfUrl, parseHost } from "./host.ts"
import { THINGS } from "./limits.ts"
import { parseTimezone } from "./moment.ts"
import { fault, inDocumentOrder, inspect, mergedWith } from "./shape.ts"
import type { Site } from "./site.ts"

const { min: minimum, max: maximum } = THINGS.retentionDays

/** The writable fields of a site. */
export const SiteInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars, description: "Name of the site." }),
    hosts: t.Array(t.String(), {
      minItems: 1,
      maxItems: THINGS.hosts,
      description: "Host names of the site. A leading *. includes all subdomains.",
    }),
    timezone: t.Optional(t.String({ description: "IANA time zone of the site's days. Default: the setting of the instance." })),
    retention_days: t.Optional(
      t.Union([t.Integer({ minimum, maximum }), t.Null()], {
        description: "Number of days that events are kept. null means forever. Default: the setting of the instance.",
      }),
    ),
    revenue_currency: t.Optional(
      t.String({ description: "ISO 4217 code of the currency in which revenue is shown. Default: the setting of the instance." }),
    ),
  },
  { additionalProperties: false, title: "SiteInput" },
)
export type SiteInput = Static<typeof SiteInput>

/** The defaults for optional fields. */
export type SiteDefaults = Pick<Site, "timezone" | "retention_days" | "revenue_currency">
/** The writable fields of a site, with all defaults filled in. */
export type SiteFields = Pick<Site, "name" | "hosts"> & SiteDefaults

/** The shape of a site without its hosts, which are validated one by one, so that all faults are reported. */
const SiteShape = t.Object(
  { ...SiteInput.properties, hosts: t.Array(t.Unknown(), { minItems: 1, maxItems: THINGS.hosts }) },
  { additionalProperties: false },
)

/** Reads a new site from a request body. Throws `validation_failed` with all faults at once. */
export function parseSite(body: unknown, defaults: SiteDefaults): SiteFields {
  const { fields, faults } = readSite(body, defaults)
  refuseFaults(faults)
  return fields
}

/** Applies a merge patch to a site and validates the result like a new one. */
export function patchSite(site: SiteFields, patch: unknown): SiteFields {
  const { fields, faults } = readSitePatch(site, patch)
  refuseFaults(faults)
  return fields
}

/** Applies a merge patch and returns the faults instead of throwing them. The fields are valid only when there are none. */
export function readSitePatch(site: SiteFields, patch: unknown): { fields: SiteFields; faults: Fault[] } {
  const { name, hosts, timezone, retention_days, revenue_currency } = site
  return readSite(mergedWith({ name, hosts, timezone, retention_days, revenue_currency }, patch), site)
}

/** Reads a site and returns the faults instead of throwing them. The fields are valid only when there are none. */
export function readSite(body: unknown, defaults: SiteDefaults): { fields: SiteFields; faults: Fault[] } {
  const { fields, faults } = inspect(SiteShape, body)
  const hosts = (fields.hosts ?? []).map((item, i) => readHost(item, `/hosts/${i}`))
  const timezone = parseTimezone(fields.timezone ?? defaults.timezone)
  const currency = parseCurrency(fields.revenue_currency ?? defaults.revenue_currency)
  const meaning = hosts.filter((host) => typeof host !== "string")
  if (!timezone) meaning.push(fault("/timezone", "invalid_timezone", "must be an IANA zone such as Europe/Berlin"))
  if (!currency) meaning.push(fault("/revenue_currency", "invalid_currency", "must be an active ISO 4217 code such as EUR"))
  const read: SiteFields = {
    name: fields.name!, // present when there is no fault
    hosts: [...new Set(hosts.filter((host) => typeof host === "string"))],
    timezone: timezone!,
    retention_days: fields.retention_days === undefined ? defaults.retention_days : fields.retention_days,
    revenue_currency: currency!,
  }
  return { fields: read, faults: inDocumentOrder([...faults, ...meaning], body) }
}

function readHost(item: unknown, pointer: string): string | Fault {
  if (typeof item !== "string") return fault(pointer, "invalid_type", "must be text")
  const host = parseHost(item)
  if (host !== undefined) return host
  const meant = hostOfUrl(item)
  return {
    pointer,
    code: "invalid_host",
    detail: meant ? `Enter a host name, not a URL. Did you mean ${meant}?` : "This is not a valid host name.",
  }
}
