import { Elysia } from "elysia"
import { PasskeyResponse } from "../../../domain/account.ts"
import { instantText } from "../../../domain/moment.ts"
import { wholeList } from "../../../domain/response.ts"
import { isObject } from "../../../domain/shape.ts"
import { PasskeyChallengeResponse } from "../../../domain/sign-in.ts"
import { etagOf } from "../../../domain/version.ts"
import type { OwnFactors } from "../../../services/sign-in/own-factors.ts"
import { readNothing } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { expectedVersions, NoQuery, Sent } from "../../public/requests.ts"
import type { GuestOptions } from "../auth.ts"
import { BODIES } from "../bodies.ts"
import { refuses } from "../responses.ts"
import { selves } from "./account.ts"

export interface MePasskeysOptions extends GuestOptions {
  ownFactors: OwnFactors
}

type OwnPasskey = Awaited<ReturnType<OwnFactors["passkeys"]>>[number]

const PasskeysResponse = wholeList(PasskeyResponse)
const ALGORITHM_NAMES: Readonly<Record<number, string>> = { [-7]: "ES256", [-8]: "EdDSA", [-257]: "RS256" }
const terms = { personal: true, sudo: true } as const
const tags = ["me"]

/** Creates the routes for your passkeys. Adding one takes two requests: an empty body, then the response of the device. */
export function mePasskeyRoutes(router: PrivateRouter, options: MePasskeysOptions) {
  const { ownFactors } = options
  const selfOf = selves(options)
  return new Elysia({ prefix: "/api/private/me/passkeys" })
    .use(router)
    .get(
      "",
      async (context) => ({
        data: (await ownFactors.passkeys(selfOf(context))).map(toPasskeyResponse),
        has_more: false,
        next_cursor: null,
      }),
      {
        self: { personal: true },
        query: NoQuery,
        response: { 200: PasskeysResponse },
        detail: { summary: "List your passkeys", tags },
      },
    )
    .post(
      "",
      async (context) => {
        const body = context.body.value
        if (isObject(body) && Object.keys(body).length === 0) return ownFactors.beginPasskey(selfOf(context))
        const passkey = await ownFactors.addPasskey(selfOf(context), body)
        context.set.status = 201
        context.set.headers.location = `/api/private/me/passkeys/${passkey.id}`
        context.set.headers.etag = etagOf(passkey)
        return toPasskeyResponse(passkey)
      },
      {
        self: terms,
        query: NoQuery,
        body: Sent,
        response: { 200: PasskeyChallengeResponse, 201: PasskeyResponse },
        detail: {
          summary: "Add a passkey",
          tags,
          ...refuses("ticket_invalid", "invalid_credentials", "limit_reached"),
          ...BODIES.newPasskey,
        },
      },
    )
    .patch(
      "/:id",
      async (context) => {
        const { body, params, request } = context
        const found = { expected: expectedVersions(request), current: toPasskeyResponse }
        const passkey = await ownFactors.renamePasskey(selfOf(context), params.id, body.value, found)
        context.set.headers.etag = etagOf(passkey)
        return toPasskeyResponse(passkey)
      },
      {
        self: terms,
        query: NoQuery,
        body: Sent,
        response: { 200: PasskeyResponse },
        detail: { summary: "Rename a passkey", tags, ...BODIES.passkeyName },
      },
    )
    .delete(
      "/:id",
      async (context) => {
        const { params, request } = context
        await ownFactors.removePasskey(selfOf(context), params.id, { expected: expectedVersions(request) })
        context.set.status = 204
      },
      {
        self: { ...terms, read: readNothing },
        query: NoQuery,
        detail: { summary: "Remove a passkey", tags, ...refuses("mfa_required_by_policy", "precondition_failed") },
      },
    )
}

const toPasskeyResponse = ({ id, name, algorithm, transports, backed_up, created_at, last_used_at, version }: OwnPasskey) => ({
  id,
  name,
  algorithm: ALGORITHM_NAMES[algorithm] ?? String(algorithm),
  transports: [...transports],
  backed_up,
  created_at: instantText(created_at),
  last_used_at: last_used_at === null ? null : instantText(last_used_at),
  version,
})
