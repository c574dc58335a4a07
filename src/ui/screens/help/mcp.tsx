import { Link } from "wouter"
import { useMe } from "../../api/session.ts"
import { McpBlocks } from "../organization/keys/mcp-blocks.tsx"

const TOOLS: readonly (readonly [name: string, description: string])[] = [
  ["list_sites", "the sites that the key can access"],
  ["get_summary", "totals of a period and how they changed"],
  ["get_timeseries", "figures by hour, day, week or month"],
  ["get_breakdown", "top pages, sources, countries and so on"],
  ["get_realtime", "visitors in the last five minutes"],
  ["list_goals", "goals with their conversions and saved funnels"],
  ["run_funnel", "a funnel, step by step"],
]

export function McpHelp() {
  const own = useMe()?.organizations[0]
  return (
    <>
      <section class="stack">
        <h2>Connect an assistant</h2>
        <p>
          Assistants that support MCP can query this instance with seven read-only tools. They need an API key with the{" "}
          <code>stats:read</code> scope, ideally for selected sites only.
        </p>
        <dl class="facts">
          {TOOLS.map(([name, description]) => (
            <>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>{description}</dd>
            </>
          ))}
        </dl>
      </section>
      <section class="stack">
        <h2>Set up a client</h2>
        <McpBlocks secret="ff_…" />
        {own && (
          <p>
            Under <Link href={`/org/${own.id}/mcp`}>MCP</Link> in your organization you can test a key and get these blocks with the key
            filled in.
          </p>
        )}
      </section>
      <section class="stack">
        <h2>Good to know</h2>
        <ul>
          <li>
            The endpoint accepts POST requests with protocol version 2025-06-18. OAuth isn't supported; send the key in the{" "}
            <code>Authorization</code> header.
          </li>
          <li>Requests from other web pages are rejected unless their origin is listed in FOOTFALL_MCP_ALLOWED_ORIGINS.</li>
          <li>Titles, paths and referrers come from visitors. Assistants are instructed to treat them as data, never as instructions.</li>
        </ul>
      </section>
    </>
  )
}
