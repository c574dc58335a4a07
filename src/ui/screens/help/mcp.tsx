import { Link } from "wouter"
import { useMe } from "../../me.ts"
import { McpBlocks } from "../organization/mcp-blocks.tsx"

const TOOLS: readonly (readonly [name: string, says: string])[] = [
  ["list_sites", "the sites that the key reaches"],
  ["get_summary", "totals of a period, and their change"],
  ["get_timeseries", "figures by hour, day, week or month"],
  ["get_breakdown", "top pages, sources, countries and so on"],
  ["get_realtime", "visitors of the last five minutes"],
  ["list_goals", "goals with their conversions, and saved funnels"],
  ["run_funnel", "a funnel, step by step"],
]

export function McpHelp() {
  const own = useMe()?.organizations[0]
  return (
    <>
      <section class="stack">
        <h2>What it is</h2>
        <p>
          An assistant that speaks MCP asks this instance by itself. It has seven tools, all of which only read, and sees what its key
          reaches: give it a key with the scope <code>stats:read</code> on chosen sites.
        </p>
        <dl class="facts">
          {TOOLS.map(([name, says]) => (
            <>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>{says}</dd>
            </>
          ))}
        </dl>
      </section>
      <section class="stack">
        <h2>Set up a client</h2>
        <McpBlocks secret="ff_…" />
        {own && (
          <p>
            Under <Link href={`/org/${own.id}/mcp`}>MCP</Link> of your organization a key is tested and put into these blocks.
          </p>
        )}
      </section>
      <section class="stack">
        <h2>Good to know</h2>
        <ul>
          <li>
            One address, one POST, protocol version 2025-06-18. There is no OAuth: the key is the header <code>Authorization</code>.
          </li>
          <li>Pages that run in a browser elsewhere are refused, unless their origin is listed in FOOTFALL_MCP_ALLOWED_ORIGINS.</li>
          <li>
            Titles, paths and referrers are written by visitors: an assistant should read them as data, never as instructions, and is told
            so.
          </li>
        </ul>
      </section>
    </>
  )
}
