import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { PrivateRouter } from "../../web/router.ts"
import type { OpenApiDocument } from "../openapi/document.ts"
import { NoQuery } from "../public/things.ts"

export interface ReferenceOptions {
  /** Creates the document. Called on the first request, when all routes are mounted. */
  describe(): OpenApiDocument
  /** Effective limits, in groups. */
  limits: object
}

/** Creates the routes that describe the private API. They require a session, so that strangers learn nothing about installed plugins. */
export function privateReferenceRoutes(router: PrivateRouter, { describe, limits }: ReferenceOptions) {
  let document: OpenApiDocument | undefined
  const shared = { signedIn: true, query: NoQuery, response: { 200: t.Object({}, { additionalProperties: true }) } } as const
  return new Elysia({ prefix: "/api/private" })
    .use(router)
    .get(
      "/openapi.json",
      () => {
        document ??= describe()
        return document
      },
      {
        ...shared,
        detail: { summary: "Get this description as an OpenAPI document", operationId: "getPrivateOpenApi", tags: ["documents"] },
      },
    )
    .get("/limits", () => limits, {
      ...shared,
      detail: { summary: "Get the effective limits. null means unlimited", operationId: "getLimits", tags: ["documents"] },
    })
}
