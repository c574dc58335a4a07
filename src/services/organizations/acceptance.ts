import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { alreadyMember, type Invitation, invitationNotFound, isOver, parseNewAccount, parseNothing } from "../domain/invitation.ts"
import { ORGANIZATION } from "../domain/limits.ts"
import { mayGive, tooManyGuests, tooManyMembers } from "../domain/membership.ts"
import type { Organization } from "../domain/organization.ts"
import { organizationPermissions, type Permissions } from "../domain/permission.ts"
import { refuseInAnothersName } from "../domain/session.ts"
import type { Site } from "../domain/site.ts"
import { caseKey } from "../domain/text.ts"
import type { User } from "../domain/user.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { invitationByTokenHash, markAccepted, verifyEmail } from "../store/catalog/invitations.ts"
import { countGuests, countMembers } from "../store/catalog/members.ts"
import { insertMembership, membershipOf, putSiteMember } from "../store/catalog/memberships.ts"
import { organizationById } from "../store/catalog/organizations.ts"
import { insertUser, userByEmailKey, userById } from "../store/catalog/users.ts"
import type { Audit } from "./audit.ts"
import type { InstanceSettings } from "./instance-settings.ts"
import { invitationDeed } from "./invitations.ts"
import type { Outbox } from "./outbox.ts"
import type { Passwords } from "./passwords.ts"
import { memberEvent } from "./product-events.ts"
import type { SecondFactors } from "./second-factors.ts"
import { type Person, type Sessions, tokenHash } from "./sessions.ts"
import { actorAs, type Guest, type OpenSession, type SignedIn } from "./sign-in-session.ts"
import type { Sites } from "./sites.ts"
import type { SsoRule } from "./sso-rule.ts"

/** An invitation that can be accepted now. */
export interface OpenInvitation {
  invitation: Invitation
  organization: Organization
  /** Of a guest: those that are still there. */
  sites: Site[]
}

/**
 * Joining an organization by the token of an invitation. One that is unknown, used, withdrawn, over, or of somebody who may
 * not invite any more is `invitation_not_found`, at its acceptance once more. Of acceptances at the same time one wins.
 */
export interface Acceptance {
  look(token: string): Promise<OpenInvitation & { hasAccount: boolean }>
  /** Throws `invitation_for_other_email`, `already_member`, `limit_reached`, `mfa_enrollment_required`. */
  bySignedIn(token: string, body: unknown, person: Person, guest: Guest): Promise<Organization>
  /**
   * Makes the user, whose address counts as shown. Whoever has to come in by an identity provider is a member and not signed in.
   * Throws `session_required` when the address has an account: its owner signs in first; `forbidden` where nobody signs up,
   * `validation_failed`.
   */
  bySigningUp(token: string, body: unknown, guest: Guest): Promise<{ organization: Organization; signedIn: SignedIn | undefined }>
}

interface AcceptanceOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  permissions: Permissions
  settings: Pick<InstanceSettings, "get">
  sites: Pick<Sites, "directory">
  passwords: Passwords
  openSession: OpenSession
  audit: Audit
  secondFactors: Pick<SecondFactors, "isMissing">
  sessions: Pick<Sessions, "renewAll">
  sso: Pick<SsoRule, "isWanted">
  outbox: Pick<Outbox, "write">
}

