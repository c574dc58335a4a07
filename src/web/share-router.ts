import { type TUnsafe, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { AppError } from "../domain/error.ts"
import type { FoundShare, ShareOpening } from "../services/sharing/opening.ts"
import type { SentJson } from "./body.ts"
import { type Call, guard } from "./guard.ts"
import { type Authorize, described, type Rule, usualRead } from "./router.ts"

interface ShareRouterOptions<Owner, Share> {
  /** Name of the router, which must be unique. */
  name: string
  /** Path before the slug, such as `/api/share/s`. */
  prefix: string
  opening: ShareOpening<Owner, Share>
  /** Returns the key for limits per network. */
  networkOf(call: Pick<Call, "request" | "server">): string
}

const RULE: Rule = { ask: "open" }
const NoQuery = t.Object({}, { additionalProperties: false })
const UnlockInput = t.Object({ password: t.String({ description: "Password of the share." }) }, { title: "Unlock" })

/**
 * Creates a router for the viewers of shares, with the route that checks a password. Its routes begin with `/:slug` and declare `shared`:
 * their handlers receive the share as `found`, once its password was entered. With `{ locked: true }` they receive it before that, too.
 * Bodies are read as for private routes, whose cross-site rule applies.
 */
export function shareRouter<Owner, Share extends object>(
  authorize: Authorize,
  { name, prefix, opening, networkOf }: ShareRouterOptions<Owner, Share>,
) {
  const detail = described(RULE, "open", undefined)

  const admit =
    (seesLocked: boolean) =>
    async (call: Call): Promise<{ found: FoundShare<Owner, Share> }> => {
      await authorize.open(call, RULE)
      const found = await opening.find(call.params.slug ?? "", call.request)
      if (found.isLocked && !seesLocked) throw new AppError("share_locked", "This share has a password.")
      return { found }
    }

  return new Elysia({ prefix, name: `shares ${name}` })
    .macro({
      shared: (terms: true | { locked: true }) => ({ detail, ...guard(admit(terms !== true), usualRead) }),
      stranger: (_: true) => ({ detail, ...guard(async (call) => authorize.open(call, RULE), usualRead) }),
    })
    .onBeforeHandle(({ set }) => {
      set.headers["x-robots-tag"] = "noindex"
    })
    .post(
      "/:slug/unlock",
      async ({ params, body, request, server, set, status }) => {
        set.headers["set-cookie"] = await opening.unlock(params.slug, body.value, networkOf({ request, server }))
        return status(204, undefined)
      },
      {
        stranger: true,
        query: NoQuery,
        body: t.Any() as unknown as TUnsafe<SentJson>,
        detail: {
          summary: "Unlock a share with its password for one hour",
          tags: ["shared views"],
          requestBody: { content: { "application/json": { schema: UnlockInput } }, required: true },
        } as object,
      },
    )
}
