import type { ErrorCode } from "../../domain/error.ts"
import { answerOf } from "../errors.ts"
import { meaningOf } from "./errors.ts"
import { responseExample } from "./examples/examples.ts"
import { isTagged } from "./failures.ts"
import { headerRef, responseHeaders } from "./headers.ts"
import { PrivateProblem, Problem, RpcErrorResponse } from "./problem.ts"
import type { DescribedRoute } from "./route.ts"
import type { Schema, SchemaCollection } from "./schema.ts"

/** Response of an operation, or a reference to a shared one. */
export type ResponseObject = { $ref: string } | { description: string; headers?: Schema; content?: Record<string, Schema> }

export interface ResponseCollection {
  /** Returns all responses of an operation, by status. */
  of(route: DescribedRoute): Record<string, ResponseObject>
  /** Returns the shared error responses, by name. */
  components(): Record<string, ResponseObject>
}

export function collectResponses(schemas: SchemaCollection): ResponseCollection {
  const shared = new Map<string, ResponseObject>()

  /** Returns a reference to a shared error response. Operations with equal errors share one. */
  function failure(route: DescribedRoute, status: string, codes: readonly ErrorCode[]): ResponseObject {
    const answer = errorResponse(route, status, codes, schemas)
    const same = [...shared].find(([, known]) => JSON.stringify(known) === JSON.stringify(answer))
    if (same) return { $ref: `#/components/responses/${same[0]}` }
    const alike = [...shared.keys()].filter((name) => name === codes.join(".") || name.startsWith(`${codes.join(".")}-`)).length
    const name = alike === 0 ? codes.join(".") : `${codes.join(".")}-${alike + 1}`
    shared.set(name, answer)
    return { $ref: `#/components/responses/${name}` }
  }

  return {
    of(route) {
      const byStatus = Object.groupBy(route.failures, (code) => String(answerOf(code).status))
      const failures = Object.entries(byStatus).map(([status, codes = []]) => [status, failure(route, status, codes)] as const)
      return { ...successes(route, schemas), ...Object.fromEntries(failures) }
    },
    components: () => Object.fromEntries(shared),
  }
}

const GOOD: Readonly<Record<string, string>> = {
  200: "The requested data.",
  201: "The resource was created.",
  202: "The request was accepted.",
  204: "The request succeeded. The response has no body.",
  303: "Redirect to the URL in the header `Location`.",
  304: "The version named in `If-None-Match` is current.",
}

function successes(route: DescribedRoute, schemas: SchemaCollection): Record<string, ResponseObject> {
  const declared = Object.entries(route.answers).map(
    ([status, schema]) => [status, schema.type === "void" ? {} : { "application/json": { schema } }] as const,
  )
  const own = Object.entries(route.detail.responses ?? {})
  const answers: [string, ResponseObject][] = [
    ...declared.map(([status, content]) => [status, success(route, status, { content }, schemas)] as [string, ResponseObject]),
    ...own.map(([status, answer]) => [status, success(route, status, answer, schemas)] as [string, ResponseObject]),
  ]
  if (isTagged(route)) answers.push(["304", success(route, "304", {}, schemas)])
  if (isSilent(route, answers)) {
    const status = route.method === "get" ? "200" : "204"
    answers.push([status, success(route, status, {}, schemas)])
  }
  return Object.fromEntries(answers)
}

/** Returns whether a route declares no successful response, so that it answers without a body. */
const isSilent = ({ method, access }: DescribedRoute, answers: readonly [string, ResponseObject][]): boolean =>
  (access !== undefined || method === "delete") && !answers.some(([status]) => status < "304")

type OwnResponse = NonNullable<DescribedRoute["detail"]["responses"]>[string]

function success(
  route: DescribedRoute,
  status: string,
  { description, content, headers = [] }: OwnResponse,
  schemas: SchemaCollection,
): ResponseObject {
  const names = [...responseHeaders(route, status), ...headers]
  const bodies = Object.entries(content ?? {}).map(([type, { schema }]) => {
    const example = responseExample(route.operationId, type) ?? (status < "300" ? route.detail["x-examples"]?.response : undefined)
    return [type, { schema: schemas.of(schema), ...(example === undefined ? {} : { example }) }]
  })
  return {
    description: description ?? GOOD[status] ?? "",
    headers: Object.fromEntries(names.map((name) => [name, headerRef(name)])),
    ...(bodies.length > 0 && { content: Object.fromEntries(bodies) }),
  }
}

function errorResponse(route: DescribedRoute, status: string, codes: readonly ErrorCode[], schemas: SchemaCollection): ResponseObject {
  const schema = {
    ...schemas.of(route.access ? PrivateProblem : Problem),
    properties: { status: { const: Number(status) }, code: { enum: codes } },
  }
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  // A malformed JSON-RPC message gets a JSON-RPC error.
  const isRpc = route.path.endsWith("/mcp") && status === "400"
  return {
    description: codes.map((code) => `\`${code}\`: ${meaningOf(code)}`).join("\n\n"),
    headers: Object.fromEntries(responseHeaders(route, status).map((name) => [name, headerRef(name)])),
    content: {
      "application/problem+json": { schema, examples },
      ...(isRpc && { "application/json": { schema: schemas.of(RpcErrorResponse) } }),
    },
  }
}
