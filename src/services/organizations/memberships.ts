import type { Clock } from "../../domain/clock.ts"
import type { Log } from "../../domain/log.ts"
import type { Permissions } from "../../domain/permission.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { expireInvitations } from "../../store/catalog/organizations.ts"
import type { Handover } from "../access/handover.ts"
import type { Keys } from "../api-keys/api-keys.ts"
import { announceEndingKeys, createKeyUsage, type KeyUsage } from "../api-keys/key-usage.ts"
import { type Audit, type AuditList, createAuditList } from "../audit/audit.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { StoredSecrets } from "../key-rotation/stored-secrets.ts"
import type { MailQueue } from "../mail/mail.ts"
import { createMailDomains, type MailDomains, type ResolveTxt } from "../oidc/mail-domains.ts"
import { createOrganizationProviders, type OrganizationProviders } from "../oidc/organization-providers.ts"
import type { Outbound } from "../outbound/outbound.ts"
import type { Task } from "../runtime/tasks.ts"
import type { Random } from "../secrets/secrets.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { SignInLimits } from "../sign-in/limits.ts"
import type { Passwords } from "../sign-in/passwords.ts"
import type { SecondFactors } from "../sign-in/second-factors.ts"
import type { OpenSession } from "../sign-in/session.ts"
import type { Sessions } from "../sign-in/sessions.ts"
import type { SsoRule } from "../sign-in/sso-rule.ts"
import { createSiteMembers, type SiteMembers } from "../sites/site-members.ts"
import type { Sites } from "../sites/sites.ts"
import { type Acceptance, createAcceptance } from "./acceptance.ts"
import { createInvitations, type Invitations } from "./invitations.ts"
import { createMembers, type Members } from "./members.ts"

/** The services for members, invitations, identity providers and API key usage of organizations. */
export interface Memberships {
  members: Members
  siteMembers: SiteMembers
  invitations: Invitations
  acceptance: Acceptance
  mailDomains: MailDomains
  organizationProviders: OrganizationProviders
  keyUsage: KeyUsage
  auditList: AuditList
  /** Recurring tasks. `every` is in seconds. */
  tasks: Task[]
}

interface MembershipsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  permissions: Permissions
  settings: InstanceSettings
  sites: Sites
  keys: Keys
  audit: Audit
  passwords: Passwords
  sessions: Sessions
  secondFactors: SecondFactors
  openSession: OpenSession
  mail: MailQueue
  resolveTxt: ResolveTxt
  outbound: Outbound
  outbox: Outbox
  handover: Handover
  sso: SsoRule
  limits: SignInLimits
  storedSecrets: StoredSecrets
  hasInstanceProvider: boolean
  log: Log
  publicUrl(): string
}

export function createMemberships(options: MembershipsOptions): Memberships {
  const { catalog, clock, keys } = options
  const keyUsage = createKeyUsage(options)
  const siteMembers = createSiteMembers(options)
  return {
    members: createMembers(options),
    siteMembers,
    invitations: createInvitations({ ...options, siteMembers }),
    acceptance: createAcceptance({ ...options, siteMembers }),
    mailDomains: createMailDomains(options),
    organizationProviders: createOrganizationProviders(options),
    keyUsage,
    auditList: createAuditList(options),
    tasks: [
      { name: "write-key-usage", every: 60, run: () => keyUsage.flush() },
      { name: "forget-key-usage", every: 3_600, run: () => keyUsage.forget() },
      { name: "end-keys-and-invitations", every: 60, run: () => Promise.all([keys.expire(), expireInvitations(catalog, clock.now())]) },
      { name: "announce-ending-keys", every: 600, isShared: true, run: () => announceEndingKeys(options) },
    ],
  }
}
