import { type Static, Type as t } from "@sinclair/typebox"
import { refuseFaults } from "./error.ts"
import { parseHost } from "./host.ts"
import { MappedEntry } from "./identity-provider.ts"
import { ORGANIZATION } from "./limits.ts"
import { CREATED_AT, field, UPDATED_AT } from "./response.ts"
import { fault, inDocumentOrder, inspect, isObject } from "./shape.ts"

const RoleMapInput = t.Record(t.String(), MappedEntry, {
  maxProperties: ORGANIZATION.providerGroups,
  description: "Role by group of the claim `groups`. `*` stands for all users.",
})

/** The writable fields of an identity provider of an organization. */
export const ProviderInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: 100, description: "Label of the sign-in button." }),
    issuer: t.String({ minLength: 1, maxLength: 2_000, description: "Issuer URL, exactly as in the discovery document of the provider." }),
    client_id: t.String({ minLength: 1, maxLength: 255, description: "Client id of this instance at the provider." }),
    client_secret: t.Optional(
      t.Union([t.String({ minLength: 1, maxLength: 1_024 }), t.Null()], {
        description: "Client secret. Write-only. Absent keeps the secret, null removes it: then PKCE alone authenticates the client.",
      }),
    ),
    scopes: t.Optional(
      t.String({ minLength: 1, maxLength: 500, default: "openid email profile", description: "Requested scopes, separated by spaces." }),
    ),
    allowed_domains: t.Optional(
      t.Array(t.String({ minLength: 1, maxLength: 253 }), {
        maxItems: ORGANIZATION.domains,
        uniqueItems: true,
        description: "Email domains for which `jit` creates accounts. Only verified email addresses count.",
      }),
    ),
    jit: t.Optional(t.Boolean({ default: false, description: "Whether an account is created at the first sign-in of an unknown user." })),
    role_map: t.Optional(RoleMapInput),
    sso_only: t.Optional(t.Boolean({ default: false, description: "Whether members can sign in through this provider only." })),
    enabled: t.Optional(t.Boolean({ default: true, description: "Whether users can sign in through the provider." })),
  },
  { additionalProperties: false, title: "ProviderInput" },
)

const { name, issuer, client_id } = ProviderInput.properties
export const ProviderResponse = t.Object(
  {
    id: t.String({ description: "Id of the provider, part of its redirect URI." }),
    name,
    issuer,
    client_id,
    client_secret: t.Object(
      {
        set: t.Boolean({ description: "Whether the secret is set." }),
        hint: t.Optional(t.String({ description: "Last four characters of the secret. Absent for a short one." })),
        updated_at: t.Optional(field.instant("Time at which the secret was set.")),
      },
      { description: "Whether a client secret is stored. The secret itself is never returned." },
    ),
    scopes: t.String({ description: "Requested scopes, separated by spaces." }),
    allowed_domains: t.Array(t.String(), { description: "Email domains for which `jit` creates accounts." }),
    jit: t.Boolean({ description: "Whether an account is created at the first sign-in of an unknown user." }),
    role_map: t.Record(
      t.String(),
      t.Object({
        role: t.String({ description: "Role in the organization." }),
        site_ids: t.Optional(t.Array(t.Integer(), { description: "Ids of the sites of a guest. Present only for the role `guest`." })),
      }),
      {
        description: "Role by group of the claim `groups`. `*` stands for all users.",
      },
    ),
    sso_only: t.Boolean({ description: "Whether members can sign in through this provider only." }),
    enabled: t.Boolean({ description: "Whether users can sign in through the provider." }),
    redirect_uri: t.String({ description: "Redirect URI to register with the provider." }),
    identities: t.Integer({ minimum: 0, description: "Number of users linked to the provider." }),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
    version: t.Integer({ description: "Version of the provider, which increases with each change." }),
  },
  { title: "Provider" },
)
export type ProviderResponse = Static<typeof ProviderResponse>

