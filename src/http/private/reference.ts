import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { OpenApiDocument } from "../openapi/document.ts"
import { NoQuery } from "../public/things.ts"

export interface ReferenceOptions {
  /** Made when it is asked for: by then all routes are there. */
  describe(): OpenApiDocument
  /** The bounds in force, in groups. */
  limits: object
}

/** What the private API is, for whoever is signed in: an instance tells strangers nothing of its plugins. */
export function privateReferenceRoutes(router: PrivateRouter, { describe, limits }: ReferenceOptions) {
  let document: OpenApiDocument | undefined
  const told = { signedIn: true, query: NoQuery, response: { 200: t.Object({}, { additionalProperties: true }) } } as const
  return new Elysia({ prefix: "/api/private" })
    .use(router)
    .get(
      "/openapi.json",
      () => {
        document ??= describe()
        return document
      },
      { ...told, detail: { summary: "This description, as OpenAPI", operationId: "getPrivateOpenApi", tags: ["documents"] } },
    )
    .get("/limits", () => limits, {
      ...told,
      detail: { summary: "The bounds in force; null where there is none", operationId: "getLimits", tags: ["documents"] },
    })
}
