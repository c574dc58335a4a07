import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Passkeys } from "../../services/passkeys.ts"
import type { SignIn } from "../../services/sign-in.ts"
import { Sent } from "../public/things.ts"
import { type GuestOptions, guests } from "./auth-guest.ts"
import { MaybeBody, SignedInShown, shownUser, UserShown } from "./auth-shown.ts"
import { BODIES } from "./sent-bodies.ts"
import { refuses } from "./tagged.ts"

export interface SignInRoutesOptions extends GuestOptions {
  signIn: SignIn
  passkeys: Pick<Passkeys, "begin" | "signIn">
}

const FactorWantedShown = t.Object({
  mfa_required: t.Literal(true),
  methods: t.Array(t.String()),
  ticket: t.String(),
})
const EnteredShown = t.Object({ user: UserShown, recovery_codes_left: t.Optional(t.Integer()) })
const ChallengeShown = t.Object({ options: t.Any(), challenge_id: t.String() })
const tags = ["auth"]

/** Signing in by password and second factor, or by passkey. */
export function signInRoutes(router: PrivateRouter, options: SignInRoutesOptions) {
  const { signIn, passkeys, cookie } = options
  const { guestOf, originOf, welcome } = guests(options)
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
        detail: {
          summary: "Sign in by password",
          tags,
          ...refuses("invalid_credentials", "sso_required", "insecure_connection", "rate_limited"),
          ...BODIES.login,
        },
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
      {
        open: true,
        body: Sent,
        response: { 200: EnteredShown },
        detail: {
          summary: "Show a second factor",
          tags,
          ...refuses("ticket_invalid", "invalid_code", "sso_required", "insecure_connection", "rate_limited"),
          ...BODIES.factor,
        },
      },
    )
    .post("/passkey/options", async ({ body, ...context }) => passkeys.begin(body.value, { origin: originOf(context) }), {
      open: { read: MaybeBody },
      body: Sent,
      response: { 200: ChallengeShown },
      detail: { summary: "Begin to sign in by passkey", tags, ...refuses("ticket_invalid", "rate_limited"), ...BODIES.passkeyBegin },
    })
    .post(
      "/passkey/verify",
      async (context) => {
        const result = await passkeys.signIn(context.body.value, guestOf(context))
        welcome(context, result)
        return { user: shownUser(result.user) }
      },
      {
        open: true,
        body: Sent,
        response: { 200: SignedInShown },
        detail: {
          summary: "Sign in by passkey",
          tags,
          ...refuses("ticket_invalid", "invalid_credentials", "sso_required", "insecure_connection", "rate_limited"),
          ...BODIES.passkey,
        },
      },
    )
}
