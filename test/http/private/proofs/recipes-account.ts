import { TOTP } from "otpauth"
import { sql } from "../../../../src/store/sql.ts"
import { BASE, fresh, type Json, PASSWORD, type Person, type Scene, send, signedIn } from "../scene.ts"
import { createAuthenticator } from "../sign-in/authenticator.ts"
import type { Recipe } from "./recipes.ts"

const OTHER_PASSWORD = "another fine long password"

/** Registers a passkey for a user and returns it with its device. */
async function passkeyOf(scene: Scene, who: Person) {
  const device = createAuthenticator(BASE)
  const { options, challenge_id } = await scene.prepare(who, "POST", "/me/passkeys", {})
  const passkey = await scene.prepare(who, "POST", "/me/passkeys", { challenge_id, response: device.create(options), name: "Phone" })
  return { device, id: passkey.id as number }
}

const codeNow = (scene: Scene, secret: string): string => new TOTP({ secret }).generate({ timestamp: scene.world.instance.clock.now() })

/** Adds an authenticator app without recovery codes, because hashing those is slow. */
async function appOf(scene: Scene, who: Person): Promise<{ secret: string }> {
  const { secret } = await scene.prepare(who, "POST", "/me/totp/start")
  const { catalog } = scene.world.instance.app.instance
  const ticket = await catalog.get<{ payload_json: string }>(
    sql`select payload_json from login_tickets where user_id = ${who.id} and kind = 'totp_new'`,
  )
  const { sealed } = JSON.parse(ticket!.payload_json)
  await catalog.run(sql`update users set totp_sealed = ${Uint8Array.fromBase64(sealed)} where id = ${who.id}`)
  return { secret }
}

/** Parts of a sign-in that an audit entry must not contain. */
const OF_PASSWORD = { secrets: () => [PASSWORD] }

/** The user who signs in is not the one whose session sends the call. */
const newcomer = (scene: Scene): Promise<Person> => signedIn(scene.world, {})

async function login(scene: Scene, { email }: Person): Promise<Json> {
  const answer = await send(scene.world, "POST", "/api/private/auth/login", { body: { email, password: PASSWORD } })
  return answer.body
}

/** The identity provider knows the address of an existing user. Returns the ticket in the callback URL. */
async function linkTicket({ world }: Scene, { id, email }: Person): Promise<string> {
  const path = "/api/private/auth/oidc/oidc/start"
  const start = await send(world, "GET", path)
  const back = world.provider.signIn(start.headers.get("location")!, { sub: `person-${id}`, email, email_verified: true })
  const cookie = start.headers
    .getSetCookie()
    .map((line) => line.split(";")[0]!)
    .join("; ")
  const end = await send(world, "GET", back.pathname + back.search, { cookie })
  return end.headers.get("location")!.split("#")[1]!
}

const CHALLENGE = "It issues a challenge; nothing has changed."

