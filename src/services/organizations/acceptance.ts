import { refuseDuringImpersonation } from "../../domain/account.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { alreadyMember, type Invitation, invitationNotFound, isExpired, parseNewAccount } from "../../domain/invitation.ts"
import { ORGANIZATION } from "../../domain/limits.ts"
import { canAssignRole, tooManyGuests, tooManyMembers } from "../../domain/membership.ts"
import type { Organization } from "../../domain/organization.ts"
import { organizationPermissions, type Permissions } from "../../domain/permission.ts"
import { memberEvent } from "../../domain/product-event.ts"
import { parseEmptyBody } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import { caseKey } from "../../domain/text.ts"
import type { User } from "../../domain/user.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { countGuests, countMembers, insertMembership, membershipOf, putSiteMember } from "../../store/catalog/members.ts"
import { invitationByTokenHash, markAccepted, organizationById, verifyEmail } from "../../store/catalog/organizations.ts"
import { insertUser, userByEmailKey, userById } from "../../store/catalog/users.ts"
import type { Audit } from "../audit/audit.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { SignInLimits } from "../sign-in/limits.ts"
import type { Passwords } from "../sign-in/passwords.ts"
import type { SecondFactors } from "../sign-in/second-factors.ts"
import { actorAs, type Guest, type OpenSession, type SignedIn } from "../sign-in/session.ts"
import { type Person, type Sessions, tokenHash } from "../sign-in/sessions.ts"
import type { SsoRule } from "../sign-in/sso-rule.ts"
import type { SiteMembers } from "../sites/site-members.ts"
import type { Sites } from "../sites/sites.ts"
import { invitationEntry } from "./invitations.ts"

/** An invitation that can still be accepted. */
export interface OpenInvitation {
  invitation: Invitation
  organization: Organization
  /** Sites of a guest invitation that still belong to the organization. */
  sites: Site[]
}

/**
 * Acceptance of invitations by their token. An invitation that is unknown, used, withdrawn or expired, or whose sender may no longer
 * invite, is `invitation_not_found`. This is checked again when it is accepted. Only one of several concurrent acceptances succeeds.
 */
export interface Acceptance {
  find(token: string): Promise<OpenInvitation & { hasAccount: boolean }>
  /** Adds a signed-in user. Throws `invitation_for_other_email`, `already_member`, `limit_reached`, `mfa_enrollment_required`. */
  bySignedIn(token: string, body: unknown, person: Person, guest: Guest): Promise<Organization>
  /**
   * Creates an account and adds it to the organization. The address counts as verified if the invitation was emailed. A user who must
   * use single sign-on becomes a member without being signed in. Throws `session_required` if the address already has an account,
   * `forbidden` if registration is closed, `validation_failed`, `limit_reached`, `rate_limited`.
   */
  bySigningUp(token: string, body: unknown, guest: Guest): Promise<{ organization: Organization; signedIn: SignedIn | undefined }>
}

interface AcceptanceOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  permissions: Permissions
  settings: Pick<InstanceSettings, "get">
  sites: Pick<Sites, "directory">
  siteMembers: Pick<SiteMembers, "canGive">
  passwords: Passwords
  openSession: OpenSession
  audit: Audit
  secondFactors: Pick<SecondFactors, "isMissing">
  sessions: Pick<Sessions, "renewAll">
  sso: Pick<SsoRule, "isRequired">
  limits: Pick<SignInLimits, "request">
  outbox: Pick<Outbox, "write">
}

/** Maximum number of sign-up attempts per minute from one IP address. */
const SIGN_UPS_PER_MINUTE = 20

