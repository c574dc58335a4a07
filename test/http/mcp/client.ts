import type { Scope } from "../../../src/domain/key.ts"
import { type Answer, type StartOptions, startInstance, type TestInstance } from "../../kit.ts"

export const MCP = "/api/public/v1/mcp"

export interface ToolResult {
  content: { type: string; text: string }[]
  structuredContent?: Record<string, unknown>
  isError?: true
}

/** Error content of a failed tool call. */
export interface Failure {
  code: string
  message: string
  errors?: { field: string; code: string; message: string; allowed?: unknown }[]
  needed_days?: number
  mode?: string
  horizon_days?: number | null
  options?: string[]
}

export type McpInstance = Awaited<ReturnType<typeof openMcp>>

/** Starts the real application with functions that call its MCP endpoint. */
export async function openMcp(options: StartOptions = {}) {
  const instance = await startInstance(options)

  /** Sends one POST; a string or bytes are sent verbatim. */
  const post = (body: unknown, headers: Record<string, string> = {}, key: string | undefined = instance.statsKey): Promise<Answer> =>
    instance.api.post(MCP, body, key, headers)

  async function request(method: string, params?: unknown, key?: string): Promise<{ result?: unknown; error?: unknown }> {
    const { status, body } = await post({ jsonrpc: "2.0", id: 7, method, ...(params !== undefined && { params }) }, {}, key)
    const { jsonrpc, id, ...rest } = body as { jsonrpc: string; id: number } & Record<string, unknown> // checked next
    if (status !== 200 || jsonrpc !== "2.0" || id !== 7) throw new Error(`${method}: ${status} ${JSON.stringify(body)}`)
    return rest
  }
  /** Returns the result of a tool, whether it succeeded or failed. */
  const call = async (name: string, given?: unknown, key?: string): Promise<ToolResult> =>
    (await request("tools/call", { name, ...(given !== undefined && { arguments: given }) }, key)).result as ToolResult // the tool exists

  async function failure(name: string, given?: unknown, key?: string): Promise<Failure> {
    const { isError, content, ...rest } = await call(name, given, key)
    if (isError !== true || Object.keys(rest).length > 0) throw new Error(`${name} did not fail: ${JSON.stringify(content)}`)
    return JSON.parse(content[0]!.text)
  }
  return { ...instance, post, request, call, failure, [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose]() }
}

/** Creates a key like `instance.makeKey`, with further properties. */
export async function keyWith(
  { app, site }: TestInstance,
  more: { scopes?: readonly Scope[]; site_ids?: readonly number[] | null; rate_limit?: number },
) {
  const wanted = { name: "Assistant", scopes: ["stats:read"], site_access: more.site_ids ? "list" : "all", ...more }
  return app.instance.keys.create(site.organization_id, wanted)
}
