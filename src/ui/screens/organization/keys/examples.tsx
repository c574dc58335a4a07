import { useId, useState } from "preact/hooks"
import { CopyButton } from "../../../parts/copy.tsx"
import { Tabs } from "../../../parts/page.tsx"

/** Example requests and configurations to copy, with the origin of this page. */

interface KeyFacts {
  scopes: readonly string[]
  site_ids: readonly number[] | null
  /** The whole key, or a placeholder. */
  key: string
}

const api = (): string => `${location.origin}/api/public/v1`
export const mcpUrl = (): string => `${api()}/mcp`

/** Returns an example request that the key permits, for a shell. */
export function exampleRequest({ scopes, site_ids, key }: KeyFacts): string {
  const site = site_ids?.[0] ?? 1
  const authorized = `curl -H "Authorization: Bearer ${key}"`
  if (scopes.includes("stats:read")) return `${authorized} \\\n  "${api()}/sites/${site}/stats/summary?period=7d"`
  if (scopes.includes("events:write"))
    return `${authorized} -H "Content-Type: application/json" \\\n  ${api()}/sites/${site}/events -d '{"events": [{"name": "signup", "url": "https://example.com/"}]}'`
  if (scopes.some((scope) => scope.startsWith("sites:"))) return `${authorized} \\\n  "${api()}/sites"`
  return `${authorized} \\\n  "${api()}/key"`
}

type McpClient = "claude-code" | "claude-desktop" | "cursor" | "vs-code" | "windsurf" | "gemini" | "json" | "curl"

const MCP_CLIENTS: readonly { id: McpClient; label: string; note: string }[] = [
  { id: "claude-code", label: "Claude Code", note: "Run this command in a terminal." },
  { id: "claude-desktop", label: "Claude Desktop", note: "Add it to claude_desktop_config.json (Settings → Developer). Requires Node." },
  { id: "cursor", label: "Cursor", note: "Add it to ~/.cursor/mcp.json, or to .cursor/mcp.json of a project." },
  { id: "vs-code", label: "VS Code", note: "Add it to .vscode/mcp.json of a folder or to your user settings." },
  { id: "windsurf", label: "Windsurf", note: "Add it to ~/.codeium/windsurf/mcp_config.json." },
  { id: "gemini", label: "Gemini CLI", note: "Add it to ~/.gemini/settings.json." },
  { id: "json", label: "Other clients", note: "The usual form of a configuration file. Some clients leave out the type." },
  { id: "curl", label: "curl", note: "Lists the tools in a terminal." },
]

/** Returns the configuration that connects a client through MCP. */
function mcpConfiguration(client: McpClient, key: string): string {
  const url = mcpUrl()
  const header = `Authorization: Bearer ${key}`
  const headers = { Authorization: `Bearer ${key}` }
  const servers = (footfall: object) => json({ mcpServers: { footfall } })
  switch (client) {
    case "claude-code":
      return `claude mcp add --transport http footfall ${url} \\\n  --header "${header}"`
    case "claude-desktop":
      return servers({ command: "npx", args: ["-y", "mcp-remote", url, "--header", header] })
    case "cursor":
      return servers({ url, headers })
    case "vs-code":
      return json({ servers: { footfall: { type: "http", url, headers } } })
    case "windsurf":
      return servers({ serverUrl: url, headers })
    case "gemini":
      return servers({ httpUrl: url, headers })
    case "json":
      return servers({ type: "http", url, headers })
    case "curl":
      return `curl -H "${header}" -H "Content-Type: application/json" ${url} \\\n  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'`
  }
}

const json = (value: unknown): string => JSON.stringify(value, null, 2)

/** Shows ready configurations for common MCP clients. */
export function McpBlocks({ secret }: { secret: string }) {
  const [client, setClient] = useState<McpClient>("claude-code")
  const panel = useId()
  const chosen = MCP_CLIENTS.find(({ id }) => id === client)
  const text = mcpConfiguration(client, secret)
  return (
    <div class="stack">
      <Tabs<McpClient> label="Client" tabs={MCP_CLIENTS} chosen={client} onChoose={setClient} panel={panel} />
      <div id={panel} class="stack" role="tabpanel" aria-label={chosen?.label}>
        <p class="small quiet">{chosen?.note}</p>
        <pre>{text}</pre>
        <div class="row">
          <CopyButton text={text} label="Copy configuration" />
        </div>
      </div>
    </div>
  )
}
