import { useState } from "preact/hooks"
import type { KeyResponse, SecretResponse } from "../../../../domain/key.ts"
import { remove } from "../../../api/api.ts"
import { Button } from "../../../parts/button.tsx"
import { Confirm } from "../../../parts/confirm.tsx"
import { type Column, DataTable } from "../../../parts/data-table.tsx"
import { SelectField } from "../../../parts/form/fields.tsx"
import { Icon } from "../../../parts/icon.tsx"
import { MenuItem, Popover } from "../../../parts/menu.tsx"
import { Page } from "../../../parts/page.tsx"
import { EmptyState, QueryResult } from "../../../parts/states.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { agoText, TimeAgo } from "../../../parts/values.tsx"
import { dayText } from "../../../text/format.ts"
import { visible } from "../../../text/safe-text.tsx"
import { type OwnSite, type SectionProps, useOwnSites, useRefresh } from "../own-organization.ts"
import { exampleRequest } from "./examples.tsx"
import { KeyDialog } from "./key-dialog.tsx"
import { KeyUsage } from "./key-usage.tsx"
import { accessText, keysPath, useApiKeys } from "./keys.ts"
import { NewSecret, RotateKey } from "./new-secret.tsx"
import { scopeText, withoutImplied } from "./scopes.ts"

type Act = { kind: "create" } | { kind: "change" | "rotate" | "revoke" | "usage"; key: KeyResponse }

export function ApiKeys({ organization }: SectionProps) {
  const [state, setState] = useState("active")
  const keys = useApiKeys(organization.id, state)
  const sites = useOwnSites(organization.id)
  const refresh = useRefresh(organization.id)
  const [act, setAct] = useState<Act>()
  const [created, setCreated] = useState<SecretResponse>()
  const close = () => setAct(undefined)
  const onCreated = async (secret: SecretResponse) => {
    close()
    setCreated(secret)
    await refresh("api-keys")
  }
  return (
    <Page
      title="API keys"
      actions={
        <Button kind="primary" icon="plus" onClick={() => setAct({ kind: "create" })}>
          Create API key
        </Button>
      }
    >
      <p class="quiet">
        Keys give programs access to the public API only. <a href="/api/public/v1/docs">API reference</a>
      </p>
      <div class="sites-tools">
        <SelectField
          label="Status"
          value={state}
          onValue={setState}
          options={[
            { value: "active", label: "Active" },
            { value: "expired", label: "Expired" },
            { value: "revoked", label: "Revoked" },
            { value: "", label: "All" },
          ]}
        />
      </div>
      <QueryResult of={keys} rows={4}>
        {(rows) =>
          rows.length === 0 ? (
            state === "active" ? (
              <NoKeys sites={sites} />
            ) : (
              <EmptyState>No keys with this status.</EmptyState>
            )
          ) : (
            <DataTable stacks caption="API keys" rows={rows} keyOf={({ id }) => id} columns={columnsOf(sites, setAct)} />
          )
        }
      </QueryResult>
      {act?.kind === "create" && <KeyDialog organization={organization} onCreated={onCreated} onClose={close} />}
      {act?.kind === "change" && <KeyDialog organization={organization} current={act.key} onClose={close} />}
      {act?.kind === "rotate" && <RotateKey organizationId={organization.id} apiKey={act.key} onCreated={onCreated} onClose={close} />}
      {act?.kind === "usage" && <KeyUsage organizationId={organization.id} apiKey={act.key} onClose={close} />}
      {act?.kind === "revoke" && (
        <Confirm
          title={`Revoke ${visible(act.key.name)}?`}
          act="Revoke key"
          onClose={close}
          onConfirm={async () => {
            await remove(`${keysPath(organization.id)}/${act.key.id}`)
            await refresh("api-keys")
            toast("API key revoked")
          }}
        >
          <p>
            Requests with {act.key.prefix}… will be rejected from now on. This can't be undone. The key was{" "}
            {act.key.last_used_at ? `last used ${agoText(act.key.last_used_at)}` : "never used"}.
          </p>
        </Confirm>
      )}
      {created && <NewSecret created={created} sites={sites} onClose={() => setCreated(undefined)} />}
    </Page>
  )
}

const NoKeys = ({ sites }: { sites: readonly OwnSite[] }) => (
  <div class="state">
    <p class="quiet">No API keys yet. With a key, a request looks like this:</p>
    <pre>{exampleRequest({ scopes: ["stats:read"], site_ids: sites.map(({ id }) => id), key: "ff_…" })}</pre>
  </div>
)

const columnsOf = (sites: readonly OwnSite[], onAct: (act: Act) => void): Column<KeyResponse>[] => [
  {
    id: "name",
    label: "Name",
    cell: (key) => (
      <>
        <div>{visible(key.name)}</div>
        <code class="quiet">
          {key.prefix}…{key.last4}
        </code>
        <Marks apiKey={key} />
      </>
    ),
  },
  {
    id: "scopes",
    label: "Permissions",
    cell: ({ scopes }) => <Permissions scopes={withoutImplied(scopes)} />,
  },
  { id: "sites", label: "Sites", cell: (key) => accessText(key, sites) },
  {
    id: "expires",
    label: "Expires",
    cell: ({ expires_at }) => (expires_at ? <time dateTime={expires_at}>{dayText(expires_at)}</time> : "Never"),
  },
  {
    id: "used",
    label: "Last used",
    cell: ({ last_used_at, last_used_ip_prefix }) => (
      <>
        <TimeAgo at={last_used_at} />
        {last_used_ip_prefix && <div class="small quiet">{visible(last_used_ip_prefix)}</div>}
      </>
    ),
  },
  {
    id: "acts",
    label: "Actions",
    cell: (key) => (
      <div class="goal-acts">
        <Popover button={<Icon name="more" />} label={`Actions for ${visible(key.name)}`} kind="quiet" iconOnly>
          {(close) => {
            const item = (kind: "change" | "rotate" | "revoke" | "usage", label: string) => (
              <MenuItem
                {...(kind === "revoke" && { kind: "danger" as const })}
                onSelect={() => {
                  close()
                  onAct({ kind, key })
                }}
              >
                {label}
              </MenuItem>
            )
            return (
              <>
                {item("usage", "Show usage")}
                {key.state === "active" && item("change", "Edit key")}
                {key.state === "active" && item("rotate", "Rotate key")}
                {key.state !== "revoked" && item("revoke", "Revoke key")}
              </>
            )
          }}
        </Popover>
      </div>
    ),
  },
]

/** Number of scopes from which they are collapsed, and a key without limits is pointed out. */
const MANY_SCOPES = 5

function Permissions({ scopes }: { scopes: readonly string[] }) {
  const lines = scopes.map((scope) => <div key={scope}>{scopeText(scope)}</div>)
  return scopes.length < MANY_SCOPES ? (
    lines
  ) : (
    <details>
      <summary>{scopes.length} permissions</summary>
      {lines}
    </details>
  )
}

function Marks({ apiKey: { state, owner_left, personal, scopes, site_access, expires_at } }: { apiKey: KeyResponse }) {
  const isWide = site_access === "all" && expires_at === null && withoutImplied(scopes).length >= MANY_SCOPES
  const marks = [
    state === "active" ? "" : state,
    personal ? "personal" : "",
    owner_left ? "created by a former member" : "",
    isWide ? "almost full access, never expires" : "",
  ].filter((mark) => mark !== "")
  return (
    <>
      {marks.map((mark) => (
        <div key={mark} class="small quiet">
          {mark}
        </div>
      ))}
    </>
  )
}
