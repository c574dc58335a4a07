import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { OwnSiteResponse, ShieldResponse } from "../../../domain/site-response.ts"
import { getAll, patch, post, remove } from "../../api/api.ts"
import { conditionsText } from "../../area/condition-rows.tsx"
import { Button, IconButton } from "../../parts/button.tsx"
import { DataTable } from "../../parts/data-table.tsx"
import { EmptyState, errorText, QueryResult } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { exact } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { examplePage } from "../sites/snippets.tsx"
import { Drops } from "./drops.tsx"
import { sitePath } from "./settings.ts"
import { KIND_LABELS, ShieldForm } from "./shield-form.tsx"

/** Manages the shields of a site and shows the dropped events. */
export function Shields({ site }: { site: OwnSiteResponse }) {
  const path = `${sitePath(site.id)}/shields`
  const client = useQueryClient()
  const key = ["shields", site.id]
  const shields = useQuery({ queryKey: key, queryFn: ({ signal }) => getAll<ShieldResponse>(`${path}?`, signal) })
  const [edited, setEdited] = useState<{ shield: ShieldResponse | undefined }>()
  const refresh = () => client.invalidateQueries({ queryKey: key })
  const attempt = async (act: () => Promise<unknown>) => {
    try {
      await act()
    } catch (error) {
      toast(errorText(error as Error))
    }
    await refresh()
  }
  const deleteShield = (shield: ShieldResponse) =>
    attempt(async () => {
      await remove(`${path}/${shield.id}`)
      const { id: _, hits_7d: __, version: ___, ...again } = shield
      toast(`Shield ${visible(shield.value)} deleted`, () => void attempt(() => post(path, again)))
    })
  const toggle = ({ id, enabled, version }: ShieldResponse) => attempt(() => patch(`${path}/${id}`, { enabled: !enabled, version }))
  return (
    <>
      <section class="card stack" aria-labelledby="shields">
        <div class="row spread">
          <h2 id="shields">Shields</h2>
          <Button icon="plus" onClick={() => setEdited({ shield: undefined })}>
            Add shield
          </Button>
        </div>
        <p class="quiet">New events that match a shield are dropped. Recorded events are not affected.</p>
        <QueryResult of={shields} rows={3}>
          {(rows) =>
            rows.length === 0 ? (
              <EmptyState>No shields yet. Shields drop events by IP address, country, page and more.</EmptyState>
            ) : (
              <ShieldTable rows={rows} onEdit={(shield) => setEdited({ shield })} onToggle={toggle} onDelete={deleteShield} />
            )
          }
        </QueryResult>
      </section>
      {/* What follows stands still, because it is drawn once the list has its height. */}
      {!shields.isLoading && (
        <>
          <OwnVisits site={site} path={path} onAdded={refresh} />
          <Drops siteId={site.id} />
        </>
      )}
      {edited && <ShieldForm path={path} shield={edited.shield} onDone={refresh} onClose={() => setEdited(undefined)} />}
    </>
  )
}

interface ShieldTableProps {
  rows: readonly ShieldResponse[]
  onEdit(shield: ShieldResponse): void
  onToggle(shield: ShieldResponse): Promise<unknown>
  onDelete(shield: ShieldResponse): Promise<unknown>
}

const ShieldTable = ({ rows, onEdit, onToggle, onDelete }: ShieldTableProps) => (
  <DataTable
    caption="All shields"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      {
        id: "value",
        label: "Shield",
        cell: ({ value, conditions, note }) => (
          <>
            <div>{visible(value)}</div>
            {conditions && <div class="small quiet">{conditionsText(conditions)}</div>}
            {note && <div class="small quiet">{visible(note)}</div>}
          </>
        ),
      },
      { id: "kind", label: "Type", cell: ({ kind }) => KIND_LABELS[kind].label },
      { id: "hits", label: "Dropped in 7 days", number: true, cell: ({ hits_7d }) => exact(hits_7d) },
      {
        id: "state",
        label: "Status",
        cell: ({ enabled }) => (enabled ? "On" : "Off"),
      },
      {
        id: "acts",
        label: "Actions",
        cell: (shield) => (
          <span class="row">
            <Button onClick={() => void onToggle(shield)} aria-label={`${shield.enabled ? "Disable" : "Enable"} ${visible(shield.value)}`}>
              {shield.enabled ? "Disable" : "Enable"}
            </Button>
            <IconButton icon="pencil" label={`Edit ${visible(shield.value)}`} onClick={() => onEdit(shield)} />
            <IconButton icon="trash" label={`Delete ${visible(shield.value)}`} onClick={() => void onDelete(shield)} />
          </span>
        ),
      },
    ]}
  />
)

/** Excludes the user's own visits: by a link per host for this browser, or by a shield for their IP address. */
function OwnVisits({ site, path, onAdded }: { site: OwnSiteResponse; path: string; onAdded(): Promise<unknown> }) {
  const [busy, setBusy] = useState(false)
  const exclude = async () => {
    setBusy(true)
    try {
      const value = await ownAddress(site)
      await post(path, { kind: "ip", value, note: "Own visits" })
      toast(`Events from ${visible(value)} are no longer counted`)
      await onAdded()
    } catch (error) {
      toast(errorText(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <section class="card stack" aria-labelledby="own-visits">
      <h2 id="own-visits">Exclude my own visits</h2>
      <p class="quiet">Open this link once to exclude this browser. Open it again to be counted.</p>
      <ul class="switches">
        {site.hosts.map((host) => {
          const address = `${examplePage({ hosts: [host] })}#footfall-ignore`
          return (
            <li key={host}>
              <a href={address} target="_blank" rel="noreferrer noopener">
                {visible(address)}
              </a>
            </li>
          )
        })}
      </ul>
      <p class="quiet">Exclude all browsers on your connection, for as long as its IP address stays the same:</p>
      <div>
        <Button onClick={exclude} busy={busy}>
          Exclude my IP address
        </Button>
      </div>
    </section>
  )
}

/** Returns the IP address of this connection as the collect route sees it. The request stores nothing. */
async function ownAddress(site: OwnSiteResponse): Promise<string> {
  const answer = await fetch("/api/event", {
    method: "POST",
    headers: { "content-type": "text/plain", "x-debug-request": "true" },
    body: JSON.stringify({ n: "pageview", d: site.tracking_id, u: examplePage(site) }),
  })
  const address = (await answer.text()).trim()
  if (!answer.ok || address === "") throw new Error("Your IP address couldn't be determined. Try again.")
  return address
}
