import { type Client, refuseDuringImpersonation, refuseWithoutRecentProof } from "../../domain/account.ts"
import type { Actor } from "../../domain/audit.ts"
import { AppError } from "../../domain/error.ts"
import { missingPermission } from "../../domain/membership.ts"
import type { Access } from "../../services/access/access.ts"
import { tokenBuckets } from "../../services/api-keys/token-buckets.ts"
import { type Maintenance, refuseWrites } from "../../services/instance/maintenance.ts"
import type { SecondFactors } from "../../services/sign-in/second-factors.ts"
import type { Person, Sessions } from "../../services/sign-in/sessions.ts"
import type { Call } from "../../web/guard.ts"
import type { Authorize, Caller, Rule, Terms } from "../../web/router.ts"
import { addressPrefix } from "../caller.ts"
import type { Origins } from "./origins.ts"
import type { SessionCookie } from "./session-cookie.ts"

export interface AuthorizeOptions {
  now(): number
  isSetUp(): Promise<boolean>
  sessions: Pick<Sessions, "find">
  cookie: Pick<SessionCookie, "read" | "header">
  access: Access
  secondFactors: SecondFactors
  origins: Origins
  maintenance(): Maintenance
  /** Returns whether a plugin is enabled. */
  isOn(feature: string): boolean
  /** Maximum number of requests per second and session. */
  privateRate: number
  addressOf(call: Call): string | undefined
}

const BURST_SECONDS = 10

/** Creates checks 3 to 12 of areas/00-conventions.md section 4. Further resources in the path and the body are checked by the routes. */
export function createAuthorize(options: AuthorizeOptions): Authorize {
  const { now, origins, access } = options
  const buckets = tokenBuckets(options.privateRate * BURST_SECONDS, now, BURST_SECONDS * 1_000)
  let isSetUp = false

  async function begin({ request }: Call, rule: Rule): Promise<void> {
    isSetUp ||= await options.isSetUp()
    if (!isSetUp && !rule.beforeSetUp)
      throw new AppError("setup_required", "The instance is not set up. Open it in a browser to set it up.")
    origins.refuseCrossSite(request)
  }

  async function personOf({ request, set }: Call): Promise<Person | undefined> {
    const token = options.cookie.read(request)
    const person = token === undefined ? undefined : await options.sessions.find(token)
    if (person?.renewedToken !== undefined) {
      const left = Math.floor((person.session.expires_at - now()) / 1_000)
      set.headers["set-cookie"] = [options.cookie.header(person.renewedToken, left)]
    }
    return person
  }

  async function signedIn(call: Call, rule: Rule): Promise<Caller> {
    await begin(call, rule)
    const person = await personOf(call)
    if (!person) throw new AppError("session_required", "You are not signed in. Sign in to continue.")
    return { ...person, actor: actorOf(person, clientOf(call, options), call) }
  }

  async function admitted(call: Call, rule: Rule): Promise<Caller> {
    const caller = await signedIn(call, rule)
    // Users who lack a required second factor can only access their own account, where they can add one.
    if (await options.secondFactors.isMissing(caller.user, caller.session))
      throw new AppError("mfa_enrollment_required", "Two-factor authentication is required. Add a second factor to your account first.")
    if (rule.feature !== undefined && !options.isOn(rule.feature)) throw new AppError("feature_disabled", "This feature is disabled.")
    return caller
  }

  /** Runs the checks that follow the permission. */
  function refuseRestricted(call: Call, caller: Caller, rule: Rule): void {
    const writes = call.request.method !== "GET" && call.request.method !== "HEAD" && !rule.reads && !rule.duringMaintenance
    refuseImpersonation(caller, rule, writes)
    if (writes && !caller.user.is_instance_admin) refuseWrites(options.maintenance(), "maintenance", now())
    if (rule.sudo) refuseWithoutRecentProof(caller.session, now())
    const { taken, retryAfter } = buckets.take(String(caller.session.id))
    if (!taken) throw new AppError("rate_limited", "This session has sent too many requests. Try again later.", { retry_after: retryAfter })
  }

  return {
    async open(call, rule) {
      await begin(call, rule)
      const person = await personOf(call)
      const client = clientOf(call, options)
      if (rule.waits && !person?.user.is_instance_admin) refuseWrites(options.maintenance(), "maintenance", now())
      return { actor: person ? actorOf(person, client, call) : anonymousActor(client, call), ...(person && { person }) }
    },
    async self(call, rule) {
      const caller = await signedIn(call, rule)
      refuseRestricted(call, caller, rule)
      return caller
    },
    async signedIn(call, rule) {
      const caller = await admitted(call, rule)
      refuseRestricted(call, caller, rule)
      return caller
    },
    async instanceAdmin(call, rule) {
      const caller = await admitted(call, rule)
      const { impersonator_id, organization_id } = caller.session
      // A session opened by the identity provider of an organization is only valid for that organization.
      if (!caller.user.is_instance_admin || impersonator_id !== null || organization_id !== null)
        throw new AppError("forbidden", "This requires an instance admin.", { required_permission: "instance_admin" })
      refuseRestricted(call, caller, rule)
      return caller
    },
    async site(call, rule) {
      const caller = await admitted(call, rule)
      const find = rule.deleted ? access.onDeletedSite : access.onSite
      const site = await find(caller, call.params.site)
      requireAll(site.permissions, rule)
      refuseRestricted(call, caller, rule)
      return { ...caller, ...site }
    },
    async organization(call, rule) {
      const caller = await admitted(call, rule)
      const organization = await access.onOrganization(caller, call.params.organization)
      requireAll(organization.permissions, rule)
      refuseRestricted(call, caller, rule)
      return { ...caller, ...organization }
    },
  }
}

/** Permission of routes that every member of the organization can use. */
export const MEMBER = "member"

function requireAll(permissions: ReadonlySet<string>, { permission, also = [] }: { permission: string } & Pick<Terms, "also">): void {
  for (const needed of [permission, ...also]) if (needed !== MEMBER) requirePermission(permissions, needed)
}

/** Throws `forbidden` with the name of the missing permission. */
export function requirePermission(permissions: ReadonlySet<string>, permission: string): void {
  if (!permissions.has(permission)) throw missingPermission(permission)
}

function refuseImpersonation({ session }: Caller, { ask, personal }: Rule, writes: boolean): void {
  // A session from an organization's provider cannot change the user's own account, which is what `self` and `signed_in` protect.
  if (personal && session.organization_id !== null && (ask === "self" || ask === "signed_in"))
    throw new AppError(
      "own_session_required",
      "You signed in with your organization's identity provider, which is only valid for that organization. Sign in with your own password or passkey to change your account. To confirm your identity within the organization, use GET /api/private/auth/oidc/{provider}/reauth.",
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

const anonymousActor = (client: Client, call: Call): Actor => ({ kind: "user", email: "", ...client, requestId: idOf(call) })

const idOf = ({ set }: Call): string => String(set.headers["x-request-id"])
