import { Type as t } from "@sinclair/typebox"
import type { ErrorCode } from "../../domain/error.ts"
import { etagOf, type Versioned } from "../../domain/version.ts"
import { describeRoute } from "../openapi/route.ts"

/** Query of a list. It accepts any parameter; the parser of the list validates them, so that all problems are reported at once. */
export const ListQuery = t.Object({}, { additionalProperties: true })

/** Returns a response body and sets the header `ETag` to the version of the resource. */
export function withETag<Body>({ headers }: { headers: Record<string, unknown> }, thing: Versioned, body: Body): Body {
  headers.etag = etagOf(thing)
  return body
}

/** Documents error codes that do not follow from the schemas and the access rule of a route. */
export const refuses = (...codes: ErrorCode[]): object => describeRoute({ "x-failures": codes })

/** Documents a response with a file, which Elysia does not validate. */
export const answersFile = (...types: readonly string[]): object =>
  describeRoute({ responses: { 200: { content: Object.fromEntries(types.map((type) => [type, { schema: t.String() }])) } } })

/** Documents a response without a body. The default is 204. */
export const answersEmpty = (status: 202 | 303): object =>
  describeRoute({ responses: { [status]: status === 303 ? { headers: ["Location"] } : {} } })
