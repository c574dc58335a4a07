import { Elysia } from "elysia"
import type { OwnEmail } from "../../../services/accounts/own-email.ts"
import type { PasswordReset } from "../../../services/sign-in/password-reset.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery, Sent } from "../../public/requests.ts"
import { type GuestOptions, guests } from "../auth.ts"
import { BODIES } from "../bodies.ts"
import { answersEmpty, refuses } from "../responses.ts"

export interface RecoveryRoutesOptions extends GuestOptions {
  passwordReset: Pick<PasswordReset, "ask" | "reset">
  ownEmail: OwnEmail
}

const tags = ["auth"]

/** Creates the routes to recover an account by email: reset a forgotten password, or undo a change of the email address. */
export function recoveryRoutes(router: PrivateRouter, options: RecoveryRoutesOptions) {
  const { passwordReset, ownEmail } = options
  const { originOf } = guests(options)
  return new Elysia({ prefix: "/api/private/auth" })
    .use(router)
    .post(
      "/forgot",
      async (context) => {
        await passwordReset.ask(context.body.value, { actor: context.actor, origin: originOf(context) })
        context.set.status = 202
      },
      {
        open: true,
        query: NoQuery,
        body: Sent,
        detail: {
          summary: "Request a link to reset the password",
          tags,
          ...refuses("rate_limited"),
          ...BODIES.forgot,
          ...answersEmpty(202),
        },
      },
    )
    .post(
      "/reset",
      async (context) => {
        await passwordReset.reset(context.body.value, { actor: context.actor, origin: originOf(context) })
        context.set.status = 204
      },
      {
        open: true,
        query: NoQuery,
        body: Sent,
        detail: { summary: "Reset the password with a link", tags, ...refuses("token_invalid", "rate_limited"), ...BODIES.reset },
      },
    )
    .post(
      "/email/undo",
      async (context) => {
        await ownEmail.undo(context.body.value, context.actor)
        context.set.status = 204
      },
      {
        open: true,
        query: NoQuery,
        body: Sent,
        detail: {
          summary: "Undo a change of the email address with a link",
          tags,
          ...refuses("token_invalid"),
          ...BODIES.token,
        },
      },
    )
}
