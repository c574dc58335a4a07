import { useId, useState } from "preact/hooks"
import { CopyButton } from "../../../parts/copy.tsx"
import { Tabs } from "../../../parts/page.tsx"
import { MCP_CLIENTS, type McpClient, mcpConfiguration } from "./examples.ts"

/** Shows ready configurations for common MCP clients. */
export function McpBlocks({ secret }: { secret: string }) {
  const [client, setClient] = useState<McpClient>("json")
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
