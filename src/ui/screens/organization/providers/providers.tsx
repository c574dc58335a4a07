import { useQuery } from "@tanstack/react-query"
import { Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import { post, remove } from "../../api.ts"
import { exact } from "../../format.ts"
import { lazyPart } from "../../lazy-screen.ts"
import { Answer } from "../../parts/answer.tsx"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { Form } from "../../parts/form.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { getAll } from "../../stats/get-all.ts"
import { toast } from "../../toasts.ts"
import { organizationPath, type SectionProps, useRefresh } from "./own-organization.ts"
import type { Provider } from "./provider-draft.ts"
import { type ProviderLook, ProviderSteps } from "./provider-steps.tsx"

const ProviderDialog = lazyPart(() => import("./provider-dialog.tsx"))

/** Identity providers by which members of the organization sign in. */
export function Providers({ organization }: SectionProps) {
  const path = `${organizationPath(organization.id)}/providers`
  const list = useQuery({ queryKey: ["providers", organization.id], queryFn: ({ signal }) => getAll<Provider>(`${path}?`, signal) })
  const refresh = useRefresh(organization.id)
  const [open, setOpen] = useState<Provider | "new">()
  const [taken, setTaken] = useState<Provider>()
  return (
    <Page
      title="Identity providers"
      actions={
        <Button kind="primary" icon="plus" onClick={() => setOpen("new")}>
          Add a provider
        </Button>
      }
    >
      <p class="quiet">
        Members sign in where they have their account already, by OpenID Connect. A provider of this organization opens this organization
        alone.
      </p>
      <Answer of={list} rows={4}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState>No provider is set up; members sign in by password or passkey.</EmptyState>
          ) : (
            <ul class="stack">
              {rows.map((provider) => (
                <li key={provider.id} class="card stack">
                  <ProviderCard provider={provider} path={path} onChange={() => setOpen(provider)} onTake={() => setTaken(provider)} />
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
      {open && (
        <Suspense fallback={<div class="progress-line" />}>
          <ProviderDialog
            organizationId={organization.id}
            path={path}
            {...(open !== "new" && { present: open })}
            onClose={() => setOpen(undefined)}
          />
        </Suspense>
      )}
      {taken && (
        <Confirm
          title={`Take ${visible(taken.name)} away`}
          act="Take the provider away"
          name={taken.name}
          onClose={() => setTaken(undefined)}
          onConfirm={async () => {
            await remove(`${path}/${taken.id}`)
            await refresh("providers")
            toast(`${visible(taken.name)} was taken away`)
          }}
        >
          <p>
            {exact(taken.identities)} {taken.identities === 1 ? "user comes" : "users come"} through it; they stay members and sign in by
            password or passkey. Sessions that it opened end.
          </p>
        </Confirm>
      )}
    </Page>
  )
}

interface ProviderCardProps {
  provider: Provider
  path: string
  onChange(): void
  onTake(): void
}

function ProviderCard({ provider, path, onChange, onTake }: ProviderCardProps) {
  const [look, setLook] = useState<ProviderLook>()
  const { id, name, issuer, client_id, client_secret, enabled, redirect_uri, identities } = provider
  return (
    <>
      <div class="row spread">
        <h2>{visible(name)}</h2>
        <span class={enabled ? "up" : "quiet"}>{enabled ? "on" : "off"}</span>
      </div>
      <dl class="facts">
        <dt>Issuer</dt>
        <dd>{visible(issuer)}</dd>
        <dt>Client</dt>
        <dd>
          {visible(client_id)}
          <span class="quiet">, {client_secret.set ? "with a secret" : "without a secret, by PKCE alone"}</span>
        </dd>
        <dt>Redirect address</dt>
        <dd>
          <code class="key-text">{redirect_uri}</code>
        </dd>
        <dt>Users</dt>
        <dd>{exact(identities)}</dd>
      </dl>
      <Form label={`Test of ${name}`} submit={async () => setLook(await post<ProviderLook>(`${path}/${id}/test`, undefined))}>
        {({ busy }) => (
          <div class="row">
            <CopyButton text={redirect_uri} label="Copy the redirect address" />
            <Button type="submit" busy={busy} aria-label={`Test ${visible(name)}`}>
              Test
            </Button>
            <Button onClick={onChange} aria-label={`Change ${visible(name)}`}>
              Change
            </Button>
            <Button kind="danger" onClick={onTake} aria-label={`Take away: ${visible(name)}`}>
              Take away
            </Button>
          </div>
        )}
      </Form>
      <div role="status">{look && <ProviderSteps look={look} />}</div>
    </>
  )
}
