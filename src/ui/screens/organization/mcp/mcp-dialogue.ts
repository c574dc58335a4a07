import { Problem, post } from "../../../api/api.ts"
import { mcpUrl } from "../keys/examples.tsx"

const PROTOCOL = "2025-06-18"

interface McpTool {
  name: string
  title: string
  description: string
}
export interface McpAnswer {
  server: { title: string; version: string }
  protocol: string
  tools: readonly McpTool[]
  /** Number of sites on the first page that the key can access. */
  sites: number
  hasMoreSites: boolean
  /** Milliseconds from the first request to the last response. */
  ms: number
}

interface Reply<Result> {
  result?: Result
  error?: { code: number; message: string }
}

/** Performs the exchange of an MCP client: initialize, confirm, list the tools, call one. Throws `Problem`. */
export async function testMcp(key: string): Promise<McpAnswer> {
  const startedAt = performance.now()
  const request = <Result>(body: object, isInitialized = true) => send<Result>(key, body, isInitialized)
  const initialized = await request<{ protocolVersion: string; serverInfo: { title: string; version: string } }>(
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: "footfall-dashboard", version: "1" } },
    },
    false,
  )
  await request({ method: "notifications/initialized" })
  const { tools } = await request<{ tools: McpTool[] }>({ id: 2, method: "tools/list" })
  const { structuredContent } = await request<{ structuredContent: { sites: unknown[]; next_cursor?: string } }>({
    id: 3,
    method: "tools/call",
    params: { name: "list_sites", arguments: {} },
  })
  return {
    server: initialized.serverInfo,
    protocol: initialized.protocolVersion,
    tools,
    sites: structuredContent.sites.length,
    hasMoreSites: structuredContent.next_cursor !== undefined,
    ms: Math.round(performance.now() - startedAt),
  }
}

/** Sends one message and returns its result. A message without an ID is a notification without a response. */
async function send<Result>(key: string, message: object, isInitialized: boolean): Promise<Result> {
  const headers = { authorization: `Bearer ${key}`, ...(isInitialized && { "mcp-protocol-version": PROTOCOL }) }
  const reply = await post<Reply<Result> | undefined>(mcpUrl(), { jsonrpc: "2.0", ...message }, { headers, isSignIn: true })
  if (reply?.error) throw new Problem(200, "mcp_error", `The MCP endpoint returned an error: ${reply.error.message} (${reply.error.code}).`)
  return reply?.result as Result // by the protocol
}
