import { Elysia } from "elysia"
import { AppError } from "../../domain/error.ts"
import { API } from "../../domain/limits.ts"
import { readBytes } from "../../plugin/body.ts"
import { type Call, mediaType } from "../../plugin/guard.ts"
import { accepts } from "../accept.ts"
import type { KeyGate } from "../auth.ts"
import { methodNotAllowed } from "../errors.ts"
import { RpcAnswer, RpcRequest } from "../openapi/bodies.ts"
import { told } from "../openapi/route.ts"
import { takes } from "../public/things.ts"
import { outliveReport } from "../quiet-connections.ts"
import { discoveryRoutes } from "./discovery.ts"
import { createDispatch, type DispatchOptions, errorAnswer, PROTOCOL_VERSION } from "./dispatch.ts"
import { type Message, RPC, RpcFailure, readMessage } from "./message.ts"
import { type OriginOptions, originRule } from "./origin.ts"

const PATH = "/api/public/v1/mcp"

export type McpOptions = OriginOptions & DispatchOptions

/**
 * The MCP endpoint: one JSON-RPC message in, one JSON answer out, nothing kept between calls (api.md section 8). Its checks
 * have an order of their own, which callers can observe; the first that fails answers. Those that look at the request alone
 * answer as the rest of the API does, those of the message as JSON-RPC does.
 */
export function mcpRoutes({ admit }: Pick<KeyGate, "admit">, options: McpOptions) {
  const isAllowed = originRule(options)
  const dispatch = createDispatch(options)

  async function answer(call: Call): Promise<Response> {
    const { request, set, server } = call
    if (!isAllowed(request.headers.get("origin")))
      throw new AppError("origin_not_allowed", "Pages of this origin may not use the endpoint.")
    refuseMethod(call)
    const key = await admit(call, "stats:read")
    const bytes = await readBody(request)
    outliveReport(request, server)
    // Header values of ours are text; the type also allows numbers.
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
  const detail = told({ "x-required-scopes": ["stats:read"], ...DESCRIPTION })
  return new Elysia().use(discoveryRoutes()).all(PATH, answer, { parse: "none", detail })
}

const DESCRIPTION = {
  operationId: "callMcp",
  summary: "Ask with the Model Context Protocol",
  description:
    "One message of JSON-RPC 2.0 and one answer, always JSON: initialize, ping, tools/list and tools/call of the seven tools. Nothing is kept between calls.",
  tags: ["mcp"],
  ...takes(RpcRequest),
  responses: {
    200: { description: "The result, or an error of JSON-RPC.", content: { "application/json": { schema: RpcAnswer } } },
    202: { description: "A notification: there is nothing to answer." },
  },
  "x-failures": ["origin_not_allowed"] as const,
}

function refuseMethod({ request, set }: Call): void {
  if (request.method === "POST") return
  set.headers.allow = "POST"
  throw methodNotAllowed(["POST"])
}

/** In the order that callers can observe: size, media type, format of the answer. */
async function readBody(request: Request): Promise<Uint8Array> {
  const bytes = await readBytes(request, API.mcpBodyBytes)
  if (mediaType(request) !== "application/json") throw new AppError("unsupported_media_type", "Send the message as application/json.")
  if (!accepts(request, "application/json")) throw new AppError("not_acceptable", "The answer is application/json.")
  return bytes
}

/** The code is not that of later protocols: who knows these would not fall back to `initialize` then. */
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
