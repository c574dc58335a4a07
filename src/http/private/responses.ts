import { Type as t } from "@sinclair/typebox"
import type { ErrorCode } from "../../domain/error.ts"
import { etagOf, type Versioned } from "../../domain/version.ts"
import { describeRoute } from "../openapi/route.ts"

/** The parser of each list judges its parameters, so that all that is wrong is said at once. */
export const ListQuery = t.Object({}, { additionalProperties: true })

/** Says the version of what is answered. */
export function tagged<Shown>({ headers }: { headers: Record<string, unknown> }, thing: Versioned, shown: Shown): Shown {
  headers.etag = etagOf(thing)
  return shown
}

/** Failures that do not follow from what the route is, for the documents. */
export const refuses = (...codes: ErrorCode[]): object => describeRoute({ "x-failures": codes })

/** Describes a file response. Elysia does not validate it. */
export const answersFile = (...types: readonly string[]): object =>
  describeRoute({ responses: { 200: { content: Object.fromEntries(types.map((type) => [type, { schema: t.String() }])) } } })

/** Describes a response without a body. Routes without this description answer 204. */
export const answersEmpty = (status: 202 | 303): object =>
  describeRoute({ responses: { [status]: status === 303 ? { headers: ["Location"] } : {} } })
