import { Elysia } from "elysia"
import { AppError } from "../../domain/error.ts"
import { accepts } from "../accept.ts"
import type { OpenApiDocument } from "../openapi/document.ts"
import { PAGE_POLICY, referencePage } from "../openapi/page/page.ts"
import { type Detail, describeRoute } from "../openapi/route.ts"
import { NoQuery } from "./requests.ts"

/** Metadata of the reference routes. They need no key, because the description contains nothing about the instance. */
const OPEN: Pick<Detail, "x-required-scopes" | "tags"> = { "x-required-scopes": [], tags: ["documents"] }
const CACHE_CONTROL = "public, max-age=300"

/** Creates the routes for the description of the API. The document is created on the first request. */
export function referenceRoutes(describe: () => OpenApiDocument) {
  let document: OpenApiDocument | undefined
  let page: string | undefined
  const described = (): OpenApiDocument => {
    document ??= describe()
    return document
  }

  return new Elysia({ prefix: "/api/public/v1" })
    .get(
      "/openapi.json",
      ({ request, set }) => {
        refuseFormat(request, "application/json")
        set.headers["cache-control"] = CACHE_CONTROL
        return described()
      },
      { query: NoQuery, detail: describeRoute({ ...OPEN, ...DOCUMENT }) },
    )
    .get(
      "/docs",
      ({ request, set }) => {
        refuseFormat(request, "text/html")
        set.headers["cache-control"] = CACHE_CONTROL
        set.headers["content-security-policy"] = PAGE_POLICY
        set.headers["content-type"] = "text/html; charset=utf-8"
        page ??= referencePage(described())
        return page
      },
      { query: NoQuery, detail: describeRoute({ ...OPEN, ...PAGE }) },
    )
}

function refuseFormat(request: Request, type: string): void {
  if (!accepts(request, type)) throw new AppError("not_acceptable", `The response is only available as ${type}.`)
}

const DOCUMENT = {
  operationId: "getOpenApi",
  summary: "Get this description as an OpenAPI document",
  responses: { 200: { headers: ["Cache-Control"], content: { "application/json": { schema: { type: "object" } } } }, 304: {} },
}
const PAGE = {
  operationId: "getReference",
  summary: "Get this description as a web page",
  responses: { 200: { headers: ["Cache-Control"], content: { "text/html": { schema: { type: "string" } } } } },
}