/** Routes below `/setup`, `/auth`, `/me` and `/invitations`. */
export const ACCOUNT_RECIPES: Readonly<Record<string, Recipe>> = {
  "POST /auth/login": async (scene) => {
    const { id, email } = await newcomer(scene)
    const auditEntry = { action: "accounts.session.create", target: ["session", "*"], actor: id, ...OF_PASSWORD } as const
    return { body: { email, password: PASSWORD }, auditEntry }
  },
  "POST /auth/mfa": async (scene) => {
    const who = await newcomer(scene)
    const { secret } = await appOf(scene, who)
    const { ticket } = await login(scene, who)
    return {
      body: { ticket, code: codeNow(scene, secret) },
      auditEntry: { action: "accounts.session.create", target: ["session", "*"], actor: who.id, secrets: () => [ticket] },
    }
  },
  "POST /auth/passkey/options": () => ({ body: {}, silent: CHALLENGE }),
  "POST /auth/passkey/verify": async (scene) => {
    const who = await newcomer(scene)
    const { device } = await passkeyOf(scene, who)
    const { body } = await send(scene.world, "POST", "/api/private/auth/passkey/options", { body: {} })
    const { options, challenge_id } = body as Json
    const auditEntry = { action: "accounts.session.create", target: ["session", "*"], actor: who.id } as const
    return { body: { challenge_id, response: device.get(options) }, auditEntry }
  },
  "POST /auth/forgot": async (scene) => {
    const who = await newcomer(scene)
    const auditEntry = { action: "accounts.password.ask-reset", target: ["user", who.id], later: true } as const
    return { body: { email: who.email }, auditEntry }
  },
  "POST /auth/reset": async (scene) => {
    const who = await newcomer(scene)
    await send(scene.world, "POST", "/api/private/auth/forgot", { body: { email: who.email } })
    const token = await scene.world.mailedToken(who.email)
    const secrets = () => [token, OTHER_PASSWORD]
    return {
      body: { token, password: OTHER_PASSWORD },
      auditEntry: { action: "accounts.password.reset", target: ["user", who.id], actor: who.id, secrets },
    }
  },
  "POST /auth/email/undo": async (scene) => {
    const who = await newcomer(scene)
    await scene.prepare(who, "POST", "/me/email", { email: `${fresh("new")}@example.com` })
    const token = await scene.world.mailedToken(who.email)
    return {
      body: { token },
      auditEntry: { action: "accounts.email.undo", target: ["user", who.id], actor: who.id, secrets: () => [token] },
    }
  },
  "POST /auth/logout": () => ({ auditEntry: { action: "accounts.session.end", target: ["session", "*"] } }),
  "POST /auth/reauth": () => ({
    body: { password: PASSWORD },
    auditEntry: { action: "accounts.session.prove", target: ["session", "*"], ...OF_PASSWORD },
  }),
  "GET /auth/oidc/{provider}/callback": () => ({ query: "code=x&state=y" }),
  "POST /auth/oidc/link": async (scene) => {
    const who = await newcomer(scene)
    const ticket = await linkTicket(scene, who)
    const auditEntry = {
      action: "accounts.identity.link",
      target: ["user", who.id],
      actor: who.id,
      secrets: () => [ticket, PASSWORD],
      beside: ["accounts.session.create"],
    } as const
    return { cookie: "", body: { ticket, password: PASSWORD }, auditEntry }
  },

  "PATCH /me": async (scene) => {
    const { id } = await scene.caller()
    return { body: { name: fresh("Name") }, auditEntry: { action: "accounts.user.update", target: ["user", id] } }
  },
  "DELETE /me": async (scene) => {
    // Otherwise the last owner would leave.
    await scene.organizationOwner()
    const { id } = await scene.caller()
    return { auditEntry: { action: "accounts.user.delete", target: ["user", id] } }
  },
  "POST /me/email": async (scene) => {
    const { id } = await scene.caller()
    return {
      body: { email: `${fresh("new")}@example.com` },
      auditEntry: { action: "accounts.email.ask-change", target: ["user", id], later: true },
    }
  },
  "POST /me/email/confirm": async (scene) => {
    const caller = await scene.caller()
    const email = `${fresh("new")}@example.com`
    await scene.prepare(caller, "POST", "/me/email", { email })
    const token = await scene.world.mailedToken(email)
    return { body: { token }, auditEntry: { action: "accounts.email.change", target: ["user", caller.id], secrets: () => [token] } }
  },
  "POST /me/password": async (scene) => {
    const { id } = await scene.caller()
    const secrets = () => [PASSWORD, OTHER_PASSWORD]
    return {
      body: { current: PASSWORD, password: OTHER_PASSWORD },
      auditEntry: { action: "accounts.password.change", target: ["user", id], secrets },
    }
  },
  "POST /me/sessions/revoke-others": async (scene) => {
    const { id } = await scene.caller()
    return { auditEntry: { action: "accounts.session.end-others", target: ["user", id] } }
  },
  "DELETE /me/sessions/{session_id}": () => ({ auditEntry: { action: "accounts.session.end", target: ["session"] } }),
  "POST /me/leave": async (scene) => {
    const caller = await scene.caller()
    const { organizations } = scene.world.instance.app.instance
    const { id } = await organizations.create({ name: fresh("Left") })
    await scene.join(caller, id)
    return {
      body: { organization_id: id },
      auditEntry: { action: "accounts.membership.leave", target: ["user", caller.id], organization: id },
    }
  },
  "POST /me/totp/start": () => ({ silent: CHALLENGE }),
  "POST /me/totp/confirm": async (scene) => {
    const caller = await scene.caller()
    const { secret, ticket } = await scene.prepare(caller, "POST", "/me/totp/start")
    const secrets = (answer: Json) => [secret, ticket, ...answer.recovery_codes]
    return {
      body: { ticket, code: codeNow(scene, secret) },
      auditEntry: { action: "accounts.totp.enable", target: ["user", caller.id], secrets },
    }
  },
  "POST /me/totp/disable": async (scene) => {
    const caller = await scene.caller()
    await appOf(scene, caller)
    return { auditEntry: { action: "accounts.totp.disable", target: ["user", caller.id] } }
  },
  "POST /me/recovery-codes": async (scene) => {
    const caller = await scene.caller()
    await appOf(scene, caller)
    const secrets = (answer: Json) => answer.recovery_codes
    return { auditEntry: { action: "accounts.recovery-codes.create", target: ["user", caller.id], secrets } }
  },
  "POST /me/passkeys": async (scene) => {
    const caller = await scene.caller()
    const device = createAuthenticator(BASE)
    const { options, challenge_id } = await scene.prepare(caller, "POST", "/me/passkeys", {})
    return {
      body: { challenge_id, response: device.create(options), name: "Phone" },
      auditEntry: { action: "accounts.passkey.create", target: ["passkey"] },
    }
  },
  "PATCH /me/passkeys/{passkey_id}": async (scene) => {
    const { id } = await passkeyOf(scene, await scene.caller())
    return {
      ids: { passkey_id: id },
      body: { name: fresh("Phone") },
      auditEntry: { action: "accounts.passkey.update", target: ["passkey", id] },
    }
  },
  "DELETE /me/passkeys/{passkey_id}": async (scene) => {
    const caller = await scene.caller()
    const { id } = await passkeyOf(scene, caller)
    return { ids: { passkey_id: id }, auditEntry: { action: "accounts.passkey.delete", target: ["passkey", id] } }
  },

  "GET /invitations/{token}": async (scene) => ({ ids: { token: (await invited(scene)).token } }),
  "POST /invitations/{token}/accept": async (scene) => {
    const { token, id, organization } = await invited(scene)
    const { cookie } = await scene.caller()
    return {
      ids: { token },
      ...(cookie === "" && { body: { name: fresh("New"), password: PASSWORD } }),
      auditEntry: { action: "accounts.invitation.accept", target: ["invitation", id], organization, secrets: () => [token] },
    }
  },
}

/** An invitation of the caller to an organization they do not belong to. */
async function invited(scene: Scene) {
  const caller = await scene.caller()
  const { organizations } = scene.world.instance.app.instance
  const { id: organization } = await organizations.create({ name: fresh("Inviting") })
  const host = await signedIn(scene.world, { organizationId: organization, role: "owner" })
  const email = caller.email === "" ? `${fresh("new")}@example.com` : caller.email
  const { id } = await scene.prepare(host, "POST", `/organizations/${organization}/members/invite`, { email, role: "viewer" })
  return { id: id as number, email, organization, token: await scene.world.mailedToken(email) }
}
