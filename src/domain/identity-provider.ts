import { type Static, Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import { AppError, refuseFaults } from "./error.ts"
import { parseHost } from "./host.ts"
import type { Role } from "./organization.ts"
import { CREATED_AT, field, Instant, orNull, txtRecord } from "./response.ts"
import { fault, inDocumentOrder, inspect, isObject } from "./shape.ts"

/** An identity provider (OpenID Connect) that signs users in. */
export interface IdentityProvider {
  /** Slug, part of its URLs. */
  id: string
  /** The organization that the provider belongs to. Null for a provider of the whole instance. */
  organizationId: number | null
  name: string
  issuer: string
  clientId: string
  clientSecret: string | undefined
  scopes: string
  /** Email domains for which new users are created. */
  allowedDomains: readonly string[]
  /** Whether an account is created at the first sign-in of an unknown user. */
  jit: boolean
  roleMap: RoleMap
  /** Whether the provider is defined in the configuration of the instance. */
  byOperator: boolean
}

/** The role for each group; `*` stands for all users. A map never assigns the role owner. */
export type RoleMap = Readonly<Record<string, MappedRole>>
export interface MappedRole {
  role: Exclude<Role, "owner">
  /** Sites that a guest has access to. */
  siteIds: readonly number[]
  /** Only for a provider of the whole instance. Default: the first organization. */
  organizationId: number | undefined
}

/** Roles that a map can assign, from lowest to highest. */
const ROLES = ["guest", "viewer", "editor", "admin"] as const

/** Schema of the role for one group. */
export const MappedEntry = t.Object(
  {
    role: t.Union(
      ROLES.map((role) => t.Literal(role)),
      { description: "Role in the organization." },
    ),
    site_ids: t.Optional(
      t.Array(t.Integer({ minimum: 1 }), { maxItems: 500, description: "Ids of the sites of a guest. Only for the role `guest`." }),
    ),
    organization_id: t.Optional(
      t.Integer({
        minimum: 1,
        description: "Id of the organization. Only for providers of the instance. Default: its first organization.",
      }),
    ),
  },
  { additionalProperties: false },
)

/** Reads a role map. Returns undefined for anything else. Example: `{"analysts": {"role": "viewer"}, "agency": {"role": "guest", "site_ids": [3]}}`. */
export function readRoleMap(value: unknown): RoleMap | undefined {
  if (!isObject(value)) return undefined
  const entries = Object.entries(value)
  if (!entries.every(([, entry]) => Value.Check(MappedEntry, entry))) return undefined
  return Object.fromEntries(
    entries.map(([group, entry]) => {
      const { role, site_ids = [], organization_id } = entry as { role: MappedRole["role"]; site_ids?: number[]; organization_id?: number } // checked above
      return [group, { role, siteIds: site_ids, organizationId: organization_id }]
    }),
  )
}

/**
 * Returns what the groups of a user give in each organization: the highest role, and the sites of all matching groups. Entries
 * without an organization apply to the organization `first`.
 */
export function mappedRoles(map: RoleMap, groups: readonly string[], first: number): Map<number, Omit<MappedRole, "organizationId">> {
  const own = Object.entries(map).filter(([group]) => group === "*" || groups.includes(group))
  const byOrganization = Map.groupBy(own, ([, { organizationId }]) => organizationId ?? first)
  return new Map(
    [...byOrganization].map(([organizationId, entries]) => {
      const roles = entries.map(([, { role }]) => role)
      const role = ROLES.findLast((each) => roles.includes(each))! // every group has at least one entry
      return [organizationId, { role, siteIds: [...new Set(entries.flatMap(([, { siteIds }]) => siteIds))] }]
    }),
  )
}

/** Returns the domain of an email address in normalized form. */
export const domainOf = (email: string): string =>
  email
    .slice(email.lastIndexOf("@") + 1)
    .toLowerCase()
    .replace(/\.$/, "")

/** An email domain that an organization claims as its own. Times are epoch milliseconds. */
export interface MailDomain {
  id: number
  organization_id: number
  domain: string
  /** Value that a TXT record of the domain must contain. Not secret: anyone can read it in the DNS. */
  token: string
  verified_at: number | null
  created_at: number
}

/** Returns the content of the TXT record that proves a domain. */
export const proofOf = ({ token }: Pick<MailDomain, "token">): string => `footfall-verify=${token}`

export const DomainInput = t.Object(
  { domain: t.String({ minLength: 1, maxLength: 253, description: "Email domain, such as example.com." }) },
  { additionalProperties: false, title: "DomainInput" },
)

export const DomainResponse = t.Object(
  {
    id: field.id("Id of the email domain."),
    domain: t.String({ description: "Email domain." }),
    record: txtRecord("DNS record that verifies the domain."),
    verified_at: orNull(Instant, { description: "Time at which the record was found. null until then." }),
    created_at: CREATED_AT,
  },
  { title: "MailDomain" },
)
export type DomainResponse = Static<typeof DomainResponse>

/** Reads a domain from a request body. Returns it in lower case and punycode. Throws `validation_failed`. */
export function parseDomain(body: unknown): { domain: string } {
  const { fields, faults } = inspect(DomainInput, body)
  const host = fields.domain === undefined ? undefined : parseHost(fields.domain)
  const isDomain = host?.includes(".") && !host.startsWith("*.") && !/^[0-9.]+$/.test(host)
  if (fields.domain !== undefined && !isDomain) faults.push(fault("/domain", "invalid_domain", "must be a domain such as example.com"))
  refuseFaults(inDocumentOrder(faults, body))
  return { domain: host! } // valid, because no fault was found
}

export const domainNotFound = () => new AppError("domain_not_found", "This organization has no domain with this id.")
export const domainTaken = () => new AppError("domain_taken", "Another organization has already verified this domain.")
export const domainNotVerified = () =>
  new AppError(
    "domain_not_verified",
    "The TXT record was not found in the DNS of this domain. Changes in the DNS can take a while; try again later.",
  )
