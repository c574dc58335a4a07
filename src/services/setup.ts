import type { Actor, Deed } from "../domain/audit.ts"
import { AppError, type Fault } from "../domain/error.ts"
import { isObject } from "../domain/shape.ts"
import type { Site } from "../domain/site.ts"
import { type Audit, recorded } from "./audit.ts"
import { deedOnSite } from "./deeds.ts"
import { ExitFault } from "./exit.ts"
import type { SetupToken } from "./setup-token.ts"
import { actorAs, type Guest, type OpenSession, type SignedIn } from "./sign-in-session.ts"
import type { Sites } from "./sites.ts"
import { alreadySetUp, type FirstUser, type Users } from "./users.ts"

/** The first user of an instance: over HTTP with the one-time token, or by whoever runs the process, without. */
export interface Setup {
  token: SetupToken
  /** The body has `token` and what `users.setUp` takes, perhaps a first `site`. Throws `already_set_up`, `setup_token_invalid`. */
  overHttp(body: unknown, guest: Guest): Promise<SignedIn & FirstUser & { site?: Site }>
  /** What is wrong with such a body besides the token, for pages that ask step by step; nothing is made. Throws as `overHttp` does. */
  faultsOf(body: unknown): Promise<readonly Fault[]>
  byOperator(body: unknown, actor: Actor): Promise<FirstUser>
  /**
   * Makes the first user that the settings name, at the first start. False when nothing is to be made any more. Throws an
   * `ExitFault` for settings that make no user.
   */
  bySettings(named: { email?: string | undefined; password?: string | undefined }, actor: Actor): Promise<boolean>
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
        await audit.write(statements, actorAs(guest.actor, first.user), setUpDeed(first))
        signedIn = await openSession(statements, first.user, { method: "setup", mfa: false }, guest)
      })
      token.end()
      const site = wanted.site === undefined ? undefined : await firstSite(made, wanted.site, guest.actor)
      return { ...made, ...signedIn!, ...(site && { site }) } // the set-up was committed with it
    },
    byOperator,
    async bySettings({ email, password }, actor) {
      if (await users.isSetUp()) return false
      if (email === undefined || password === undefined)
        throw new ExitFault("configuration", "admin_email and admin_password make the first user together: set both, or none")
      const name = email.split("@")[0]!.slice(0, 100)
      await byOperator({ email, password, name, organization: FIRST_ORGANIZATION }, actor).catch(asExitFault)
      return true
    },
  }

  /** Before the rest is looked at: only whoever has the token learns what is wrong with it. */
  async function wantedOf(body: unknown): Promise<Record<string, unknown>> {
    if (await users.isSetUp()) throw alreadySetUp()
    const { token: sent, ...wanted } = isObject(body) ? body : {}
    token.check(typeof sent === "string" ? sent : "")
    return wanted
  }

  async function byOperator(body: unknown, actor: Actor): Promise<FirstUser> {
    const made = await users.setUp(body, (statements, first) => audit.write(statements, actor, setUpDeed(first)))
    token.end()
    return made
  }

  /** In a transaction of its own: an instance without its first site is set up all the same. */
  function firstSite({ user, organization }: FirstUser, site: unknown, actor: Actor): Promise<Site> {
    return sites.create(organization.id, site, recorded(audit, actorAs(actor, user), deedOnSite("sites.site.create")))
  }
}

/** Its name where nobody gives one. */
export const FIRST_ORGANIZATION = "My organization"

function asExitFault(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== "validation_failed") throw error
  const faults = (error.members.errors ?? []).map(({ pointer, detail }) => `admin_${pointer.slice(1)}: ${detail}`)
  throw new ExitFault("configuration", faults.join(" "))
}

const setUpDeed = ({ user, organization }: FirstUser): Deed => ({
  action: "accounts.instance.set-up",
  target: { type: "user", id: user.id, label: user.email },
  organizationId: organization.id,
})
