import { type Static, Type as t } from "@sinclair/typebox"
import { type Fault, fault, inspect, isObject, refuseFaults } from "#plugin"
import type { Integration } from "../integration.ts"
import type { ReadPatch } from "../kind.ts"
import { isSearchType, SEARCH_TYPES, type SearchType } from "./search-type.ts"

const NAME = t.String({ minLength: 1, maxLength: 100, description: "Display name." })
const VERSION = t.Integer({ minimum: 1, description: "Version that the change is based on." })
const closed = { additionalProperties: false } as const

export const GoogleConnectInput = t.Object(
  {
    return_to: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 500,
        description:
          "Path of the page to which the browser returns, with the parameter `result`. Default: the Integrations page of the site.",
      }),
    ),
    service_account: t.Optional(
      t.Object({}, { additionalProperties: true, description: "JSON key of a service account, instead of granting access on a page." }),
    ),
  },
  { ...closed, title: "GoogleConnectInput" },
)

export interface GoogleConnect {
  returnTo: string | undefined
  serviceAccount: unknown
}

/** Parses the body that connects a Google account. Throws `validation_failed`. */
export function readGoogleConnect(body: unknown, { oauth, baseUrl }: { oauth: boolean; baseUrl: string }): GoogleConnect {
  const service_account = isObject(body) ? body.service_account : undefined
  // The key has line breaks, which texts must not have. It is checked where it is used.
  const { fields, faults } = inspect(GoogleConnectInput, isObject(service_account) ? { ...(body as object), service_account: {} } : body)
  const { return_to } = fields
  const more: Fault[] = []
  if (return_to !== undefined && !isLocalPath(return_to, baseUrl))
    more.push(fault("/return_to", "invalid_path", "is not a path of this instance"))
  if (service_account === undefined && !oauth && faults.length === 0)
    more.push(
      fault("/service_account", "required", "is required, because this instance has no client at Google (FOOTFALL_GOOGLE_CLIENT_ID)"),
    )
  refuseFaults([...faults, ...more])
  return { returnTo: return_to, serviceAccount: service_account }
}

/** Whether a text is a path that stays on this instance, however a browser reads it. */
function isLocalPath(path: string, baseUrl: string): boolean {
  if (!/^\/(?![/\\])[^\\\s]*$/.test(path)) return false
  const url = URL.parse(path, baseUrl)
  return url !== null && url.origin === new URL(baseUrl).origin
}

export const MappingInput = t.Object(
  {
    integration_id: t.Integer({ minimum: 1, description: "Id of the organization's connection to Search Console." }),
    property: t.String({
      minLength: 1,
      maxLength: 500,
      description: "Property, such as `sc-domain:example.com` or `https://example.com/`.",
    }),
    search_types: t.Optional(
      t.Array(t.Union(SEARCH_TYPES.map((type) => t.Literal(type))), {
        minItems: 1,
        uniqueItems: true,
        description: "Search types that are fetched. Default: `web`.",
      }),
    ),
    version: t.Optional(VERSION),
  },
  { ...closed, title: "SearchMappingInput" },
)
export type MappingInput = Static<typeof MappingInput>

export function readMapping(body: unknown): Required<Omit<MappingInput, "version">> & { version: number | undefined } {
  const { fields, faults } = inspect(MappingInput, body)
  refuseFaults(faults)
  const { integration_id, property, search_types = ["web"], version } = fields as MappingInput // the faults are refused
  return { integration_id, property, search_types: inOrder(search_types), version }
}

const inOrder = (types: readonly SearchType[]): SearchType[] => SEARCH_TYPES.filter((type) => types.includes(type))

const GooglePatch = t.Object(
  {
    name: t.Optional(NAME),
    config: t.Optional(t.Object({ property: t.Optional(t.String()), search_types: MappingInput.properties.search_types }, closed)),
    version: t.Optional(VERSION),
  },
  closed,
)

/** Parses a patch of a Google account or of a site's mapping. The property is changed by mapping another one. */
export function readGooglePatch(body: unknown, present: Integration): ReadPatch {
  const { fields, faults } = inspect(GooglePatch, body)
  const { name, config, version } = fields as Static<typeof GooglePatch> // what is of another type has a fault
  const more: Fault[] = []
  if (config?.property !== undefined && config.property !== present.config.property)
    more.push(fault("/config/property", "read_only", "is changed by mapping another property"))
  if (config?.search_types !== undefined && present.site_id === null)
    more.push(fault("/config/search_types", "unknown_field", "belongs to the mapping of a site"))
  refuseFaults([...faults, ...more])
  return {
    ...(name !== undefined && { name }),
    ...(config?.search_types && { config: { ...present.config, search_types: inOrder(config.search_types.filter(isSearchType)) } }),
    ...(version !== undefined && { version }),
  }
}

const API_KEY = t.String({ minLength: 16, maxLength: 200, description: "API key of Bing Webmaster Tools. It is stored as a secret." })
const BING_CONFIG = t.Object(
  {
    site_url: t.Optional(
      t.String({
        minLength: 1,
        maxLength: 500,
        description: "URL of the site as Bing lists it. Default: `https://` and the first host of the site.",
      }),
    ),
  },
  { ...closed, description: "Settings of the kind." },
)

export const BingConnectInput = t.Object(
  { api_key: API_KEY, name: t.Optional(NAME), config: t.Optional(BING_CONFIG) },
  { ...closed, title: "BingConnectInput" },
)

const BingPatch = t.Object(
  { name: t.Optional(NAME), config: t.Optional(BING_CONFIG), api_key: t.Optional(API_KEY), version: t.Optional(VERSION) },
  closed,
)

export function readBingConnect(
  body: unknown,
  defaultUrl: string,
): { secret: string; name: string | undefined; config: { site_url: string } } {
  const { fields, faults } = inspect(BingConnectInput, body)
  const { api_key, name, config } = fields as Static<typeof BingConnectInput> // what is of another type has a fault
  refuseFaults([...faults, ...keyFaults(api_key), ...siteUrlFaults(config?.site_url)])
  return { secret: api_key, name, config: { site_url: config?.site_url ?? defaultUrl } }
}

export function readBingPatch(body: unknown, present: Integration): ReadPatch {
  const { fields, faults } = inspect(BingPatch, body)
  const { api_key, name, config, version } = fields as Static<typeof BingPatch> // as above
  refuseFaults([...faults, ...keyFaults(api_key), ...siteUrlFaults(config?.site_url)])
  return {
    ...(api_key !== undefined && { secret: api_key }),
    ...(name !== undefined && { name }),
    ...(config && { config: { ...present.config, ...config } }),
    ...(version !== undefined && { version }),
  }
}

/** The key becomes a part of a URL. */
const keyFaults = (key: unknown): Fault[] =>
  typeof key === "string" && !/^[A-Za-z0-9_-]+$/.test(key) ? [fault("/api_key", "invalid_format", "is not an API key of Bing")] : []

const siteUrlFaults = (url: unknown): Fault[] =>
  typeof url === "string" && !/^https?:$/.test(URL.parse(url)?.protocol ?? "")
    ? [fault("/config/site_url", "invalid_url", "is not an http or https URL")]
    : []
