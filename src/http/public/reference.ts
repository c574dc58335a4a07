import { Elysia } from "elysia"
import { AppError } from "../../domain/error.ts"
import { accepts } from "../accept.ts"
import type { OpenApiDocument } from "../openapi/document.ts"
import { PAGE_POLICY, referencePage } from "../openapi/page.ts"
import { type Detail, told } from "../openapi/route.ts"
import { NoQuery } from "./things.ts"

/** For everybody: what the API is, is no secret, and says nothing of the instance. */
const OPEN: Pick<Detail, "x-required-scopes" | "tags"> = { "x-required-scopes": [], tags: ["documents"] }
const KEPT = "public, max-age=300"

/** The description of the API, for programs and for people. The document is made when it is asked for the first time. */
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
        set.headers["cache-control"] = KEPT
        return described()
      },
      { query: NoQuery, detail: told({ ...OPEN, ...DOCUMENT }) },
    )
    .get(
      "/docs",
      ({ request, set }) => {
        refuseFormat(request, "text/html")
        set.headers["cache-control"] = KEPT
        set.headers["content-security-policy"] = PAGE_POLICY
        set.headers["content-type"] = "text/html; charset=utf-8"
        page ??= referencePage(described())
        return page
      },
      { query: NoQuery, detail: told({ ...OPEN, ...PAGE }) },
    )
}

function refuseFormat(request: Request, type: string): void {
  if (!accepts(request, type)) throw new AppError("not_acceptable", `The answer is ${type}.`)
}

const DOCUMENT = {
  operationId: "getOpenApi",
  summary: "This description, as OpenAPI",
  responses: { 200: { headers: ["Cache-Control"], content: { "application/json": { schema: { type: "object" } } } }, 304: {} },
}
const PAGE = {
  operationId: "getReference",
  summary: "This description, as a page for people",
  responses: { 200: { headers: ["Cache-Control"], content: { "text/html": { schema: { type: "string" } } } } },
}
