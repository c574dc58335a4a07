import { type Static, Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "./error.ts"
import { ORGANIZATION } from "./limits.ts"
import { RoleInput, SiteRoleInput } from "./membership.ts"
import type { Role } from "./organization.ts"
import type { SiteRole } from "./permission.ts"
import { CREATED_AT, field, Id, Instant, Named, named, orNull, textOf } from "./response.ts"
import { fault, inDocumentOrder, inspect, isObject } from "./shape.ts"
import { normalizePassword, type PasswordTerms, passwordFaults } from "./sign-in.ts"
import { EmailText, emailFaults, NameText } from "./user.ts"

/** An invitation to an organization. Only a hash of its token is stored. Times are epoch milliseconds. */
export interface Invitation {
  id: number
  organization_id: number
  email: string
  email_key: string
  role: Role
  /** Sites that a guest will have access to. Empty for other roles. */
  site_ids: readonly number[]
  /** Role of a guest on these sites. */
  site_role: SiteRole
  /** Null when the instance itself sent the invitation. */
  invited_by: number | null
  created_at: number
  expires_at: number
  /** Time at which the email was handed to the mail server. Null when the link is passed on by hand. */
  sent_at: number | null
  accepted_at: number | null
  revoked_at: number | null
  /** Time at which the expiry was noticed. An expired invitation stays expired, even if the clock is set back. */
  expired_at: number | null
}

/** Returns whether an invitation has expired. */
export const isExpired = ({ expires_at, expired_at }: Pick<Invitation, "expires_at" | "expired_at">, now: number): boolean =>
  expired_at !== null || expires_at <= now

export const InvitationInput = t.Object(
  {
    email: EmailText,
    role: RoleInput,
    site_ids: t.Optional(
      t.Array(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
        maxItems: ORGANIZATION.keySites,
        uniqueItems: true,
        description: "Ids of the sites that a guest has access to. Required for role `guest`, not allowed for other roles.",
      }),
    ),
  },
  { additionalProperties: false, title: "InvitationInput" },
)

/** Invitation of a guest to one site. */
export const SiteInvitationInput = t.Object(
  { email: EmailText, role: SiteRoleInput },
  { additionalProperties: false, title: "InvitationInput" },
)

export const InvitationResponse = t.Object(
  {
    id: field.id("Id of the invitation."),
    email: t.String({ description: "Email address of the invited person." }),
    role: textOf<Role>({ description: "Role of the future member." }),
    site_ids: t.Array(Id, { description: "Ids of the sites that a guest will have access to. Empty for other roles." }),
    site_role: orNull(textOf<SiteRole>(), { description: "Role of a guest on these sites. null for other roles." }),
    invited_by: orNull(Id, { description: "Id of the inviting user. null: invited by the instance." }),
    created_at: CREATED_AT,
    expires_at: field.instant("Expiry time."),
    sent_at: orNull(Instant, { description: "Time at which the email was sent. null when the link is passed on by hand." }),
    state: textOf<"open" | "expired">({ description: "State: open or expired." }),
    link: t.Optional(t.String({ description: "Link for the invited person if the instance sends no email. It is never returned again." })),
  },
  { title: "Invitation" },
)
export type InvitationResponse = Static<typeof InvitationResponse>

/** An invitation as the invited person sees it. */
export const OfferResponse = t.Object({
  organization: named("Organization that the invited person will join."),
  role: textOf<Role>({ description: "Role of the future member." }),
  email: t.String({ description: "Email address of the invited person." }),
  sites: t.Array(Named, { description: "Sites that a guest will have access to. Empty for other roles." }),
  expires_at: field.instant("Expiry time."),
  has_account: t.Boolean({ description: "Whether a user with this email address exists." }),
})
export type OfferResponse = Static<typeof OfferResponse>

/** Who is invited, and to what. */
export type Invited = Pick<Invitation, "email" | "role" | "site_ids" | "site_role">

/** Reads an invitation from a request body. `ownSites` are the sites of the organization. Throws `validation_failed` with all faults at once. */
export function parseInvitation(body: unknown, ownSites: ReadonlySet<number>): Invited {
  const { fields, faults } = inspect(InvitationInput, body)
  const { email, role, site_ids } = fields
  const found = [...faults, ...emailFaults(email)]
  if (role === "guest" && !(site_ids ?? []).length) {
    const isSent = isObject(body) && body.site_ids !== undefined
    if (!isSent) found.push(fault("/site_ids", "required", "is required for a guest"))
    else if (site_ids) found.push(fault("/site_ids", "too_few", "must have at least 1 item"))
  }
  if (role !== undefined && role !== "guest" && site_ids !== undefined)
    found.push(fault("/site_ids", "unknown_field", "is only allowed for guests; other roles see all sites"))
  ;(role === "guest" ? (site_ids ?? []) : []).forEach((id, i) => {
    if (!ownSites.has(id)) found.push(fault(`/site_ids/${i}`, "invalid_choice", "must be a site of the organization"))
  })
  refuseFaults(inDocumentOrder(found, body))
  return { email: email!, role: role!, site_ids: site_ids ?? [], site_role: "viewer" } // present, because no fault was found
}

/** Reads an invitation to one site from a request body. Throws `validation_failed` with all faults at once. */
export function parseSiteInvitation(body: unknown, siteId: number): Invited {
  const { fields, faults } = inspect(SiteInvitationInput, body)
  refuseFaults(inDocumentOrder([...faults, ...emailFaults(fields.email)], body))
  return { email: fields.email!, role: "guest", site_ids: [siteId], site_role: fields.role! } // present, because no fault was found
}

const NewAccount = t.Object({ name: NameText }, { additionalProperties: false })

/** Reads the name and password of a new user. Throws `validation_failed` with all faults at once. */
export function parseNewAccount(body: unknown, terms: PasswordTerms): { name: string; password: string } {
  const { password, ...rest } = isObject(body) ? body : {}
  const { fields, faults } = inspect(NewAccount, isObject(body) ? rest : body)
  refuseFaults(inDocumentOrder([...faults, ...(isObject(body) ? passwordFaults(password, terms) : [])], body))
  return { name: fields.name!, password: normalizePassword(String(password)) } // present, because no fault was found
}

export const invitationNotFound = () =>
  new AppError("invitation_not_found", "This invitation is unknown, expired, already used or withdrawn. Ask for a new one.")

export const alreadyMember = (existing_id: number) =>
  new AppError("already_member", "A user with this email address is already a member.", { existing_id })

export const tooManyInvitations = (limit: number, what: string) =>
  new AppError("limit_reached", `An organization can have ${limit} ${what}.`, { limit, resource: "invitations" })
