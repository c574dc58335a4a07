import { Link } from "wouter"
import { canInOrganization, useMe } from "../../api/session.ts"
import { exampleRequest } from "../organization/keys/examples.ts"
import { SCOPE_WORDS } from "../organization/keys/scopes.ts"
import { CodeBlock } from "./code-block.tsx"

export function Api() {
  const me = useMe()
  const own = me?.organizations.find(({ id }) => canInOrganization(me, id, "keys:write"))
  return (
    <>
      <section class="stack">
        <h2>Reference</h2>
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
        <h2>API keys</h2>
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
          {Object.entries(SCOPE_WORDS).map(([scope, words]) => (
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
