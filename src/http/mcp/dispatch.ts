import type { Log } from "../../domain/log.ts"
import { isObject } from "../../domain/shape.ts"
import { toFailure } from "../errors.ts"
import { type Caller, type ToolOptions, toolCalls } from "./calls.ts"
import { failedCall } from "./failures.ts"
import { type Id, type Message, RPC, RpcFailure } from "./message.ts"
import { INSTRUCTIONS, isToolName, TOOLS } from "./tools.ts"

/** Supported protocol version, returned whatever version a client requests. */
export const PROTOCOL_VERSION = "2025-06-18"

export interface DispatchOptions extends ToolOptions {
  /** Name of the server for clients. */
  serverName: string
  version: string
  log: Log
}

type RpcRequest = Extract<Message, { kind: "request" }>
type Method = (params: Record<string, unknown>, caller: Caller) => object | Promise<object>

/** Truncates a name from a request. */
const cut = (name: string): string => name.slice(0, 100)

/** Creates a function that answers one request with a JSON-RPC result or error. */
export function createDispatch(options: DispatchOptions) {
  const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
    ["initialize", initializer(options)],
    ["ping", () => ({})],
    ["tools/list", listTools],
    ["tools/call", toolCaller(options)],
  ])

  return async function dispatch({ id, method, params }: RpcRequest, caller: Caller): Promise<object> {
    try {
      const answer = methods.get(method)
      if (!answer) throw new RpcFailure(RPC.unknownMethod, `Method not found: ${cut(method)}`)
      return { jsonrpc: "2.0", id, result: await answer(membersOf(params), caller) }
    } catch (error) {
      if (error instanceof RpcFailure) return errorAnswer(id, error)
      throw error
    }
  }
}

/** Creates a JSON-RPC error. Its id is null if the id of the request could not be read. */
export const errorAnswer = (id: Id | undefined, { code, message, members: { data } }: RpcFailure): object => ({
  jsonrpc: "2.0",
  id: id ?? null,
  error: { code, message, ...(data && { data }) },
})

function membersOf(params: unknown): Record<string, unknown> {
  if (params === undefined || params === null) return {}
  if (isObject(params)) return params
  throw new RpcFailure(RPC.invalidParams, "Invalid params: params must be an object")
}

function initializer({ serverName, version }: DispatchOptions): Method {
  const result = {
    protocolVersion: PROTOCOL_VERSION,
    capabilities: { tools: { listChanged: false } },
    serverInfo: { name: serverName, title: "Footfall", version },
    instructions: INSTRUCTIONS,
  }
  return ({ protocolVersion, capabilities, clientInfo }) => {
    const { name, version } = isObject(clientInfo) ? clientInfo : {}
    const refuse = (what: string) => new RpcFailure(RPC.invalidParams, `Invalid params: ${what}`)
    if (typeof protocolVersion !== "string") throw refuse("protocolVersion must be a string")
    if (!isObject(capabilities)) throw refuse("capabilities must be an object")
    if (typeof name !== "string" || typeof version !== "string") throw refuse("clientInfo must have the strings name and version")
    return result
  }
}

function listTools(params: Record<string, unknown>): object {
  if ("cursor" in params) throw new RpcFailure(RPC.invalidParams, "Invalid cursor")
  return { tools: TOOLS }
}

function toolCaller({ log, ...options }: DispatchOptions): Method {
  const calls = toolCalls(options)

  return async ({ name, arguments: given = {} }, caller) => {
    if (!isToolName(name)) throw new RpcFailure(RPC.invalidParams, `Unknown tool: ${cut(typeof name === "string" ? name : typeof name)}`)
    if (!isObject(given)) throw new RpcFailure(RPC.invalidParams, "Invalid params: arguments must be an object")
    try {
      const structuredContent = await calls[name](given, caller)
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent }
    } catch (thrown) {
      const { requestId } = caller
      const failure = toFailure(thrown, requestId, log)
      // A model cannot act on an internal error.
      if (failure.code === "internal_error") throw new RpcFailure(RPC.internal, "Internal error", { data: { request_id: requestId } })
      const failed = failedCall(failure, name, given)
      return { content: [{ type: "text", text: JSON.stringify(failed) }], isError: true }
    }
  }
}
