import { Type as t } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import type { Role } from "./organization.ts"
import { isObject } from "./shape.ts"

/** Who says who somebody is. */
export interface IdentityProvider {
  /** A slug, part of its addresses. */
  id: string
  /** The only organization it speaks for; null: for the whole instance. */
  organizationId: number | null
  name: string
  issuer: string
  clientId: string
  clientSecret: string | undefined
  scopes: string
  /** Domains of addresses for which new users are made. */
  allowedDomains: readonly string[]
  /** Whether users are made when they first come. */
  jit: boolean
  roleMap: RoleMap
  /** It stands in the environment or the file of whoever runs the instance. */
  byOperator: boolean
}

/** What membership of a group gives; `*` is everybody. An owner is never made by a map. */
export type RoleMap = Readonly<Record<string, MappedRole>>
export interface MappedRole {
  role: Exclude<Role, "owner">
  /** Sites that a guest sees. */
  siteIds: readonly number[]
  /** Of a provider of the whole instance; absent: the first one there is. */
  organizationId: number | undefined
}

/** From the least to the most. */
const ROLES = ["guest", "viewer", "editor", "admin"] as const

/** What a map gives for one group, as it is written. */
export const MappedEntry = t.Object(
  {
    role: t.Union(ROLES.map((role) => t.Literal(role))),
    site_ids: t.Optional(t.Array(t.Integer({ minimum: 1 }), { maxItems: 500 })),
    organization_id: t.Optional(t.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
)

/** Undefined for anything that is no map: `{"analysts": {"role": "viewer"}, "agency": {"role": "guest", "site_ids": [3]}}`. */
export function readRoleMap(value: unknown): RoleMap | undefined {
  if (!isObject(value)) return undefined
  const entries = Object.entries(value)
  if (!entries.every(([, entry]) => Value.Check(MappedEntry, entry))) return undefined
  return Object.fromEntries(
    entries.map(([group, entry]) => {
      const { role, site_ids = [], organization_id } = entry as { role: MappedRole["role"]; site_ids?: number[]; organization_id?: number } // just checked
      return [group, { role, siteIds: site_ids, organizationId: organization_id }]
    }),
  )
}

/** What somebody's groups give in each organization: the highest role, and the sites of all. `first` stands for none named. */
export function mappedRoles(map: RoleMap, groups: readonly string[], first: number): Map<number, Omit<MappedRole, "organizationId">> {
  const own = Object.entries(map).filter(([group]) => group === "*" || groups.includes(group))
  const byOrganization = Map.groupBy(own, ([, { organizationId }]) => organizationId ?? first)
  return new Map(
    [...byOrganization].map(([organizationId, entries]) => {
      const roles = entries.map(([, { role }]) => role)
      const role = ROLES.findLast((each) => roles.includes(each))! // there is an entry
      return [organizationId, { role, siteIds: [...new Set(entries.flatMap(([, { siteIds }]) => siteIds))] }]
    }),
  )
}

/** The part behind the last @, as domains are compared. */
export const domainOf = (email: string): string =>
  email
    .slice(email.lastIndexOf("@") + 1)
    .toLowerCase()
    .replace(/\.$/, "")
