import { useQuery } from "@tanstack/react-query"
import { Suspense } from "preact/compat"
import { useState } from "preact/hooks"
import type { ProviderResponse, ProviderTest } from "../../../../domain/provider-input.ts"
import { getAll, post, remove } from "../../../api/api.ts"
import { Button } from "../../../parts/button.tsx"
import { Confirm } from "../../../parts/confirm.tsx"
import { CopyButton } from "../../../parts/copy.tsx"
import { Form } from "../../../parts/form/form.tsx"
import { Icon } from "../../../parts/icon.tsx"
import { lazyPart } from "../../../parts/loading.ts"
import { Page } from "../../../parts/page.tsx"
import { EmptyState, QueryResult } from "../../../parts/states.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { exact } from "../../../text/format.ts"
import { visible } from "../../../text/safe-text.tsx"
import { organizationPath, type SectionProps, useRefresh } from "../own-organization.ts"

const ProviderDialog = lazyPart(() => import("./provider-dialog.tsx"))

/** Manages the identity providers of the organization. */
export function Providers({ organization }: SectionProps) {
  const path = `${organizationPath(organization.id)}/providers`
  const list = useQuery({ queryKey: ["providers", organization.id], queryFn: ({ signal }) => getAll<ProviderResponse>(`${path}?`, signal) })
  const refresh = useRefresh(organization.id)
  const [open, setOpen] = useState<ProviderResponse | "new">()
  const [removed, setRemoved] = useState<ProviderResponse>()
  return (
    <Page
      title="Identity providers"
      actions={
        <Button kind="primary" icon="plus" onClick={() => setOpen("new")}>
          Add provider
        </Button>
      }
    >
      <QueryResult of={list} rows={4}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState>
              No identity providers yet. Members sign in with a password or passkey. With OpenID Connect, they can use an existing account.
              A provider only gives access to this organization.
            </EmptyState>
          ) : (
            <ul class="stack">
              {rows.map((provider) => (
                <li key={provider.id} class="card stack">
                  <ProviderCard provider={provider} path={path} onChange={() => setOpen(provider)} onRemove={() => setRemoved(provider)} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
      {open && (
        <Suspense fallback={<div class="progress-line" />}>
          <ProviderDialog
            organizationId={organization.id}
            path={path}
            {...(open !== "new" && { current: open })}
            onClose={() => setOpen(undefined)}
          />
        </Suspense>
      )}
      {removed && (
        <Confirm
          title={`Remove ${visible(removed.name)}?`}
          act="Remove provider"
          name={removed.name}
          onClose={() => setRemoved(undefined)}
          onConfirm={async () => {
            await remove(`${path}/${removed.id}`)
            await refresh("providers")
            toast(`${visible(removed.name)} removed`)
          }}
        >
          <p>
            {exact(removed.identities)} {removed.identities === 1 ? "user signs" : "users sign"} in with it. They stay members and can sign
            in with a password or passkey. Sessions opened with it end.
          </p>
        </Confirm>
      )}
    </Page>
  )
}

interface ProviderCardProps {
  provider: ProviderResponse
  path: string
  onChange(): void
  onRemove(): void
}

function ProviderCard({ provider, path, onChange, onRemove }: ProviderCardProps) {
  const [result, setResult] = useState<ProviderTest>()
  const { id, name, issuer, client_id, client_secret, enabled, redirect_uri, identities } = provider
  return (
    <>
      <div class="row spread">
        <h2>{visible(name)}</h2>
        <span class={enabled ? "up" : "quiet"}>{enabled ? "Enabled" : "Disabled"}</span>
      </div>
      <dl class="facts">
        <dt>Issuer</dt>
        <dd>{visible(issuer)}</dd>
        <dt>Client ID</dt>
        <dd>
          {visible(client_id)}
          <span class="quiet">, {client_secret.set ? "with a secret" : "without a secret (PKCE)"}</span>
        </dd>
        <dt>Redirect URL</dt>
        <dd>
          <code class="key-text">{redirect_uri}</code>
        </dd>
        <dt>Users</dt>
        <dd>{exact(identities)}</dd>
      </dl>
      <Form label={`Test ${name}`} submit={async () => setResult(await post<ProviderTest>(`${path}/${id}/test`, undefined))}>
        {({ busy }) => (
          <div class="row">
            <CopyButton text={redirect_uri} label="Copy redirect URL" />
            <Button type="submit" busy={busy} aria-label={`Test ${visible(name)}`}>
              Test provider
            </Button>
            <Button onClick={onChange} aria-label={`Edit ${visible(name)}`}>
              Edit provider
            </Button>
            <Button kind="danger" onClick={onRemove} aria-label={`Remove ${visible(name)}`}>
              Remove provider
            </Button>
          </div>
        )}
      </Form>
      <div role="status">{result && <ProviderSteps result={result} />}</div>
    </>
  )
}

/** Shows the result of a provider test, step by step. */
function ProviderSteps({ result: { ok, steps, claims } }: { result: ProviderTest }) {
  const missing = claims.filter(({ needed, offered }) => needed && offered === false)
  return (
    <div class="stack">
      <p>{ok ? "The provider is set up correctly." : "The provider isn't set up correctly."}</p>
      <ol class="check-list">
        {steps.map((step) => (
          <li key={step.name} data-state={step.ok ? "ok" : "failed"}>
            <span class="check-mark">
              <Icon name={step.ok ? "check" : "close"} />
            </span>
            <span>
              {visible(step.name.replaceAll("_", " "))} <span class="quiet">{Math.round(step.ms)} ms</span>
              <span class="visually-hidden">{step.ok ? ", done" : ", failed"}</span>
            </span>
            {step.detail && <span class="small quiet">{visible(step.detail)}</span>}
          </li>
        ))}
      </ol>
      {missing.length > 0 && (
        <p class="notice" data-kind="warn">
          The provider doesn't offer {missing.map(({ name }) => name).join(", ")}, which sign-in requires.
        </p>
      )}
    </div>
  )
}
