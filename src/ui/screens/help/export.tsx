import { Link } from "wouter"
import { canInOrganization, useMe } from "../../api/session.ts"
import { CodeBlock } from "../../parts/copy.tsx"
import { exampleRequest, McpBlocks } from "../organization/keys/examples.tsx"
import { SCOPE_LABELS } from "../organization/keys/scopes.ts"

export const Exporting = () => (
  <>
    <section class="stack">
      <h2>Export a report as CSV or PNG</h2>
      <ul>
        <li>
          <strong>CSV</strong> below a card contains all rows that match the filters, not only those shown.
        </li>
        <li>
          <strong>PNG</strong> is the chart as an image.
        </li>
        <li>
          <strong>Copy as API call</strong> copies the same query for a program, <strong>Copy as MCP prompt</strong> for an assistant.
        </li>
        <li>The page's URL is a link to what it shows, for everyone with access to the site.</li>
      </ul>
      <p>Exports need the download permission, which can be removed from viewers of a site.</p>
    </section>
    <section class="stack">
      <h2>Export with the API</h2>
      <p>
        <code>GET /api/public/v1/sites/:id/export</code> returns reports and raw rows as CSV, JSON or NDJSON. It needs an API key with the
        export:read scope. Visitors are identified by a pseudonym that has no meaning elsewhere.
      </p>
    </section>
    <section class="stack">
      <h2>Back up the whole instance</h2>
      <p>
        One folder contains the whole instance. Create and verify backups in the admin console or with <code>footfall backup</code>. Backups
        don't contain salts.
      </p>
    </section>
  </>
)

export function Api() {
  const me = useMe()
  const own = me?.organizations.find(({ id }) => canInOrganization(me, id, "keys:write"))
  return (
    <>
      <section class="stack">
        <h2>API reference</h2>
        <ul>
          <li>
            <a href="/api/public/v1/docs">API reference</a>: every operation with its fields and responses
          </li>
          <li>
            <a href="/api/public/v1/openapi.json">OpenAPI 3.1 document</a>: the same for programs
          </li>
        </ul>
        <p>Send the key in the Authorization header. Keys in URLs are ignored.</p>
        <CodeBlock text={exampleRequest({ scopes: ["stats:read"], site_ids: null, key: "ff_…" })} label="Copy request" />
      </section>
      <section class="stack">
        <h2>Create an API key</h2>
        <p>
          {own ? (
            <Link href={`/org/${own.id}/keys`}>Create an API key in your organization.</Link>
          ) : (
            "Organization owners and admins can create API keys."
          )}{" "}
          A key gives access to all sites of its organization or to selected ones. It is shown once. Rotating a key creates a new secret;
          the old one can stay valid for a while.
        </p>
        <dl class="facts">
          {Object.entries(SCOPE_LABELS).map(([scope, words]) => (
            <>
              <dt>
                <code>{scope}</code>
              </dt>
              <dd>{words}</dd>
            </>
          ))}
        </dl>
      </section>
      <section class="stack">
        <h2>Good to know</h2>
        <ul>
          <li>
            Errors have a code, a message and the problems of each field (<code>application/problem+json</code>).
          </li>
          <li>
            Requests that create something can be retried safely with the same <code>Idempotency-Key</code>.
          </li>
          <li>
            Above the rate limit the response is 429 with <code>Retry-After</code>.
          </li>
          <li>
            Clients for Plausible’s stats API v2 work with a changed base URL: <code>POST /api/v2/query</code>.
          </li>
        </ul>
      </section>
    </>
  )
}

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
