import { Type as t } from "@sinclair/typebox"
import { failures, field, type Host, instantText, NoQuery, readNothing, Sent } from "#plugin"
import { BODIES } from "./bodies.ts"
import { operation } from "./routing.ts"

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
