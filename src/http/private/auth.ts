import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { SignIn } from "../../services/sign-in.ts"
import { Sent } from "../public/things.ts"
import { type GuestOptions, guests } from "./auth-guest.ts"
import { SignedInShown, shownUser, UserShown } from "./auth-shown.ts"

export interface AuthRoutesOptions extends GuestOptions {
  signIn: SignIn
}

const FactorWantedShown = t.Object({
  mfa_required: t.Literal(true),
  methods: t.Array(t.String()),
  ticket: t.String(),
})
const EnteredShown = t.Object({ user: UserShown, recovery_codes_left: t.Optional(t.Integer()) })
const tags = ["auth"]

/** Signing in by password, and by what is asked for beside it. */
export function authRoutes(router: PrivateRouter, options: AuthRoutesOptions) {
  const { signIn, cookie } = options
  const { guestOf, welcome } = guests(options)
  return new Elysia({ prefix: "/api/private/auth" })
    .use(router)
    .use(cookie.writer())
    .post(
      "/login",
      async (context) => {
        const result = await signIn.byPassword(context.body.value, guestOf(context))
        if ("mfa_required" in result) return result
        welcome(context, result)
        return { user: shownUser(result.user) }
      },
      {
        open: true,
        body: Sent,
        response: { 200: t.Union([SignedInShown, FactorWantedShown]) },
        detail: { summary: "Sign in by password", tags },
      },
    )
    .post(
      "/mfa",
      async (context) => {
        const result = await signIn.byFactor(context.body.value, guestOf(context))
        welcome(context, result)
        const { user, recoveryCodesLeft } = result
        return { user: shownUser(user), ...(recoveryCodesLeft !== undefined && { recovery_codes_left: recoveryCodesLeft }) }
      },
      { open: true, body: Sent, response: { 200: EnteredShown }, detail: { summary: "Show a second factor", tags } },
    )
}
