import { type Static, Type as t } from "@sinclair/typebox"
import { refuseFaults } from "./error.ts"
import { parseHost } from "./host.ts"
import { MappedEntry } from "./identity-provider.ts"
import { ORGANIZATION } from "./limits.ts"
import { fault, inDocumentOrder, inspect, isObject } from "./shape.ts"

const RoleMapInput = t.Record(t.String(), MappedEntry, {
  maxProperties: ORGANIZATION.providerGroups,
  description: "Role by group of the claim `groups`; `*` is everybody",
})

/** An identity provider of an organization, as its admins write it. */
export const ProviderInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 100, description: "What the button says" }),
    issuer: t.String({ minLength: 1, maxLength: 2_000, description: "As its discovery document says it, to the letter" }),
    client_id: t.String({ minLength: 1, maxLength: 255 }),
    client_secret: t.Optional(
      t.Union([t.String({ minLength: 1, maxLength: 1_024 }), t.Null()], {
        description: "Write only; absent keeps it, null takes it away: then PKCE alone proves the client",
      }),
    ),
    scopes: t.Optional(t.String({ minLength: 1, maxLength: 500, default: "openid email profile" })),
    allowed_domains: t.Optional(
      t.Array(t.String({ minLength: 1, maxLength: 253 }), {
        maxItems: ORGANIZATION.domains,
        uniqueItems: true,
        description: "Domains of verified addresses whose owners become users when they first come, with `jit`",
      }),
    ),
    jit: t.Optional(t.Boolean({ default: false, description: "Whether whoever comes for the first time becomes a user" })),
    role_map: t.Optional(RoleMapInput),
    sso_only: t.Optional(t.Boolean({ default: false, description: "While it is on, members come through it alone" })),
    enabled: t.Optional(t.Boolean({ default: true })),
  },
  { additionalProperties: false, title: "ProviderInput" },
)

/** What a provider is set to, but for its secret. */
export interface ProviderFields {
  name: string
  issuer: string
  client_id: string
  scopes: string
  allowed_domains: readonly string[]
  jit: boolean
  role_map: Static<typeof RoleMapInput>
  sso_only: boolean
  enabled: boolean
}

/** Of a body: the secret is undefined where it stays, null where it goes. */
export interface ReadProvider {
  fields: ProviderFields
  secret: string | null | undefined
  version: number | undefined
}

const USUAL: Pick<ProviderFields, "scopes" | "allowed_domains" | "jit" | "role_map" | "sso_only" | "enabled"> = {
  scopes: "openid email profile",
  allowed_domains: [],
  jit: false,
  role_map: {},
  sso_only: false,
  enabled: true,
}

/** What answers say besides may be sent back. */
const TOLD = ["redirect_uri", "identities"]
const Version = t.Optional(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

/**
 * Reads a new provider, or a merge patch of the one there is. `refusesUrl` says whether an issuer may be asked at all;
 * `ownSites` are those that a map may name. Throws `validation_failed`.
 */
export function readProvider(
  body: unknown,
  before: ProviderFields | undefined,
  { refusesUrl, ownSites }: { refusesUrl(url: string): boolean; ownSites: ReadonlySet<number> },
): ReadProvider {
  const { properties } = ProviderInput
  const schema = before
    ? t.Object({ ...t.Partial(ProviderInput).properties, version: Version }, { additionalProperties: false })
    : t.Object(properties, { additionalProperties: false })
  const { fields, faults } = inspect(schema, isObject(body) ? withoutTold(body) : body)
  const { client_secret, version, ...sent } = fields as typeof fields & { version?: number }
  const domains = (sent.allowed_domains ?? []).map((text) => parseHost(text))
  const wrong = [
    ...(sent.issuer !== undefined && (!isIssuer(sent.issuer) || refusesUrl(sent.issuer))
      ? [fault("/issuer", "blocked_address", "must be an address of the outside world, without query and fragment")]
      : []),
    ...(sent.scopes !== undefined && !sent.scopes.split(" ").includes("openid")
      ? [fault("/scopes", "invalid_choice", "must hold openid")]
      : []),
    ...domains.flatMap((domain, i) =>
      domain?.includes(".") && !domain.startsWith("*.")
        ? []
        : [fault(`/allowed_domains/${i}`, "invalid_domain", "must be a domain such as example.org")],
    ),
    ...mapFaults(sent.role_map ?? {}, ownSites),
  ]
  refuseFaults(inDocumentOrder([...faults, ...wrong], body))
  const merged = { ...USUAL, ...before, ...sent, ...(sent.allowed_domains && { allowed_domains: domains as string[] }) } // each is one
  return { fields: fieldsOf(merged as ProviderFields), secret: client_secret, version } // complete: no fault was found
}

const fieldsOf = ({ name, issuer, client_id, scopes, allowed_domains, jit, role_map, sso_only, enabled }: ProviderFields) => ({
  name,
  issuer,
  client_id,
  scopes,
  allowed_domains,
  jit,
  role_map,
  sso_only,
  enabled,
})

/** A secret as answers show it is no secret: it says that there is one. */
const withoutTold = (body: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => !TOLD.includes(name) && !(name === "client_secret" && isObject(value))))

/** An issuer has no query and no fragment (OpenID Connect Discovery 2). */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { search, hash, username } = new URL(text)
  return search === "" && hash === "" && username === "" && !text.includes("?") && !text.includes("#")
}

function mapFaults(map: ProviderFields["role_map"], ownSites: ReadonlySet<number>) {
  return Object.entries(map).flatMap(([group, { role, site_ids = [], organization_id }]) => {
    const at = `/role_map/${group.replaceAll("~", "~0").replaceAll("/", "~1")}`
    const strange = site_ids.flatMap((id, i) =>
      ownSites.has(id) ? [] : [fault(`${at}/site_ids/${i}`, "invalid_choice", "must be a site")],
    )
    if (organization_id !== undefined) return [fault(`${at}/organization_id`, "unknown_field", "does not exist")]
    if (role === "guest" && site_ids.length === 0) return [fault(`${at}/site_ids`, "required", "is required for a guest")]
    return role !== "guest" && site_ids.length > 0 ? [fault(`${at}/site_ids`, "invalid_choice", "is for guests")] : strange
  })
}
