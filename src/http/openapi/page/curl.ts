import type { OpenApiDocument, Operation } from "../document.ts"
import { queryExample } from "../examples/examples.ts"
import { EXAMPLE_BASE_URL } from "../problem.ts"
import type { Schema } from "../schema.ts"
import { resolved } from "./fields.ts"

/** Ids in example addresses, the same as in the example responses. */
const IDS: Readonly<Record<string, number>> = {
  goal_id: 7,
  funnel_id: 3,
  annotation_id: 12,
  segment_id: 4,
  share_id: 5,
  api_key_id: 6,
  user_id: 8,
  invitation_id: 9,
  erasure_id: 5,
}

/** Returns whether the instance has no base URL, so that its address is not known. */
export const hasNoAddress = ({ servers: [server] }: OpenApiDocument): boolean => server === undefined || server.url === "/"

/** Returns the URL that the examples of a document begin with. */
export const exampleHost = (document: OpenApiDocument): string => (hasNoAddress(document) ? EXAMPLE_BASE_URL : document.servers[0]!.url)

interface Place {
  method: string
  path: string
  operation: Operation
}

/** Returns a request of an operation as a command of curl, with its example parameters and body. `KEY` is an API key. */
export function curlLine(document: OpenApiDocument, { method, path, operation }: Place): string {
  const query = queryExample(operation.operationId) ?? ""
  const address = path.replace(/\{(\w+)\}/g, (_, id: string) => String(IDS[id] ?? 1))
  const [type, body] = bodyOf(operation)
  const lines = [
    `curl${method === "get" ? "" : ` -X ${method.toUpperCase()}`} "${exampleHost(document)}${address}${query && `?${query}`}"`,
    ...(operation.security.length > 0 ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...(body === undefined ? [] : [`-H "Content-Type: ${type}"`, `-d '${sentBody(body)}'`]),
  ]
  return lines.join(" \\\n  ")
}

/** Returns the first body with an example, and its media type. */
function bodyOf({ requestBody }: Operation): [type?: string, body?: unknown] {
  const found = Object.entries(requestBody?.content ?? {}).find(([, { example }]) => example !== undefined)
  return found ? [found[0], found[1].example] : []
}

const sentBody = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body, null, 2)).replaceAll("'", "'\\''")

/** The successful response of an operation: its status, and the example of its first body that has one. */
export function exampleAnswer(document: OpenApiDocument, { responses }: Operation): { status: string; type?: string; example?: unknown } {
  const [status, reference] = Object.entries(responses).find(([code]) => code < "300") ?? ["200", {}]
  const { content = {} } = resolved(document, reference as Schema) as { content?: Record<string, Schema> }
  const found = Object.entries(content).find(([, { example }]) => example !== undefined)
  return found ? { status, type: found[0], example: found[1].example } : { status }
}
