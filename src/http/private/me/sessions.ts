import { Elysia } from "elysia"
import { OwnSessionResponse, type Session } from "../../../domain/account.ts"
import { instantText } from "../../../domain/moment.ts"
import { wholeList } from "../../../domain/response.ts"
import type { OwnAccount } from "../../../services/accounts/own-account.ts"
import { readNothing } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery } from "../../public/requests.ts"
import type { GuestOptions } from "../auth.ts"
import { selves } from "./account.ts"

export interface MeSessionsOptions extends GuestOptions {
  ownAccount: OwnAccount
}

const SessionsResponse = wholeList(OwnSessionResponse)
const tags = ["me"]

/** Creates the routes that list and end the sessions of the user. */
export function meSessionRoutes(router: PrivateRouter, options: MeSessionsOptions) {
  const { ownAccount } = options
  const selfOf = selves(options)
  return new Elysia({ prefix: "/api/private/me" })
    .use(router)
    .get(
      "/sessions",
      async (context) => {
        const data = (await ownAccount.sessions(selfOf(context))).map((session) => toSessionResponse(session, context.session.id))
        return { data, has_more: false, next_cursor: null }
      },
      {
        self: { personal: true },
        query: NoQuery,
        response: { 200: SessionsResponse },
        detail: { summary: "List your sessions", tags },
      },
    )
    .post(
      "/sessions/revoke-others",
      async (context) => {
        await ownAccount.endOtherSessions(selfOf(context))
        context.set.status = 204
      },
      { self: { personal: true, read: readNothing }, query: NoQuery, detail: { summary: "End all other sessions", tags } },
    )
    .delete(
      "/sessions/:id",
      async (context) => {
        await ownAccount.endSession(selfOf(context), context.params.id)
        context.set.status = 204
      },
      { self: { personal: true, read: readNothing }, query: NoQuery, detail: { summary: "End a session", tags } },
    )
}

const toSessionResponse = (session: Session, currentId: number) => ({
  id: session.id,
  current: session.id === currentId,
  method: session.method,
  device: session.device,
  place: session.place,
  ip_prefix: session.ip_prefix,
  created_at: instantText(session.created_at),
  last_seen_at: instantText(session.last_seen_at),
})
