import type { Clock } from "../../domain/clock.ts"
import type { IdentityProvider } from "../../domain/identity-provider.ts"
import type { Log } from "../../domain/log.ts"
import type { Permissions } from "../../domain/permission.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import type { Handover } from "../access/handover.ts"
import type { Audit } from "../audit/audit.ts"
import type { Outbox } from "../jobs/outbox.ts"
import { type StoredSecrets, storedSecrets } from "../key-rotation/stored-secrets.ts"
import { createMail, type MailQueue, type SmtpSettings } from "../mail/mail.ts"
import { createOidcExchange } from "../oidc/exchange.ts"
import { createOidc, createOidcProof, type Oidc } from "../oidc/oidc.ts"
import { createOidcProviders, type OidcProviders } from "../oidc/providers.ts"
import { roleMapping } from "../oidc/roles.ts"
import { createMembers } from "../organizations/members.ts"
import type { Outbound } from "../outbound/outbound.ts"
import type { LiveNodes } from "../runtime/nodes.ts"
import { type Background, createBackground, type Task } from "../runtime/tasks.ts"
import type { Random, Secrets } from "../secrets/secrets.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import { createSignInLimits, type SignInLimitSettings, type SignInLimits } from "../sign-in/limits.ts"
import { createOneTimeTokens, createTickets, type OneTimeTokens, type Tickets } from "../sign-in/one-time-tokens.ts"
import { createOwnFactors, type OwnFactors } from "../sign-in/own-factors.ts"
import { createPasskeys, type Passkeys, type RelyingParty } from "../sign-in/passkeys.ts"
import { createPasswordReset, type PasswordReset } from "../sign-in/password-reset.ts"
import { createPasswords, type HashSettings, type Passwords } from "../sign-in/passwords.ts"
import { createRecoveryCodes, createSecondFactors, createTotp, type SecondFactors } from "../sign-in/second-factors.ts"
import { createSignOut, failureNotes, type OpenSession, type SignOut, sessionOpening } from "../sign-in/session.ts"
import type { Sessions } from "../sign-in/sessions.ts"
import { createProofs, createSignIn, type Proofs, type SignIn } from "../sign-in/sign-in.ts"
import { createSsoRule, type SsoRule } from "../sign-in/sso-rule.ts"
import type { Sites } from "../sites/sites.ts"
import { createOwnAccount, type OwnAccount } from "./own-account.ts"
import { createOwnEmail, type OwnEmail } from "./own-email.ts"
import { createSetup, createSetupToken, type Setup } from "./setup.ts"
import { createUsers, type Users } from "./users.ts"

/** The operator's settings for accounts. */
export interface AccountSettings {
  hashes: HashSettings
  signIn: SignInLimitSettings
  smtp: SmtpSettings | undefined
  /** The identity provider of the whole instance, if the operator has configured one. */
  oidc: IdentityProvider | undefined
}

/** The services for set-up, sign-in and each user's own account. */
export interface Accounts {
  users: Users
  passwords: Passwords
  setup: Setup
  signIn: SignIn
  limits: SignInLimits
  tickets: Tickets
  secondFactors: SecondFactors
  openSession: OpenSession
  proofs: Proofs
  signOut: SignOut
  passkeys: Passkeys
  ownAccount: OwnAccount
  ownEmail: OwnEmail
  ownFactors: OwnFactors
  passwordReset: PasswordReset
  tokens: OneTimeTokens
  mail: MailQueue
  background: Background
  oidc: Oidc
  providers: OidcProviders
  sso: SsoRule
  /** Encrypted values that belong to the core and not to a plugin. */
  storedSecrets: StoredSecrets
  /** Whether the operator has configured an identity provider for the whole instance. */
  hasInstanceProvider: boolean
}

/** Returns the recurring tasks of the account services. `every` is in seconds. */
export const accountTasks = ({ setup, tickets, tokens, mail }: Accounts, sessions: Pick<Sessions, "forgetEnded">): Task[] => [
  { name: "renew-setup-token", every: 1, run: async () => setup.token.renew() },
  { name: "send-mails", every: 20, run: () => mail.deliver() },
  { name: "forget-sign-ins", every: 600, run: () => Promise.all([tickets.forget(), tokens.forget(), sessions.forgetEnded()]) },
]

interface AccountsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now" | "monotonic">
  random: Random
  secrets: Secrets
  settings: InstanceSettings
  permissions: Permissions
  sessions: Sessions
  audit: Audit
  sites: Sites
  siteDefaults: Parameters<typeof createUsers>[0]["siteDefaults"]
  accounts: AccountSettings
  log: Log
  outbound: Outbound
  outbox: Outbox
  handover: Handover
  nodes: LiveNodes | undefined
  /** Returns the base URL. Links in emails start with it, and passkeys are bound to its host. */
  publicUrl(): string
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { accounts, audit, clock, publicUrl } = options
  const passwords = createPasswords({ ...accounts.hashes, clock })
  const users = createUsers({ ...options, passwords })
  const openSession = sessionOpening(options)
  const tickets = createTickets(options)
  const tokens = createOneTimeTokens(options)
  const limits = createSignInLimits({ ...options, figures: accounts.signIn })
  const mail = createMail({ ...options, smtp: accounts.smtp })
  const background = createBackground(options.log)
  const totp = createTotp(options)
  const recoveryCodes = createRecoveryCodes({ ...options, passwords })
  const secondFactors = createSecondFactors({ ...options, totp, recoveryCodes })
  const noteFailure = failureNotes(options)
  const hasInstanceProvider = accounts.oidc !== undefined
  const sso = createSsoRule({ ...options, hasInstanceProvider })
  const coreSecrets = storedSecrets(options, "core")
  const shared = { ...options, sso, passwords, tickets, tokens, limits, factors: secondFactors, openSession, noteFailure, mail, background }
  const signIn = createSignIn(shared)
  const passkeys = createPasskeys({ ...shared, relyingParty: () => relyingParty(publicUrl()) })
  const providers = createOidcProviders({ ...options, secrets: coreSecrets, own: accounts.oidc })
  const oidc = createOidc({
    ...shared,
    signIn,
    providers,
    exchange: createOidcExchange(options),
    applyRoleMap: roleMapping(options),
    proof: createOidcProof(shared),
  })
  return {
    users,
    passwords,
    tickets,
    tokens,
    limits,
    mail,
    background,
    secondFactors,
    openSession,
    signIn,
    passkeys,
    setup: createSetup({ ...options, users, token: createSetupToken(options), openSession, audit }),
    proofs: createProofs({ ...shared, signIn, passkeys }),
    oidc,
    providers,
    sso,
    storedSecrets: coreSecrets,
    hasInstanceProvider,
    signOut: createSignOut({ ...options, logoutUrl: oidc.logoutUrl }),
    ownAccount: createOwnAccount({ ...shared, signIn, members: createMembers(options) }),
    ownEmail: createOwnEmail(shared),
    ownFactors: createOwnFactors({ ...shared, totp, recoveryCodes, relyingParty: () => relyingParty(publicUrl()) }),
    passwordReset: createPasswordReset(shared),
  }
}

/** Returns the relying party of passkeys: they are bound to the host without its port, and only pages of this origin can use them. */
function relyingParty(base: string): RelyingParty {
  const { hostname, origin } = new URL(base)
  return { id: hostname, origin }
}
