import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { post, remove } from "../../api.ts"
import { dayText } from "../../format.ts"
import { Answer } from "../../parts/answer.tsx"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { getAll } from "../../stats/get-all.ts"
import { toast } from "../../toasts.ts"
import { organizationPath, type SectionProps, useRefresh } from "./own-organization.ts"

interface MailDomain {
  id: number
  domain: string
  record: { type: "TXT"; name: string; value: string }
  verified_at: string | null
}

/** Domains of e-mail addresses that the organization proves to be its own: people of them may come through its identity provider. */
export function MailDomains({ organization }: SectionProps) {
  const path = `${organizationPath(organization.id)}/domains`
  const list = useQuery({ queryKey: ["domains", organization.id], queryFn: ({ signal }) => getAll<MailDomain>(`${path}?`, signal) })
  const refresh = useRefresh(organization.id)
  const [given, setGiven] = useState<MailDomain>()
  const [domain, setDomain] = useState("")
  return (
    <Page title="Mail domains">
      <p class="quiet">
        Prove that a domain of e-mail addresses is yours. Only then may an identity provider of this organization sign in people with
        addresses of it.
      </p>
      <section class="card stack" aria-labelledby="add-domain">
        <h2 id="add-domain">Add a domain</h2>
        <Form
          label="Add a domain"
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
                placeholder="example.org"
                error={errorOf("/domain")}
                autocomplete="off"
              />
              <div class="row">
                <Button kind="primary" type="submit" busy={busy}>
                  Add
                </Button>
              </div>
            </>
          )}
        </Form>
      </section>
      <Answer of={list} rows={3}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState>No domain is named yet.</EmptyState>
          ) : (
            <ul class="stack">
              {rows.map((row) => (
                <li key={row.id} class="card stack">
                  <Domain row={row} path={path} onVerified={() => refresh("domains")} onGive={() => setGiven(row)} />
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      {given && (
        <Confirm
          title={`Give ${given.domain} up`}
          act="Give the domain up"
          onClose={() => setGiven(undefined)}
          onConfirm={async () => {
            await remove(`${path}/${given.id}`)
            await refresh("domains")
            toast(`${given.domain} was given up`)
          }}
        >
          <p>People with addresses of it no longer come in through the identity provider of this organization.</p>
        </Confirm>
      )}
    </Page>
  )
}

interface DomainProps {
  row: MailDomain
  path: string
  onVerified(): Promise<unknown>
  onGive(): void
}

function Domain({ row: { id, domain, record, verified_at }, path, onVerified, onGive }: DomainProps) {
  return (
    <>
      <div class="row spread">
        <h2>{domain}</h2>
        <span class={verified_at ? "up" : "quiet"}>{verified_at ? `proved on ${dayText(verified_at)}` : "not proved yet"}</span>
      </div>
      {!verified_at && (
        <>
          <p>Set this record in the DNS of {domain}, then let it be looked for. New records can take some hours until they are seen.</p>
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
        label={`Proof of ${domain}`}
        submit={async () => {
          await post(`${path}/${id}/verify`, undefined)
          await onVerified()
          toast(`${domain} is proved`)
        }}
      >
        {({ busy }) => (
          <div class="row">
            {!verified_at && (
              <>
                <CopyButton text={record.value} label="Copy the value" />
                <Button type="submit" busy={busy}>
                  Look for it now
                </Button>
              </>
            )}
            <Button kind="danger" aria-label={`Give up: ${domain}`} onClick={onGive}>
              Give up
            </Button>
          </div>
        )}
      </Form>
    </>
  )
}
