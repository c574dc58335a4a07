import { Type as t } from "@sinclair/typebox"
import { AppError, refuseFaults } from "./error.ts"
import { ORGANIZATION } from "./limits.ts"
import { RoleInput } from "./membership.ts"
import type { Role } from "./organization.ts"
import { normalPassword, type PasswordTerms, passwordFaults } from "./password.ts"
import { fault, inDocumentOrder, inspect, isObject } from "./shape.ts"
import { EmailText, emailFaults, NameText } from "./user.ts"

/** Somebody is asked to join. Of its token only a hash is kept. Times are epoch milliseconds. */
export interface Invitation {
  id: number
  organization_id: number
  email: string
  email_key: string
  role: Role
  /** Of a guest: the sites it will see. */
  site_ids: readonly number[]
  /** Null: the instance itself. */
  invited_by: number | null
  created_at: number
  expires_at: number
  /** When a mail was handed over; null where the link is handed on by people. */
  sent_at: number | null
  accepted_at: number | null
  revoked_at: number | null
  /** When it was found to be over: it stays so, whatever the clock says later. */
  expired_at: number | null
}

export const isOver = ({ expires_at, expired_at }: Pick<Invitation, "expires_at" | "expired_at">, now: number): boolean =>
  expired_at !== null || expires_at <= now

export const InvitationInput = t.Object(
  {
    email: EmailText,
    role: RoleInput,
    site_ids: t.Optional(
      t.Array(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
        maxItems: ORGANIZATION.keySites,
        uniqueItems: true,
        description: "Of a guest, and of nobody else: the sites to see",
      }),
    ),
  },
  { additionalProperties: false, title: "InvitationInput" },
)

/** Throws `validation_failed` with all faults at once. `ownSites` are the sites of the organization. */
export function parseInvitation(body: unknown, ownSites: ReadonlySet<number>): Pick<Invitation, "email" | "role" | "site_ids"> {
  const { fields, faults } = inspect(InvitationInput, body)
  const { email, role, site_ids } = fields
  const found = [...faults, ...emailFaults(email)]
  if (role === "guest" && !(site_ids ?? []).length) {
    const isSent = isObject(body) && body.site_ids !== undefined
    if (!isSent) found.push(fault("/site_ids", "required", "is required for a guest"))
    else if (site_ids) found.push(fault("/site_ids", "too_few", "needs at least 1 item"))
  }
  if (role !== undefined && role !== "guest" && site_ids !== undefined)
    found.push(fault("/site_ids", "unknown_field", "is for guests; other roles see all sites"))
  ;(role === "guest" ? (site_ids ?? []) : []).forEach((id, i) => {
    if (!ownSites.has(id)) found.push(fault(`/site_ids/${i}`, "invalid_choice", "must be a site of the organization"))
  })
  refuseFaults(inDocumentOrder(found, body))
  return { email: email!, role: role!, site_ids: site_ids ?? [] } // no fault: they are there
}

const Nothing = t.Object({}, { additionalProperties: false })

/** Of somebody who is signed in nothing is asked. Throws `validation_failed`. */
export const parseNothing = (body: unknown): void => refuseFaults(inspect(Nothing, body).faults)

const NewAccount = t.Object({ name: NameText }, { additionalProperties: false })

/** What a new user says. Throws `validation_failed` with all faults at once. */
export function parseNewAccount(body: unknown, terms: PasswordTerms): { name: string; password: string } {
  const { password, ...rest } = isObject(body) ? body : {}
  const { fields, faults } = inspect(NewAccount, isObject(body) ? rest : body)
  refuseFaults(inDocumentOrder([...faults, ...(isObject(body) ? passwordFaults(password, terms) : [])], body))
  return { name: fields.name!, password: normalPassword(String(password)) } // no fault: they are there
}

export const invitationNotFound = () =>
  new AppError("invitation_not_found", "The invitation is unknown, used, withdrawn or over. Ask for another one.")

export const alreadyMember = () => new AppError("already_member", "Somebody with this address is a member already.")

export const tooManyInvitations = (limit: number, what: string) =>
  new AppError("limit_reached", `An organization may have ${limit} ${what}`, { limit, resource: "invitations" })
