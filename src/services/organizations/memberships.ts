import type { Clock } from "../domain/clock.ts"
import type { Log } from "../domain/log.ts"
import type { Permissions } from "../domain/permission.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { expireInvitations } from "../store/catalog/invitations.ts"
import { type Acceptance, createAcceptance } from "./acceptance.ts"
import type { Audit } from "./audit.ts"
import { type AuditList, createAuditList } from "./audit-list.ts"
import type { InstanceSettings } from "./instance-settings.ts"
import { createInvitations, type Invitations } from "./invitations.ts"
import { announceEndingKeys } from "./key-notices.ts"
import { createKeyUsage, type KeyUsage } from "./key-usage.ts"
import type { Keys } from "./keys.ts"
import type { PostedMail } from "./mail.ts"
import { createMailDomains, type MailDomains, type ResolveTxt } from "./mail-domains.ts"
import { createMembers, type Members } from "./members.ts"
import { createOrganizationProviders, type OrganizationProviders } from "./organization-providers.ts"
import type { Outbound } from "./outbound.ts"
import type { Outbox } from "./outbox.ts"
import type { Passwords } from "./passwords.ts"
import type { SecondFactors } from "./second-factors.ts"
import type { Random } from "./secrets.ts"
import type { Sessions } from "./sessions.ts"
import type { OpenSession } from "./sign-in-session.ts"
import { createSiteMembers, type SiteMembers } from "./site-members.ts"
import type { Sites } from "./sites.ts"
import type { SsoRule } from "./sso-rule.ts"
import type { StoredSecrets } from "./stored-secrets.ts"
import type { Task } from "./timers.ts"

/** Everything about who belongs to which organization, and by which rights. */
export interface Memberships {
  members: Members
  siteMembers: SiteMembers
  invitations: Invitations
  acceptance: Acceptance
  mailDomains: MailDomains
  organizationProviders: OrganizationProviders
  keyUsage: KeyUsage
  auditList: AuditList
  /** What is to be done again and again. */
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
  mail: PostedMail
  resolveTxt: ResolveTxt
  outbound: Outbound
  outbox: Outbox
  sso: SsoRule
  storedSecrets: StoredSecrets
  hasInstanceProvider: boolean
  log: Log
  publicUrl(): string
}

export function createMemberships(options: MembershipsOptions): Memberships {
  const { catalog, clock, keys } = options
  const keyUsage = createKeyUsage(options)
  return {
    members: createMembers(options),
    siteMembers: createSiteMembers(options),
    invitations: createInvitations(options),
    acceptance: createAcceptance(options),
    mailDomains: createMailDomains(options),
    organizationProviders: createOrganizationProviders(options),
    keyUsage,
    auditList: createAuditList(options),
    tasks: [
      { name: "write-key-usage", every: 60, run: () => keyUsage.flush() },
      { name: "forget-key-usage", every: 3_600, run: () => keyUsage.forget() },
      { name: "end-keys-and-invitations", every: 60, run: () => Promise.all([keys.expire(), expireInvitations(catalog, clock.now())]) },
      { name: "announce-ending-keys", every: 600, run: () => announceEndingKeys(options) },
    ],
  }
}
