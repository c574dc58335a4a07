import type { Clock } from "../domain/clock.ts"
import type { IdentityProvider } from "../domain/identity-provider.ts"
import type { Log } from "../domain/log.ts"
import type { Permissions } from "../domain/permission.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import type { Audit } from "./audit.ts"
import { type Background, createBackground } from "./background.ts"
import type { InstanceSettings } from "./instance-settings.ts"
import { createMail, type PostedMail, type SmtpSettings } from "./mail.ts"
import { createMembers } from "./members.ts"
import { createOidc, type Oidc } from "./oidc.ts"
import { createOidcExchange } from "./oidc-exchange.ts"
import { createOidcProof } from "./oidc-proof.ts"
import { createOidcProviders, type OidcProviders } from "./oidc-providers.ts"
import { roleMapping } from "./oidc-roles.ts"
import { createOneTimeTokens, type OneTimeTokens } from "./one-time-tokens.ts"
import type { Outbound } from "./outbound.ts"
import type { Outbox } from "./outbox.ts"
import { createOwnAccount, type OwnAccount } from "./own-account.ts"
import { createOwnEmail, type OwnEmail } from "./own-email.ts"
import { createOwnFactors, type OwnFactors } from "./own-factors.ts"
import { createPasskeys, type Passkeys, type RelyingParty } from "./passkeys.ts"
import { createPasswordReset, type PasswordReset } from "./password-reset.ts"
import { createPasswords, type HashSettings, type Passwords } from "./passwords.ts"
import { createProofs, type Proofs } from "./proofs.ts"
import { createRecoveryCodes } from "./recovery-codes.ts"
import { createSecondFactors, type SecondFactors } from "./second-factors.ts"
import type { Random, Secrets } from "./secrets.ts"
import type { Sessions } from "./sessions.ts"
import { createSetup, type Setup } from "./setup.ts"
import { createSetupToken } from "./setup-token.ts"
import { createSignIn, type SignIn } from "./sign-in.ts"
import { failureNotes } from "./sign-in-failures.ts"
import { createSignInLimits, type SignInFigures, type SignInLimits } from "./sign-in-limits.ts"
import { type OpenSession, sessionOpening } from "./sign-in-session.ts"
import { createSignOut, type SignOut } from "./sign-out.ts"
import type { Sites } from "./sites.ts"
import { createSsoRule, type SsoRule } from "./sso-rule.ts"
import { type StoredSecrets, storedSecrets } from "./stored-secrets.ts"
import { createTickets, type Tickets } from "./tickets.ts"
import type { Task } from "./timers.ts"
import { createTotp } from "./totp.ts"
import { createUsers, type Users } from "./users.ts"

/** What the operator decides about accounts. */
export interface AccountSettings {
  hashes: HashSettings
  signIn: SignInFigures
  smtp: SmtpSettings | undefined
  /** The identity provider of the whole instance. */
  oidc: IdentityProvider | undefined
}

/** Everything about who people are: set-up, signing in, the own account. */
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
  mail: PostedMail
  background: Background
  oidc: Oidc
  providers: OidcProviders
  sso: SsoRule
  /** Sealed values of the core. */
  storedSecrets: StoredSecrets
  /** Whether the operator has named a provider of the whole instance. */
  hasInstanceProvider: boolean
}

/** What accounts want done again and again. */
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
  /** Under which people reach the instance: links in mails, and where passkeys belong. */
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
  const ways = { ...options, sso, passwords, tickets, tokens, limits, factors: secondFactors, openSession, noteFailure, mail, background }
  const signIn = createSignIn(ways)
  const passkeys = createPasskeys({ ...ways, relyingParty: () => relyingParty(publicUrl()) })
  const providers = createOidcProviders({ ...options, secrets: coreSecrets, own: accounts.oidc })
  const oidc = createOidc({
    ...ways,
    signIn,
    providers,
    exchange: createOidcExchange(options),
    applyRoleMap: roleMapping(options),
    proof: createOidcProof(ways),
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
    proofs: createProofs({ ...ways, signIn, passkeys }),
    oidc,
    providers,
    sso,
    storedSecrets: coreSecrets,
    hasInstanceProvider,
    signOut: createSignOut({ ...options, logoutUrl: oidc.logoutUrl }),
    ownAccount: createOwnAccount({ ...ways, signIn, members: createMembers(options) }),
    ownEmail: createOwnEmail(ways),
    ownFactors: createOwnFactors({ ...ways, totp, recoveryCodes, relyingParty: () => relyingParty(publicUrl()) }),
    passwordReset: createPasswordReset(ways),
  }
}

/** Passkeys belong to the host, whatever the port; pages of another origin cannot use them. */
function relyingParty(base: string): RelyingParty {
  const { hostname, origin } = new URL(base)
  return { id: hostname, origin }
}
