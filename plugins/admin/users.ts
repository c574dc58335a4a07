import { Type as t } from "@sinclair/typebox"
import {
  AnyQuery,
  type Console,
  etagOf,
  failures,
  field,
  type Host,
  instantOrNull,
  instantText,
  NoQuery,
  Paged,
  readNothing,
  readOptionalJson,
  refuseWithoutRecentProof,
  Sent,
  versionsIn,
} from "#plugin"
import { Link, LinkedUserResponse, UserResponse } from "./account-responses.ts"
import { BODIES } from "./bodies.ts"
import { keyed } from "./jobs.ts"
import { operation, tagged } from "./routing.ts"

const BODY_BYTES = 64 << 10

type ListedUser = Awaited<ReturnType<Console["users"]["get"]>>

/** Routes for the users of the instance. */
export const userRoutes = (host: Host) => {
  const { users } = host.services.console
  const find = async ({ id }: Record<string, string | undefined>) => void (await users.get(id))
  const quiet = { find, read: readNothing }

  return host
    .instanceRouter()
    .get(
      "/admin/users",
      async ({ query }) => {
        const page = await users.list(query)
        return { ...page, data: page.data.map(formatUser) }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Paged(UserResponse) }, detail: operation("List users") },
    )
    .post(
      "/admin/users",
      async ({ actor, session, ...call }) => {
        if (hasField(call.body.value, "is_instance_admin", "role")) refuseWithoutRecentProof(session, host.now())
        return host.create(
          call,
          (body, alongside) => users.create(actor, body, alongside),
          ({ user, link }: Awaited<ReturnType<typeof users.create>>) => ({
            location: `/api/private/admin/users/${user.id}`,
            etag: etagOf(user),
            body: { ...formatUser(user), ...(link !== undefined && { link }) },
          }),
        )
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        body: Sent,
        response: { 201: LinkedUserResponse },
        detail: { ...operation("Create a user", BODIES.newUser), ...failures("email_taken", "organization_not_found", "reauth_required") },
      },
    )
    .get("/admin/users/:id", async ({ params, set }) => taggedUser(set, await users.get(params.id)), {
      instanceAdmin: { find },
      query: NoQuery,
      response: { 200: UserResponse },
      detail: operation("Get a user"),
    })
    .patch(
      "/admin/users/:id",
      async ({ actor, session, params, body, request, set }) => {
        if (hasField(body.value, "is_instance_admin", "email")) refuseWithoutRecentProof(session, host.now())
        return taggedUser(set, await users.update(actor, params.id, body.value, versionsIn(request.headers.get("if-match"))))
      },
      {
        instanceAdmin: { find },
        query: NoQuery,
        body: Sent,
        response: { 200: UserResponse },
        detail: { ...operation("Update a user", BODIES.user), ...failures("email_taken", "last_instance_admin", "reauth_required") },
      },
    )
    .post("/admin/users/:id/disable", async ({ actor, params, set }) => taggedUser(set, await users.disable(actor, params.id)), {
      instanceAdmin: quiet,
      query: NoQuery,
      response: { 200: UserResponse },
      detail: { ...operation("Block a user from signing in"), ...failures("last_instance_admin") },
    })
    .post("/admin/users/:id/enable", async ({ actor, params, set }) => taggedUser(set, await users.enable(actor, params.id)), {
      instanceAdmin: quiet,
      query: NoQuery,
      response: { 200: UserResponse },
      detail: operation("Unblock a user"),
    })
    .post(
      "/admin/users/:id/reset-password",
      ({ actor, params, user, request, set }) =>
        host.create(
          keyed({ user, request, set }),
          (_, alongside) => users.resetPassword(actor, params.id, alongside),
          (body: { link?: string }) => ({ status: 200, body }),
        ),
      {
        instanceAdmin: { ...quiet, sudo: true },
        query: NoQuery,
        response: { 200: t.Object({ link: Link }) },
        detail: operation("Send a password reset link"),
      },
    )
    .post(
      "/admin/users/:id/reset-mfa",
      async ({ actor, params, set }) => taggedUser(set, await users.resetSecondFactors(actor, params.id)),
      {
        instanceAdmin: { ...quiet, sudo: true },
        query: NoQuery,
        response: { 200: UserResponse },
        detail: operation("Remove all second factors of a user"),
      },
    )
    .post(
      "/admin/users/:id/sign-out",
      async ({ actor, params, status }) => {
        await users.signOut(actor, params.id)
        return status(204, undefined)
      },
      { instanceAdmin: quiet, query: NoQuery, detail: operation("End all sessions of a user") },
    )
    .delete(
      "/admin/users/:id",
      async ({ actor, params, body, status }) => {
        await users.remove(actor, params.id, body.value)
        return status(204, undefined)
      },
      {
        instanceAdmin: { find, sudo: true, read: readOptionalJson(BODY_BYTES) },
        query: NoQuery,
        body: Sent,
        detail: { ...operation("Delete a user", BODIES.removal), ...failures("sole_owner", "last_instance_admin") },
      },
    )
}

