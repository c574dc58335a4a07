import { Link } from "wouter"
import { canInOrganization, useMe } from "../../me.ts"
import { exampleRequest } from "../organization/examples.ts"
import { SCOPE_WORDS } from "../organization/scopes.ts"
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
            <a href="/api/public/v1/docs">For people</a>: every operation with its fields and answers
          </li>
          <li>
            <a href="/api/public/v1/openapi.json">For programs</a>: the same as OpenAPI 3.1
          </li>
        </ul>
        <p>A request carries its key in the header Authorization; keys in addresses are not read.</p>
        <CodeBlock text={exampleRequest({ scopes: ["stats:read"], site_ids: null, key: "ff_…" })} label="Copy the request" />
      </section>
      <section class="stack">
        <h2>Keys</h2>
        <p>
          {own ? (
            <Link href={`/org/${own.id}/keys`}>Make a key in your organization.</Link>
          ) : (
            "Owners and admins of an organization make keys."
          )}{" "}
          A key reaches all sites of its organization or chosen ones; with no site chosen it reaches nothing. It is shown once. Rotating
          gives it a new secret, and the old one works for a while more.
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
            What fails says why: a code, a sentence, and the faults of each field (<code>application/problem+json</code>).
          </li>
          <li>
            A request that makes something can be sent again with the same <code>Idempotency-Key</code> and makes it once.
          </li>
          <li>
            Over the limit of requests the answer is 429 with <code>Retry-After</code>.
          </li>
          <li>
            Clients for Plausible’s stats API v2 work when their base address is changed: <code>POST /api/v2/query</code>.
          </li>
        </ul>
      </section>
    </>
  )
}
