import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { instantText } from "../../domain/moment.ts"
import { SUDO_MS } from "../../domain/session.ts"
import { leaveUnread } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { OwnEmail } from "../../services/own-email.ts"
import type { Passkeys } from "../../services/passkeys.ts"
import type { PasswordReset } from "../../services/password-reset.ts"
import type { Proofs } from "../../services/proofs.ts"
import type { SignIn } from "../../services/sign-in.ts"
import type { SignOut } from "../../services/sign-out.ts"
import { Sent } from "../public/things.ts"
import { type GuestOptions, guests } from "./auth-guest.ts"
import { MaybeBody, SignedInShown, shownUser, UserShown } from "./auth-shown.ts"
import { selves } from "./me-account.ts"
import { answersEmpty, BODIES } from "./sent-bodies.ts"
import { refuses } from "./tagged.ts"

export interface AuthRoutesOptions extends GuestOptions {
  signIn: SignIn
  proofs: Proofs
  signOut: SignOut
  passkeys: Pick<Passkeys, "begin" | "signIn">
  passwordReset: Pick<PasswordReset, "ask" | "reset">
  ownEmail: OwnEmail
}

const FactorWantedShown = t.Object({
  mfa_required: t.Literal(true),
  methods: t.Array(t.String()),
  ticket: t.String(),
})
const EnteredShown = t.Object({ user: UserShown, recovery_codes_left: t.Optional(t.Integer()) })
const tags = ["auth"]

const SessionShown = t.Object({
  user: UserShown,
  expires_at: t.String(),
  idle_expires_at: t.String(),
  reauth_until: t.Optional(t.String()),
  impersonator: t.Optional(t.String()),
})
const LoggedOutShown = t.Object({ oidc_logout_url: t.String() })
const ChallengeShown = t.Object({ options: t.Any(), challenge_id: t.String() })

/** Signing in and out, and proving again who one is. */
export function authRoutes(router: PrivateRouter, options: AuthRoutesOptions) {
  const { now, signIn, proofs, signOut, passkeys, passwordReset, ownEmail, cookie } = options
  const { guestOf, originOf, welcome } = guests(options)
  const selfOf = selves(options)
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
    .post(
      "/logout",
      async (context) => {
        const next = await signOut(context, cookie.impersonation.waiting(context.request))
        cookie.clear(context)
        if (next !== undefined) return { oidc_logout_url: next }
        context.set.status = 204
      },
      { self: { read: leaveUnread }, response: { 200: LoggedOutShown, 204: t.Void() }, detail: { summary: "Sign out", tags } },
    )
    .get(
      "/session",
      ({ user, session }) => {
        const provedUntil = session.reauth_at + SUDO_MS
        return {
          user: shownUser(user),
          expires_at: instantText(session.expires_at),
          idle_expires_at: instantText(session.idle_expires_at),
          ...(provedUntil > now() && { reauth_until: instantText(provedUntil) }),
          ...(session.impersonator_id !== null && { impersonator: session.impersonator_email ?? "" }),
        }
      },
      { self: true, response: { 200: SessionShown }, detail: { summary: "The present session", tags } },
    )
    .post(
      "/reauth",
      async (context) => {
        const token = await proofs.prove(selfOf(context), context.body.value)
        welcome(context, { ...context, token })
        context.set.status = 204
      },
      {
        self: { personal: true },
        body: Sent,
        detail: {
          summary: "Prove again who one is",
          tags,
          ...refuses("invalid_credentials", "invalid_code", "ticket_invalid", "insecure_connection"),
          ...BODIES.proof,
        },
      },
    )
}
