import { Elysia } from "elysia"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { OwnEmail } from "../../services/own-email.ts"
import type { PasswordReset } from "../../services/password-reset.ts"
import { Sent } from "../public/things.ts"
import { type GuestOptions, guests } from "./auth-guest.ts"
import { answersEmpty, BODIES } from "./sent-bodies.ts"
import { refuses } from "./tagged.ts"

export interface RecoveryRoutesOptions extends GuestOptions {
  passwordReset: Pick<PasswordReset, "ask" | "reset">
  ownEmail: OwnEmail
}

const tags = ["auth"]

/** Back into an account whose password was forgotten, or whose address somebody else has changed: by links in mails. */
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
        body: Sent,
        detail: {
          summary: "Ask for a link to choose a new password",
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
        body: Sent,
        detail: { summary: "Choose a new password by such a link", tags, ...refuses("token_invalid", "rate_limited"), ...BODIES.reset },
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
        body: Sent,
        detail: {
          summary: "Take a change of the address back, by the link of its warning",
          tags,
          ...refuses("token_invalid"),
          ...BODIES.token,
        },
      },
    )
}
