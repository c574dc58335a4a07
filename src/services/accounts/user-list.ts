import { cursorAfter } from "../../domain/cursor.ts"
import { AppError } from "../../domain/error.ts"
import { API } from "../../domain/limits.ts"
import { ROLES } from "../../domain/membership.ts"
import { caseKey } from "../../domain/text.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import { listOpenInvitations, listUserFacts, type OpenInvitation, type UserFacts } from "../../store/catalog/instance-lists.ts"
import { type Paging, type PrivatePage, readPaging } from "../paging.ts"
import { inSlices } from "../slices.ts"

/** A user as the console lists one; of somebody who was only invited there is no user yet. */
export type ListedUser = Omit<UserFacts, "id" | "status"> & {
  /** Null: nobody has accepted the invitation. */
  id: number | null
  status: UserFacts["status"] | "invited"
  invitation_id?: number
}

const STATUSES = ["active", "invited", "disabled"] as const
const MFA = ["true", "false"] as const
const SORTS = ["email", "created_at", "last_seen_at"] as const

const PARAMETERS = ["q", "role", "status", "organization", "mfa", "sort"] as const

/** `q` is looked for in name and address. Throws `invalid_query`, `invalid_cursor`. */
export const readUserPaging = (query: Record<string, unknown>) =>
  readPaging("admin/users", query, PARAMETERS, (reader) => ({
    q: reader.text("q", { min: 0, max: API.searchChars }) ?? "",
    role: reader.choice("role", ROLES),
    status: reader.choice("status", STATUSES),
    organization: reader.integer("organization", { min: 1, max: Number.MAX_SAFE_INTEGER }),
    mfa: reader.choice("mfa", MFA),
    sort: reader.choice("sort", SORTS) ?? "email",
  }))

type Filters = ReturnType<typeof readUserPaging>["filters"]

/** All users and all who are invited, in order; read in slices, so that no statement holds up others. */
export async function listedUsers(catalog: Statements, now: number): Promise<ListedUser[]> {
  const users = await inSlices((slice) => listUserFacts(catalog, now, slice))
  const invited = (await inSlices((slice) => listOpenInvitations(catalog, now, slice))).filter(({ has_account }) => !has_account)
  const byAddress = Map.groupBy(invited, ({ email_key }) => email_key)
  return [...users, ...[...byAddress.values()].map(invitedUser)]
}

/** The row behind the cursor is looked for before anything is filtered out: whoever has changed since is still a place. */
export function pageOfUsers(all: readonly ListedUser[], paging: Paging<Filters>): PrivatePage<ListedUser> {
  const { filters, limit, count, list } = paging
  const sorted = [...all].sort(ORDERS[filters.sort])
  const start = paging.after === undefined ? 0 : sorted.findIndex((user) => placeOf(user) === paging.after) + 1
  if (start === 0 && paging.after !== undefined) throw new AppError("invalid_cursor", "The row behind the cursor is gone: begin again.")
  const found = sorted.slice(start).filter((user) => fits(user, filters))
  const data = found.slice(0, limit)
  return {
    data,
    has_more: found.length > limit,
    next_cursor: found.length > limit ? cursorAfter(list, placeOf(data.at(-1)!)) : null,
    ...(count && { total: sorted.filter((user) => fits(user, filters)).length }),
  }
}

const latest = (a: number | null, b: number | null): number => (b ?? 0) - (a ?? 0)
const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** By address, or the youngest first; ids break ties. */
const ORDERS: Record<Filters["sort"], (a: ListedUser, b: ListedUser) => number> = {
  email: (a, b) => text(caseKey(a.email), caseKey(b.email)) || placeOf(a) - placeOf(b),
  created_at: (a, b) => latest(a.created_at, b.created_at) || placeOf(b) - placeOf(a),
  last_seen_at: (a, b) => latest(a.last_seen_at, b.last_seen_at) || placeOf(b) - placeOf(a),
}

/** Invitations count from far above every user. */
const placeOf = ({ id, invitation_id = 0 }: ListedUser): number => id ?? 2 ** 50 + invitation_id

function fits(user: ListedUser, { q, role, status, organization, mfa }: Filters): boolean {
  const part = caseKey(q)
  const has = user.organizations.filter(
    (each) => (role === undefined || each.role === role) && (organization === undefined || each.id === organization),
  )
  return (
    [user.name, user.email].some((each) => caseKey(each).includes(part)) &&
    (status === undefined || user.status === status) &&
    ((role === undefined && organization === undefined) || has.length > 0) &&
    (mfa === undefined || (user.totp || user.passkeys > 0) === (mfa === "true"))
  )
}

function invitedUser(invitations: OpenInvitation[]): ListedUser {
  const [first] = invitations // a group has one
  return {
    id: null,
    invitation_id: first!.id,
    email: first!.email,
    name: "",
    status: "invited",
    is_instance_admin: false,
    organizations: invitations.map(({ organization_id, organization, role }) => ({ id: organization_id, name: organization, role })),
    totp: false,
    passkeys: 0,
    password: false,
    oidc: [],
    created_at: first!.created_at,
    last_login_at: null,
    last_seen_at: null,
    sessions: 0,
    api_keys: 0,
    version: 1,
  }
}
