import { Elysia } from "elysia"
import { OwnUserResponse } from "../../../domain/account.ts"
import { etagOf } from "../../../domain/version.ts"
import type { OwnAccount } from "../../../services/accounts/own-account.ts"
import type { OwnEmail } from "../../../services/accounts/own-email.ts"
import type { SecondFactors } from "../../../services/sign-in/second-factors.ts"
import type { Self } from "../../../services/sign-in/sessions.ts"
import { readNothing } from "../../../web/body.ts"
import type { Call } from "../../../web/guard.ts"
import type { Caller, PrivateRouter } from "../../../web/router.ts"
import { expectedVersions, NoQuery, Sent } from "../../public/requests.ts"
import { type GuestOptions, guests } from "../auth.ts"
import { BODIES } from "../bodies.ts"
import { answersEmpty, refuses } from "../responses.ts"
import { toOwnUserResponse } from "./me.ts"

export interface MeAccountOptions extends GuestOptions {
  ownAccount: OwnAccount
  ownEmail: OwnEmail
  secondFactors: SecondFactors
}

const tags = ["me"]

/** Creates the routes with which users change their own account. They are unavailable during impersonation. */
export function meAccountRoutes(router: PrivateRouter, options: MeAccountOptions) {
  const { ownAccount, ownEmail, secondFactors, cookie } = options
  const selfOf = selves(options)
  return new Elysia({ prefix: "/api/private/me" })
    .use(router)
    .use(cookie.writer())
    .patch(
      "",
      async (context) => {
        const mfa = await secondFactors.of(context.user)
        const terms = { expected: expectedVersions(context.request), current: (user: Self["user"]) => toOwnUserResponse(user, mfa) }
        const user = await ownAccount.update(selfOf(context), context.body.value, terms)
        context.set.headers.etag = etagOf(user)
        return toOwnUserResponse(user, mfa)
      },
      {
        self: { personal: true },
        body: Sent,
        query: NoQuery,
        response: { 200: OwnUserResponse },
        detail: { summary: "Update your profile and preferences", tags, ...BODIES.profile },
      },
    )
    .delete(
      "",
      async (context) => {
        await ownAccount.remove(selfOf(context))
        cookie.clear(context)
        context.set.status = 204
      },
      {
        self: { personal: true, sudo: true, read: readNothing },
        query: NoQuery,
        detail: { summary: "Delete your account", tags, ...refuses("last_owner", "last_instance_admin") },
      },
    )
    .post(
      "/email",
      async (context) => {
        await ownEmail.ask(selfOf(context), context.body.value)
        context.set.status = 202
      },
      {
        self: { personal: true, sudo: true },
        query: NoQuery,
        body: Sent,
        detail: {
          summary: "Request a change of your email address",
          tags,
          ...refuses("mail_unavailable"),
          ...BODIES.email,
          ...answersEmpty(202),
        },
      },
    )
    .post(
      "/email/confirm",
      async (context) => {
        await ownEmail.confirm(selfOf(context), context.body.value)
        context.set.status = 204
      },
      {
        self: { personal: true },
        query: NoQuery,
        body: Sent,
        detail: { summary: "Confirm a new email address", tags, ...refuses("token_invalid"), ...BODIES.token },
      },
    )
    .post(
      "/password",
      async (context) => {
        await ownAccount.changePassword(selfOf(context), context.body.value)
        context.set.status = 204
      },
      {
        self: { personal: true, sudo: true },
        query: NoQuery,
        body: Sent,
        detail: { summary: "Change your password", tags, ...refuses("invalid_credentials"), ...BODIES.password },
      },
    )
    .post(
      "/leave",
      async (context) => {
        await ownAccount.leave(selfOf(context), context.body.value)
        context.set.status = 204
      },
      {
        self: { personal: true },
        query: NoQuery,
        body: Sent,
        detail: { summary: "Leave an organization", tags, ...refuses("organization_not_found", "last_owner"), ...BODIES.leave },
      },
    )
}

/** Returns the caller of an account route in the form that services need. */
export function selves(options: GuestOptions) {
  const { originOf } = guests(options)
  return ({ user, session, actor, request, server }: Caller & Pick<Call, "request" | "server">): Self => ({
    user,
    session,
    actor,
    origin: originOf({ request, server, actor }),
  })
}
