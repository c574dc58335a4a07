import { useQuery } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import { agoText } from "../../ago.ts"
import { remove } from "../../api.ts"
import { dayText } from "../../format.ts"
import { Answer } from "../../parts/answer.tsx"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { SelectField } from "../../parts/fields.tsx"
import { Icon } from "../../parts/icon.tsx"
import { MenuItem, Popover } from "../../parts/menu.tsx"
import { Moment } from "../../parts/moment.tsx"
import { Page } from "../../parts/page.tsx"
import { EmptyState } from "../../parts/states.tsx"
import { visible } from "../../safe-text.ts"
import { getAll } from "../../stats/get-all.ts"
import { toast } from "../../toasts.ts"
import { exampleRequest } from "./examples.ts"
import { KeyDialog } from "./key-dialog.tsx"
import { KeyUsage } from "./key-usage.tsx"
import { NewSecret, type SecretShown } from "./new-secret.tsx"
import { type OwnSite, organizationPath, type SectionProps, useOwnSites, useRefresh } from "./own-organization.ts"
import { RotateKey } from "./rotate-key.tsx"
import { scopeWords, tellingScopes } from "./scopes.ts"

/** A row of `GET …/api-keys`. */
export interface ApiKey {
  id: number
  name: string
  prefix: string
  last4: string
  scopes: string[]
  site_access: "all" | "list"
  site_ids: number[] | null
  ip_allow: string[]
  rate_limit: number | null
  personal: boolean
  created_by: { id: number; name: string; email: string } | null
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  last_used_ip_prefix: string | null
  state: "active" | "expired" | "revoked"
  owner_left: boolean
  version: number
}

export const keysPath = (organizationId: number): string => `${organizationPath(organizationId)}/api-keys`

export const useApiKeys = (organizationId: number, state: string, enabled = true) =>
  useQuery({
    queryKey: ["api-keys", organizationId, state],
    queryFn: ({ signal }) => getAll<ApiKey>(`${keysPath(organizationId)}?${state === "" ? "" : `state=${state}&`}`, signal),
    enabled,
  })

type Act = { kind: "create" } | { kind: "change" | "rotate" | "revoke" | "usage"; key: ApiKey }

export function ApiKeys({ organization }: SectionProps) {
  const [state, setState] = useState("active")
  const keys = useApiKeys(organization.id, state)
  const sites = useOwnSites(organization.id)
  const refresh = useRefresh(organization.id)
  const [act, setAct] = useState<Act>()
  const [made, setMade] = useState<SecretShown>()
  const close = () => setAct(undefined)
  const onMade = async (secret: SecretShown) => {
    close()
    setMade(secret)
    await refresh("api-keys")
  }
  return (
    <Page
      title="API keys"
      actions={
        <Button kind="primary" icon="plus" onClick={() => setAct({ kind: "create" })}>
          Make a key
        </Button>
      }
    >
      <p class="quiet">
        Programs ask with a key; it opens the public API and nothing else. <a href="/api/public/v1/docs">Reference of the API</a>
      </p>
      <div class="sites-tools">
        <SelectField
          label="Keys"
          value={state}
          onValue={setState}
          options={[
            { value: "active", label: "That work" },
            { value: "expired", label: "That have ended" },
            { value: "revoked", label: "That were revoked" },
            { value: "", label: "All" },
          ]}
        />
      </div>
      <Answer of={keys} rows={4}>
        {(rows) =>
          rows.length === 0 ? (
            state === "active" ? (
              <NoKeys sites={sites} />
            ) : (
              <EmptyState>There are no such keys.</EmptyState>
            )
          ) : (
            <DataTable caption="API keys" rows={rows} keyOf={({ id }) => id} columns={columnsOf(sites, setAct)} />
          )
        }
      </Answer>
      {act?.kind === "create" && <KeyDialog organization={organization} onMade={onMade} onClose={close} />}
      {act?.kind === "change" && <KeyDialog organization={organization} present={act.key} onClose={close} />}
      {act?.kind === "rotate" && <RotateKey organizationId={organization.id} apiKey={act.key} onMade={onMade} onClose={close} />}
      {act?.kind === "usage" && <KeyUsage organizationId={organization.id} apiKey={act.key} onClose={close} />}
      {act?.kind === "revoke" && (
        <Confirm
          title={`Revoke ${visible(act.key.name)}`}
          act="Revoke the key"
          onClose={close}
          onConfirm={async () => {
            await remove(`${keysPath(organization.id)}/${act.key.id}`)
            await refresh("api-keys")
            toast("The key was revoked")
          }}
        >
          <p>
            Whatever uses {act.key.prefix}… is refused from the next request on, and nothing brings it back. It was{" "}
            {act.key.last_used_at ? `last used ${agoText(act.key.last_used_at)}` : "never used"}.
          </p>
        </Confirm>
      )}
      {made && <NewSecret made={made} sites={sites} onClose={() => setMade(undefined)} />}
    </Page>
  )
}

const NoKeys = ({ sites }: { sites: readonly OwnSite[] }) => (
  <div class="state">
    <p class="quiet">There is no key yet. With one, a request looks like this:</p>
    <pre>{exampleRequest({ scopes: ["stats:read"], site_ids: sites.map(({ id }) => id), key: "ff_…" })}</pre>
  </div>
)

const columnsOf = (sites: readonly OwnSite[], onAct: (act: Act) => void): Column<ApiKey>[] => [
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
    label: "May",
    cell: ({ scopes }) => tellingScopes(scopes).map((scope) => <div key={scope}>{scopeWords(scope)}</div>),
  },
  { id: "sites", label: "On", cell: (key) => reachWords(key, sites) },
  {
    id: "expires",
    label: "Until",
    cell: ({ expires_at }) => (expires_at ? <time dateTime={expires_at}>{dayText(expires_at)}</time> : "without end"),
  },
  {
    id: "used",
    label: "Last used",
    cell: ({ last_used_at, last_used_ip_prefix }) => (
      <>
        <Moment at={last_used_at} />
        {last_used_ip_prefix && <div class="small quiet">{visible(last_used_ip_prefix)}</div>}
      </>
    ),
  },
  {
    id: "acts",
    label: "Acts",
    cell: (key) => (
      <Popover button={<Icon name="more" />} label={`Acts on ${visible(key.name)}`} kind="quiet" iconOnly>
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
              {item("usage", "Usage")}
              {key.state === "active" && item("change", "Change")}
              {key.state === "active" && item("rotate", "Rotate")}
              {key.state !== "revoked" && item("revoke", "Revoke")}
            </>
          )
        }}
      </Popover>
    ),
  },
]

const EVERYTHING = 5

function Marks({ apiKey: { state, owner_left, personal, scopes, site_access, expires_at } }: { apiKey: ApiKey }) {
  const isWide = site_access === "all" && expires_at === null && tellingScopes(scopes).length >= EVERYTHING
  const marks = [
    state === "active" ? "" : state,
    personal ? "personal" : "",
    owner_left ? "its maker has left" : "",
    isWide ? "may almost everything, without end" : "",
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

const SHOWN = 3

/** Which sites a key reaches, in words. */
export function reachWords({ site_ids }: Pick<ApiKey, "site_ids">, sites: readonly OwnSite[]): string {
  if (site_ids === null) return "all sites, future ones too"
  if (site_ids.length === 0) return "no site: it reaches nothing"
  const names = site_ids.map((id) => visible(sites.find((site) => site.id === id)?.name ?? `site ${id}`))
  return names.length > SHOWN ? `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} more` : names.join(", ")
}