/** Returns whether a body contains one of the fields that grant access. Changing them requires a recent proof of identity. */
const hasField = (body: unknown, ...fields: readonly string[]): boolean =>
  typeof body === "object" && body !== null && fields.some((field) => field in body)

const taggedUser = (set: { headers: Record<string, unknown> }, user: ListedUser) => tagged(set, user, formatUser(user))

function formatUser({ totp, passkeys, password, oidc, ...user }: ListedUser): UserResponse {
  return {
    ...user,
    mfa: { totp, passkeys },
    auth: { password, oidc },
    created_at: instantText(user.created_at),
    last_login_at: instantOrNull(user.last_login_at),
    last_seen_at: instantOrNull(user.last_seen_at),
  }
}

/** Routes that start and stop the impersonation of a user. */
export const impersonationRoutes = (host: Host) => {
  const { impersonation, cookies, users } = host.services.console
  const find = async ({ id }: Record<string, string | undefined>) => void (await users.get(id))

  return host
    .instanceRouter()
    .post(
      "/admin/users/:id/impersonate",
      async ({ actor, params, body, request, set, ...own }) => {
        const { user, session, token } = await impersonation.start(actor, params.id, body.value)
        const seconds = Math.floor((session.expires_at - host.now()) / 1_000)
        const renewed = "renewedToken" in own ? { renewedToken: String(own.renewedToken) } : {}
        set.headers["set-cookie"] = cookies.begin(request, renewed, { token, seconds }) as unknown as string // the framework accepts several cookies
        return {
          user: { id: user.id, email: user.email, name: user.name },
          mode: session.impersonation_mode ?? "read_only",
          expires_at: instantText(session.expires_at),
        }
      },
      {
        instanceAdmin: { find, sudo: true },
        query: NoQuery,
        body: Sent,
        response: {
          200: t.Object({
            user: t.Object(
              { id: field.id("Id of the user."), email: field.text("Email address."), name: field.text("Display name.") },
              { description: "Impersonated user." },
            ),
            mode: field.text("Mode: `read_only` or `full`."),
            expires_at: field.instant("End of the impersonation."),
          }),
        },
        detail: { ...operation("Act as a user", BODIES.impersonation), ...failures("invalid_state") },
      },
    )
    .post(
      "/admin/impersonation/stop",
      async ({ actor, person, request, set }) => {
        const waiting = cookies.waiting(request)
        const own = await impersonation.stop(actor, person, waiting)
        const back = own && { token: own.renewedToken ?? waiting!, seconds: Math.floor((own.session.expires_at - host.now()) / 1_000) } // the session was found by one of them
        set.headers["set-cookie"] = cookies.end(back) as unknown as string // the framework accepts several cookies
        return { user: own ? { id: own.user.id, email: own.user.email, name: own.user.name } : null }
      },
      {
        // Open, because the admin must be able to return after the impersonation has expired.
        open: { read: readNothing },
        query: NoQuery,
        response: {
          200: t.Object({
            user: t.Union(
              [
                t.Object({ id: field.id("Id of the user."), email: field.text("Email address."), name: field.text("Display name.") }),
                t.Null(),
              ],
              { description: "Instance admin. null if their own session has ended." },
            ),
          }),
        },
        detail: { ...operation("Stop impersonating and return to your own session"), ...failures("invalid_state") },
      },
    )
}
