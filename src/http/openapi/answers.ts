import type { ErrorCode } from "../../domain/error.ts"
import { answerOf } from "../errors.ts"
import { meaningOf } from "../public/errors.ts"
import { answerExample } from "./examples.ts"
import { isTagged } from "./failures.ts"
import { answerHeaders, headerRef } from "./headers.ts"
import { PrivateProblem, Problem, RpcFailureAnswer } from "./problem.ts"
import type { DescribedRoute } from "./route.ts"
import type { Schema, SchemaCollection } from "./schema.ts"

/** An answer of an operation, or a reference to one. */
export type Answer = { $ref: string } | { description: string; headers?: Schema; content?: Record<string, Schema> }

export interface AnswerCollection {
  /** All answers of an operation, by status. */
  of(route: DescribedRoute): Record<string, Answer>
  /** The error answers that are referred to, by the statuses and codes they have. */
  components(): Record<string, Answer>
}

export function collectAnswers(schemas: SchemaCollection): AnswerCollection {
  const shared = new Map<string, Answer>()

  /** Many operations fail alike: what is equal stands once. */
  function failure(route: DescribedRoute, status: string, codes: readonly ErrorCode[]): Answer {
    const answer = failureAnswer(route, status, codes, schemas)
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
  200: "What was asked for.",
  201: "It is made.",
  202: "It is stored.",
  204: "It is done.",
  303: "It goes on there.",
  304: "You have the present version.",
}

function successes(route: DescribedRoute, schemas: SchemaCollection): Record<string, Answer> {
  const declared = Object.entries(route.answers).map(
    ([status, schema]) => [status, schema.type === "void" ? {} : { "application/json": { schema } }] as const,
  )
  const own = Object.entries(route.detail.responses ?? {})
  const answers: [string, Answer][] = [
    ...declared.map(([status, content]) => [status, success(route, status, { content }, schemas)] as [string, Answer]),
    ...own.map(([status, answer]) => [status, success(route, status, answer, schemas)] as [string, Answer]),
  ]
  if (isTagged(route)) answers.push(["304", success(route, "304", {}, schemas)])
  if (isSilent(route, answers)) {
    const status = route.method === "get" ? "200" : "204"
    answers.push([status, success(route, status, {}, schemas)])
  }
  return Object.fromEntries(answers)
}

/** What a route that declares no answer says when it has done its work. */
const isSilent = ({ method, access }: DescribedRoute, answers: readonly [string, Answer][]): boolean =>
  access ? !answers.some(([status]) => status < "304") : method === "delete"

type OwnAnswer = NonNullable<DescribedRoute["detail"]["responses"]>[string]

function success(
  route: DescribedRoute,
  status: string,
  { description, content, headers = [] }: OwnAnswer,
  schemas: SchemaCollection,
): Answer {
  const names = [...answerHeaders(route, status), ...headers]
  const bodies = Object.entries(content ?? {}).map(([type, { schema }]) => {
    const example = answerExample(route.operationId, type)
    return [type, { schema: schemas.of(schema), ...(example === undefined ? {} : { example }) }]
  })
  return {
    description: description ?? GOOD[status] ?? "",
    headers: Object.fromEntries(names.map((name) => [name, headerRef(name)])),
    ...(bodies.length > 0 && { content: Object.fromEntries(bodies) }),
  }
}

function failureAnswer(route: DescribedRoute, status: string, codes: readonly ErrorCode[], schemas: SchemaCollection): Answer {
  const schema = {
    ...schemas.of(route.access ? PrivateProblem : Problem),
    properties: { status: { const: Number(status) }, code: { enum: codes } },
  }
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  // A message that is no JSON-RPC is refused in the words of JSON-RPC.
  const isRpc = route.path.endsWith("/mcp") && status === "400"
  return {
    description: codes.map((code) => `\`${code}\`: ${meaningOf(code)}`).join("\n\n"),
    headers: Object.fromEntries(answerHeaders(route, status).map((name) => [name, headerRef(name)])),
    content: {
      "application/problem+json": { schema, examples },
      ...(isRpc && { "application/json": { schema: schemas.of(RpcFailureAnswer) } }),
    },
  }
}
