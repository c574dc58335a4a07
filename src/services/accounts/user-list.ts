import { API } from "../../domain/limits.ts"
import { ROLES } from "../../domain/membership.ts"
import type { PrivatePage } from "../../domain/response.ts"
import { caseKey } from "../../domain/text.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import { listOpenInvitations, listUserFacts, type OpenInvitation, type UserFacts } from "../../store/catalog/instance-lists.ts"
import { inSlices, type Place, readSortedPaging, type SortedPaging, sortedPage } from "../lists/paging.ts"

/** A user in the list of the admin console, or an invited person who has no account yet. */
export type ListedUser = Omit<UserFacts, "id" | "status"> & {
  /** Null while the invitation is not accepted. */
  id: number | null
  status: UserFacts["status"] | "invited"
  invitation_id?: number
}

const STATUSES = ["active", "invited", "disabled"] as const
const MFA = ["true", "false"] as const
const SORTS = ["email", "created_at", "last_seen_at"] as const

const PARAMETERS = ["q", "role", "status", "organization", "mfa", "sort"] as const

/** Reads filters and cursor of the user list. `q` is searched for in names and email addresses. Throws `invalid_query`, `invalid_cursor`. */
export const readUserPaging = (query: Record<string, unknown>) =>
  readSortedPaging("admin/users", query, PARAMETERS, (reader) => ({
    q: reader.text("q", { min: 0, max: API.searchChars }) ?? "",
    role: reader.choice("role", ROLES),
    status: reader.choice("status", STATUSES),
    organization: reader.integer("organization", { min: 1, max: Number.MAX_SAFE_INTEGER }),
    mfa: reader.choice("mfa", MFA),
    sort: reader.choice("sort", SORTS) ?? "email",
  }))

type Filters = ReturnType<typeof readUserPaging>["filters"]

/** Returns all users and invited people. Reads them in slices, so that no statement blocks the catalog for long. */
export async function listedUsers(catalog: Statements, now: number): Promise<ListedUser[]> {
  const users = await inSlices((slice) => listUserFacts(catalog, now, slice))
  const invited = (await inSlices((slice) => listOpenInvitations(catalog, now, slice))).filter(({ has_account }) => !has_account)
  const byAddress = Map.groupBy(invited, ({ email_key }) => email_key)
  return [...users, ...[...byAddress.values()].map(invitedUser)]
}

/** Returns a page of the users that match the filters. */
export const pageOfUsers = (all: readonly ListedUser[], paging: SortedPaging<Filters>): PrivatePage<ListedUser> =>
  sortedPage(
    all.filter((user) => fits(user, paging.filters)),
    (user) => placeOf(user, paging.filters.sort),
    paging,
  )

/** Returns the sort key of a user: by address, or the most recent first. Ids break ties, and invitations come after users. */
function placeOf(user: ListedUser, sort: Filters["sort"]): Place {
  const id = user.id ?? 2 ** 50 + user.invitation_id!
  return sort === "email" ? [caseKey(user.email), id] : [-(user[sort] ?? 0), -id]
}

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
  const [first] = invitations // a group is never empty
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