/** The result of checking an identity provider. */
export const ProviderTest = t.Object(
  {
    ok: t.Boolean({ description: "Whether all steps succeeded." }),
    steps: t.Array(
      t.Object({
        name: field.text("Name of the step."),
        ok: field.flag("Whether the step succeeded."),
        detail: field.text("Result of the step, as a sentence."),
        ms: t.Number({ description: "Duration in milliseconds." }),
      }),
      { description: "Checks of the discovery document and of the keys." },
    ),
    claims: t.Array(
      t.Object({
        name: field.text("Name of the claim."),
        needed: t.Boolean({ description: "Whether a sign-in needs the claim." }),
        offered: t.Union([t.Boolean(), t.Null()], {
          description: "Whether the provider offers the claim. null if it does not list its claims.",
        }),
      }),
      { description: "Claims that a sign-in needs or uses." },
    ),
  },
  { title: "ProviderTest" },
)
export type ProviderTest = Static<typeof ProviderTest>

/** The settings of a provider, without its secret. */
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

/** The content of a request body. The secret is undefined when it stays as it is, null when it is removed. */
export interface ReadProvider {
  fields: ProviderFields
  secret: string | null | undefined
  version: number | undefined
}

const DEFAULTS: Pick<ProviderFields, "scopes" | "allowed_domains" | "jit" | "role_map" | "sso_only" | "enabled"> = {
  scopes: "openid email profile",
  allowed_domains: [],
  jit: false,
  role_map: {},
  sso_only: false,
  enabled: true,
}

/** Read-only fields of responses, which are accepted and ignored. */
const READ_ONLY_FIELDS = ["redirect_uri", "identities"]
const Version = t.Optional(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

/**
 * Reads a new provider, or a merge patch of the existing provider `before`. `refusesUrl` returns whether requests to an issuer
 * are blocked; `ownSites` are the sites allowed in a role map. Throws `validation_failed`.
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
  const { fields, faults } = inspect(schema, isObject(body) ? withoutReadOnlyFields(body) : body)
  const { client_secret, version, ...sent } = fields as typeof fields & { version?: number }
  const domains = (sent.allowed_domains ?? []).map((text) => parseHost(text))
  const wrong = [
    ...(sent.issuer !== undefined && (!isIssuer(sent.issuer) || refusesUrl(sent.issuer))
      ? [fault("/issuer", "blocked_address", "must be a public URL without query and fragment")]
      : []),
    ...(sent.scopes !== undefined && !sent.scopes.split(" ").includes("openid")
      ? [fault("/scopes", "invalid_choice", "must contain openid")]
      : []),
    ...domains.flatMap((domain, i) =>
      domain?.includes(".") && !domain.startsWith("*.")
        ? []
        : [fault(`/allowed_domains/${i}`, "invalid_domain", "must be a domain such as example.com")],
    ),
    ...mapFaults(sent.role_map ?? {}, ownSites),
  ]
  refuseFaults(inDocumentOrder([...faults, ...wrong], body))
  const merged = { ...DEFAULTS, ...before, ...sent, ...(sent.allowed_domains && { allowed_domains: domains as string[] }) } // all are valid domains
  return { fields: providerFields(merged as ProviderFields), secret: client_secret, version } // complete, because no fault was found
}

/** Returns only the fields that people enter. */
export const providerFields = ({
  name,
  issuer,
  client_id,
  scopes,
  allowed_domains,
  jit,
  role_map,
  sso_only,
  enabled,
}: ProviderFields): ProviderFields => ({
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

/** Removes read-only fields, and the object by which responses state that a secret is set. */
const withoutReadOnlyFields = (body: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !READ_ONLY_FIELDS.includes(name) && !(name === "client_secret" && isObject(value))),
  )

/** Returns whether a URL can be an issuer: without user, query and fragment (OpenID Connect Discovery 2). */
function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { search, hash, username } = new URL(text)
  return search === "" && hash === "" && username === "" && !text.includes("?") && !text.includes("#")
}

function mapFaults(map: ProviderFields["role_map"], ownSites: ReadonlySet<number>) {
  return Object.entries(map).flatMap(([group, { role, site_ids = [], organization_id }]) => {
    const at = `/role_map/${group.replaceAll("~", "~0").replaceAll("/", "~1")}`
    const strange = site_ids.flatMap((id, i) =>
      ownSites.has(id) ? [] : [fault(`${at}/site_ids/${i}`, "invalid_choice", "must be a site of the organization")],
    )
    if (organization_id !== undefined) return [fault(`${at}/organization_id`, "unknown_field", "does not exist")]
    if (role === "guest" && site_ids.length === 0) return [fault(`${at}/site_ids`, "required", "is required for a guest")]
    return role !== "guest" && site_ids.length > 0 ? [fault(`${at}/site_ids`, "invalid_choice", "is only allowed for guests")] : strange
  })
}
