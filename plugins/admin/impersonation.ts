import { Type as t } from "@sinclair/typebox"
import { type Host, Instant, instantText, NoQuery, readNothing, Sent } from "#plugin"
import { refuses, SENT } from "./sent.ts"
import { Id, says } from "./shapes.ts"

/** Seeing the instance as one of its users does, and back. */
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
        set.headers["set-cookie"] = cookies.begin(request, renewed, { token, seconds }) as unknown as string // the library takes several
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
            user: t.Object({ id: Id, email: t.String(), name: t.String() }),
            mode: t.String(),
            expires_at: Instant,
          }),
        },
        detail: { ...says("Act as a user", SENT.impersonation), ...refuses("invalid_state") },
      },
    )
    .post(
      "/admin/impersonation/stop",
      async ({ actor, person, request, set }) => {
        const waiting = cookies.waiting(request)
        const own = await impersonation.stop(actor, person, waiting)
        const back = own && { token: own.renewedToken ?? waiting!, seconds: Math.floor((own.session.expires_at - host.now()) / 1_000) } // found by it
        set.headers["set-cookie"] = cookies.end(back) as unknown as string // the library takes several
        return { user: own ? { id: own.user.id, email: own.user.email, name: own.user.name } : null }
      },
      {
        // Also for a session that has run out meanwhile: its admin wants to come back.
        open: { read: readNothing },
        query: NoQuery,
        response: { 200: t.Object({ user: t.Union([t.Object({ id: Id, email: t.String(), name: t.String() }), t.Null()]) }) },
        detail: { ...says("Stop impersonating and return to your own session"), ...refuses("invalid_state") },
      },
    )
}
