import { Elysia } from "elysia"
import { AppError } from "../../domain/error.ts"
import { API } from "../../domain/limits.ts"
import { readBytes } from "../../web/body.ts"
import { type Call, mediaType } from "../../web/guard.ts"
import type { KeyGate } from "../../web/public-router.ts"
import { accepts } from "../accept.ts"
import { methodNotAllowed, notFound } from "../errors.ts"
import { outliveReport } from "../idle-timeouts.ts"
import { describeRoute } from "../openapi/route.ts"
import { takes } from "../public/requests.ts"
import { createDispatch, type DispatchOptions, errorAnswer, PROTOCOL_VERSION } from "./dispatch.ts"
import { type Message, RPC, RpcAnswer, RpcFailure, RpcRequest, readMessage } from "./message.ts"

const PATH = "/api/public/v1/mcp"

export type McpOptions = OriginOptions & DispatchOptions

/**
 * Creates the stateless MCP endpoint, which answers one JSON-RPC message with one JSON response (api.md section 8). The order of its
 * checks is documented. Failures of the HTTP request are problems as in the rest of the API, failures of the message are JSON-RPC
 * errors.
 */
export function mcpRoutes({ admit }: Pick<KeyGate, "admit">, options: McpOptions) {
  const isAllowed = originRule(options)
  const dispatch = createDispatch(options)

  async function answer(call: Call): Promise<Response> {
    const { request, set, server } = call
    if (!isAllowed(request.headers.get("origin"))) throw new AppError("origin_not_allowed", "Pages of this origin cannot use the endpoint.")
    refuseMethod(call)
    const key = await admit(call, { scopes: ["stats:read"] })
    const bytes = await readBody(request)
    outliveReport(request, server)
    // Our header values are text. The type also allows numbers.
    const headers = set.headers as Record<string, string>
    try {
      const message = readMessage(bytes)
      refuseVersion(request, message)
      if (!wantsAnswer(message)) return new Response(null, { status: 202, headers })
      const { signal } = request
      return json(200, await dispatch(message, { key, signal, requestId: headers["x-request-id"] ?? "" }), headers)
    } catch (error) {
      if (error instanceof RpcFailure) return json(400, errorAnswer(error.members.id, error), headers)
      throw error
    }
  }
  const detail = describeRoute({ "x-required-scopes": ["stats:read"], ...DESCRIPTION })
  return new Elysia().use(discoveryRoutes()).all(PATH, answer, { parse: "none", detail })
}

const DESCRIPTION = {
  operationId: "callMcp",
  summary: "Send a Model Context Protocol message",
  description:
    "Accepts one JSON-RPC 2.0 message and returns one JSON response. Supported methods: initialize, ping, tools/list and tools/call with seven tools. The endpoint is stateless.",
  tags: ["mcp"],
  ...takes(RpcRequest),
  responses: {
    200: { description: "Result or JSON-RPC error.", content: { "application/json": { schema: RpcAnswer } } },
    202: { description: "Notification accepted. The response has no body." },
  },
  "x-failures": ["origin_not_allowed"] as const,
}

function refuseMethod({ request, set }: Call): void {
  if (request.method === "POST") return
  set.headers.allow = "POST"
  throw methodNotAllowed(["POST"])
}

/** Reads the body. Checks size, media type and `Accept`, in this documented order. */
async function readBody(request: Request): Promise<Uint8Array> {
  const bytes = await readBytes(request, API.mcpBodyBytes)
  if (mediaType(request) !== "application/json") throw new AppError("unsupported_media_type", "Send the message as application/json.")
  if (!accepts(request, "application/json")) throw new AppError("not_acceptable", "The response is only available as application/json.")
  return bytes
}

/** Throws for an unsupported protocol version. The code differs from newer protocols, so that newer clients fall back to `initialize`. */
function refuseVersion({ headers }: Request, message: Message): void {
  const requested = headers.get("mcp-protocol-version")
  if (requested === null || requested === PROTOCOL_VERSION || (message.kind !== "response" && message.method === "initialize")) return
  const id = message.kind === "request" ? message.id : undefined
  throw new RpcFailure(RPC.unsupportedVersion, "Unsupported protocol version", { id, data: { supported: [PROTOCOL_VERSION], requested } })
}

const wantsAnswer = (message: Message): message is Extract<Message, { kind: "request" }> =>
  message.kind === "request" && !message.method.startsWith("notifications/")

const json = (status: number, body: object, headers: Record<string, string>): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...headers, "content-type": "application/json" } })

/** Origins on the user's own machine, used by desktop assistants. */
const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/

export interface OriginOptions {
  /** Base URL, or "" if none is set. */
  baseUrl: string
  /** Exact origins in addition to the base URL and loopback. */
  mcpAllowedOrigins: readonly string[]
}

/**
 * Returns a function that checks whether an origin can use the endpoint. Programs send no origin. The check stops visited web pages
 * from reaching an instance in a private network. The origin `null` of sandboxed pages is rejected.
 */
export function originRule({ baseUrl, mcpAllowedOrigins }: OriginOptions): (origin: string | null) => boolean {
  const named = new Set([...mcpAllowedOrigins, ...(baseUrl === "" ? [] : [new URL(baseUrl).origin])])
  return (origin) => origin === null || named.has(origin) || LOOPBACK.test(origin)
}

const absent = (): never => {
  throw notFound()
}

/**
 * Creates routes that answer 404 for OAuth discovery. Clients request these paths after a 401 and would follow any other response,
 * so the dashboard must not serve a page here.
 */
export const discoveryRoutes = () =>
  new Elysia().all("/.well-known/*", absent, { parse: "none" }).all("/register", absent, { parse: "none" })
