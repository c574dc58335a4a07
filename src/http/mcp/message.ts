import { Type as t } from "@sinclair/typebox"
import { AppError } from "../../domain/error.ts"
import { isObject } from "../../domain/shape.ts"
import { parseJson } from "../../web/body.ts"

const JsonRpc = t.Literal("2.0", { description: "Version of JSON-RPC." })

const RpcErrorMember = t.Object(
  {
    code: t.Integer({ description: "Code of the error, as JSON-RPC and MCP define it." }),
    message: t.String({ description: "Explanation for people. The text may change." }),
    data: t.Optional(t.Object({}, { additionalProperties: true, description: "Details of the error." })),
  },
  { description: "Error of the request. Absent if it succeeded." },
)

export const RpcRequest = t.Object(
  {
    jsonrpc: JsonRpc,
    id: t.Optional(t.Union([t.String(), t.Integer()], { description: "Id of the request. A message without an id is a notification." })),
    method: t.String({ description: "Method: `initialize`, `ping`, `tools/list` or `tools/call`." }),
    params: t.Optional(t.Object({}, { additionalProperties: true, description: "Parameters of the method." })),
  },
  { title: "RpcRequest", description: "JSON-RPC 2.0 message. Batches are rejected." },
)

export const RpcAnswer = t.Object(
  {
    jsonrpc: JsonRpc,
    id: t.Union([t.String(), t.Integer()], { description: "Id of the request." }),
    result: t.Optional(t.Object({}, { additionalProperties: true, description: "Result of the method. Absent if the request failed." })),
    error: t.Optional(RpcErrorMember),
  },
  { title: "RpcAnswer", description: "Result or error of a JSON-RPC 2.0 request." },
)

/** Id of a request. */
export type Id = string | number

/** JSON-RPC 2.0 message. Notifications and responses are not answered. */
export type Message =
  | { kind: "request"; id: Id; method: string; params: unknown }
  | { kind: "notification"; method: string }
  | { kind: "response" }

export const RPC = {
  unsupportedVersion: -32000,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  parse: -32700,
} as const

/** Failure of the protocol. Errors of tools are results instead, which a model can read and act on. */
export class RpcFailure extends Error {
  constructor(
    readonly code: (typeof RPC)[keyof typeof RPC],
    message: string,
    readonly members: { id?: Id | undefined; data?: object } = {},
  ) {
    super(message)
    this.name = "RpcFailure"
  }
}

/** Parses a message. Throws `RpcFailure` if it is not JSON, a batch or not a valid message. */
export function readMessage(bytes: Uint8Array): Message {
  const body = bodyOf(bytes)
  if (Array.isArray(body)) throw new RpcFailure(RPC.invalidRequest, "Invalid request: send one message, batches are not supported")
  if (!isObject(body)) throw new RpcFailure(RPC.invalidRequest, "Invalid request: a message is an object")
  const id = isId(body.id) ? body.id : undefined
  const refuse = (why: string) => new RpcFailure(RPC.invalidRequest, `Invalid request: ${why}`, { id })
  if (body.jsonrpc !== "2.0") throw refuse('jsonrpc must be "2.0"')
  if ("id" in body && id === undefined) throw refuse("id must be a string or an integer")
  if (id !== undefined && isResponse(body)) return { kind: "response" }
  const { method, params } = body
  if (typeof method !== "string") throw refuse("method must be a string")
  return id === undefined ? { kind: "notification", method } : { kind: "request", id, method, params }
}

function bodyOf(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (error instanceof AppError) throw new RpcFailure(RPC.parse, `Parse error: ${error.message}`)
    throw error
  }
}

/** Returns whether a value is a valid id. Numbers above 2^53 would lose precision. */
const isId = (value: unknown): value is Id => typeof value === "string" || Number.isSafeInteger(value)

const isResponse = (body: Record<string, unknown>): boolean => !("method" in body) && "result" in body !== "error" in body
