import type { Clock } from "../domain/clock.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import type { Audit } from "./audit.ts"
import type { InstanceSettings } from "./instance-settings.ts"
import { createPasswords, type Passwords } from "./passwords.ts"
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
import type { Sites } from "./sites.ts"
import { createTickets, type Tickets } from "./tickets.ts"
import type { Task } from "./timers.ts"
import { createTotp } from "./totp.ts"
import { createUsers, type Users } from "./users.ts"

/** What the operator decides about accounts. */
export interface AccountSettings {
  hashesAtOnce: number
  signIn: SignInFigures
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
}

/** What accounts want done again and again. */
export const accountTasks = ({ setup, tickets }: Accounts, sessions: Pick<Sessions, "forgetEnded">): Task[] => [
  { name: "renew-setup-token", every: 1, run: async () => setup.token.renew() },
  { name: "forget-sign-ins", every: 600, run: () => Promise.all([tickets.forget(), sessions.forgetEnded()]) },
]

interface AccountsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  secrets: Secrets
  settings: InstanceSettings
  sessions: Sessions
  audit: Audit
  sites: Sites
  siteDefaults: Parameters<typeof createUsers>[0]["siteDefaults"]
  accounts: AccountSettings
}

export function createAccounts(options: AccountsOptions): Accounts {
  const { accounts, audit } = options
  const passwords = createPasswords({ atOnce: accounts.hashesAtOnce })
  const users = createUsers({ ...options, passwords })
  const openSession = sessionOpening(options)
  const tickets = createTickets(options)
  const limits = createSignInLimits({ ...options, figures: accounts.signIn })
  const recoveryCodes = createRecoveryCodes({ ...options, passwords })
  const secondFactors = createSecondFactors({ ...options, totp: createTotp(options), recoveryCodes })
  const noteFailure = failureNotes(options)
  return {
    users,
    passwords,
    tickets,
    limits,
    secondFactors,
    openSession,
    setup: createSetup({ ...options, users, token: createSetupToken(options), openSession, audit }),
    signIn: createSignIn({ ...options, passwords, tickets, limits, factors: secondFactors, openSession, noteFailure }),
  }
}
