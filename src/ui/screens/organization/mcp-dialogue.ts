import { Problem, post } from "../../api.ts"
import { mcpAddress } from "./examples.ts"

const PROTOCOL = "2025-06-18"

export interface McpTool {
  name: string
  title: string
  description: string
}
export interface McpAnswer {
  server: { title: string; version: string }
  protocol: string
  tools: readonly McpTool[]
  /** How many sites the key lets the assistant see; a full page of them counts as more. */
  sites: number
  hasMoreSites: boolean
  /** From the first request to the last answer. */
  ms: number
}

interface Reply<Result> {
  result?: Result
  error?: { code: number; message: string }
}

/** The dialogue that a client holds: greeting, its confirmation, the list of tools, and one call. Throws `Problem`. */
export async function talkMcp(key: string): Promise<McpAnswer> {
  const begun = performance.now()
  const say = <Result>(body: object, isGreeted = true) => speak<Result>(key, body, isGreeted)
  const greeting = await say<{ protocolVersion: string; serverInfo: { title: string; version: string } }>(
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: "footfall-dashboard", version: "1" } },
    },
    false,
  )
  await say({ method: "notifications/initialized" })
  const { tools } = await say<{ tools: McpTool[] }>({ id: 2, method: "tools/list" })
  const { structuredContent } = await say<{ structuredContent: { sites: unknown[]; next_cursor?: string } }>({
    id: 3,
    method: "tools/call",
    params: { name: "list_sites", arguments: {} },
  })
  return {
    server: greeting.serverInfo,
    protocol: greeting.protocolVersion,
    tools,
    sites: structuredContent.sites.length,
    hasMoreSites: structuredContent.next_cursor !== undefined,
    ms: Math.round(performance.now() - begun),
  }
}

/** Resolves with the result; what has no id is a notification, and is answered by nothing. */
async function speak<Result>(key: string, message: object, isGreeted: boolean): Promise<Result> {
  const headers = { authorization: `Bearer ${key}`, ...(isGreeted && { "mcp-protocol-version": PROTOCOL }) }
  const reply = await post<Reply<Result> | undefined>(mcpAddress(), { jsonrpc: "2.0", ...message }, { headers, isSignIn: true })
  if (reply?.error) throw new Problem(200, "mcp_error", `The endpoint answered: ${reply.error.message} (${reply.error.code}).`)
  return reply?.result as Result // as the protocol has it
}
