import { timingSafeEqual } from "node:crypto"
import type { Actor, AuditEntry } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError, type Fault } from "../../domain/error.ts"
import { isObject } from "../../domain/shape.ts"
import type { Site } from "../../domain/site.ts"
import { type Audit, recorded, siteEntry } from "../audit/audit.ts"
import { ExitFault } from "../runtime/exit.ts"
import type { Random } from "../secrets/secrets.ts"
import { refuseUntil, rememberedTimes } from "../sign-in/limits.ts"
import { actorAs, type Guest, type OpenSession, type SignedIn } from "../sign-in/session.ts"
import { tokenHash } from "../sign-in/sessions.ts"
import type { Sites } from "../sites/sites.ts"
import { alreadySetUp, type FirstUser, type Users } from "./users.ts"

/** Creation of an instance's first user: over HTTP with the setup token, or by the operator without one. */
export interface Setup {
  token: SetupToken
  /** Creates the first user and signs them in. The body has `token`, the fields of `users.setUp` and optionally a `site`. Throws `already_set_up`, `setup_token_invalid`. */
  overHttp(body: unknown, guest: Guest): Promise<SignedIn & FirstUser & { site?: Site }>
  /** Validates such a body without creating anything, for a set-up page with several steps. Throws like `overHttp` for a wrong token. */
  faultsOf(body: unknown): Promise<readonly Fault[]>
  byOperator(body: unknown, actor: Actor): Promise<FirstUser>
  /**
   * Creates the first user from the settings at the first start. Returns false if the instance is already set up. Throws an `ExitFault`
   * for invalid settings.
   */
  fromSettings(named: { email?: string | undefined; password?: string | undefined }, actor: Actor): Promise<boolean>
}

interface SetupOptions {
  users: Pick<Users, "isSetUp" | "setUp" | "setUpFaults">
  sites: Pick<Sites, "create">
  token: SetupToken
  openSession: OpenSession
  audit: Audit
}

export function createSetup({ users, sites, token, openSession, audit }: SetupOptions): Setup {
  return {
    token,
    faultsOf: async (body) => users.setUpFaults(await wantedOf(body)),
    async overHttp(body, guest) {
      const wanted = await wantedOf(body)
      let signedIn: SignedIn | undefined
      const made = await users.setUp(wanted, async (statements, first) => {
        await audit.write(statements, actorAs(guest.actor, first.user), setUpEntry(first))
        signedIn = await openSession(statements, first.user, { method: "setup", mfa: false }, guest)
      })
      token.end()
      const site = wanted.site === undefined ? undefined : await firstSite(made, wanted.site, guest.actor)
      return { ...made, ...signedIn!, ...(site && { site }) } // the set-up was committed with it
    },
    byOperator,
    async fromSettings({ email, password }, actor) {
      if (await users.isSetUp()) return false
      if (email === undefined || password === undefined)
        throw new ExitFault("configuration", "admin_email and admin_password create the first user together: set both or neither")
      const name = email.split("@")[0]!.slice(0, 100)
      await byOperator({ email, password, name, organization: FIRST_ORGANIZATION }, actor).catch(asExitFault)
      return true
    },
  }

  /** Checks the token before the other fields, so that only its owner gets validation errors. */
  async function wantedOf(body: unknown): Promise<Record<string, unknown>> {
    if (await users.isSetUp()) throw alreadySetUp()
    const { token: sent, ...wanted } = isObject(body) ? body : {}
    token.check(typeof sent === "string" ? sent : "")
    return wanted
  }

  async function byOperator(body: unknown, actor: Actor): Promise<FirstUser> {
    const made = await users.setUp(body, (statements, first) => audit.write(statements, actor, setUpEntry(first)))
    token.end()
    return made
  }

  /** Creates the first site in a transaction of its own: if this fails, the instance is still set up. */
  function firstSite({ user, organization }: FirstUser, site: unknown, actor: Actor): Promise<Site> {
    return sites.create(organization.id, site, recorded(audit, actorAs(actor, user), siteEntry("sites.site.create")))
  }
}

/** The default name of the first organization. */
export const FIRST_ORGANIZATION = "My organization"

function asExitFault(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== "validation_failed") throw error
  const faults = (error.members.errors ?? []).map(({ pointer, detail }) => `admin_${pointer.slice(1)}: ${detail}`)
  throw new ExitFault("configuration", faults.join(" "))
}

const setUpEntry = ({ user, organization }: FirstUser): AuditEntry => ({
  action: "accounts.instance.set-up",
  target: { type: "user", id: user.id, label: user.email },
  organizationId: organization.id,
})

/** The setup token with its expiry. It is printed to the terminal and shown nowhere else. */
export interface SetupInvitation {
  token: string
  /** Epoch milliseconds. */
  expiresAt: number
}

/**
 * The token that proves that a visitor of the set-up page operates the instance. It is kept in memory and valid for 30 minutes. Until the
 * instance is set up, an expired token is replaced by a new one.
 */
export interface SetupToken {
  /** Issues the first token. Calls `announceRenewal` with each token that replaces an expired one. */
  begin(announceRenewal: (invitation: SetupInvitation) => void): SetupInvitation
  /** Issues a new token if the current one has expired. */
  renew(): void
  expiresAt(): number | undefined
  /** Checks a token. Throws `setup_token_invalid`, and `rate_limited` after 10 wrong tokens in 15 minutes from all clients together. */
  check(token: string): void
  /** Invalidates the token for good, because the instance is set up. */
  end(): void
}

const LIFE_MS = 30 * 60_000
const TOKEN_BYTES = 32
const MAX_TRIES = 10
const TRIES_MS = 15 * 60_000

export function createSetupToken({ clock, random }: { clock: Pick<Clock, "now">; random: Random }): SetupToken {
  const wrong = rememberedTimes(clock.now, TRIES_MS)
  let announce: ((invitation: SetupInvitation) => void) | undefined
  let current: { hash: Uint8Array; madeAt: number; expiresAt: number } | undefined

  function issue(): SetupInvitation {
    const token = random(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true })
    const now = clock.now()
    current = { hash: tokenHash(token), madeAt: now, expiresAt: now + LIFE_MS }
    return { token, expiresAt: current.expiresAt }
  }
  // A clock that was set back must not give a token a longer life.
  const isLive = (): boolean => current !== undefined && clock.now() < current.expiresAt && clock.now() >= current.madeAt - LIFE_MS

  return {
    begin(announceRenewal) {
      announce = announceRenewal
      return issue()
    },
    renew() {
      if (current && !isLive()) announce?.(issue())
    },
    expiresAt: () => current?.expiresAt,
    check(token) {
      refuseUntil(wrong.freeAt("", MAX_TRIES), clock.now())
      if (current && isLive() && timingSafeEqual(current.hash, tokenHash(token))) return
      wrong.note("")
      throw new AppError(
        "setup_token_invalid",
        "This setup token is invalid or expired. Use the latest one that Footfall has printed to the terminal.",
      )
    },
    end() {
      current = undefined
      announce = undefined
    },
  }
}
