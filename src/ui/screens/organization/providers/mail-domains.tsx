import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { DomainResponse } from "../../../../domain/identity-provider.ts"
import { getAll, post, remove } from "../../../api/api.ts"
import { Button } from "../../../parts/button.tsx"
import { Confirm } from "../../../parts/confirm.tsx"
import { CopyButton } from "../../../parts/copy.tsx"
import { TextField } from "../../../parts/form/fields.tsx"
import { Form } from "../../../parts/form/form.tsx"
import { Page } from "../../../parts/page.tsx"
import { EmptyState, QueryResult } from "../../../parts/states.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { dayText } from "../../../text/format.ts"
import { organizationPath, type SectionProps, useRefresh } from "../own-organization.ts"

/** Manages the email domains that the organization has verified. Its identity provider may sign in users of these domains. */
export function MailDomains({ organization }: SectionProps) {
  const path = `${organizationPath(organization.id)}/domains`
  const list = useQuery({ queryKey: ["domains", organization.id], queryFn: ({ signal }) => getAll<DomainResponse>(`${path}?`, signal) })
  const refresh = useRefresh(organization.id)
  const [removed, setRemoved] = useState<DomainResponse>()
  const [domain, setDomain] = useState("")
  return (
    <Page title="Email domains">
      <section class="card stack" aria-labelledby="add-domain">
        <h2 id="add-domain">Add domain</h2>
        <p class="quiet">
          Verify your email domains. Your organization's identity provider can only sign in people with an address at a verified domain.
        </p>
        <Form
          label="Add domain"
          submit={async () => {
            await post(path, { domain })
            setDomain("")
            await refresh("domains")
          }}
        >
          {({ busy, errorOf }) => (
            <>
              <TextField
                label="Domain"
                value={domain}
                onValue={setDomain}
                placeholder="example.com"
                error={errorOf("/domain")}
                autocomplete="off"
              />
              <div class="row">
                <Button kind="primary" type="submit" busy={busy}>
                  Add domain
                </Button>
              </div>
            </>
          )}
        </Form>
      </section>
      <QueryResult of={list} rows={3}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState>No email domains yet.</EmptyState>
          ) : (
            <ul class="stack">
              {rows.map((row) => (
                <li key={row.id} class="card stack">
                  <Domain row={row} path={path} onVerified={() => refresh("domains")} onRemove={() => setRemoved(row)} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
      {removed && (
        <Confirm
          title={`Remove ${removed.domain}?`}
          act="Remove domain"
          onClose={() => setRemoved(undefined)}
          onConfirm={async () => {
            await remove(`${path}/${removed.id}`)
            await refresh("domains")
            toast(`${removed.domain} removed`)
          }}
        >
          <p>People with an address at this domain can no longer sign in with your organization's identity provider.</p>
        </Confirm>
      )}
    </Page>
  )
}

interface DomainProps {
  row: DomainResponse
  path: string
  onVerified(): Promise<unknown>
  onRemove(): void
}

function Domain({ row: { id, domain, record, verified_at }, path, onVerified, onRemove }: DomainProps) {
  return (
    <>
      <div class="row spread">
        <h2>{domain}</h2>
        <span class={verified_at ? "up" : "quiet"}>{verified_at ? `Verified on ${dayText(verified_at)}` : "Not verified yet"}</span>
      </div>
      {!verified_at && (
        <>
          <p>Add this record to the DNS of {domain}, then check it. New records can take a few hours to become visible.</p>
          <dl class="facts">
            <dt>Type</dt>
            <dd>{record.type}</dd>
            <dt>Name</dt>
            <dd>
              <code>{record.name}</code>
            </dd>
            <dt>Value</dt>
            <dd>
              <code class="key-text">{record.value}</code>
            </dd>
          </dl>
        </>
      )}
      <Form
        label={`Verification of ${domain}`}
        submit={async () => {
          await post(`${path}/${id}/verify`, undefined)
          await onVerified()
          toast(`${domain} verified`)
        }}
      >
        {({ busy }) => (
          <div class="row">
            {!verified_at && (
              <>
                <CopyButton text={record.value} label="Copy value" />
                <Button type="submit" busy={busy}>
                  Check record
                </Button>
              </>
            )}
            <Button kind="danger" aria-label={`Remove ${domain}`} onClick={onRemove}>
              Remove domain
            </Button>
          </div>
        )}
      </Form>
    </>
  )
}