export function createAcceptance(options: AcceptanceOptions): Acceptance {
  const { catalog, clock, permissions, settings, sites, siteMembers, passwords, openSession } = options
  const { audit, secondFactors, sessions, sso, limits, outbox } = options

  /** Whether the sender of an invitation may still grant its roles. */
  async function isUpheld(statements: Statements, { invitation, sites }: OpenInvitation): Promise<boolean> {
    const { invited_by, organization_id, role, site_role } = invitation
    if (invited_by === null) return true
    const [giver, user] = [await membershipOf(statements, organization_id, invited_by), await userById(statements, invited_by)]
    if (!giver || user?.status !== "active" || !organizationPermissions(giver, permissions).has("members:write")) return false
    for (const site of role === "guest" ? sites : [])
      if (!(await siteMembers.canGive(statements, site, site_role, invited_by))) return false
    return canAssignRole(giver, role, permissions)
  }

  async function findOpen(statements: Statements, token: string): Promise<OpenInvitation> {
    const invitation = await invitationByTokenHash(statements, tokenHash(token))
    if (!invitation || invitation.accepted_at !== null || invitation.revoked_at !== null || isExpired(invitation, clock.now()))
      throw invitationNotFound()
    const organization = await organizationById(statements, invitation.organization_id)
    if (!organization) throw invitationNotFound()
    const named = invitation.site_ids.map((id) => sites.directory.byId(id))
    const own = named.filter((site) => site?.organization_id === organization.id).map((site) => site!)
    const found = { invitation, organization, sites: own }
    if (!(await isUpheld(statements, found))) throw invitationNotFound()
    return found
  }

  /** Throws `limit_reached`. */
  async function refuseFull(statements: Statements, { invitation, organization, sites }: OpenInvitation): Promise<void> {
    if ((await countMembers(statements, organization.id)) >= ORGANIZATION.members) throw tooManyMembers()
    for (const site of invitation.role === "guest" ? sites : [])
      if ((await countGuests(statements, organization.id, site.id)) >= ORGANIZATION.guestsPerSite) throw tooManyGuests()
  }

  async function join(statements: Statements, found: OpenInvitation, user: User, guest: Guest): Promise<void> {
    const { invitation, organization } = found
    const now = clock.now()
    if (await membershipOf(statements, organization.id, user.id)) throw alreadyMember(user.id)
    await refuseFull(statements, found)
    const { role, invited_by } = invitation
    await insertMembership(statements, { organizationId: organization.id, userId: user.id, role, invitedBy: invited_by, now })
    for (const site of role === "guest" ? found.sites : [])
      await putSiteMember(statements, { siteId: site.id, userId: user.id, role: invitation.site_role, by: invited_by, now })
    await markAccepted(statements, invitation.id, user.id, now)
    await outbox.write(statements, memberEvent("joined", { organizationId: organization.id, userId: user.id, role }))
    await audit.write(statements, actorAs(guest.actor, user), {
      ...invitationEntry("accept")(invitation),
      changes: { role: [null, role], user: [null, user.email] },
    })
  }

  return {
    async find(token) {
      const found = await findOpen(catalog, token)
      return { ...found, hasAccount: (await userByEmailKey(catalog, found.invitation.email_key)) !== undefined }
    },
    async bySignedIn(token, body, { user, session }, guest) {
      const { invitation } = await findOpen(catalog, token)
      refuseDuringImpersonation(session)
      if (await secondFactors.isMissing(user, session))
        throw new AppError("mfa_enrollment_required", "Two-factor authentication is required. Add a second factor to your account first.")
      // A session opened by an organization's provider is limited to that organization.
      if (session.organization_id !== null && session.organization_id !== invitation.organization_id)
        throw new AppError(
          "forbidden",
          "You signed in with the identity provider of another organization, so this session is limited to that organization. Sign in another way to accept.",
        )
      if (caseKey(user.email) !== invitation.email_key)
        throw new AppError(
          "invitation_for_other_email",
          "This invitation was sent to another email address than the one you are signed in with.",
        )
      parseEmptyBody(body)
      return catalog.transaction(async (statements) => {
        const found = await findOpen(statements, token)
        await join(statements, found, user, guest)
        await sessions.renewAll(statements, user.id)
        return found.organization
      })
    },
    async bySigningUp(token, body, guest) {
      limits.request(guest.origin, "sign-up", SIGN_UPS_PER_MINUTE)
      const offered = await findOpen(catalog, token)
      const { email, email_key } = offered.invitation
      if (await userByEmailKey(catalog, email_key)) throw signInFirst()
      if (settings.get("registration") === "closed") throw new AppError("forbidden", "New accounts cannot be created on this instance.")
      const { name, password } = parseNewAccount(body, { isCommon: await passwords.common(), email })
      // Hashing is slow, so the limits are checked before it. The transaction checks them again.
      await refuseFull(catalog, offered)
      const password_hash = await passwords.hash(password)
      return catalog.transaction(async (statements) => {
        const found = await findOpen(statements, token)
        const now = clock.now()
        const made = await insertUser(statements, { email, email_key, name, password_hash, is_instance_admin: false, created_at: now })
        if (!made) throw signInFirst()
        // Only a link that was emailed proves that the address belongs to the user.
        const isMailed = found.invitation.sent_at !== null
        if (isMailed) await verifyEmail(statements, made.id, now)
        const user = isMailed ? { ...made, email_verified_at: now } : made
        await join(statements, found, user, guest)
        const isOut = await sso.isRequired(user, "own", statements)
        const signedIn = isOut ? undefined : await openSession(statements, user, { method: "invitation", mfa: false }, guest)
        return { organization: found.organization, signedIn }
      })
    },
  }
}

const signInFirst = () => new AppError("session_required", "An account with this email address exists. Sign in to accept the invitation.")
