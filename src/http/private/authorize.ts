import type { Actor } from "../../domain/audit.ts"
import { AppError } from "../../domain/error.ts"
import { type Client, refuseDuringImpersonation, refuseWithoutRecentProof } from "../../domain/session.ts"
import type { Access } from "../../services/access/access.ts"
import { tokenBuckets } from "../../services/api-keys/token-buckets.ts"
import { type Maintenance, refuseWrites } from "../../services/instance/maintenance.ts"
import type { SecondFactors } from "../../services/sign-in/second-factors.ts"
import type { Person, Sessions } from "../../services/sign-in/sessions.ts"
import type { Call } from "../../web/guard.ts"
import type { Authorize, Caller, Rule } from "../../web/router.ts"
import { addressPrefix } from "../caller.ts"
import type { Origins } from "./origins.ts"
import type { SessionCookie } from "./session-cookie.ts"

export interface AuthorizeOptions {
  now(): number
  isSetUp(): Promise<boolean>
  sessions: Pick<Sessions, "find">
  cookie: Pick<SessionCookie, "read" | "line">
  access: Access
  secondFactors: SecondFactors
  origins: Origins
  maintenance(): Maintenance
  /** Whether a plugin is switched on. */
  isOn(feature: string): boolean
  /** Requests per second of one session. */
  privateRate: number
  addressOf(call: Call): string | undefined
}

const BURST_SECONDS = 10

/** The checks 3 to 12 of areas/00-conventions.md section 4; what the path names besides, and the body, are the route's. */
export function createAuthorize(options: AuthorizeOptions): Authorize {
  const { now, origins, access } = options
  const buckets = tokenBuckets(options.privateRate * BURST_SECONDS, now, BURST_SECONDS * 1_000)
  let isSetUp = false

  async function begin({ request }: Call, rule: Rule): Promise<void> {
    isSetUp ||= await options.isSetUp()
    if (!isSetUp && !rule.beforeSetUp) throw new AppError("setup_required", "Set the instance up first: open it in a browser.")
    origins.refuseCrossSite(request)
  }

  async function personOf({ request, set }: Call): Promise<Person | undefined> {
    const token = options.cookie.read(request)
    const person = token === undefined ? undefined : await options.sessions.find(token)
    if (person?.renewedToken !== undefined) {
      const left = Math.floor((person.session.expires_at - now()) / 1_000)
      set.headers["set-cookie"] = [options.cookie.line(person.renewedToken, left)]
    }
    return person
  }

  async function signedIn(call: Call, rule: Rule): Promise<Caller> {
    await begin(call, rule)
    const person = await personOf(call)
    if (!person) throw new AppError("session_required", "Sign in.")
    return { ...person, actor: actorOf(person, clientOf(call, options), call) }
  }

  async function admitted(call: Call, rule: Rule): Promise<Caller> {
    const caller = await signedIn(call, rule)
    // Whoever lacks the factor that a policy asks for reaches the own account alone, to add one.
    if (await options.secondFactors.isMissing(caller.user, caller.session))
      throw new AppError("mfa_enrollment_required", "Two-factor authentication is required. Add a second factor to your account first.")
    if (rule.feature !== undefined && !options.isOn(rule.feature)) throw new AppError("feature_disabled", "This feature is disabled.")
    return caller
  }

  /** What comes once the permission is there. */
  function finish(call: Call, caller: Caller, rule: Rule): void {
    const writes = call.request.method !== "GET" && call.request.method !== "HEAD" && !rule.reads && !rule.duringMaintenance
    refuseImpersonation(caller, rule, writes)
    if (writes && !caller.user.is_instance_admin) refuseWrites(options.maintenance(), "maintenance", now())
    if (rule.sudo) refuseWithoutRecentProof(caller.session, now())
    const { taken, retryAfter } = buckets.take(String(caller.session.id))
    if (!taken) throw new AppError("rate_limited", "Too many requests of this session.", { retry_after: retryAfter })
  }

  return {
    async open(call, rule) {
      await begin(call, rule)
      const person = await personOf(call)
      const client = clientOf(call, options)
      if (rule.waits && !person?.user.is_instance_admin) refuseWrites(options.maintenance(), "maintenance", now())
      return { actor: person ? actorOf(person, client, call) : nobody(client, call), ...(person && { person }) }
    },
    async self(call, rule) {
      const caller = await signedIn(call, rule)
      finish(call, caller, rule)
      return caller
    },
    async signedIn(call, rule) {
      const caller = await admitted(call, rule)
      finish(call, caller, rule)
      return caller
    },
    async instanceAdmin(call, rule) {
      const caller = await admitted(call, rule)
      const { impersonator_id, organization_id } = caller.session
      // An organization's own provider speaks for that organization alone.
      if (!caller.user.is_instance_admin || impersonator_id !== null || organization_id !== null)
        throw new AppError("forbidden", "This is for instance admins.", { required_permission: "instance_admin" })
      finish(call, caller, rule)
      return caller
    },
    async site(call, rule) {
      const caller = await admitted(call, rule)
      const find = rule.deleted ? access.onDeletedSite : access.onSite
      const site = await find(caller, call.params.site)
      refuseLack(site.permissions, rule.permission)
      finish(call, caller, rule)
      return { ...caller, ...site }
    },
    async organization(call, rule) {
      const caller = await admitted(call, rule)
      const organization = await access.onOrganization(caller, call.params.organization)
      if (rule.permission !== MEMBER) refuseLack(organization.permissions, rule.permission)
      finish(call, caller, rule)
      return { ...caller, ...organization }
    },
  }
}

/** Asked of an organization's routes that every member reaches. */
export const MEMBER = "member"

/** Throws `forbidden` that names what is missing. */
export function refuseLack(permissions: ReadonlySet<string>, wanted: string): void {
  if (!permissions.has(wanted)) throw new AppError("forbidden", `This needs ${wanted}.`, { required_permission: wanted })
}

function refuseImpersonation({ session }: Caller, { ask, personal }: Rule, writes: boolean): void {
  // In the organization itself its provider's word is as good as any.
  if (personal && session.organization_id !== null && (ask === "self" || ask === "signed_in"))
    throw new AppError(
      "own_session_required",
      "Sign in by yourself for this: your organization's provider speaks for that organization alone. There it also proves again who you are: GET /api/private/auth/oidc/{provider}/reauth.",
    )
  if (personal || (writes && session.impersonation_mode === "read_only")) refuseDuringImpersonation(session)
}

function clientOf(call: Call, { addressOf }: Pick<AuthorizeOptions, "addressOf">): Client {
  return { userAgent: call.request.headers.get("user-agent") ?? "", ipPrefix: addressPrefix(addressOf(call)) }
}

const actorOf = ({ user, session }: Person, client: Client, call: Call): Actor => ({
  kind: "user",
  id: user.id,
  email: user.email,
  ...client,
  requestId: idOf(call),
  ...(session.impersonator_id !== null && { impersonator: { id: session.impersonator_id, email: session.impersonator_email ?? "" } }),
})

const nobody = (client: Client, call: Call): Actor => ({ kind: "user", email: "", ...client, requestId: idOf(call) })

const idOf = ({ set }: Call): string => String(set.headers["x-request-id"])