export function createAcceptance(options: AcceptanceOptions): Acceptance {
  const { catalog, clock, permissions, settings, sites, passwords, openSession, audit, secondFactors, sessions, sso, outbox } = options

  /** Whoever invited could still do so. */
  async function isUpheld(statements: Statements, { invited_by, organization_id, role }: Invitation): Promise<boolean> {
    if (invited_by === null) return true
    const [giver, user] = [await membershipOf(statements, organization_id, invited_by), await userById(statements, invited_by)]
    if (!giver || user?.status !== "active") return false
    return organizationPermissions(giver, permissions).has("members:write") && mayGive(giver, role, permissions)
  }

  async function find(statements: Statements, token: string): Promise<OpenInvitation> {
    const invitation = await invitationByTokenHash(statements, tokenHash(token))
    if (!invitation || invitation.accepted_at !== null || invitation.revoked_at !== null || isOver(invitation, clock.now()))
      throw invitationNotFound()
    const organization = await organizationById(statements, invitation.organization_id)
    if (!organization || !(await isUpheld(statements, invitation))) throw invitationNotFound()
    const named = invitation.site_ids.map((id) => sites.directory.byId(id))
    return { invitation, organization, sites: named.filter((site) => site?.organization_id === organization.id).map((site) => site!) }
  }

  async function join(statements: Statements, found: OpenInvitation, user: User, guest: Guest): Promise<void> {
    const { invitation, organization } = found
    const now = clock.now()
    if (await membershipOf(statements, organization.id, user.id)) throw alreadyMember()
    if ((await countMembers(statements, organization.id)) >= ORGANIZATION.members) throw tooManyMembers()
    const { role, invited_by } = invitation
    await insertMembership(statements, { organizationId: organization.id, userId: user.id, role, invitedBy: invited_by, now })
    for (const site of role === "guest" ? found.sites : []) {
      await putSiteMember(statements, { siteId: site.id, userId: user.id, role: "viewer", by: invited_by, now })
      if ((await countGuests(statements, organization.id, site.id)) > ORGANIZATION.guestsPerSite) throw tooManyGuests()
    }
    await markAccepted(statements, invitation.id, user.id, now)
    await outbox.write(statements, memberEvent("joined", { organizationId: organization.id, userId: user.id, role }))
    await audit.write(statements, actorAs(guest.actor, user), {
      ...invitationDeed("accept")(invitation),
      changes: { role: [null, role], user: [null, user.email] },
    })
  }

  return {
    async look(token) {
      const found = await find(catalog, token)
      return { ...found, hasAccount: (await userByEmailKey(catalog, found.invitation.email_key)) !== undefined }
    },
    async bySignedIn(token, body, { user, session }, guest) {
      const { invitation } = await find(catalog, token)
      refuseInAnothersName(session)
      if (await secondFactors.isMissing(user, session))
        throw new AppError("mfa_enrollment_required", "Add a second factor to your account first.")
      // A session that an organization's provider gave reaches that organization alone.
      if (session.organization_id !== null && session.organization_id !== invitation.organization_id)
        throw new AppError("forbidden", "This session reaches another organization alone.")
      if (caseKey(user.email) !== invitation.email_key)
        throw new AppError("invitation_for_other_email", "You are signed in with another address than the one that was invited.")
      parseNothing(body)
      return catalog.transaction(async (statements) => {
        const found = await find(statements, token)
        await join(statements, found, user, guest)
        await sessions.renewAll(statements, user.id)
        return found.organization
      })
    },
    async bySigningUp(token, body, guest) {
      const { invitation } = await find(catalog, token)
      const { email, email_key } = invitation
      if (await userByEmailKey(catalog, email_key)) throw signInFirst()
      if (settings.get("registration") === "closed") throw new AppError("forbidden", "On this instance nobody signs up.")
      const { name, password } = parseNewAccount(body, { isCommon: await passwords.common(), email })
      const password_hash = await passwords.hash(password)
      return catalog.transaction(async (statements) => {
        const found = await find(statements, token)
        const now = clock.now()
        const made = await insertUser(statements, { email, email_key, name, password_hash, is_instance_admin: false, created_at: now })
        if (!made) throw signInFirst()
        await verifyEmail(statements, made.id, now)
        const user = { ...made, email_verified_at: now }
        await join(statements, found, user, guest)
        const isOut = await sso.isWanted(user, "own", statements)
        const signedIn = isOut ? undefined : await openSession(statements, user, { method: "invitation", mfa: false }, guest)
        return { organization: found.organization, signedIn }
      })
    },
  }
}

const signInFirst = () => new AppError("session_required", "The address has an account: sign in with it to accept.")
